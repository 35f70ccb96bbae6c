"""The table to release: queried by DuckDB, or read in batches.

Text columns of a Parquet file are packed into a few integers for each row, to be grouped faster:
the file numbers its distinct texts, and grouping those numbers, several columns to a word, takes
half the time of grouping texts. Nothing is hashed, so unpacking is exact.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from glob import has_magic
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.arrays import Integers
from shoal.data import Source, source_of
from shoal.data.files import ParquetSource
from shoal.data.memory import ReaderSource
from shoal.data.source import BATCH_ROWS, hide_row_text
from shoal.engine import by_engine
from shoal.engine.duckdb import COUNTED, OWNER, plain_names, query_columns, query_stream
from shoal.engine.table import FrameTable

_MOST_TEXTS = 4096  # distinct texts of a column that is packed
_WORD = 62  # bits of an integer that columns are packed into

_NO_STREAM = pa.schema([("none", pa.int8())])


class _TooManyTexts(Exception):
    """Raised if a column has too many distinct texts to be packed."""


def _text_batches(file: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file, with text as dictionaries."""
    kinds = pq.read_schema(file)
    texts = [name for name in columns if pa.types.is_string(kinds.field(name).type)]
    # Buffered, without pre-buffering: a row group may be as large as the file.
    how = {"read_dictionary": texts, "buffer_size": 1 << 20, "pre_buffer": False}
    with pq.ParquetFile(file, **how) as parquet:
        for batch in parquet.iter_batches(BATCH_ROWS, columns=list(columns), use_threads=False):
            yield batch.select(list(columns))


class _PackedTexts:
    """The rows of a file as integers ``k0, k1, ...`` that hold several columns each.

    Parameters
    ----------
    columns
        Some of its columns. Others than text, or too many distinct texts, raise
        ``_TooManyTexts``.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "t.parquet"
    >>> pq.write_table(pa.table({"a": ["x", None, "x"], "b": ["u", "u", "v"]}), file)
    >>> packed = _PackedTexts(file, ["a", "b"])
    >>> words = pa.Table.from_batches(list(packed.batches()))
    >>> [column.to_pylist() for column in packed.unpack(words)]
    [['x', None, 'x'], ['u', 'u', 'v']]
    """

    def __init__(self, file: Path, columns: Sequence[str]) -> None:
        self._rows = _text_batches(file, columns)
        self._known: list[dict[str, int]] = [{} for _ in columns]
        first = next(self._rows, None)
        if first is None or not all(pa.types.is_dictionary(c.type) for c in first.columns):
            raise _TooManyTexts
        self._rows = chain([first], self._rows)
        # Room for twice the texts seen first, for a few more and for nulls.
        self._bits = [(2 * len(c.dictionary) + 8).bit_length() for c in first.columns]
        self._packs = _columns_of_words(self._bits)
        self.names = [f"k{i}" for i in range(len(self._packs))]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches."""
        return pa.schema([(name, pa.int64()) for name in self.names])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the packed rows, in the only pass over the file."""
        for batch in self._rows:
            packed = [pa.array(self._word(batch, members)) for members in self._packs]
            yield pa.record_batch(packed, schema=self.schema)

    def unpack(self, counted: pa.Table) -> list[Any]:
        """Return the columns behind packed integers, as dictionaries.

        Parameters
        ----------
        counted
            A table with columns ``k0, k1, ...``.
        """
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

    def _word(self, batch: pa.RecordBatch, members: Sequence[int]) -> Integers:
        word = np.zeros(batch.num_rows, dtype=np.int64)
        for at in members:
            word <<= self._bits[at]
            word |= self._numbers(at, batch.column(at))
        return word

    def _numbers(self, at: int, column: Any) -> Integers:
        """Return the number of each cell's text, from 1; 0 for nulls."""
        if not pa.types.is_dictionary(column.type) or len(column.dictionary) > _MOST_TEXTS:
            raise _TooManyTexts
        known = self._known[at]
        texts = column.dictionary.to_pylist()
        numbers = [known.setdefault(text, len(known)) + 1 for text in texts]
        if len(known) >= 1 << self._bits[at]:
            raise _TooManyTexts
        indices = column.indices
        if indices.null_count:
            indices = pc.fill_null(indices, len(numbers))
        of_rows: Integers = np.array([*numbers, 0], dtype=np.int64).take(indices.to_numpy())
        return of_rows


