"""What reads rows, block by block: labels, distances, and sums by cluster and ring.

A row gets the same answer wherever it stands in its table. Workers import this module, so it needs
NumPy alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import Box, View
from shoal.engine import Block

LATTICE = 2**16
CANDIDATES = 24  # radii from the longest distance down, each 1/sqrt(2) of the one before
RINGS = 2 * CANDIDATES  # two to a candidate, so that a clip 2^(1/4) above it is an edge too
_MANTISSA_BITS, _EXPONENT_OF_ONE = 52, 1023  # of a float64
_ROW_STEPS = 2.0**22
_CENTRE_STEPS = 2.0**21
_LENGTHS = 2**16  # distances of rows to centres that do so while they are compared


@dataclass(frozen=True)
class Cube:
    """Rows with their box scaled to [-1, 1]^d, every number a multiple of 2^-22.

    Examples
    --------
    >>> Cube(Box(age=(0, 100))).columns(np.array([[0.0], [75.0]])).tolist()
    [[-1.0, 0.5]]
    """

    box: Box

    def columns(self, numbers: Floats) -> Floats:
        """One line a column, one entry a row."""
        middle, half = (self.box.low + self.box.high) / 2, (self.box.high - self.box.low) / 2
        scaled: Floats = np.subtract(numbers.T, middle[:, None], order="C")  # a copy
        scaled *= (_ROW_STEPS / half)[:, None]
        np.clip(scaled, -_ROW_STEPS, _ROW_STEPS, out=scaled)
        np.rint(scaled, out=scaled)
        scaled *= 1 / _ROW_STEPS
        return scaled


@dataclass(frozen=True, eq=False)
class ViewedCube:
    """Rows as a view sees them, every number a multiple of 2^-22."""

    view: View

    def columns(self, numbers: Floats) -> Floats:
        """One line an axis of the view, one entry a row."""
        viewed: Floats = self.view.apply(numbers).T  # a line an axis, in one piece of memory
        viewed *= _ROW_STEPS
        np.rint(viewed, out=viewed)
        viewed *= 1 / _ROW_STEPS
        return viewed


@dataclass(frozen=True, init=False, eq=False)
class Nearest:
    """Labels rows by their nearest centre; of centres equally near, by the first.

    Centres are rounded to multiples of 2^-21. With rows on multiples of 2^-22, in at most 256
    columns, every product and partial sum below is a multiple of 2^-43 under 2^10, so a float64
    holds it exactly: the label does not depend on the order in which a machine adds, nor on the
    rows beside.

    Examples
    --------
    >>> Nearest([[-1.0], [1.0]]).labels(np.array([[-0.5, 0.0, 0.25]])).tolist()
    [0, 0, 1]
    """

    centers: Floats

    def __init__(self, centers: ArrayLike) -> None:
        rounded = np.rint(np.asarray(centers, dtype=np.float64) * _CENTRE_STEPS) / _CENTRE_STEPS
        object.__setattr__(self, "centers", np.clip(rounded, -1, 1))

    def labels_of_points(self, points: Floats) -> Integers:
        """One label a point, a line each: middles of cells, which are no rows."""
        return self.labels(np.ascontiguousarray(points.T))

    def labels(self, columns: Floats) -> Integers:
        """One label a row; ``columns`` as from a cube."""
        n, k = columns.shape[1], len(self.centers)
        labels = np.zeros(n, dtype=np.int64)
        if k == 1:
            return labels
        # |x - c|^2 / 2 without |x|^2 / 2, which is the same for every centre. The nearest are told
        # by comparing with the least, and the first of them by its rank: faster than argmin.
        halves = (self.centers**2).sum(axis=1)[:, None] / 2
        ranks = np.arange(k, 0, -1, dtype=np.int8 if k < 128 else np.int64)[:, None]
        size = max(256, _LENGTHS // k)
        lengths, ranked = np.empty((k, size)), np.empty((k, size), dtype=ranks.dtype)  # used again
        for start in range(0, n, size):
            part = columns[:, start : start + size]
            each, rank = lengths[:, : part.shape[1]], ranked[:, : part.shape[1]]
            np.matmul(self.centers, part, out=each)
            np.subtract(halves, each, out=each)
            np.multiply(each == each.min(axis=0), ranks, out=rank)
            labels[start : start + size] = k - rank.max(axis=0)
        return labels


@dataclass(frozen=True, eq=False)
class Labels:
    """The nearest centre of each row."""

    cube: Cube
    nearest: Nearest

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """One column."""
        return [self.nearest.labels(self.cube.columns(block.numbers))]


@dataclass(frozen=True, eq=False)
class Distances:
    """The distance of each row to each centre, in the box scaled to [-1, 1]^d."""

    cube: Cube
    centers: Floats

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """A column a centre."""
        columns = self.cube.columns(block.numbers)
        return [np.sqrt(((columns - center[:, None]) ** 2).sum(axis=0)) for center in self.centers]


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The squared distances of rows to their nearest centres, summed, in whole steps.

    Examples
    --------
    >>> block = Block(np.array([[0.0], [2.0], [10.0]]), np.empty((3, 0), dtype=np.int32))
    >>> LeastSquares(np.array([2.0]), np.array([[0.0], [4.0]]), 8)(block)[0].tolist()
    [16]
    """

    units: Floats
    centers: Floats
    steps: float

    def __call__(self, block: Block) -> tuple[Integers]:
        """One number."""
        scaled = block.numbers / self.units
        squares = np.min([((scaled - each) ** 2).sum(axis=1) for each in self.centers], axis=0)
        return (np.rint(squares * self.steps).astype(np.int64).sum(keepdims=True),)


