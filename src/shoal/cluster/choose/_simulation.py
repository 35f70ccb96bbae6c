"""Choose how many groups a release shows, by comparing it with simulated releases of plain groups.

Costs always fall as clusters are added, and noise makes them fall further. So what one more cluster
gains is compared with what it would gain if the groups there are were all: plain groups (Gaussian
and even ones in turn) of the same places, sizes and spreads are drawn, counted in the same cells
with the same noise, and clustered in the same way. The number is chosen where the gains beyond that
add up to most. Only what was released is read: see docs/decisions/number-of-groups.md for what was
measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.choose._weighted_points import LEAST_INERTIA, MOST_POINTS, Cloud
from shoal.cluster.kmeans._budget_plan import FEW_AXES
from shoal.cluster.kmeans._weighted_kmeans import soften_weights, weighted_kmeans
from shoal.domain import Box, FarGrid
from shoal.synopsis import Synopsis, weights_of
from shoal.synopsis.cells import Estimates

# Measured, see docs/decisions/number-of-groups.md. A gain must exceed that of plain groups by a
# part of it, by some of its deviation over simulations, and by a part of the largest such excess:
# real groups are not quite Gaussian.
_OF_PLAIN, _OF_DEVIATION, _OF_LARGEST = 0.1, 0.5, 0.1
_SIMULATIONS = 4  # for each number of clusters
_EVEN_SIMULATIONS = (2, 4)  # groups of the others are Gaussian; number 0 corrects spreads
_MOST_ROWS = 20_000  # drawn for a simulation, and scaled up to the rows there are
_MOST_CELLS = 500_000  # of more, those with a weight are taken as points: simulations would be slow
_STARTS = 4  # of k-means on the release; simulated ones begin at the groups that were drawn
_SPLIT = 0.8  # deviations along its longest axis by which the two halves of a cluster start apart


@dataclass(frozen=True, eq=False)
class WeightedCells:
    """Weighted cells, or points, in the units in which distances to centres are measured.

    Parameters
    ----------
    variances
        The variance of rows inside each cell, by axis; 0 for points.
    """

    points: Floats
    weights: Floats
    variances: Floats

    @cached_property
    def total(self) -> float:
        """How many rows all stand for."""
        return max(float(self.weights.sum()), np.finfo(float).tiny)

    @cached_property
    def inside(self) -> float:
        """The mean squared distance of rows to the middles of their cells."""
        return float(self.weights @ self.variances.sum(axis=1)) / self.total

    @cached_property
    def least_cost(self) -> float:
        """The least cost, so that points in few places have a finite logarithm."""
        away = self.points - self.weights @ self.points / self.total
        whole = float(self.weights @ (away**2).sum(axis=1)) / self.total
        return max(LEAST_INERTIA * whole, np.finfo(float).tiny)

    def clusters(self, count: int, start: Floats | None, seed: int, n_init: int) -> "Clusters":
        """Fit weighted k-means, from a start, from several of its own, or both.

        Parameters
        ----------
        start
            Centres to begin at; None for none.
        """
        count = min(count, len(self.points))
        fits = []
        if n_init:
            fits.append(weighted_kmeans(self.points, self.weights, count, seed, n_init))
        if start is not None and len(start) == count:
            fits.append(weighted_kmeans(self.points, self.weights, count, seed, 1, start))
        if not fits:
            fits.append(weighted_kmeans(self.points, self.weights, count, seed, 1))
        best = min(fits, key=lambda fit: float(fit.inertia_))
        cost = float(best.inertia_) / self.total + self.inside
        labels = best.labels_.astype(np.int64)
        return Clusters(best.cluster_centers_, labels, max(cost, self.least_cost))


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of weighted cells."""

    centers: Floats
    labels: Integers
    cost: float

    def split(self, cells: WeightedCells, count: int) -> Floats:
        """Return more centres: the widest clusters cut in two, along their longest axes."""
        axes = [_longest_axis(*self._members(cells, j)) for j in range(len(self.centers))]
        widest = np.argsort([-strength for strength, _ in axes], kind="stable")
        added = [self.centers[j] - _SPLIT * axes[j][1] for j in widest]
        moved = self.centers.copy()
        more = min(count - len(moved), len(added))
        for j in widest[:more]:
            moved[j] += _SPLIT * axes[j][1]
        return np.vstack([moved, *added[:more]])

    def _members(self, cells: WeightedCells, cluster: int) -> tuple[Floats, Floats]:
        own = self.labels == cluster
        return cells.points[own] - self.centers[cluster], cells.weights[own]

    def plain_groups(self, cells: WeightedCells) -> "PlainGroups":
        """Return plain groups of the same places, sizes and spreads."""
        k, d = self.centers.shape
        sizes = np.bincount(self.labels, cells.weights, k)
        factors = np.empty((k, d, d))
        for j in range(k):
            away, weights = self._members(cells, j)
            shares = weights / max(weights.sum(), np.finfo(float).tiny)
            spread = (away * shares[:, None]).T @ away
            spread += np.diag(shares @ cells.variances[self.labels == j] + 1e-9)
            factors[j] = np.linalg.cholesky(spread)
        return PlainGroups(self.centers, sizes / sizes.sum(), factors)