def _columns_of_words(bits: Sequence[int]) -> list[list[int]]:
    """Return which columns share a word, in their order."""
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
    """A table with a second file that says, in the same order, whose each row is.

    The column of names is called ``owner``.

    Parameters
    ----------
    owners_path
        A Parquet file with one column of owners, ``owner``.
    """

    def __init__(self, X: Any, owners_path: Path) -> None:
        self._source, self._owners = source_of(X), owners_path
        self.names = (*self._source.names, OWNER)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Yield these columns with the owners beside them, in a new pass."""
        own = [name for name in columns if name != OWNER]
        with pq.ParquetFile(self._owners) as parquet:
            names = _slices(parquet.iter_batches(size))
            for batch in self._source.batches(own or self._source.names[:1], size):
                arrays = {name: batch.column(name) for name in own}
                arrays[OWNER] = names(batch.num_rows)
                yield pa.record_batch(arrays)


def _with_replaced_cells(
    batch: pa.RecordBatch, replacements: Mapping[str, Callable[[Any], Any]]
) -> pa.RecordBatch:
    """Return a batch in which the cells of some columns are replaced."""
    arrays = {
        name: replacements[name](batch.column(name)) if name in replacements else batch.column(name)
        for name in batch.schema.names
    }
    return pa.record_batch(arrays)


def _slices(batches: Iterator[pa.RecordBatch]) -> Callable[[int], pa.Array]:
    """Return a function that takes so many cells at a time from a stream of one column."""
    left = pa.array([], pa.string())

    def take(rows: int) -> pa.Array:
        nonlocal left
        while len(left) < rows:
            left = pa.concat_arrays([left, next(batches).column(0)])
        taken, left = left[:rows], left[rows:]
        return taken

    return take


class QueriedTable:
    """A source of rows with two verbs: ``query`` for counts, ``batches`` for rows.

    DuckDB reads a single Parquet file by itself, with all its threads. Anything else is streamed to
    it in batches, also a name that DuckDB would take for a pattern, and rows with owners.

    Parameters
    ----------
    X
        Whatever ``source_of`` takes: a path, a data frame, an Arrow table, ...

    Examples
    --------
    >>> table = QueriedTable({"age": [31, 47, 31]})
    >>> sql = "SELECT c0, count(*) AS n FROM rows GROUP BY ALL ORDER BY c0"
    >>> table.query(sql, ["age"]).to_pydict()
    {'c0': [31, 47], 'n': [2, 1]}
    """

    def __init__(self, X: Any) -> None:
        self._source: Source = X if isinstance(X, TableWithOwners) else source_of(X)
        self.names = self._source.names

    def counts(
        self,
        columns: Sequence[str],
        owner: str | None = None,
        replacements: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> pa.Table:
        """Count the distinct combinations of cells c0, c1, ... (and ``owner``), in column ``n``.

        Parameters
        ----------
        replacements
            By column, what makes the cells to be counted of an Arrow array of raw ones.
        """
        if replacements:
            batches = (
                _with_replaced_cells(batch, replacements) for batch in self._rows(columns, owner)
            )
            return query_columns(f"SELECT *, {COUNTED} GROUP BY ALL", batches, columns, owner)
        packed = self._packed(columns, owner)
        if packed is not None:
            with suppress(_TooManyTexts):
                named = ", ".join(packed.names)
                counted = self._run(f"SELECT {named}, {COUNTED} GROUP BY ALL", packed)
                names = [*plain_names(columns, None), "n"]
                return pa.table([*packed.unpack(counted), counted["n"]], names)
        return self.query(f"SELECT *, {COUNTED} GROUP BY ALL", columns, owner)

    def _rows(self, columns: Sequence[str], owner: str | None) -> Iterator[pa.RecordBatch]:
        wanted = [*columns, *([owner] if owner and owner not in columns else [])]
        return self._source.batches(wanted)

    def sizes(self, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """Count how many combinations have how many people: ``people``, ``classes`` and ``rows``.

        Without ``owner`` each row is a person of its own.
        """
        packed = self._packed(columns, owner)
        if packed is not None:
            with suppress(_TooManyTexts):
                return self._run(sizes_sql(packed.names, None), packed)
        return self.query(sizes_sql(plain_names(columns, None), owner), columns, owner)

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """Return the result of a query on ``rows``, whose columns are c0, c1, ... in this order.

        Owners are text, in a column ``owner``.
        """
        file = self._file
        if file is not None and owner is None and not has_magic(str(file)):
            return query_stream(_read_in_duckdb(file, columns, sql), _NO_STREAM, ())
        return query_columns(sql, self._rows(columns, owner), columns, owner)

    def nested(self, columns: Sequence[str]) -> list[str]:
        """Return which of these columns hold lists or structures; a stream reports none."""
        if isinstance(self._source, ReaderSource):
            return []
        first = next(self._source.batches(columns, 1), None)
        fields = [] if first is None else first.schema
        return [field.name for field in fields if pa.types.is_nested(field.type)]

    def owners(self, person: str) -> Any:
        """Return the distinct people of the table, as text."""
        return self.counts([], person)[OWNER]

    def collected(self, columns: Sequence[str], owner: str | None = None) -> None:
        """Return None, since a query of the rows costs no more here than one of their counts."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches; text of a Parquet file comes as dictionaries."""
        file = self._file
        if file is None:
            yield from self._source.batches(columns)
            return
        with hide_row_text(str(file)):
            yield from _text_batches(file, columns)

    def _packed(self, columns: Sequence[str], owner: str | None) -> _PackedTexts | None:
        file = self._file
        if file is None or owner is not None:
            return None
        try:
            return _PackedTexts(file, columns)
        except _TooManyTexts:
            return None

    @staticmethod
    def _run(sql: str, packed: _PackedTexts) -> pa.Table:
        return query_stream(sql, packed.schema, packed.batches())

    @property
    def _file(self) -> Path | None:
        source = self._source
        alone = isinstance(source, ParquetSource) and len(source.files) == 1
        return source.files[0] if alone and isinstance(source, ParquetSource) else None