@dataclass(frozen=True, eq=False)
class RingSums:
    """For every cluster and ring: rows, and the sum of their offsets from the centre.

    Ring q holds rows at distances in (reach 2^(-(q+1)/4), reach 2^(-q/4)] from their centre; the
    last holds all that are nearer. Whatever radius is drawn later, offsets are cut to it by
    dividing the sum of each ring beyond by that ring's outer edge.

    Parameters
    ----------
    cube, centers
        Where rows and centres lie in [-1, 1]^d.
    labelled_in
        Where rows are looked at to be labelled, if not in the cube.
    halved_axes
        How many axes of what they are looked at in part each cluster's rows: by their signs, in
        2^halved_axes parts that follow each other.
    """

    cube: Cube
    centers: Floats
    nearest: Nearest
    reach: float
    labelled_in: ViewedCube | None = None
    halved_axes: int = 0

    def __call__(self, block: Block) -> tuple[Integers, Integers]:
        """Arrays (cluster or part, ring) and (cluster or part, ring, axis), on the lattice."""
        columns = self.cube.columns(block.numbers)
        places = columns if self.labelled_in is None else self.labelled_in.columns(block.numbers)
        labels = parts = self.nearest.labels(places)  # [P1] by the row and what was released
        for axis in places[: self.halved_axes]:
            parts = 2 * parts + (axis > 0)
        squares = self._to_offsets(columns, labels)
        keys = parts * RINGS + ring_numbers(squares, self.reach)  # [P2]
        columns *= LATTICE
        np.trunc(columns, out=columns)  # [P3] whole numbers, which floats add exactly up to 2^53
        k, d = len(self.centers) * 2**self.halved_axes, len(columns)
        sums = np.empty((k * RINGS, d), dtype=np.int64)
        for axis, offsets in enumerate(columns):
            sums[:, axis] = np.bincount(keys, offsets, k * RINGS)
        counts = np.bincount(keys, minlength=k * RINGS).astype(np.int64).reshape(k, RINGS)
        return counts, sums.reshape(k, RINGS, d)

    def _to_offsets(self, columns: Floats, labels: Integers) -> Floats:
        """Turn rows into offsets from their centres, in place; the squared lengths."""
        squares = np.zeros(columns.shape[1])
        alone = len(self.centers) == 1
        for column, middles in zip(columns, self.centers.T, strict=True):  # in one order
            np.subtract(column, middles if alone else middles.take(labels), out=column)
            squares += column * column
        return squares


@dataclass(frozen=True, eq=False)
class BeyondSides:
    """Two cells of the box: a cube about a centre, and all that lies beyond one of its sides.

    Parameters
    ----------
    center, half
        The cube's middle, in [-1, 1]^d, and half its side; released.

    Examples
    --------
    >>> BeyondSides(Box.unit(2), np.zeros(2), 0.5).keys([[0.5, 0.9], [0.5, 0.6]]).tolist()
    [1, 0]
    """

    box: Box
    center: Floats
    half: float
    size = 2

    def keys(self, X: ArrayLike) -> Integers:
        """1 for each row beyond, else 0."""
        columns = Cube(self.box).columns(np.asarray(X, dtype=np.float64))
        beyond = np.zeros(columns.shape[1], dtype=np.bool_)
        for column, middle in zip(columns, Nearest([self.center]).centers[0], strict=True):
            beyond |= np.abs(column - middle) > self.half  # [P4]
        return beyond.astype(np.int64)


def ring_numbers(squares: Floats, reach: float) -> Integers:
    """The ring of each squared distance: floor(4 log2(reach / distance)), from a float's bits.

    Examples
    --------
    >>> ring_numbers(np.array([4.0, 1.0, 0.0]), reach=2.0).tolist()
    [0, 4, 47]
    """
    ratio: Floats = reach**2 / np.maximum(squares, reach**2 * 2.0**-CANDIDATES)
    ratio *= ratio  # whose power of two, in the bits of its exponent, is the ring
    rings: Integers = ratio.view(np.int64)
    rings >>= _MANTISSA_BITS
    rings -= _EXPONENT_OF_ONE
    return np.clip(rings, 0, RINGS - 1, out=rings)


def clip_radius(picks: Integers, reach: float) -> Floats:
    """Where offsets are cut: 2^(1/4) times each candidate."""
    return np.asarray(reach * 2.0 ** (0.25 - np.asarray(picks) / 2))


def ring_edges(reach: float) -> Floats:
    """The outer edge of each ring.

    Examples
    --------
    >>> ring_edges(2.0)[:5:4].tolist()
    [2.0, 1.0]
    """
    return np.asarray(reach * 2.0 ** (-np.arange(RINGS) / 4))
