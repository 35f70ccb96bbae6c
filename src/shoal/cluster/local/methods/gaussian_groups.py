"""Round Gaussian groups behind noisy counts of cells: fitted by least squares, with a prior.

Counts of a frequency oracle are the true ones plus noise whose deviation is known, the same in
every cell. A few groups explain many cells, so a fit is far less noisy than the counts are. Only
released numbers are read.

Round groups behind counts, looked for from many starts and by putting groups elsewhere.

Steps downhill move a group a little. Two groups on one cluster, and none on another, may stay so,
unless one of them is taken away and put where most is unexplained.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import ndtr

from shoal.cluster.local.methods.result import Progress
from shoal.domain.box import Matrix

__all__ = [
    "Cells",
    "GaussianGroups",
    "fit_from_many_starts",
    "fit_groups",
    "greedy_start",
    "move_groups",
    "unexplained_places",
]

Row = NDArray[np.float64]
# The prior: sizes are n/k, give or take this part of it; they sum to n; widths are alike, by this
# much in their logarithms, and about this part of a side. Chosen on made-up tables.
_SIZE_SPREAD, _SUM_SPREAD = 0.4, 0.01
_WIDTH_SPREAD, _USUAL_WIDTH, _USUAL_SPREAD = 0.5, 0.06, 0.8
_STEPS = 40

_STARTS = 24  # fewer miss the best fit, more gain nothing: measured
_TRIED_WIDTHS = (0.5, 1.0, 2.0)  # of the usual one
_HEATS = (1.0, 4.0)
_MOST_MOVES = 4


@dataclass(frozen=True, eq=False)
class Cells:
    """Noisy counts of equal cells, and where their edges are.

    Parameters
    ----------
    edges
        Rising edges along each axis, in units of distance.
    counts, deviation
        Unbiased, in the order of a grid's keys; of the noise in each.
    n
        How many people there are.
    """

    edges: tuple[Row, ...]
    counts: Row
    deviation: float
    n: int

    @property
    def middles(self) -> Matrix:
        """Of all cells."""
        middles = [(each[1:] + each[:-1]) / 2 for each in self.edges]
        return np.stack(np.meshgrid(*middles, indexing="ij"), -1).reshape(-1, len(middles))

    @property
    def sides(self) -> Row:
        """Of one cell."""
        return np.array([each[1] - each[0] for each in self.edges])

    @property
    def usual_width(self) -> float:
        """The deviation a group has before anything is known of it."""
        lengths = [each[-1] - each[0] for each in self.edges]
        return _USUAL_WIDTH * float(np.exp(np.mean(np.log(lengths))))


@dataclass(frozen=True, eq=False)
class GaussianGroups:
    """Groups: where, how wide (logarithm of the deviation), how many people; and the misfit.

    ``cost`` is minus twice the logarithm of the posterior, up to a constant.
    """

    centers: Matrix
    widths: Row
    sizes: Row
    cost: float

    def masses(self, cells: Cells) -> Row:
        """How many people each cell has."""
        return np.asarray(self.sizes @ _outer(_factors(self.centers, self.widths, cells)[0]))

    def without(self, group: int) -> "GaussianGroups":
        """All groups but one, as they are; the misfit is not known."""
        stay = np.arange(len(self.sizes)) != group
        return GaussianGroups(self.centers[stay], self.widths[stay], self.sizes[stay], math.nan)

    def moments(self, cells: Cells) -> Matrix:
        """The sum of the places of those in each cell, as the groups have them."""
        masses, inner = _factors(self.centers, self.widths, cells)[0], []
        for axis, (mass, edges) in enumerate(zip(masses, cells.edges, strict=True)):
            mean = self._means_along(axis, edges, mass)
            swapped = [mean * mass if other == axis else each for other, each in enumerate(masses)]
            inner.append(self.sizes @ _outer(swapped))
        return np.stack(inner, axis=1)

    def _means_along(self, axis: int, edges: Row, mass: Matrix) -> Matrix:
        """Of each group inside each slice of an axis; beyond the wall lies on the wall."""
        width, middle = np.exp(self.widths)[:, None], self.centers[:, [axis]]
        density = _normal((_open(edges) - middle) / width)
        means = middle - width * np.diff(density) / np.maximum(mass, 1e-300)
        return np.asarray(np.clip(means, edges[:-1], edges[1:]))


def greedy_start(
    cells: Cells, k: int, width: float, heat: float, rng: np.random.Generator
) -> Matrix:
    """Places for ``k`` groups, one after another where the counts not yet explained are highest.

    Middles of cells are tried, and of the walls and corners between them: a group on a corner of
    four columns is shared by sixteen cells.

    Parameters
    ----------
    cells, k
        What to explain, by how many groups.
    width
        The deviation of the groups that are tried.
    heat
        How much worse places are taken too: 1 by their likelihood.
    rng
        Of the choice.
    """
    tried = [np.linspace(each[0], each[-1], 2 * len(each) - 1)[1:-1] for each in cells.edges]
    along = [_masses_along(places, math.log(width), edges)
             for places, edges in zip(tried, cells.edges, strict=True)]  # fmt: skip
    squares = _outer([(each**2).sum(axis=1)[None] for each in along])[0]
    shape = tuple(len(places) for places in tried)
    chosen: list[int] = []
    rest = cells.counts
    for _ in range(k):
        unexplained = rest.reshape([len(each) - 1 for each in cells.edges])
        overlap = np.maximum(_smoothed(unexplained, along).ravel(), 0)
        gain = overlap**2 / squares / cells.deviation**2
        odds = np.exp((gain - gain.max()) / (2 * heat))
        chosen.append(int(rng.choice(gain.size, p=odds / odds.sum())))
        taken = np.unravel_index(chosen, shape)
        masses = _outer([each[at] for each, at in zip(along, taken, strict=True)])
        rest = cells.counts - _least_squares(masses @ masses.T, masses @ cells.counts) @ masses
    starts = np.column_stack([places[at] for places, at in zip(tried, taken, strict=True)])
    return starts + rng.normal(size=starts.shape) * 0.15 * cells.sides


def fit_groups(cells: Cells, centers: Matrix) -> GaussianGroups:
    """The best groups near these places, by damped Gauss-Newton steps."""
    problem = _Problem(cells, len(centers))
    low = np.array([each[0] for each in cells.edges])
    high = np.array([each[-1] for each in cells.edges])
    now = problem.at(np.clip(centers, low, high), np.full(len(centers), problem.usual))
    damping = 1e-2
    for _ in range(_STEPS):
        better, damping = problem.step(now, damping, low, high)
        if better is None:
            break
        now, gain = better, now.cost - better.cost
        if gain < 1e-3:
            break
    return now


class _Problem:
    """Counts to explain by ``k`` groups, and the prior on those."""

    def __init__(self, cells: Cells, k: int) -> None:
        self.cells, self.k, self.n = cells, k, cells.n
        self.usual = math.log(cells.usual_width)
        self.narrowest = math.log(0.1 * float(cells.sides.min()))
        self.widest = self.usual + math.log(6)
        share = _SIZE_SPREAD * self.n / k
        self.on_sizes = 1 / (_SUM_SPREAD * self.n) ** 2 + np.eye(k) / share**2
        self.pull = 1 / (_SUM_SPREAD**2 * self.n) + self.n / k / share**2
        even = np.full((k, k), 1 / k)
        self.on_widths = (np.eye(k) - even) / _WIDTH_SPREAD**2 + even / k / _USUAL_SPREAD**2

    def at(self, centers: Matrix, widths: Row) -> GaussianGroups:
        """The best sizes for groups of these places and widths."""
        masses = _outer(_factors(centers, widths, self.cells)[0])
        noise = self.cells.deviation**2
        sizes = _least_squares(
            masses @ masses.T / noise + self.on_sizes,
            masses @ self.cells.counts / noise + self.pull,
        )
        rest = (self.cells.counts - sizes @ masses) / self.cells.deviation
        far = widths - self.usual
        prior = sizes @ self.on_sizes @ sizes - 2 * self.pull * sizes.sum()
        return GaussianGroups(
            centers, widths, sizes, float(rest @ rest + prior + far @ self.on_widths @ far)
        )

    def step(
        self, now: GaussianGroups, damping: float, low: Row, high: Row
    ) -> tuple[GaussianGroups | None, float]:
        """The first of ever shorter steps that helps, and the damping it took."""
        bend, slope = self._expansion(now)
        most = np.diag(bend)
        for _ in range(6):
            move = np.linalg.solve(bend + np.diag(damping * most + 1e-9 * most.max()), slope)
            centers, widths = self._moved(now, np.asarray(move, dtype=np.float64))
            there = self.at(np.clip(centers, low, high), widths)
            if there.cost < now.cost:
                return there, max(damping / 5, 1e-6)
            damping *= 5
        return None, damping

    def _moved(self, now: GaussianGroups, move: Row) -> tuple[Matrix, Row]:
        k, d = now.centers.shape
        far = 2.5 * self.cells.usual_width
        shift = np.clip(move[: k * d].reshape(d, k).T, -far, far)
        widths = now.widths + np.clip(move[k * d : k * d + k], -0.7, 0.7)
        return now.centers + shift, np.clip(widths, self.narrowest, self.widest)

    def _expansion(self, now: GaussianGroups) -> tuple[Matrix, Row]:
        """Second and first derivatives of half the cost, in places, widths and sizes."""
        k, d = now.centers.shape
        masses, by_center, by_width = _factors(now.centers, now.widths, self.cells)
        own = [_outer(_swapped(masses, by_center, axis)) for axis in range(d)]
        wide = sum(_outer(_swapped(masses, by_width, axis)) for axis in range(d))
        every = _outer(masses)
        lines = np.vstack([now.sizes[:, None] * each for each in (*own, wide)] + [every])
        lines /= self.cells.deviation
        rest = (self.cells.counts - now.sizes @ every) / self.cells.deviation
        bend, slope = lines @ lines.T, lines @ rest
        at_widths, at_sizes = slice(k * d, k * d + k), slice(k * d + k, None)
        bend[at_widths, at_widths] += self.on_widths
        slope[at_widths] -= self.on_widths @ (now.widths - self.usual)
        bend[at_sizes, at_sizes] += self.on_sizes
        slope[at_sizes] += self.pull - self.on_sizes @ now.sizes
        return bend, slope


def _factors(
    centers: Matrix, widths: Row, cells: Cells
) -> tuple[list[Matrix], list[Matrix], list[Matrix]]:
    """Along each axis the mass of each group in each slice, and its derivatives."""
    masses, by_center, by_width = [], [], []
    for axis, edges in enumerate(cells.edges):
        width = np.exp(widths)[:, None]
        scaled = (_open(edges) - centers[:, [axis]]) / width
        density = _normal(scaled)
        masses.append(np.diff(ndtr(scaled)))
        by_center.append(-np.diff(density) / width)
        by_width.append(-np.diff(density * scaled))
    return masses, by_center, by_width


def _masses_along(places: Row, width: float, edges: Row) -> Matrix:
    return np.asarray(np.diff(ndtr((_open(edges) - places[:, None]) / math.exp(width))))


def _open(edges: Row) -> Row:
    """Rows beyond the walls were moved onto them: the outer slices have no end."""
    far = 1e6 * (edges[-1] - edges[0])
    return np.concatenate([[edges[0] - far], edges[1:-1], [edges[-1] + far]])


def _normal(at: Matrix) -> Matrix:
    return np.asarray(np.exp(-np.minimum(at**2, 1e3) / 2) / math.sqrt(2 * math.pi))


def _swapped(parts: list[Matrix], others: list[Matrix], axis: int) -> list[Matrix]:
    return [*parts[:axis], others[axis], *parts[axis + 1 :]]


def _outer(parts: Sequence[Matrix]) -> Matrix:
    """For each line the products over all cells, the last axis fastest."""
    product = parts[0]
    for part in parts[1:]:
        product = (product[:, :, None] * part[:, None, :]).reshape(len(product), -1)
    return product


def _smoothed(grid: NDArray[np.float64], along: Sequence[Matrix]) -> NDArray[np.float64]:
    for axis, weights in enumerate(along):
        grid = np.moveaxis(np.tensordot(weights, grid, axes=(1, axis)), 0, axis)
    return grid


def _least_squares(bend: Matrix, slope: Row) -> Row:
    """The sizes from 0 up at which a quadratic form is least."""
    root = np.linalg.cholesky(bend + 1e-9 * np.trace(bend) / len(bend) * np.eye(len(bend)))
    return np.asarray(nnls(root.T, np.linalg.solve(root, slope))[0])


def fit_from_many_starts(
    cells: Cells, k: int, rng: np.random.Generator, progress: Progress = None
) -> list[GaussianGroups]:
    """Fits of ``k`` groups to the counts, good and bad.

    Parameters
    ----------
    cells, k
        Noisy counts, and how many groups are behind them.
    rng, progress
        Of the starts; hears which share of the work is done.
    """
    fits = []
    for start in range(_STARTS):
        width = _TRIED_WIDTHS[start % len(_TRIED_WIDTHS)] * cells.usual_width
        heat = _HEATS[start % len(_HEATS)]
        fits.append(fit_groups(cells, greedy_start(cells, k, width, heat, rng)))
        if progress is not None:
            progress((start + 1) / (_STARTS + 1))
    for _ in range(_MOST_MOVES):
        best = min(fits, key=_cost)
        moved = move_groups(cells, best, rng)
        fits += moved
        if min(map(_cost, moved)) > best.cost - 1:
            break
    return fits


def move_groups(
    cells: Cells, fit: GaussianGroups, rng: np.random.Generator
) -> list[GaussianGroups]:
    """For each group a fit with it taken out, and put where the others leave most unexplained."""
    fits = []
    for group in range(len(fit.centers)):
        others = fit.without(group)
        new = unexplained_places(cells, others, 1, rng)
        fits.append(fit_groups(cells, np.vstack([others.centers, new])))
    return fits


def unexplained_places(
    cells: Cells, fit: GaussianGroups, more: int, rng: np.random.Generator
) -> Matrix:
    """Where further groups would be, most likely: the places that a fit explains least.

    Parameters
    ----------
    cells, fit
        Noisy counts, and the groups known of.
    more, rng
        How many places; of the choice.
    """
    if not fit.sizes.size:  # of no groups at all nothing is explained
        return greedy_start(cells, more, cells.usual_width, 1.0, rng)
    rest = replace(cells, counts=cells.counts - fit.masses(cells))
    return greedy_start(rest, more, math.exp(fit.widths.mean()), 1.0, rng)


def _cost(fit: GaussianGroups) -> float:
    return fit.cost
