"""Spark tasks that add up a partition with the embedded engine's kernels.

A task adds up what it reads and returns pairs of whole numbers (key, amount); Spark adds up the
amounts of equal keys. The result does not depend on which attempt of a task succeeds, on the order
of tasks, or on how rows are spread over partitions: integers add up the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from shoal.arrays import Integers
from shoal.data.untyped_cells import Cells, field_of_cells
from shoal.domain import Partition
from shoal.engine._counting import CellKeys, SparseTotal
from shoal.engine._people import LimitedRows
from shoal.engine._rows import Block, Kernel, Tally, add_checked, integers_of
from shoal.engine.local import BLOCK_ROWS
from shoal.engine.row_screening import Screen
from shoal.engine.spark._failures import translate_errors
from shoal.engine.spark._schema import cells_of_columns, quote_name
from shoal.errors import ShoalError

Pairs = tuple[Integers, Integers]
_TALLY_FIELDS = ("read", "admitted", "nonfinite", "outside", "nobody", "moved")  # at -1, -2, ...
PROBLEM = -1 - len(_TALLY_FIELDS)  # tasks that met what shoal refuses
_FIRST_COLUMN_KEY = PROBLEM - 1  # from here down: columns with odd values

Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_MOST_DENSE_CELLS = 2**22  # cells that a task counts in an array: 32 MiB
_PAIRS_A_BATCH = 2**18  # that leave a task at a time


def tally_pairs(tally: Tally, columns: Sequence[str]) -> Pairs:
    """Return a partition's tally as pairs, at keys below 0.

    Examples
    --------
    >>> keys, values = tally_pairs(Tally(read=9, admitted=9), ["age"])
    >>> keys.tolist(), values.tolist()
    ([-1, -2, -3, -4, -5, -6, -8, -9], [9, 9, 0, 0, 0, 0, 0, 0])
    """
    odd = [name in tally.nonfinite_columns for name in columns]
    odd += [name in tally.outside_columns for name in columns]
    values = [*(getattr(tally, name) for name in _TALLY_FIELDS), *map(int, odd)]
    keys = [
        *(-1 - i for i in range(len(_TALLY_FIELDS))),
        *(_FIRST_COLUMN_KEY - i for i in range(len(odd))),
    ]
    return np.array(keys, dtype=np.int64), np.array(values, dtype=np.int64)


class PartitionSums:
    """The sums over all partitions, as Spark returned them."""

    def __init__(self, table: pa.Table) -> None:
        keys, values = (column.to_numpy() for column in table.columns)
        order = np.argsort(keys)
        self._keys, self._values = keys[order], values[order]
        self._first = int(np.searchsorted(self._keys, 0))
        self._below_zero = dict(
            zip(keys[keys < 0].tolist(), values[keys < 0].tolist(), strict=True)
        )

    @property
    def problem(self) -> bool:
        """Whether a task met an error of shoal's."""
        return PROBLEM in self._below_zero

    def tally(self, columns: Sequence[str]) -> Tally:
        """Return the tally of all partitions."""
        counted = {name: self._below_zero.get(-1 - i, 0) for i, name in enumerate(_TALLY_FIELDS)}
        odd = [self._below_zero.get(_FIRST_COLUMN_KEY - i, 0) > 0 for i in range(2 * len(columns))]
        nonfinite = frozenset(name for name, is_odd in zip(columns, odd, strict=False) if is_odd)
        outside = zip(columns, odd[len(columns) :], strict=True)
        beyond = frozenset(name for name, is_odd in outside if is_odd)
        return Tally(**counted, nonfinite_columns=nonfinite, outside_columns=beyond)

    def sparse(self) -> Pairs:
        """Return the keys from 0 with an amount that is not 0, rising, and the amounts."""
        return self._keys[self._first :], self._values[self._first :]

    def dense(self, size: int) -> Integers:
        """Return an amount for each key."""
        keys, values = self.sparse()
        total = np.zeros(size, dtype=np.int64)
        total[keys] = values
        return total


class PartitionTotals(Protocol):
    """Accumulates the totals of one partition."""

    def add(self, block: Block) -> None:
        """Add the rows of a block."""

    def pairs(self) -> Pairs:
        """Return keys from 0 up, and the amount at each that is not 0."""


class Aggregation(Protocol):
    """What a pass adds up; it is sent to the workers."""

    def begin(self) -> PartitionTotals:
        """Return totals of no rows."""


@dataclass(frozen=True)
class TallyOnly:
    """An aggregation that adds up nothing but the tally."""

    def begin(self) -> "TallyOnly":
        """Return itself: there is nothing to remember."""
        return self

    def add(self, block: Block) -> None:
        """Do nothing: rows are counted by the screen."""

    def pairs(self) -> Pairs:
        """Return no pairs."""
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SumKernel:
    """An aggregation that adds up a kernel's arrays, one after the other."""

    kernel: Kernel
    empty: Block

    def begin(self) -> "_Summing":
        """Return zeros of the kernel's shapes."""
        return _Summing(self.kernel, self.empty)