def _longest_axis(away: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return the inertia along the longest axis of a cluster, and a deviation along it."""
    if len(away) < 2 or not weights.sum():
        return 0.0, np.zeros(away.shape[1])
    values, vectors = np.linalg.eigh((away * weights[:, None]).T @ away)
    largest = max(float(values[-1]), 0.0)
    return largest, vectors[:, -1] * np.sqrt(largest / weights.sum())


@dataclass(frozen=True, eq=False)
class PlainGroups:
    """Groups of a plain shape: Gaussian, or even within a slanted box."""

    centers: Floats
    shares: Floats
    factors: Floats

    def widened(self, factor: float) -> "PlainGroups":
        """Return the same groups with wider or narrower spreads."""
        return replace(self, factors=self.factors * factor)

    def draw(self, n: int, rng: np.random.Generator, even: bool = False) -> Floats:
        """Draw rows."""
        sizes = rng.multinomial(n, self.shares)
        parts = [
            center + _deviates(size, len(center), rng, even) @ factor.T
            for center, size, factor in zip(self.centers, sizes, self.factors, strict=True)
        ]
        return np.vstack(parts)


def _deviates(n: int, d: int, rng: np.random.Generator, even: bool) -> Floats:
    """Draw numbers of mean 0 and variance 1."""
    return rng.uniform(-(3**0.5), 3**0.5, (n, d)) if even else rng.standard_normal((n, d))


class RepeatableRelease(Protocol):
    """What was released, and how rows like them would be released once more."""

    @property
    def observed(self) -> WeightedCells:
        """The cells as they were released."""

    @property
    def n_rows(self) -> int:
        """How many rows to draw for a simulation."""

    def deviation(self, fit: "Clusters") -> float:
        """Return what noise moves the cost of clusters by, as a standard deviation."""

    def simulate(self, rows: Floats, rng: np.random.Generator) -> WeightedCells:
        """Return the cells of a simulated release."""


class PointSample:
    """Points without noise, at most 5,000 of them.

    Parameters
    ----------
    rng
        Draws a sample if there are more.
    """

    def __init__(self, cloud: Cloud, rng: np.random.Generator) -> None:
        some = cloud.sample(rng)
        self.observed = WeightedCells(some.points, some.weights, np.zeros_like(some.points))
        self.n_rows = min(max(2, round(some.weights.sum())), MOST_POINTS)

    def deviation(self, fit: Clusters) -> float:
        """Return 0: there is no noise in points."""
        return 0.0

    def simulate(self, rows: Floats, rng: np.random.Generator) -> WeightedCells:
        """Return the rows as they are: nothing is added to points."""
        return WeightedCells(rows, np.ones(len(rows)), np.zeros_like(rows))


class CellRelease:
    """The cells of a synopsis, with the noise of their counts."""

    def __init__(self, synopsis: Synopsis) -> None:
        assert synopsis._estimates is not None
        self._estimates: Estimates = synopsis._estimates
        self._box: Box = synopsis.box if synopsis.view_ is None else synopsis.view_.box
        self._rows = max(1, synopsis.n_rows_)
        self._noise_scale = float(np.sqrt(synopsis.noise_variance_ / 2))  # of Laplace noise
        low, high = (self._box.scale(corner, -1, 1) for corner in self._estimates.corners())
        self._middles, self._variances = (low + high) / 2, (high - low) ** 2 / 12
        self.observed = self._weighted(self._estimates.values)
        self.n_rows = min(self._rows, _MOST_ROWS)

    @staticmethod
    def serves(synopsis: Synopsis) -> bool:
        """Tell whether the estimates of all cells are at hand, and few enough to simulate."""
        estimates = synopsis._estimates
        return estimates is not None and estimates.values.size <= _MOST_CELLS

    def deviation(self, fit: Clusters) -> float:
        """Return what noise in the weights moves the cost by: weights add up to a fixed sum."""
        cells = self.observed
        squares = ((cells.points - fit.centers[fit.labels]) ** 2).sum(axis=1)
        away = squares + cells.variances.sum(axis=1) - fit.cost
        return float(np.sqrt(2 * (away**2).sum()) * self._noise_scale / cells.total)

    def simulate(self, rows: Floats, rng: np.random.Generator) -> WeightedCells:
        """Count rows in the cells, add noise as large as the release has, and drop what is small.

        Parameters
        ----------
        rows
            Rows that were drawn, in [-1, 1]^d or moved there; with cells beyond a view, anywhere.
        """
        if not isinstance(self._estimates.zoom, FarGrid):
            rows = np.clip(rows, -1, 1)
        keys = self._estimates.cells.keys(self._box.unscale(rows, -1, 1))
        counts = np.bincount(keys, minlength=self._estimates.values.size)
        noise = rng.laplace(0, self._noise_scale, counts.size)
        return self._weighted(counts * (self._rows / len(rows)) + noise)

    def _weighted(self, counts: Floats) -> WeightedCells:
        """Keep the largest counts until they add up to the rows there are.

        Up to five columns most of the smallest is taken off each, as where centres are sought: what
        just passes is mostly noise.
        """
        weights = weights_of(self._estimates.without_faint(counts), self._rows)
        if self._middles.shape[1] <= FEW_AXES:
            weights = soften_weights(weights)
        own = weights > 0
        if not own.any():  # noise left nothing: one row in the middle
            d = self._middles.shape[1]
            return WeightedCells(np.zeros((1, d)), np.ones(1), np.full((1, d), 1 / 3))
        return WeightedCells(self._middles[own], weights[own], self._variances[own])


@dataclass(frozen=True, eq=False)
class Gains:
    """What each step to the next number of clusters gains, and would gain with plain groups.

    Parameters
    ----------
    plain
        For each number but the last a line: the gains of simulated releases of plain groups.
    """

    counts: tuple[int, ...]
    costs: Floats
    plain: Floats

    @property
    def excess(self) -> Floats:
        """How far each gain is beyond that of plain groups, and beyond what is allowed for."""
        gains = -np.diff(np.log(self.costs))
        mean, deviation = self.plain.mean(axis=1), self.plain.std(axis=1, ddof=1)
        if not gains.size:
            return gains
        # A deviation of few simulations is itself uncertain: half of its square is a usual one.
        deviation = np.sqrt((deviation**2 + np.median(deviation) ** 2) / 2)
        beyond = gains - mean
        allowance = _OF_PLAIN * mean + _OF_DEVIATION * deviation
        return np.asarray(beyond - allowance - _OF_LARGEST * max(float(beyond.max()), 0.0))

    @property
    def gaps(self) -> Floats:
        """The excess added up to each number; the first has 0."""
        return np.append(0.0, np.cumsum(self.excess))


def count_with_most_gain(gains: Gains) -> int:
    """Return the number of clusters up to which gains exceed those of plain groups.

    Examples
    --------
    >>> plain = np.array([[0.3, 0.4], [0.2, 0.3], [0.1, 0.2]])
    >>> count_with_most_gain(Gains((1, 2, 3, 4), np.array([9.0, 4.0, 1.0, 0.9]), plain))
    3
    """
    return gains.counts[int(np.argmax(gains.gaps))]


def simulate_gains(
    release: RepeatableRelease, counts: Sequence[int], rng: np.random.Generator
) -> tuple[Gains, list[Clusters]]:
    """Cluster a release into each number of clusters, and simulated ones of plain groups beside.

    Parameters
    ----------
    rng
        Draws starts, groups and noise; nothing it draws protects anybody.

    Returns
    -------
    The gains, and the clusters of the release for each number.
    """
    observed, fits = release.observed, list[Clusters]()
    for count in counts:
        start = fits[-1].split(observed, count) if fits else None
        fits.append(observed.clusters(count, start, _seed(rng), _STARTS))
    plain = [
        _plain_gains(release, fit, more, rng) for fit, more in zip(fits, counts[1:], strict=False)
    ]
    costs = np.array([fit.cost for fit in fits])
    return Gains(tuple(counts), costs, np.array(plain).reshape(-1, _SIMULATIONS)), fits


def _plain_gains(
    release: RepeatableRelease, fit: Clusters, more: int, rng: np.random.Generator
) -> list[float]:
    """Return what more clusters gain in simulated releases of groups like these, and no others."""
    groups, gains = fit.plain_groups(release.observed), list[float]()
    for attempt in range(_SIMULATIONS + 1):
        even = attempt in _EVEN_SIMULATIONS
        cells = release.simulate(groups.draw(release.n_rows, rng, even), rng)
        before = cells.clusters(len(fit.centers), fit.centers, _seed(rng), 0)
        # Clusters cut off one another's tails, and noise is cut off where it is small: spreads are
        # corrected until simulated groups cost what those of the release do.
        ratio = np.sqrt(fit.cost / before.cost)
        groups = groups.widened(float(np.clip(ratio, 0.7, 1.4)))
        if attempt:
            after = cells.clusters(more, before.split(cells, more), _seed(rng), 2)
            gains.append(float(np.log(before.cost / after.cost)))
    return gains


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))
