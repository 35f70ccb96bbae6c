"""Fit round Gaussian groups to noisy counts of cells, by least squares with a prior.

Counts of a frequency oracle are the true ones plus noise whose deviation is known, the same in
every cell. A few groups explain many cells, so a fit is far less noisy than the counts are. Only
released numbers are read.

Fits start from many places. Gauss-Newton steps move a group only a little, so two groups may
stay on one cluster and none on another. Therefore single groups are also taken out and put where
most is unexplained.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls
from scipy.special import ndtr

from shoal.arrays import Floats
from shoal.cluster.local.methods._result import Progress

# The prior: sizes are n/k up to a deviation of 0.4 of it and sum to n up to 0.01 of it; log widths
# differ by a deviation of 0.5 from each other, and of 0.8 from that of 0.06 of a side. Chosen on
# made-up tables: docs/decisions/local-auto.md.
_SIZE_SPREAD, _SUM_SPREAD = 0.4, 0.01
_WIDTH_SPREAD, _USUAL_WIDTH, _USUAL_SPREAD = 0.5, 0.06, 0.8
_STEPS = 40

_STARTS = 24  # fewer missed the best fit, more gained nothing: docs/decisions/local-auto.md
_TRIED_WIDTHS = (0.5, 1.0, 2.0)  # of the usual one
_HEATS = (1.0, 4.0)  # temperatures of the random choice of places
_MOST_MOVES = 4


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Noisy counts of equal cells, and the edges of the cells.

    Parameters
    ----------
    edges
        Rising edges along each axis, in units of distance.
    counts
        Unbiased counts, in the order of a grid's keys.
    deviation
        Of the noise in each count.
    n
        The number of people.
    """

    edges: tuple[Floats, ...]
    counts: Floats
    deviation: float
    n: int

    @property
    def middles(self) -> Floats:
        """The middles of all cells, one a row."""
        middles = [(each[1:] + each[:-1]) / 2 for each in self.edges]
        return np.stack(np.meshgrid(*middles, indexing="ij"), -1).reshape(-1, len(middles))

    @property
    def sides(self) -> Floats:
        """The side lengths of one cell."""
        return np.array([each[1] - each[0] for each in self.edges])

    @property
    def usual_width(self) -> float:
        """The deviation that the prior expects of a group."""
        lengths = [each[-1] - each[0] for each in self.edges]
        return _USUAL_WIDTH * float(np.exp(np.mean(np.log(lengths))))


@dataclass(frozen=True, eq=False)
class GaussianGroups:
    """Fitted round groups: centres, widths and sizes, and the cost of the fit.

    Only released numbers went into them.
    """

    centers: Floats
    widths: Floats
    sizes: Floats
    cost: float

    def masses(self, cells: CellCounts) -> Floats:
        """Return the expected number of people in each cell."""
        return np.asarray(self.sizes @ _outer(_factors(self.centers, self.widths, cells)[0]))

    def without(self, group: int) -> "GaussianGroups":
        """Return all groups but one, unchanged; the cost is then not known."""
        others = np.arange(len(self.sizes)) != group
        return GaussianGroups(
            self.centers[others], self.widths[others], self.sizes[others], math.nan
        )

    def moments(self, cells: CellCounts) -> Floats:
        """Return the sum of the places of the people in each cell, according to the groups."""
        masses, inner = _factors(self.centers, self.widths, cells)[0], []
        for axis, (mass, edges) in enumerate(zip(masses, cells.edges, strict=True)):
            mean = self._means_along(axis, edges, mass)
            swapped = [mean * mass if other == axis else each for other, each in enumerate(masses)]
            inner.append(self.sizes @ _outer(swapped))
        return np.stack(inner, axis=1)

    def _means_along(self, axis: int, edges: Floats, mass: Floats) -> Floats:
        """Return the mean place of each group in each slice of an axis, within the walls."""
        width, middle = np.exp(self.widths)[:, None], self.centers[:, [axis]]
        density = normal_density((open_ends(edges) - middle) / width)
        means = middle - width * np.diff(density) / np.maximum(mass, 1e-300)
        return np.asarray(np.clip(means, edges[:-1], edges[1:]))


