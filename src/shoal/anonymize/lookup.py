"""Find rows of numbers among known ones, exactly, millions at a time."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lookup"]

_RADIX = 2**62
_TABLE = 2**22  # so many places are cheaper to list than to search
Ints = NDArray[np.int64]


class Lookup:
    """The place of a row among known rows, -1 if it is none of them.

    Rows are packed into one number each, column after column; where that would overflow, the
    numbers so far are replaced by their rank among those known. Nothing is hashed: two rows that
    differ never meet.

    Parameters
    ----------
    known
        (rows, columns) of whole numbers from 0 up, each row once.

    Examples
    --------
    >>> lookup = Lookup(np.array([[3, 1], [0, 2]]))
    >>> lookup.find([np.array([0, 3, 3]), np.array([2, 1, 2])]).tolist()
    [1, 0, -1]
    """

    def __init__(self, known: NDArray[np.integer]) -> None:
        self._sizes = [int(column.max(initial=0)) + 1 for column in known.T]
        self._ranks: dict[int, Ints] = {}
        packed, radix = np.zeros(len(known), dtype=np.int64), 1
        for at, column in enumerate(known.T):
            if radix * self._sizes[at] > _RADIX:
                self._ranks[at], packed = np.unique(packed, return_inverse=True)
                radix = len(self._ranks[at])
            packed, radix = packed * self._sizes[at] + column, radix * self._sizes[at]
        self._order = np.argsort(packed)
        self._packed = packed[self._order]
        self._table = self._listed(radix) if radix <= _TABLE else None

    def find(self, columns: Sequence[NDArray[np.integer]]) -> Ints:
        """The place of each row, its columns given one by one; negative numbers are unknown."""
        packed = np.zeros(len(columns[0]), dtype=np.int64)
        unknown = np.zeros(len(packed), dtype=bool)
        for at, (column, size) in enumerate(zip(columns, self._sizes, strict=True)):
            if at in self._ranks:
                packed, strange = _found(self._ranks[at], packed)
                unknown |= strange
            if column.size and (column.min() < 0 or column.max() >= size):
                unknown |= (column < 0) | (column >= size)
            packed *= size
            packed += column
        return self._places(packed, unknown)

    def _listed(self, radix: int) -> Ints:
        table = np.full(radix, -1, dtype=np.int64)
        table[self._packed] = self._order
        return table

    def _places(self, packed: Ints, unknown: NDArray[np.bool_]) -> Ints:
        packed[unknown] = 0
        if self._table is not None:
            places = self._table[packed]
        else:
            at, strange = _found(self._packed, packed)
            places = self._order[at]
            places[strange] = -1
        places[unknown] = -1
        return places


def _found(known: Ints, numbers: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """The rank of each number among known ones, and which are none of them."""
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return at, known[at] != numbers