AnyTable = QueriedTable | FrameTable


def table_of(X: Any) -> AnyTable:
    """Return a table that can be counted where its rows are.

    Parameters
    ----------
    X
        Anything with rows; a table is returned as it is.
    """
    return by_engine(X, embedded=_table_here, distributed=_same_table)


def _table_here(X: Any) -> AnyTable:
    return X if isinstance(X, QueriedTable) else QueriedTable(X)


def _same_table(table: FrameTable) -> AnyTable:
    return table


def sizes_sql(named: Sequence[str], owner: str | None) -> str:
    """Return the query for how many combinations have how many people."""
    cells = ", ".join(named)
    counted = f"SELECT n, n AS people FROM (SELECT {cells}, {COUNTED} GROUP BY ALL)"
    if owner is not None:
        of_people = f"SELECT {cells}, {OWNER}, {COUNTED} GROUP BY ALL"
        counted = f"SELECT {cells}, sum(n) AS n, count(*) AS people FROM ({of_people}) GROUP BY ALL"
    return (
        "SELECT people, count(*) AS classes, CAST(sum(n) AS BIGINT) AS rows "
        f"FROM ({counted}) GROUP BY people ORDER BY people"
    )


def _quote_name(name: str) -> str:
    """Return a column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _read_in_duckdb(file: Path, columns: Sequence[str], sql: str) -> str:
    chosen = ", ".join(f"{_quote_name(name)} AS c{i}" for i, name in enumerate(columns))
    where = str(file).replace("'", "''")
    # A folder named year=2020 is no column, least of all in place of the file's own.
    read = f"read_parquet('{where}', hive_partitioning = false)"
    return f"WITH rows AS (SELECT {chosen or '1'} FROM {read}) {sql}"
