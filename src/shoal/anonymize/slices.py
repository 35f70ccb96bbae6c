"""Classes as slices of an order of lines, and how a slice falls apart into cells."""

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cells", "Slices", "by_cell", "cells", "ranges"]

Ints = NDArray[np.int64]

_RADIX = 2**16


class Slices(NamedTuple):
    """Classes: where each begins in ``order``, how many lines and people, its node on each QID.

    Shapes are (classes,), and (classes, d) for ``node``, which holds places.
    """

    start: Ints
    length: Ints
    people: Ints
    node: NDArray[np.int32]

    def take(self, which: NDArray[Any]) -> "Slices":
        """Some of them, by mask or number."""
        return Slices(*(part[which] for part in cast("tuple[NDArray[Any], ...]", self)))

    def put(self, slots: Ints, new: "Slices") -> None:
        """Write others into these slots."""
        for part, values in zip(cast("tuple[NDArray[Any], ...]", self), new, strict=True):
            part[slots] = values

    @classmethod
    def room(cls, count: int, d: int) -> "Slices":
        """Free slots."""
        start, length, people = np.zeros((3, count), dtype=np.int64)
        return cls(start, length, people, np.full((count, d), -1, dtype=np.int32))


def ranges(start: Ints, length: Ints) -> Ints:
    """The positions of slices, one after another.

    Examples
    --------
    >>> ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(int(length.sum()))


class Cells(NamedTuple):
    """Parts of classes, those of one class together and in the order of the children.

    ``of``: the cell of each line. ``parent``, ``rank``: of each cell the number of its class, and
    that of the child. ``first``: of each class its first cell.
    """

    of: Ints
    parent: Ints
    rank: Ints
    first: Ints

    @property
    def size(self) -> int:
        """How many cells."""
        return len(self.parent)


def cells(owner: Ints, rank: NDArray[np.int32], fanout: Ints) -> Cells:
    """Divide classes by the children of their nodes.

    Parameters
    ----------
    owner, rank
        For each line its class, and the child below which it lies.
    fanout
        For each class how many children there are. A child with no line may be left out.

    Examples
    --------
    >>> rank = np.array([1, 0, 1], dtype=np.int32)
    >>> cells(np.array([0, 0, 1]), rank, np.array([2, 3])).of.tolist()
    [1, 0, 3]
    """
    end = np.cumsum(fanout)
    begin = end - fanout
    cell = begin[owner] + rank
    present = np.arange(end[-1])
    if len(present) > 8 * len(cell) + 1024:  # far more children than lines
        present, cell = np.unique(cell, return_inverse=True)
    parent = np.searchsorted(end, present, side="right")
    first = np.searchsorted(present, begin)
    return Cells(cell, parent, present - begin[parent], first)


def by_cell(cell: Ints, size: int) -> Ints:
    """The order that brings equal cells together, lines of a cell as they were.

    NumPy sorts 16 bits by counting, several times faster than it sorts wider numbers.
    """
    order = np.argsort((cell % _RADIX).astype(np.uint16), kind="stable")
    if size > _RADIX:
        order = order[np.argsort((cell // _RADIX)[order], kind="stable")]
    return order
