"""Sums of rows by cluster and ring: all that any radius could need, in one pass."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.kmeans.nearest import Cube, LabelArray, Nearest, ViewedCube
from shoal.domain.box import Matrix
from shoal.engine.rows import Block

__all__ = ["CANDIDATES", "LATTICE", "RingSums", "clip_radius", "rings_of", "within_clip"]

Integers = NDArray[np.int64]
LATTICE = 2**16
CANDIDATES = 24  # radii from the longest distance down, each 1/sqrt(2) of the one before
RINGS = 2 * CANDIDATES  # two to a candidate, so that a clip 2^(1/4) above it is an edge too
_HALF_STEP = math.sqrt(0.5)


@dataclass(frozen=True, eq=False)
class RingSums:
    """For every cluster and ring: rows, the sum of their offsets, and of offsets of length 1.

    Ring q holds rows at distances in (reach 2^(-(q+1)/4), reach 2^(-q/4)] from their centre; the
    last holds all that are nearer. Whatever radius is drawn later, the sum of offsets cut to it
    is the first sums of the rings within and radius times the second sums of those beyond.

    Parameters
    ----------
    cube, centers
        Where rows and centres lie in [-1, 1]^d.
    nearest
        Labels rows.
    reach
        The longest distance there can be.
    seen
        Where rows are looked at to be labelled, if not in the cube.
    """

    cube: Cube
    centers: Matrix
    nearest: Nearest
    reach: float
    seen: ViewedCube | None = None

    def __call__(self, block: Block) -> tuple[Integers, Integers, Integers]:
        """Arrays (cluster, ring) and twice (cluster, ring, axis), on the lattice."""
        columns = self.cube.columns(block.numbers)
        looks = columns if self.seen is None else self.seen.columns(block.numbers)
        labels = self.nearest.labels(looks)  # [P1] by the row and what was released
        squares = self._to_offsets(columns, labels)
        keys = labels * RINGS + rings_of(squares, self.reach)  # [P2]
        k, d = self.centers.shape
        inner, outer = np.empty((d, k * RINGS)), np.empty((d, k * RINGS))
        scale = LATTICE / np.sqrt(np.maximum(squares, np.finfo(float).tiny))
        for axis, offsets in enumerate(columns):
            inner[axis] = _added(keys, offsets * LATTICE, k)  # [P3]
            outer[axis] = _added(keys, offsets * scale, k)  # [P4]
        counts = np.bincount(keys, minlength=k * RINGS).astype(np.int64).reshape(k, RINGS)
        return counts, _by_cluster(inner, k), _by_cluster(outer, k)

    def _to_offsets(self, columns: Matrix, labels: LabelArray) -> Matrix:
        """Turn rows into offsets from their centres, in place; the squared lengths."""
        squares = np.zeros(columns.shape[1])
        for column, middles in zip(columns, self.centers.T, strict=True):  # in one order
            np.subtract(column, middles.take(labels), out=column)
            squares += column * column
        return squares


def rings_of(squares: Matrix, reach: float) -> Integers:
    """The ring of each squared distance: floor(4 log2(reach / distance)), from the float's bits.

    Examples
    --------
    >>> rings_of(np.array([4.0, 1.0, 0.0]), reach=2.0).tolist()
    [0, 4, 47]
    """
    ratio = reach**2 / np.maximum(squares, reach**2 * 2.0**-CANDIDATES)
    fraction, exponent = np.frexp(ratio)
    rings = 2 * (exponent.astype(np.int64) - 1) + (fraction >= _HALF_STEP)
    return np.clip(rings, 0, RINGS - 1)


def clip_radius(pick: int, reach: float) -> float:
    """Where offsets are cut: 2^(1/4) times the candidate."""
    return float(reach * 2.0 ** (0.25 - pick / 2))


def within_clip(pick: int) -> int:
    """The first ring that lies within the clip of a candidate."""
    return max(0, 2 * pick - 1)


def _added(keys: Integers, values: Matrix, k: int) -> Matrix:
    """Sums by key of values cut to whole numbers, which floats add exactly up to 2^53."""
    return np.bincount(keys, np.trunc(values, out=values), k * RINGS).astype(np.float64, copy=False)


def _by_cluster(sums: Matrix, k: int) -> Integers:
    """From a line an axis to an array (cluster, ring, axis)."""
    return np.ascontiguousarray(sums.T).astype(np.int64).reshape(k, RINGS, -1)
