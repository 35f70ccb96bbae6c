"""The table to release, read in passes: queried by DuckDB, or batch by batch.

Text columns of a Parquet file packed into a few whole numbers a row, to be grouped faster.

A file stores few distinct texts once and numbers them; grouping those numbers, several columns
to a word, takes half the time of grouping the texts. Nothing is hashed: unpacking is exact.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from glob import has_magic
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.data import Source, source_of
from shoal.data.files import ParquetSource
from shoal.data.memory import ReaderSource
from shoal.data.source import BATCH_ROWS, hide_row_text
from shoal.engine.duckdb import COUNTED, OWNER, plain_names, query_columns, query_stream
from shoal.engine.entry import by_engine
from shoal.engine.table import FrameTable

__all__ = [
    "COUNTED",
    "OWNER",
    "AnyTable",
    "PackedTexts",
    "Table",
    "TableWithOwners",
    "TooManyTexts",
    "sizes_sql",
    "table_of",
    "text_batches",
]

_MOST_TEXTS = 4096
_WORD = 62

_NO_STREAM = pa.schema([("none", pa.int8())])


class TooManyTexts(Exception):
    """A column has more distinct texts than there is room for: group them as they are."""


def text_batches(file: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file, its text as numbered values."""
    kinds = pq.read_schema(file)
    texts = [name for name in columns if pa.types.is_string(kinds.field(name).type)]
    # Buffered, without pre-buffering: a row group may be as large as the file.
    how = {"read_dictionary": texts, "buffer_size": 1 << 20, "pre_buffer": False}
    with pq.ParquetFile(file, **how) as parquet:
        for batch in parquet.iter_batches(BATCH_ROWS, columns=list(columns), use_threads=False):
            yield batch.select(list(columns))


class PackedTexts:
    """The rows of a file as words ``k0, k1, ...``; ``unpack`` leads back to columns.

    Parameters
    ----------
    file
        A Parquet file.
    columns
        Some of its columns. Others than text, or too many distinct texts, raise
        ``TooManyTexts``.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "t.parquet"
    >>> pq.write_table(pa.table({"a": ["x", None, "x"], "b": ["u", "u", "v"]}), file)
    >>> packed = PackedTexts(file, ["a", "b"])
    >>> words = pa.Table.from_batches(list(packed.batches()))
    >>> [column.to_pylist() for column in packed.unpack(words)]
    [['x', None, 'x'], ['u', 'u', 'v']]
    """

    def __init__(self, file: Path, columns: Sequence[str]) -> None:
        self._rows = text_batches(file, columns)
        self._known: list[dict[str, int]] = [{} for _ in columns]
        first = next(self._rows, None)
        if first is None or not all(pa.types.is_dictionary(c.type) for c in first.columns):
            raise TooManyTexts
        self._rows = chain([first], self._rows)
        # Room for twice the texts seen first, for a few more and for nulls.
        self._bits = [(2 * len(c.dictionary) + 8).bit_length() for c in first.columns]
        self._packs = _dealt(self._bits)
        self.names = [f"k{i}" for i in range(len(self._packs))]

    @property
    def schema(self) -> pa.Schema:
        """Of the batches."""
        return pa.schema([(name, pa.int64()) for name in self.names])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The only pass over the file."""
        for batch in self._rows:
            packed = [pa.array(self._word(batch, members)) for members in self._packs]
            yield pa.record_batch(packed, schema=self.schema)

    def unpack(self, counted: pa.Table) -> list[Any]:
        """The columns behind some words, as numbered texts."""
        columns: dict[int, Any] = {}
        for name, members in zip(self.names, self._packs, strict=True):
            word = counted[name].to_numpy().copy()
            for at in reversed(members):
                number = (word & ((1 << self._bits[at]) - 1)).astype(np.int32) - 1
                word >>= self._bits[at]
                indices = pa.array(number, mask=number < 0)
                texts = pa.array(list(self._known[at]), pa.string())
                columns[at] = pa.DictionaryArray.from_arrays(indices, texts)
        return [columns[at] for at in range(len(columns))]

    def _word(self, batch: pa.RecordBatch, members: Sequence[int]) -> NDArray[np.int64]:
        word = np.zeros(batch.num_rows, dtype=np.int64)
        for at in members:
            word <<= self._bits[at]
            word |= self._numbers(at, batch.column(at))
        return word

    def _numbers(self, at: int, column: Any) -> NDArray[np.int64]:
        """Each cell's text by its number, from 1; 0 for nulls."""
        if not pa.types.is_dictionary(column.type) or len(column.dictionary) > _MOST_TEXTS:
            raise TooManyTexts
        known = self._known[at]
        texts = column.dictionary.to_pylist()
        numbers = [known.setdefault(text, len(known)) + 1 for text in texts]
        if len(known) >= 1 << self._bits[at]:
            raise TooManyTexts
        indices = column.indices
        if indices.null_count:
            indices = pc.fill_null(indices, len(numbers))
        of_rows: NDArray[np.int64] = np.array([*numbers, 0], dtype=np.int64).take(
            indices.to_numpy()
        )
        return of_rows