def greedy_start(
    cells: CellCounts, k: int, width: float, heat: float, rng: np.random.Generator
) -> Floats:
    """Choose places for ``k`` groups one by one, where most of the counts is unexplained.

    Candidates are the middles of cells, walls and corners, since a group on a corner of four
    columns is shared by sixteen cells.

    Parameters
    ----------
    heat
        The temperature of the random choice: 1 chooses in proportion to the likelihood, more takes
        worse places more often.
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
        overlap = np.maximum(_project(unexplained, along).ravel(), 0)
        gain = overlap**2 / squares / cells.deviation**2
        odds = np.exp((gain - gain.max()) / (2 * heat))
        chosen.append(int(rng.choice(gain.size, p=odds / odds.sum())))
        taken = np.unravel_index(chosen, shape)
        masses = _outer([each[at] for each, at in zip(along, taken, strict=True)])
        rest = cells.counts - _least_squares(masses @ masses.T, masses @ cells.counts) @ masses
    starts = np.column_stack([places[at] for places, at in zip(tried, taken, strict=True)])
    return starts + rng.normal(size=starts.shape) * 0.15 * cells.sides


def fit_groups(cells: CellCounts, centers: Floats) -> GaussianGroups:
    """Fit groups from these starting places, by damped Gauss-Newton steps."""
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
    """The least-squares problem of ``k`` groups: counts to explain, and the prior."""

    def __init__(self, cells: CellCounts, k: int) -> None:
        self.cells, self.k, self.n = cells, k, cells.n
        self.usual = math.log(cells.usual_width)
        self.narrowest = math.log(0.1 * float(cells.sides.min()))
        self.widest = self.usual + math.log(6)
        share = _SIZE_SPREAD * self.n / k
        self.on_sizes = 1 / (_SUM_SPREAD * self.n) ** 2 + np.eye(k) / share**2
        self.pull = 1 / (_SUM_SPREAD**2 * self.n) + self.n / k / share**2
        even = np.full((k, k), 1 / k)
        self.on_widths = (np.eye(k) - even) / _WIDTH_SPREAD**2 + even / k / _USUAL_SPREAD**2

    def at(self, centers: Floats, widths: Floats) -> GaussianGroups:
        """Return the groups with the best sizes for these places and widths."""
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
        self, now: GaussianGroups, damping: float, low: Floats, high: Floats
    ) -> tuple[GaussianGroups | None, float]:
        """Return the first of ever shorter steps that lowers the cost, and its damping."""
        hessian, gradient = self._expansion(now)
        most = np.diag(hessian)
        for _ in range(6):
            move = np.linalg.solve(hessian + np.diag(damping * most + 1e-9 * most.max()), gradient)
            centers, widths = self._apply_step(now, np.asarray(move, dtype=np.float64))
            candidate = self.at(np.clip(centers, low, high), widths)
            if candidate.cost < now.cost:
                return candidate, max(damping / 5, 1e-6)
            damping *= 5
        return None, damping

    def _apply_step(self, now: GaussianGroups, move: Floats) -> tuple[Floats, Floats]:
        k, d = now.centers.shape
        far = 2.5 * self.cells.usual_width
        shift = np.clip(move[: k * d].reshape(d, k).T, -far, far)
        widths = now.widths + np.clip(move[k * d : k * d + k], -0.7, 0.7)
        return now.centers + shift, np.clip(widths, self.narrowest, self.widest)

    def _expansion(self, now: GaussianGroups) -> tuple[Floats, Floats]:
        """Return the second and first derivatives of half the cost, by places, widths and sizes."""
        k, d = now.centers.shape
        masses, by_center, by_width = _factors(now.centers, now.widths, self.cells)
        own = [_outer(_replace_axis(masses, by_center, axis)) for axis in range(d)]
        wide = sum(_outer(_replace_axis(masses, by_width, axis)) for axis in range(d))
        every = _outer(masses)
        lines = np.vstack([now.sizes[:, None] * each for each in (*own, wide)] + [every])
        lines /= self.cells.deviation
        rest = (self.cells.counts - now.sizes @ every) / self.cells.deviation
        hessian, gradient = lines @ lines.T, lines @ rest
        at_widths, at_sizes = slice(k * d, k * d + k), slice(k * d + k, None)
        hessian[at_widths, at_widths] += self.on_widths
        gradient[at_widths] -= self.on_widths @ (now.widths - self.usual)
        hessian[at_sizes, at_sizes] += self.on_sizes
        gradient[at_sizes] += self.pull - self.on_sizes @ now.sizes
        return hessian, gradient


def _factors(
    centers: Floats, widths: Floats, cells: CellCounts
) -> tuple[list[Floats], list[Floats], list[Floats]]:
    """Return, along each axis, the mass of each group in each slice, and its derivatives."""
    masses, by_center, by_width = [], [], []
    for axis, edges in enumerate(cells.edges):
        width = np.exp(widths)[:, None]
        scaled = (open_ends(edges) - centers[:, [axis]]) / width
        density = normal_density(scaled)
        masses.append(np.diff(ndtr(scaled)))
        by_center.append(-np.diff(density) / width)
        by_width.append(-np.diff(density * scaled))
    return masses, by_center, by_width


def _masses_along(places: Floats, width: float, edges: Floats) -> Floats:
    return np.asarray(np.diff(ndtr((open_ends(edges) - places[:, None]) / math.exp(width))))


def open_ends(edges: Floats) -> Floats:
    """Extend the outer slices without end, since records beyond the walls were moved onto them."""
    far = 1e6 * (edges[-1] - edges[0])
    return np.concatenate([[edges[0] - far], edges[1:-1], [edges[-1] + far]])


def normal_density(at: Floats) -> Floats:
    """Return the standard normal density, cut off where it is no more than rounding."""
    return np.asarray(np.exp(-np.minimum(at**2, 1e3) / 2) / math.sqrt(2 * math.pi))


def _replace_axis(parts: list[Floats], others: list[Floats], axis: int) -> list[Floats]:
    return [*parts[:axis], others[axis], *parts[axis + 1 :]]


def _outer(parts: Sequence[Floats]) -> Floats:
    """Return for each group the products over all cells, the last axis fastest."""
    product = parts[0]
    for part in parts[1:]:
        product = (product[:, :, None] * part[:, None, :]).reshape(len(product), -1)
    return product


def _project(grid: Floats, along: Sequence[Floats]) -> Floats:
    for axis, weights in enumerate(along):
        grid = np.moveaxis(np.tensordot(weights, grid, axes=(1, axis)), 0, axis)
    return grid


def _least_squares(hessian: Floats, gradient: Floats) -> Floats:
    """Return the non-negative sizes at which a quadratic form is least."""
    root = np.linalg.cholesky(
        hessian + 1e-9 * np.trace(hessian) / len(hessian) * np.eye(len(hessian))
    )
    return np.asarray(nnls(root.T, np.linalg.solve(root, gradient))[0])


def fit_from_many_starts(
    cells: CellCounts, k: int, rng: np.random.Generator, progress: Progress = None
) -> list[GaussianGroups]:
    """Fit ``k`` groups to the counts from many starts, and by moving single groups.

    Returns
    -------
    All fits, good and bad.
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
        refits = move_groups(cells, best, rng)
        fits += refits
        if min(map(_cost, refits)) > best.cost - 1:
            break
    return fits


def move_groups(
    cells: CellCounts, fit: GaussianGroups, rng: np.random.Generator
) -> list[GaussianGroups]:
    """For each group, fit again with that group put where the others leave most unexplained."""
    fits = []
    for group in range(len(fit.centers)):
        others = fit.without(group)
        new = unexplained_places(cells, others, 1, rng)
        fits.append(fit_groups(cells, np.vstack([others.centers, new])))
    return fits


def unexplained_places(
    cells: CellCounts, fit: GaussianGroups, more: int, rng: np.random.Generator
) -> Floats:
    """Choose places for further groups, where a fit explains least."""
    if not fit.sizes.size:  # without groups there is no mean width to try
        return greedy_start(cells, more, cells.usual_width, 1.0, rng)
    rest = replace(cells, counts=cells.counts - fit.masses(cells))
    return greedy_start(rest, more, math.exp(fit.widths.mean()), 1.0, rng)


def _cost(fit: GaussianGroups) -> float:
    return fit.cost