class _Summing:
    def __init__(self, kernel: Kernel, empty: Block) -> None:
        self._kernel = kernel
        self._totals = tuple(np.zeros_like(part) for part in integers_of(kernel(empty)))

    def add(self, block: Block) -> None:
        add_checked(self._totals, integers_of(self._kernel(block)))

    def pairs(self) -> Pairs:
        flat = np.concatenate([np.empty(0, np.int64), *(part.ravel() for part in self._totals)])
        places = np.flatnonzero(flat)
        return places, flat[places]


@dataclass(frozen=True, eq=False)
class CountCells:
    """An aggregation that counts rows by cell."""

    partition: Partition

    def begin(self) -> PartitionTotals:
        """Return an array of all cells, or sparse counts if that would be too large."""
        few = self.partition.size <= _MOST_DENSE_CELLS
        return _Dense(self.partition) if few else _Sparse(self.partition)


class _Dense:
    def __init__(self, partition: Partition) -> None:
        self._cells = CellKeys(partition)
        self._total = np.zeros(partition.size, dtype=np.int64)

    def add(self, block: Block) -> None:
        np.add.at(self._total, self._cells(block), 1)

    def pairs(self) -> Pairs:
        places = np.flatnonzero(self._total)
        return places, self._total[places]


class _Sparse:
    def __init__(self, partition: Partition) -> None:
        self._cells = CellKeys(partition)
        self._size = partition.size
        self._total = SparseTotal()

    def add(self, block: Block) -> None:
        self._total.add(self._cells(block))

    def pairs(self) -> Pairs:
        cells = self._total.result(self._size)
        return cells.keys, cells.counts


@dataclass(frozen=True, eq=False)
class PassTask:
    """A task of one pass: its tally as pairs below 0, its totals as pairs from 0.

    What shoal would raise becomes a pair too, and `ErrorTexts` gives its text: an exception
    would be tried again, three times, and come out as a traceback.
    """

    screen: Screen
    screen_batch: Screen | LimitedRows
    work: Aggregation

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the partition, then yield its pairs."""
        try:
            keys, values = hide_error_text(self._add_up, batches)
        except ShoalError:
            keys, values = np.array([PROBLEM]), np.array([1])
        for start in range(0, len(keys), _PAIRS_A_BATCH):
            part = slice(start, start + _PAIRS_A_BATCH)
            yield pa.record_batch({"key": keys[part], "value": values[part]})

    def _add_up(self, batches: Iterable[pa.RecordBatch]) -> Pairs:
        total, adding = Tally(), self.work.begin()
        for batch in merge_batches(batches):
            screened = self.screen_batch(batch)
            total += screened.tally
            if not self.screen.refuses(total):  # what is refused is counted, and not computed with
                adding.add(screened.block)
        # One table for both: the tally at keys below 0, so that one job returns all.
        tally, added = tally_pairs(total, self.screen.numbers), adding.pairs()
        return np.concatenate([tally[0], added[0]]), np.concatenate([tally[1], added[1]])


@dataclass(frozen=True, eq=False)
class ErrorTexts:
    """A task that returns the error shoal raises on this partition, as text."""

    of: PassTask

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the error as text, which holds no value of a row."""
        try:
            hide_error_text(self.of._add_up, batches)
        except ShoalError as error:
            yield pa.record_batch({"error": [error.to_literal()]})


def map_partitions(frame: Any, columns: Sequence[str], task: Task, schema: Any) -> Any:
    """Return the frame of what a task computes of these columns, whatever their names.

    Spark itself takes a dot in a name for a part of a part, so they travel under plain names.
    """
    plain = [f"c{i}" for i in range(len(columns))]
    with translate_errors("choosing columns"):  # two that differ in capitals alone are one to Spark
        picked = frame.select(*map(quote_name, columns)).toDF(*plain)
        return picked.mapInArrow(_WithNames(cells_of_columns(frame, columns), task), schema)


@dataclass(frozen=True, eq=False)
class _WithNames:
    """A task that gives the columns back their own names, and marks those without a type."""

    cells: Mapping[str, Cells]
    task: Task

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from self.task(map(self._named, batches))

    def _named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = zip(self.cells.items(), batch.schema.types, strict=True)
        fields = [field_of_cells(name, kind, cells) for (name, cells), kind in columns]
        return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))


def merge_batches(
    batches: Iterable[pa.RecordBatch], rows: int = BLOCK_ROWS
) -> Iterator[pa.RecordBatch]:
    """Merge small batches to blocks of at least ``rows`` rows, for fewer kernel calls.

    Examples
    --------
    >>> parts = [pa.record_batch({"x": [i] * 3}) for i in range(3)]
    >>> [batch.num_rows for batch in merge_batches(parts, rows=5)]
    [6, 3]
    """
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= rows:
            yield _concatenate(waiting)
            waiting = []
    if waiting:
        yield _concatenate(waiting)


def _concatenate(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    return parts[0] if len(parts) == 1 else pa.concat_batches(parts)


def hide_error_text(work: Any, *arguments: Any) -> Any:
    """Call a function; errors of libraries lose their text, which may quote rows."""
    try:
        return work(*arguments)
    except ShoalError:
        raise
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__} in a task; its words may quote rows") from None
