"""Count rows by cell: the kernel, and the accumulation of sparse counts."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Integers
from shoal.domain import Partition, SparseCounts
from shoal.engine._rows import Block

_MOST_WAITING_KEYS = 2**21  # keys gathered before they are sorted together: 16 MiB


@dataclass(frozen=True)
class CellKeys:
    """A kernel that returns the cell of each row of a block."""

    partition: Partition

    def __call__(self, block: Block) -> Integers:
        """Return one key for each row."""
        return self.partition.keys(block.numbers)


class SparseTotal:
    """Accumulates counts of cell keys in memory that grows with the occupied cells only.

    New keys wait until there are many, or as many as cells counted, and are then sorted and merged
    at once: a merge reads no more than twice what waited, so time stays linear in the rows, and
    memory follows the number of occupied cells.

    Examples
    --------
    >>> total = SparseTotal()
    >>> total.add(np.array([8, 3, 8]))
    >>> total.add(np.array([3]))
    >>> total.result(size=10).counts.tolist()
    [2, 2]
    """

    def __init__(self) -> None:
        self._keys: Integers = np.empty(0, dtype=np.int64)
        self._counts: Integers = np.empty(0, dtype=np.int64)
        self._waiting: list[Integers] = []
        self._waiting_size = 0

    def add(self, keys: Integers) -> None:
        """Count one more for each of these keys."""
        self._waiting.append(keys)
        self._waiting_size += keys.size
        # Merging costs as much as the cells counted so far: it waits until as many keys have come.
        if self._waiting_size > max(_MOST_WAITING_KEYS, self._keys.size):
            self._merge()

    def result(self, size: int) -> SparseCounts:
        """Return the counts so far."""
        if self._waiting:
            self._merge()
        return SparseCounts(self._keys, self._counts, size)

    def _merge(self) -> None:
        """Merge the waiting keys into the sorted ones."""
        keys, counts = self._sorted_waiting()
        at = np.searchsorted(self._keys, keys)
        known = at < self._keys.size
        known[known] = self._keys[at[known]] == keys[known]
        self._counts[at[known]] += counts[known]
        # One array after the other: never two copies of everything at once.
        at, keys, counts = at[~known], keys[~known], counts[~known]
        self._keys = np.insert(self._keys, at, keys)
        self._counts = np.insert(self._counts, at, counts)

    def _sorted_waiting(self) -> tuple[Integers, Integers]:
        keys = np.concatenate(self._waiting)
        self._waiting, self._waiting_size = [], 0
        return np.unique(keys, return_counts=True)
