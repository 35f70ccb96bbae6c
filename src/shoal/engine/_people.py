"""Limit the rows of each person, chosen by what the rows hold and never by their position.

Of each person the rows with the smallest keyed hash of (person, content, repeat number) stay. The
guarantee does not rest on the quality of the hash, but on which rows of a person stay depending
on that person's rows and on a key drawn without them, and on nothing else. So DuckDB's fast hash
is enough, and ties are broken by the content itself.

Everything is an external sort and a count along it: memory does not grow with the rows, nor with
the rows of one person.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.arrays import Integers
from shoal.engine._rows import Block, Tally
from shoal.engine.duckdb import query_to_file
from shoal.engine.row_screening import ScreenedBatch, Sides
from shoal.files import private_file

_SIDES = "sides"
_BATCH_ROWS = 65_536  # rows numbered at a time


def owned_rows_schema(numbers: int, codes: int) -> pa.Schema:
    """Return the schema of rows with their person: ``c0, c1, ...``, ``sides`` and ``person``.

    Parameters
    ----------
    numbers
        How many numeric columns there are; they come first.
    """
    kinds = [pa.float64()] * numbers + [pa.int32()] * codes
    content = [(f"c{i}", kind) for i, kind in enumerate(kinds)]
    return pa.schema([*content, (_SIDES, pa.binary()), ("person", pa.string())])


def owned_rows(schema: pa.Schema, screened: ScreenedBatch) -> pa.RecordBatch:
    """Return admitted rows in the layout of ``owned_rows_schema``."""
    numbers = screened.block.numbers + 0.0  # -0.0 becomes 0.0: equal rows are then equal bits
    columns = [*numbers.T, *screened.block.codes.T]
    arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
    sides = _packed_sides(screened.block)
    return pa.RecordBatch.from_arrays([*arrays, sides, screened.person], schema=schema)


def _packed_sides(block: Block) -> pa.Array:
    """Return the sides of each row as bytes; none for a row that was not moved."""
    if block.sides is None:
        return pa.repeat(pa.scalar(b"", pa.binary()), len(block))
    packed = [row.tobytes() if row.any() else b"" for row in block.sides]
    return pa.array(packed, pa.binary())


def _unpacked_sides(packed: pa.Array, numbers: int) -> Sides | None:
    """Return the sides that were packed; None if no row was moved."""
    moved = pc.greater(pc.binary_length(packed), 0).to_numpy(zero_copy_only=False)
    if not moved.any():
        return None
    sides = np.zeros((len(packed), numbers), dtype=np.int8)
    content = b"".join(packed.to_pylist())  # rows that were not moved add nothing
    sides[moved] = np.frombuffer(content, dtype=np.int8).reshape(-1, numbers)
    return sides


@dataclass(frozen=True)
class LimitedRows:
    """Reads blocks back from the file that ``limit_rows_per_person`` wrote."""

    numbers: int
    codes: int

    @property
    def columns(self) -> list[str]:
        """The columns of the file."""
        return [*(f"c{i}" for i in range(self.numbers + self.codes)), _SIDES]

    def __call__(self, batch: pa.RecordBatch) -> ScreenedBatch:
        """Return the rows of a batch, all of them admitted before."""
        n, columns = batch.num_rows, [column.to_numpy() for column in batch.columns[:-1]]
        sides = _unpacked_sides(batch.column(_SIDES), self.numbers)
        moved = 0 if sides is None else int(np.count_nonzero(sides.any(axis=1)))
        numbers = np.array(columns[: self.numbers], dtype=np.float64).reshape(self.numbers, n).T
        codes = np.array(columns[self.numbers :], dtype=np.int32).reshape(self.codes, n).T
        return ScreenedBatch(Block(numbers, codes, sides), Tally(n, n, moved=moved), None)


def limit_rows_per_person(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, limit: int, key: str, path: Path
) -> None:
    """Write at most ``limit`` rows of each person to a Parquet file.

    Parameters
    ----------
    batches
        Rows laid out as in ``owned_rows_schema``.
    """
    content = schema.names[:-2]
    same = ", ".join(["person", *content])
    person = f"hash('{key}', person), person"  # hashed first: the file is not in order of names
    # First sort: equal rows side by side, to number repeats. Second: by hash, to pick the first.
    # Of rows that are equal once they were moved, the sides decide: their order never does.
    alike, placed = path.with_suffix(".alike"), path.with_suffix(".placed")
    query_to_file(f"FROM rows ORDER BY {person}, {same}, {_SIDES}", schema, batches, alike)
    numbered = _number_equal_rows(alike, [*content, "person"], "again")
    wider = schema.append(pa.field("again", pa.int64()))
    order = f"{person}, hash('{key}', {same}, again), {same}, again"
    query_to_file(f"FROM rows ORDER BY {order}", wider, numbered, placed)
    alike.unlink()
    with pq.ParquetWriter(private_file(path), pa.schema(list(schema)[:-1])) as writer:
        for batch in _number_equal_rows(placed, ["person"], "place"):
            kept = batch.filter(pc.less(batch["place"], limit))
            writer.write(kept.select([*content, _SIDES]))
    placed.unlink()


def place_in_run(
    columns: list[pa.Array], before: tuple[list[Any], int] | None
) -> tuple[Integers, tuple[list[Any], int]]:
    """Number equal rows that follow one another, from 0.

    ``before`` is what the call on the rows before returned, so that a run may go on.

    Parameters
    ----------
    before
        What the call on the rows before returned, so that a run of equal rows goes on.

    Returns
    -------
        The number of each row, and what the next call takes as ``before``.

    Examples
    --------
    >>> places, last = place_in_run([pa.array(["a", "a", "b"])], None)
    >>> places.tolist(), place_in_run([pa.array(["b", "c"])], last)[0].tolist()
    ([0, 1, 0], [1, 0])
    """
    n = len(columns[0])
    starts = np.zeros(n, dtype=np.bool_)
    for column in columns:
        differs = pc.not_equal(column.slice(1), column.slice(0, n - 1))
        starts[1:] |= differs.to_numpy(zero_copy_only=False)
    # A run of equal rows may cross the border of two batches.
    goes_on = before is not None and before[0] == [column[0].as_py() for column in columns]
    starts[0] = not goes_on
    rows = np.arange(n)
    since = rows - np.maximum.accumulate(np.where(starts, rows, 0))
    if goes_on and before is not None:
        since[: np.argmax(starts) if starts.any() else n] += before[1] + 1
    return since, ([column[n - 1].as_py() for column in columns], int(since[-1]))


def _number_equal_rows(path: Path, alike: list[str], name: str) -> Iterator[pa.RecordBatch]:
    """Yield a sorted file with a column that numbers equal rows."""
    last: tuple[list[Any], int] | None = None
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for batch in file.iter_batches(_BATCH_ROWS):
            places, last = place_in_run([batch[column] for column in alike], last)
            yield batch.append_column(name, pa.array(places))
