"""Write tables to files, whole or not at all."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.data.csv_text import CSVText
from shoal.errors import CannotWrite, UnreadableTable
from shoal.files import atomic_file


def write_table(
    table: pa.Table | pa.RecordBatchReader | Iterable[pa.RecordBatch],
    path: str | Path,
    overwrite: bool = False,
) -> Path:
    """Write a table to a .csv, .csv.gz or .parquet file, a batch at a time.

    Parameters
    ----------
    table
        An Arrow table or reader, or batches; no batch at all has no columns and is refused.
    path
        The file.
    overwrite
        Whether a file that is there may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ages.csv"
    >>> write_table(pa.table({"age": [31, 47]}), file).read_text().split()
    ['age', '31', '47']
    """
    final = Path(path)
    kind = next((s for s in (".csv", ".csv.gz", ".parquet") if final.name.endswith(s)), None)
    if kind is None:
        raise CannotWrite(
            f"{final.name} does not end like a format that can be written.",
            "Use a name that ends in .csv, .csv.gz or .parquet.",
        )
    schema, batches = _schema_and_batches(table)
    with atomic_file(final, overwrite) as part, _writer(part, kind, schema) as writer:
        for batch in batches:
            with _named_misfit(batch.schema):
                writer.write(batch if batch.schema.equals(schema) else batch.cast(schema))
    return final


def _schema_and_batches(table: Any) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    """Return the schema and the batches of a table."""
    if isinstance(table, pa.Table):
        return table.schema, table.to_batches()
    if isinstance(table, pa.RecordBatchReader):
        return table.schema, table
    batches = iter(table)
    first = next(batches, None)
    if first is None:
        raise UnreadableTable(
            "There is no batch, so the columns are unknown.", "Pass a table or a reader instead."
        )
    return first.schema, chain([first], batches)


@contextmanager
def _writer(part: Path, kind: str, schema: pa.Schema) -> Iterator[Any]:
    import pyarrow.parquet as pq

    if kind == ".parquet":
        with pq.ParquetWriter(part, schema) as writer:
            yield writer
        return
    compression = "gzip" if kind == ".csv.gz" else None
    with pa.output_stream(str(part), compression=compression) as stream:
        yield CSVText(stream, schema)


@contextmanager
def _named_misfit(schema: pa.Schema) -> Iterator[None]:
    """Raise an error that names columns, not values, where a batch does not fit the file."""
    try:
        yield
    except (pa.ArrowException, ValueError):  # not OSError: a full disk is told elsewhere
        kinds = ", ".join(f"{field.name!r} ({field.type})" for field in schema)
        raise CannotWrite(
            f"Some column of {kinds} does not fit this format or the earlier batches.",
            "Give each column one plain type: numbers, text, dates or truth values.",
        ) from None