def _dealt(bits: Sequence[int]) -> list[list[int]]:
    """Which columns share a word, in their order."""
    packs: list[list[int]] = [[]]
    room = _WORD
    for at, needed in enumerate(bits):
        if needed > room:
            packs.append([])
            room = _WORD
        packs[-1].append(at)
        room -= needed
    return packs


class TableWithOwners:
    """A table and, row by row in the same order, whose each row is: a file of its own.

    The column of names is called ``owner``.
    """

    def __init__(self, X: Any, owners_path: Path) -> None:
        self._source, self._owners = source_of(X), owners_path
        self.names = (*self._source.names, OWNER)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """A new pass over these columns, with the owners beside them."""
        own = [name for name in columns if name != OWNER]
        with pq.ParquetFile(self._owners) as parquet:
            names = _slices(parquet.iter_batches(size))
            for batch in self._source.batches(own or self._source.names[:1], size):
                arrays = {name: batch.column(name) for name in own}
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
        self._source: Source = X if isinstance(X, TableWithOwners) else source_of(X)
        self.names = self._source.names

    def counts(self, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """The distinct combinations of cells c0, c1, ... (and ``owner``) with their rows, ``n``."""
        packed = self._packed(columns, owner)
        if packed is not None:
            with suppress(TooManyTexts):
                named = ", ".join(packed.names)
                counted = self._run(f"SELECT {named}, {COUNTED} GROUP BY ALL", packed)
                names = [*plain_names(columns, None), "n"]
                return pa.table([*packed.unpack(counted), counted["n"]], names)
        return self.query(f"SELECT *, {COUNTED} GROUP BY ALL", columns, owner)

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
            return query_stream(_within(file, columns, sql), _NO_STREAM, ())
        wanted = [*columns, *([owner] if owner and owner not in columns else [])]
        return query_columns(sql, self._source.batches(wanted), columns, owner)

    def nested(self, columns: Sequence[str]) -> list[str]:
        """Which of these columns hold lists or structures; a stream that flows past tells none."""
        if isinstance(self._source, ReaderSource):
            return []
        first = next(self._source.batches(columns, 1), None)
        fields = [] if first is None else first.schema
        return [field.name for field in fields if pa.types.is_nested(field.type)]

    def owners(self, entity: str) -> Any:
        """The different people of the table, as text."""
        return self.counts([], entity)[OWNER]

    def collected(self, columns: Sequence[str], owner: str | None = None) -> None:
        """None: a query of the rows themselves costs no more than one of their counts."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time; text of a Parquet file comes as numbered values."""
        file = self._file
        if file is None:
            yield from self._source.batches(columns)
            return
        with hide_row_text(str(file)):
            yield from text_batches(file, columns)

    def _packed(self, columns: Sequence[str], owner: str | None) -> PackedTexts | None:
        file = self._file
        if file is None or owner is not None:
            return None
        try:
            return PackedTexts(file, columns)
        except TooManyTexts:
            return None

    @staticmethod
    def _run(sql: str, packed: PackedTexts) -> pa.Table:
        return query_stream(sql, packed.schema, packed.batches())

    @property
    def _file(self) -> Path | None:
        source = self._source
        alone = isinstance(source, ParquetSource) and len(source.files) == 1
        return source.files[0] if alone and isinstance(source, ParquetSource) else None


AnyTable = Table | FrameTable


def table_of(X: Any) -> AnyTable:
    """A table to count, where its rows are; one that is a table already stays as it is."""
    return by_engine(X, embedded=_table_here, distributed=_same_table)


def _table_here(X: Any) -> AnyTable:
    return X if isinstance(X, Table) else Table(X)


def _same_table(table: FrameTable) -> AnyTable:
    return table


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
