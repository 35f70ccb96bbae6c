"""Counting rows by cell: the kernels, and the merging of sparse counts."""

from dataclasses import dataclass

import numpy as np

from shoal.domain import Partition, SparseCounts
from shoal.engine.rows import Block, Integers

__all__ = ["CellsOf", "OccupiedCells", "SparseMerge"]


@dataclass(frozen=True)
class CellsOf:
    """The cell of each row of a block."""

    partition: Partition

    def __call__(self, block: Block) -> Integers:
        """One key a row."""
        return self.partition.keys(block.numbers)


@dataclass(frozen=True)
class OccupiedCells:
    """The cells of a block that have any row, in rising order, and how many rows each."""

    partition: Partition

    def __call__(self, block: Block) -> tuple[Integers, Integers]:
        """Keys and counts."""
        return np.unique(self.partition.keys(block.numbers), return_counts=True)


class SparseMerge:
    """Sorted runs of (keys, counts), merged as they come.

    Each run is more than twice as long as the next, so a key is merged a logarithmic number of
    times and memory follows the number of occupied cells, not of rows.

    Examples
    --------
    >>> merge = SparseMerge()
    >>> merge.add(np.array([3, 8]), np.array([1, 2]))
    >>> merge.add(np.array([3]), np.array([5]))
    >>> merge.result(size=10).counts.tolist()
    [6, 2]
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Integers, Integers]] = []

    def add(self, keys: Integers, counts: Integers) -> None:
        """Take one more run; its keys rise strictly."""
        self._runs.append((keys, counts))
        while len(self._runs) > 1 and self._runs[-2][0].size <= 2 * self._runs[-1][0].size:
            self._merge_last_two()

    def result(self, size: int) -> SparseCounts:
        """All runs as one, over ``size`` cells."""
        while len(self._runs) > 1:
            self._merge_last_two()
        none = np.empty(0, dtype=np.int64)
        keys, counts = self._runs[0] if self._runs else (none, none)
        return SparseCounts(keys, counts, size)

    def _merge_last_two(self) -> None:
        # Into the longer run, array by array: never two copies of the whole at once.
        (keys, counts), (more, more_counts) = self._runs.pop(-2), self._runs.pop()
        at = np.searchsorted(keys, more)
        known = np.zeros(more.size, dtype=np.bool_)
        inside = at < keys.size
        known[inside] = keys[at[inside]] == more[inside]
        counts[at[known]] += more_counts[known]
        at, more, more_counts = at[~known], more[~known], more_counts[~known]
        keys = np.insert(keys, at, more)
        counts = np.insert(counts, at, more_counts)
        self._runs.append((keys, counts))
