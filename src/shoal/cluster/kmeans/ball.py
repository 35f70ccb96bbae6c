"""Move centres to the means of their rows: sums by ring, a radius, one noisy vector a cluster."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.kmeans.nearest import Cube, Nearest, ViewedCube
from shoal.cluster.kmeans.rings import CANDIDATES, LATTICE, RingSums, clip_radius, within_clip
from shoal.cluster.noise_sum import NoiseSum
from shoal.domain.box import Matrix
from shoal.engine import Rows
from shoal.mechanisms import Choices, Exponential, Gaussian, KNorm
from shoal.privacy import ApproxDP, PureDP
from shoal.privacy.page import Page
from shoal.randomness import Randomness

__all__ = ["Means", "Rings", "ball_step", "candidate_radii", "pick_radius", "read_rings"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rings:
    """What a pass added up, about which centres: as sensitive as rows."""

    centers: Matrix
    counts: Integers
    inner: Integers
    outer: Integers
    reach: float

    def scores(self) -> Integers:
        """How near each candidate radius is to holding half of the rows."""
        outermost_first = self.counts.sum(axis=0).reshape(CANDIDATES, -1).sum(axis=1)
        within = np.cumsum(outermost_first[::-1])[::-1]
        scores: Integers = -np.abs(2 * within - within[0])  # [P1]
        return scores

    def clipped(self, pick: int, unit: int) -> Integers:
        """A vector a cluster: offsets cut to the radius, over it, and ``unit`` for each row."""
        first = within_clip(pick)
        near, far = self.inner[:, first:].sum(axis=1), self.outer[:, :first].sum(axis=1)
        sums = near / clip_radius(pick, self.reach) + far
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
    rows: Rows,
    cube: Cube,
    nearest: Nearest,
    *,
    centers: Matrix | None = None,
    seen: ViewedCube | None = None,
    reach: float | None = None,
) -> Rings:
    """One pass over the rows.

    Parameters
    ----------
    rows, cube
        Whose rows, and the box they are scaled from.
    nearest
        Labels them, by the centres themselves or by how these are seen.
    centers, seen
        The centres in [-1, 1]^d and the view, where rows are labelled by a view.
    reach
        The longest distance there can be; that of two corners if left out.
    """
    about = nearest.centers if centers is None else Nearest(centers).centers  # on the lattice
    longest = 2 * math.sqrt(about.shape[1]) if reach is None else reach
    kernel = RingSums(cube, about, nearest, longest, seen)
    counts, inner, outer = rows.sum(kernel)
    return Rings(about, counts, inner, outer, longest)


def pick_radius(
    rings: Rings,
    page: Page,
    budget: PureDP,
    rng: Randomness,
    *,
    guess: float,
    trust: float = 2.0,
    of: str,
) -> int:
    """Draw a radius that holds about half of the rows: the place of the candidate.

    Parameters
    ----------
    rings, page, budget, rng
        Of which pass, where it is paid for, for how much, with which noise.
    guess, trust
        A public or released radius; candidates weigh e^-trust less for each time they are twice or
        half as large.
    of
        What this is, for the ledger.
    """
    weights = np.exp(-trust * np.abs(np.log2(candidate_radii(rings.reach) / guess)))
    choices = Choices(rings.scores(), weights.tolist())
    return page.release(Exponential(budget), choices, rng.noise, of=of)  # [P2]


def ball_step(
    rings: Rings,
    pick: int,
    page: Page,
    budget: PureDP | ApproxDP,
    rng: Randomness,
    *,
    entry: Fraction = Fraction(1, 2),
    of: str,
) -> Means:
    """Move each centre to the noisy mean of its rows, as far as it stands out of the noise.

    Parameters
    ----------
    rings, pick
        What a pass added up, and which candidate is the radius.
    page, budget, rng, of
        Where it is paid for, for how much, with which noise; what it is, for the ledger. A budget
        with a delta buys Gaussian noise where that is less.
    entry
        What a row adds to its cluster's size, while its offset adds a length of 1 at most.
    """
    unit, d = int(LATTICE * entry), rings.centers.shape[1]
    noise = _noise(budget, longest_move(d, unit), d + 1)  # [P3]
    noisy = page.release(noise, rings.clipped(pick, unit), rng.noise, of=of)  # [P4] empty ones too
    moved = _moved(rings, noisy, noise.deviation(d + 1), clip_radius(pick, rings.reach), unit)
    return Means(*moved, _in_sizes(noise, d + 1).times(1 / unit))


def longest_move(d: int, unit: int) -> int:
    """The most one row moves a released vector, in steps of the lattice, rounded up.

    Its offset has length 1 at most and its entry adds ``unit``; rounding a sum to whole steps
    moves the two sides apart by one more along each axis, and floats by far less than the last.

    Examples
    --------
    >>> longest_move(4, 2**15)
    73276
    """
    return math.isqrt(LATTICE**2 + unit**2) + 1 + math.isqrt(d) + 1 + 1


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
    felt = np.maximum(counted, least)
    offsets = radius / LATTICE * noisy[:, :-1] / felt[:, None]
    variances = offsets.shape[1] * (radius * deviation / LATTICE / felt) ** 2
    squares = np.maximum((offsets**2).sum(axis=1), np.finfo(float).tiny)
    kept = np.maximum(0, 1 - variances / squares)
    moved = np.clip(rings.centers + kept[:, None] * offsets, -1, 1)
    by_sizes = squares * (deviation / unit / felt) ** 2  # a size that is off stretches the offset
    excess = np.where(counted > least, counted - least / 2, 0)
    return moved, counted, excess, np.sqrt(variances + by_sizes)
