"""Steps towards noisy means: a radius, then one noisy vector a cluster."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.kmeans.kernels import (
    CANDIDATES,
    LATTICE,
    Cube,
    Nearest,
    RingSums,
    ViewedCube,
    clip_radius,
    ring_edges,
)
from shoal.cluster.noise_sum import NoiseSum
from shoal.domain import View
from shoal.domain.box import Matrix
from shoal.estimator import Spending
from shoal.mechanisms import Choices, Exponential, Gaussian, KNorm
from shoal.privacy import ApproxDP, PureDP

__all__ = [
    "Means",
    "Rings",
    "candidate_radii",
    "longest_move",
    "move_to_means",
    "pick_radius",
    "read_rings",
]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rings:
    """What a pass added up, about which centres: as sensitive as rows."""

    centers: Matrix
    counts: Integers
    offsets: Integers
    reach: float

    def scores(self) -> Integers:
        """How near each candidate radius is to holding half of the rows."""
        outermost_first = self.counts.sum(axis=0).reshape(CANDIDATES, -1).sum(axis=1)
        within = np.cumsum(outermost_first[::-1])[::-1]
        scores: Integers = -np.abs(2 * within - within[0])  # [P1]
        return scores

    def clipped(self, pick: int, unit: int) -> Integers:
        """A vector a cluster: offsets cut to the radius, over it, and ``unit`` for each row."""
        lengths = np.maximum(ring_edges(self.reach), clip_radius(pick, self.reach))
        sums = (self.offsets / lengths[:, None]).sum(axis=1)
        return np.column_stack([np.rint(sums).astype(np.int64), self.counts.sum(axis=1) * unit])


@dataclass(frozen=True, eq=False)
class Means:
    """Released: where the centres went, how many rows each has, how far noise moved each.

    Sizes are as they came out, below 0 where noise alone was counted; means divide by no less than
    two deviations of their noise.
    """

    centers: Matrix
    sizes: NDArray[np.float64]
    excess: NDArray[np.float64]  # sizes less their noise's deviation; 0 where they drown in it
    errors: NDArray[np.float64]
    noise: NoiseSum  # in each of the sizes


def read_rings(
    spending: Spending,
    centers: Matrix,
    labelled_by: Nearest | None = None,
    view: View | None = None,
    *,
    reach: float | None = None,
) -> Rings:
    """Add up the rows about each centre, in one pass.

    Parameters
    ----------
    spending
        Whose rows.
    centers
        In [-1, 1]^d.
    labelled_by
        Where a view shows the centres, if rows are to be labelled in it; else by the centres.
    view
        That view.
    reach
        The longest distance there can be; that of two corners if left out.
    """
    nearest = Nearest(centers)  # on the lattice
    about = nearest.centers
    longest = 2 * math.sqrt(about.shape[1]) if reach is None else reach
    labelled_in = None if labelled_by is None or view is None else ViewedCube(view)
    kernel = RingSums(Cube(spending.box), about, labelled_by or nearest, longest, labelled_in)
    counts, offsets = spending.sum(kernel)
    return Rings(about, counts, offsets, longest)


def pick_radius(
    rings: Rings, spending: Spending, *, guess: float, trust: float = 2.0, of: str
) -> int:
    """Draw a radius that holds about half of the rows.

    Parameters
    ----------
    rings
        What a pass added up.
    spending
        What pays for it.
    guess
        A public or released radius.
    trust
        Candidates weigh e^-trust less for each time they are twice or half as large as the guess.
    of
        What this is, for the ledger.

    Returns
    -------
    int
        The place of the radius among the candidates.
    """
    weights = np.exp(-trust * np.abs(np.log2(candidate_radii(rings.reach) / guess)))
    choices = Choices(rings.scores(), weights.tolist())
    pick: int = spending.release(Exponential(spending.budget), choices, of=of)  # [P2]
    return pick


def move_to_means(
    rings: Rings, pick: int, spending: Spending, *, entry: Fraction = Fraction(1, 2), of: str
) -> Means:
    """Move each centre to the noisy mean of its rows, as far as it stands out of the noise.

    Parameters
    ----------
    rings
        What a pass added up.
    pick
        Which candidate is the radius.
    spending
        What pays for it. A budget with a delta buys Gaussian noise where that is less.
    entry
        What a row adds to its cluster's size, while its offset adds a length of 1 at most.
    of
        What this is, for the ledger.
    """
    unit, d = int(LATTICE * entry), rings.centers.shape[1]
    noise = _noise(spending.budget, longest_move(d, unit), d + 1)  # [P3]
    noisy = spending.release(noise, rings.clipped(pick, unit), of=of)  # [P4] empty ones too
    moved = _moved(rings, noisy, noise.deviation(d + 1), clip_radius(pick, rings.reach), unit)
    return Means(*moved, _in_sizes(noise, d + 1).times(1 / unit))


def longest_move(d: int, unit: int) -> int:
    """The most one row moves a released vector, in steps of the lattice, rounded up.

    Its offset has length 1 at most and its entry adds ``unit``; rounding a sum to whole steps
    moves the two sides apart by one more along each axis, and floats by less than another one.

    Examples
    --------
    >>> longest_move(4, 2**15)
    73277
    """
    return math.isqrt(LATTICE**2 + unit**2) + 1 + math.isqrt(4 * d) + 1


def candidate_radii(reach: float) -> Matrix:
    """The radii among which one is drawn, largest first."""
    return reach * 2.0 ** (-np.arange(CANDIDATES) / 2)


def _noise(budget: PureDP | ApproxDP, sensitivity: int, axes: int) -> KNorm | Gaussian:
    """The least noise that the budget pays for; in few axes that does without the delta."""
    pure = KNorm(PureDP(budget.epsilon), sensitivity)
    if isinstance(budget, PureDP):
        return pure
    gaussian = Gaussian(budget, sensitivity)
    return gaussian if gaussian.deviation(axes) < pure.deviation(axes) else pure


def _in_sizes(noise: KNorm | Gaussian, axes: int) -> NoiseSum:
    """The law of one coordinate of the noise."""
    if isinstance(noise, Gaussian):
        return NoiseSum.normal(noise.deviation(axes))
    return NoiseSum.k_norm(float(noise.scale), axes)


def _moved(
    rings: Rings, noisy: Integers, deviation: float, radius: float, unit: int
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Centres moved by the noisy means, shrunk towards where they were (James and Stein)."""
    least = 2 * deviation / unit  # two standard deviations of a size
    counted = noisy[:, -1] / unit
    sizes = np.maximum(counted, least)
    offsets = radius / LATTICE * noisy[:, :-1] / sizes[:, None]
    variances = offsets.shape[1] * (radius * deviation / LATTICE / sizes) ** 2
    squares = np.maximum((offsets**2).sum(axis=1), np.finfo(float).tiny)
    shrunk = np.maximum(0, 1 - variances / squares)
    moved = np.clip(rings.centers + shrunk[:, None] * offsets, -1, 1)
    by_sizes = squares * (deviation / unit / sizes) ** 2  # a size that is off stretches the offset
    excess = np.where(counted > least, counted - least / 2, 0)
    return moved, counted, excess, np.sqrt(variances + by_sizes)
