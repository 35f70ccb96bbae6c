"""The table to release, read in passes: queried by DuckDB, or batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from glob import has_magic
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.anonymize.packed import Packed, TooManyTexts, text_batches
from shoal.data import Source, source_of
from shoal.data.files import ParquetSource
from shoal.data.memory import ReaderSource
from shoal.data.source import BATCH_ROWS, quiet
from shoal.engine.entry import is_spark_frame
from shoal.engine.named import COUNTED, OWNER, plain_names, plainly_named
from shoal.engine.scratch import scratch
from shoal.engine.spark_table import SparkTable
from shoal.engine.spill import query_to_file

__all__ = ["COUNTED", "OWNER", "AnyTable", "Beside", "Table", "found_in", "sizes_sql", "table_of"]

_NO_STREAM = pa.schema([("none", pa.int8())])


class Beside:
    """A table and, row by row in the same order, whose each row is: a file of its own.

    The column of names is called ``owner``.
    """

    def __init__(self, X: Any, owners_path: Path) -> None:
        self._source, self._owners = source_of(X), owners_path
        self.names = (*self._source.names, OWNER)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """A new pass over these columns, with the owners beside them."""
        kept = [name for name in columns if name != OWNER]
        with pq.ParquetFile(self._owners) as parquet:
            names = _slices(parquet.iter_batches(size))
            for batch in self._source.batches(kept or self._source.names[:1], size):
                arrays = {name: batch.column(name) for name in kept}
                arrays[OWNER] = names(batch.num_rows)
                yield pa.record_batch(arrays)


def _slices(batches: Iterator[pa.RecordBatch]) -> Callable[[int], pa.Array]:
    """Take so many cells at a time from a stream of one column."""
    left = pa.array([], pa.string())

    def take(rows: int) -> pa.Array:
        nonlocal left
        while len(left) < rows:
            left = pa.concat_arrays([left, next(batches).column(0)])
        taken, left = left[:rows], left[rows:]
        return taken

    return take


class Table:
    """A source behind two verbs: ``query`` for counts, ``batches`` for rows.

    A single Parquet file is read by DuckDB itself, with all its threads; anything else, a name
    that DuckDB would take for a pattern, and whatever needs to know whose a row is, streams past
    it in batches.

    Examples
    --------
    >>> table = Table({"age": [31, 47, 31]})
    >>> sql = "SELECT c0, count(*) AS n FROM rows GROUP BY ALL ORDER BY c0"
    >>> table.query(sql, ["age"]).to_pydict()
    {'c0': [31, 47], 'n': [2, 1]}
    """

    def __init__(self, X: Any) -> None:
        self._source: Source = X if isinstance(X, Beside) else source_of(X)
        self.names = self._source.names

    def counts(self, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """The distinct combinations of cells c0, c1, ... (and ``owner``) with their rows, ``n``."""
        packed = self._packed(columns, owner)
        if packed is not None:
            with suppress(TooManyTexts):
                named = ", ".join(packed.names)
                found = self._run(f"SELECT {named}, {COUNTED} GROUP BY ALL", packed)
                names = [*plain_names(columns, None), "n"]
                return pa.table([*packed.unpack(found), found["n"]], names)
        named = ", ".join(plain_names(columns, owner))
        return self.query(f"SELECT {named}, {COUNTED} GROUP BY ALL", columns, owner)

    def sizes(self, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """How many combinations have so many people: ``people``, ``classes`` and their ``rows``.

        Without ``owner`` each row is a person of its own.
        """
        packed = self._packed(columns, owner)
        if packed is not None:
            with suppress(TooManyTexts):
                return self._run(sizes_sql(packed.names, None), packed)
        return self.query(sizes_sql(plain_names(columns, None), owner), columns, owner)

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """What ``sql`` makes of ``rows``, whose columns are c0, c1, ... in this order.

        ``owner`` names the column that says whose a row is: it comes as ``owner``, as text.
        """
        file = self._file
        if file is not None and owner is None and not has_magic(str(file)):
            return found_in(_within(file, columns, sql), _NO_STREAM, ())
        wanted = [*columns, *([owner] if owner and owner not in columns else [])]
        batches = (plainly_named(batch, columns, owner) for batch in self._source.batches(wanted))
        first = next(batches, None)
        if first is None:
            nothing = [pa.nulls(0, pa.string())] * (len(columns) + (owner is not None))
            first = pa.record_batch(nothing, names=plain_names(columns, owner))
        return found_in(sql, first.schema, chain([first], batches))

    def nested(self, columns: Sequence[str]) -> list[str]:
        """Which of these columns hold lists or structures; a stream that flows past tells none."""
        if isinstance(self._source, ReaderSource):
            return []
        first = next(self._source.batches(columns, 1), None)
        fields = [] if first is None else first.schema
        return [field.name for field in fields if pa.types.is_nested(field.type)]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time; text of a Parquet file comes as numbered values."""
        file = self._file
        if file is None:
            yield from self._source.batches(columns)
            return
        with quiet(str(file)):
            yield from text_batches(file, columns)

    def _packed(self, columns: Sequence[str], owner: str | None) -> Packed | None:
        file = self._file
        if file is None or owner is not None:
            return None
        try:
            return Packed(file, columns)
        except TooManyTexts:
            return None

    @staticmethod
    def _run(sql: str, packed: Packed) -> pa.Table:
        return found_in(sql, packed.schema, packed.batches())

    @property
    def _file(self) -> Path | None:
        source = self._source
        alone = isinstance(source, ParquetSource) and len(source.files) == 1
        return source.files[0] if alone and isinstance(source, ParquetSource) else None


AnyTable = Table | SparkTable


def table_of(X: Any) -> AnyTable:
    """A table to count: on Spark if a Spark frame came, else on this machine."""
    if isinstance(X, Table | SparkTable):
        return X
    return SparkTable(X) if is_spark_frame(X) else Table(X)


def found_in(sql: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """What a query makes of a stream, through a file of its own; text as numbered values."""
    with scratch() as folder:
        path = folder / "found.parquet"
        query_to_file(sql, schema, batches, path)
        texts = [f.name for f in pq.read_schema(path) if pa.types.is_string(f.type)]
        return pq.read_table(path, read_dictionary=texts)


def sizes_sql(named: Sequence[str], owner: str | None) -> str:
    """The query for how many combinations have so many people."""
    cells = ", ".join(named)
    counted = f"SELECT n, n AS people FROM (SELECT {cells}, {COUNTED} GROUP BY ALL)"
    if owner is not None:
        of_people = f"SELECT {cells}, {OWNER}, {COUNTED} GROUP BY ALL"
        counted = f"SELECT {cells}, sum(n) AS n, count(*) AS people FROM ({of_people}) GROUP BY ALL"
    return (
        "SELECT people, count(*) AS classes, CAST(sum(n) AS BIGINT) AS rows "
        f"FROM ({counted}) GROUP BY people ORDER BY people"
    )


def _quoted(name: str) -> str:
    """A column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _within(file: Path, columns: Sequence[str], sql: str) -> str:
    chosen = ", ".join(f"{_quoted(name)} AS c{i}" for i, name in enumerate(columns))
    where = str(file).replace("'", "''")
    # A folder named year=2020 is no column, least of all in place of the file's own.
    read = f"read_parquet('{where}', hive_partitioning = false)"
    return f"WITH rows AS (SELECT {chosen or '1'} FROM {read}) {sql}"
