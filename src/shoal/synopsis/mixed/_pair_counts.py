"""Count every column and every pair of columns of a mixed table, in one pass."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.arrays import Integers
from shoal.engine import Block
from shoal.synopsis.mixed._columns import MixedColumns

MOST_CELLS = 2_000_000  # of all tables together: 16 MB on the driver, whatever the rows
_FINEST = 32
_COARSEST = 4


@dataclass(frozen=True)
class PairCounts:
    """A kernel that counts columns and pairs of columns."""

    columns: MixedColumns
    bins: int
    pairs: tuple[tuple[int, int], ...]

    def __call__(self, block: Block) -> tuple[Integers, ...]:
        """Return the counts of a block: columns first, then pairs, one after the other."""
        codes, sizes = self.columns.binned(block, self.bins), self.columns.sizes(self.bins)
        counts = [np.bincount(c, minlength=m) for c, m in zip(codes, sizes, strict=True)]
        for i, j in self.pairs:
            joint = codes[i] * sizes[j] + codes[j]
            counts.append(np.bincount(joint, minlength=sizes[i] * sizes[j]))
        return (np.concatenate(counts).astype(np.int64),)

    def unpacked(self, flat: Integers) -> "ExactCounts":
        """Return the sums of the kernel as counts of columns and tables."""
        sizes = self.columns.sizes(self.bins)
        shapes = [(m,) for m in sizes] + [(sizes[i], sizes[j]) for i, j in self.pairs]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        parts = [
            flat[start:end].reshape(shape)
            for start, end, shape in zip(ends[:-1], ends[1:], shapes, strict=True)
        ]
        d = self.columns.d
        return ExactCounts(
            self.columns, self.bins, tuple(parts[:d]), dict(zip(self.pairs, parts[d:], strict=True))
        )


@dataclass(frozen=True, eq=False)
class ExactCounts:
    """Exact counts, for mechanisms to noise; never to be released as they are.

    Parameters
    ----------
    columns
        The columns.
    bins
        How many bins a number has.
    one_ways
        The counts of each column.
    tables
        The counts of each pair.
    """

    columns: MixedColumns
    bins: int
    one_ways: tuple[Integers, ...]
    tables: dict[tuple[int, int], Integers]

    def coarsened(self, bins: int) -> "ExactCounts":
        """Return the same with fewer bins a number: a power of two that divides these."""
        times = [self.bins // bins if is_number else 1 for is_number in self._are_plain_numbers()]
        one_ways = tuple(_merged(c, 0, t) for c, t in zip(self.one_ways, times, strict=True))
        tables = {
            (i, j): _merged(_merged(table, 0, times[i]), 1, times[j])
            for (i, j), table in self.tables.items()
        }
        return ExactCounts(self.columns, bins, one_ways, tables)

    def _are_plain_numbers(self) -> list[bool]:
        numbers = [not column.levels for column in self.columns.numbers]
        return numbers + [False] * len(self.columns.categories)


def pair_counts(columns: MixedColumns) -> PairCounts:
    """Return the kernel for these columns: as fine as memory allows, decided by the schema
    alone.
    """
    pairs = tuple(combinations(range(columns.d), 2))
    bins = _FINEST
    while bins > _COARSEST and _cells(columns, bins, pairs) > MOST_CELLS:
        bins //= 2
    return PairCounts(columns, bins, tuple(sorted(_smallest(columns, bins, pairs))))


def _cells(columns: MixedColumns, bins: int, pairs: tuple[tuple[int, int], ...]) -> int:
    sizes = columns.sizes(bins)
    return sum(sizes[i] * sizes[j] for i, j in pairs)


def _smallest(
    columns: MixedColumns, bins: int, pairs: tuple[tuple[int, int], ...]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs with the smallest tables, as many as fit."""
    sizes, cells = columns.sizes(bins), 0
    for i, j in sorted(pairs, key=lambda pair: (sizes[pair[0]] * sizes[pair[1]], pair)):
        cells += sizes[i] * sizes[j]
        if cells > MOST_CELLS:
            return
        yield i, j


def _merged(counts: Integers, axis: int, times: int) -> Integers:
    """Add up neighbouring bins along an axis."""
    if times == 1:
        return counts
    shape = [*counts.shape]
    shape[axis : axis + 1] = [shape[axis] // times, times]
    return np.asarray(counts.reshape(shape).sum(axis=axis + 1))
