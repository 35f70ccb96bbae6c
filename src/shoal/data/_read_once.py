"""Tables that a plan computes, read once into a file of their owner's, then as often as needed.

A plan that samples, draws random numbers or reads a live table gives other rows each time it runs.
A private fit reads its rows several times, and its proof says that they are the same rows. So only
a plan that is plainly a scan of files runs again for every pass; any other runs once.
"""

import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.data.files import ParquetSource
from shoal.data.source import BATCH_ROWS, Source, check_names, find_columns
from shoal.errors import ShoalError, UnreadableTable
from shoal.files import private_file, scratch

# How DuckDB writes a relation that reads files and does nothing else; arguments without brackets of
# their own, so that no function is called among them.
_FILE_SCAN = re.compile(
    r"\s*SELECT \* FROM (?:parquet_scan|read_parquet|read_csv|read_csv_auto)\([^()]*\)"
    r'(?: AS "[^"]*")?\s*',
)


class PlanSource:
    """A plan whose rows are stored at the first pass, in a file that goes with this object."""

    def __init__(self, names: Sequence[object], write: Callable[[Path], object]) -> None:
        self.names = check_names(names)
        self._write = write
        self._stored: Source | None = None

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start a new pass over these columns; the first one runs the plan."""
        find_columns(self.names, columns)
        if self._stored is None:
            self._stored = self._run()
        return self._stored.batches(columns, size)

    def _run(self) -> Source:
        with ExitStack() as stack:
            path = private_file(stack.enter_context(scratch()) / "rows.parquet")
            try:
                self._write(path)
            except ShoalError:
                raise
            except Exception as error:
                raise UnreadableTable(
                    f"The table's plan failed ({type(error).__name__}).",
                    "Run it by itself to see why; its message is left out because it may quote "
                    "rows.",
                ) from None
            weakref.finalize(self, stack.pop_all().close)
            return ParquetSource([path])


def lazy_source(X: Any) -> PlanSource | None:
    """Return a lazy frame as a source, read once; None if it is none."""
    import narwhals as nw

    try:
        frame = nw.from_native(X)
    except TypeError:
        return None
    if not isinstance(frame, nw.LazyFrame):
        return None
    return PlanSource(frame.collect_schema().names(), frame.sink_parquet)


def is_file_scan(query: str) -> bool:
    """Return whether a relation's query reads files and does nothing else.

    Examples
    --------
    >>> is_file_scan("SELECT * FROM parquet_scan(['a.parquet'], filename := false)")
    True
    >>> is_file_scan("SELECT a, random() FROM 'a.parquet'"), is_file_scan("SELECT * FROM visits")
    (False, False)
    """
    return _FILE_SCAN.fullmatch(query) is not None
