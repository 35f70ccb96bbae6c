"""The cells a method of private k-means begins with, and centres read off them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.group_sizes import GroupCounts, NoiseSum
from shoal.cluster.kmeans._budget_plan import FEW_AXES, KMeansPlan
from shoal.cluster.kmeans._kernels import Nearest
from shoal.cluster.kmeans._location import DEVIATION
from shoal.cluster.kmeans._noisy_means import Means
from shoal.cluster.kmeans._weighted_kmeans import (
    FAINT,
    Clusterer,
    add_farthest_points,
    find_centers,
    gaussian_cell_means,
    part_beyond_noise,
    public_points,
    shrink_counts,
    soften_weights,
)
from shoal.domain import Box, FarGrid, View, ZoomedGrid
from shoal.randomness import Randomness
from shoal.synopsis import Synopsis
from shoal.synopsis.cells import AllCells, Estimates

_APART = 0.2  # times the root of the columns: how far centres lie from the mean of all rows
_JOINING_RUNS = 40  # of k-means on few means: a poor optimum costs most
_POINTS = 32  # public ones for each cell or cluster, where cells are few
# In more, coarse cells are too few and too wide to tell empty ones by their counts:
# docs/decisions/private-kmeans.md.
_LIGHT_AXES = 2
_EFFORT = 30_000  # cells times runs of k-means: many runs where they cost little


@dataclass(frozen=True, eq=False)
class NoisyClusters:
    """Centres in [-1, 1]^d, with their noisy numbers of rows and the noise to expect in each.

    ``counted`` are unbiased counts of the same clusters, by which they are distinguished from
    noise; of refined centres the sizes themselves.
    """

    centers: Floats
    sizes: Floats
    errors: Floats
    counted: GroupCounts

    @classmethod
    def from_means(cls, means: Means) -> "NoisyClusters":
        """Those of a last step."""
        counted = GroupCounts.alike(means.sizes, means.noise)
        return cls(means.centers, means.sizes, means.errors, counted)


def clusters_about_one_mean(mean: Means, k: int, rng: Randomness) -> NoisyClusters:
    """The noisy mean of all rows, and other centres on public random sides of it.

    A centre more never raises the inertia. All rows together were counted, no single group was.
    """
    d = mean.centers.shape[1]
    ways = rng.compute.standard_normal((k - 1, d))
    ways *= _APART * math.sqrt(d) / np.linalg.norm(ways, axis=1, keepdims=True)
    centers = np.clip(np.vstack([mean.centers, mean.centers + ways]), -1, 1)
    if k == 1:
        return NoisyClusters.from_means(mean)
    total = float(mean.sizes[0])
    counted = GroupCounts(np.zeros(k), (mean.noise,) * k, total, mean.noise)
    errors = np.append(mean.errors, np.full(k - 1, 2 * math.sqrt(d)))
    return NoisyClusters(centers, np.full(k, max(total, 0) / k), errors, counted)


@dataclass(frozen=True, eq=False)
class CellPoints:
    """Cells as weighted points of [-1, 1]^p, the noise in a weight, and what cells leave open.

    ``weights`` find centres, ``sizes`` say how many rows a cell stands for: soft weights are less.
    ``inside`` is the mean squared distance of rows spread evenly in a cell to its middle.
    """

    points: Floats
    weights: Floats
    sizes: Floats
    variance: float
    inside: Floats
    view: View | None = None
    by: Clusterer = "sklearn"
    everywhere: "AllCellPoints | None" = None
    all_cells: AllCells | None = None
    n_cells: int = 1

    @property
    def within(self) -> float:
        """The inertia that the middles of cells do not show."""
        return float(self.sizes @ self.inside)

    @property
    def runs(self) -> int:
        """How many runs of k-means they are worth."""
        return min(20, max(8, _EFFORT // (len(self.weights) + 1)))

    def centers(self, k: int, rng: Randomness) -> Floats:
        """``k`` centres, where the points are."""
        return find_centers(self.points, self.weights, k, rng, self.runs, self.by)

    @property
    def in_shadow(self) -> bool:
        """Whether they have fewer axes than the rows."""
        return self.view is not None and self.view.box.d < self.view.domain.d

    def labels_in_shadow(self, centers: Floats) -> tuple[View | None, Nearest | None]:
        """Where to look at rows to label them by these centres, if not in the box; and by what.

        The view is wide enough for all centres.
        """
        if not self.in_shadow or self.view is None:
            return None, None
        reach = self.reach(centers)
        return self.view.widened(reach), Nearest(centers / reach)

    def placed(self, centers: Floats) -> Floats:
        """Centres among the points, as points of [-1, 1]^d."""
        if self.view is None:
            return centers
        return self.view.domain.scale(self.view.place(centers), -1, 1)

    def sizes_and_errors(self, centers: Floats) -> tuple[Floats, Floats]:
        """Rows of each centre's cells, and how far noise in the weights moves the centre.

        A centre without cells may be anywhere.
        """
        k, nowhere = len(centers), 2 * math.sqrt(centers.shape[1])
        labels = self._labels(centers)
        squares = ((self.points - centers[labels]) ** 2).sum(axis=1) + self.inside
        sizes, weights, spread = (
            np.bincount(labels, each, k).astype(np.float64)
            for each in (self.sizes, self.weights, squares)
        )
        errors = np.sqrt(self.variance * spread) / np.maximum(weights, 1)
        return sizes, np.where(weights > 0, errors, nowhere)

    def spread_inside(self, centers: Floats) -> Floats:
        """How far rows lie from the middles of each centre's cells, root mean square."""
        k, labels = len(centers), self._labels(centers)
        squares = np.bincount(labels, self.weights * self.inside, k)
        width = 1.0 if self.view is None else self.view.width
        return width * np.sqrt(squares / np.maximum(np.bincount(labels, self.weights, k), FAINT))

    def counted(
        self, centers: Floats, placed: Callable[[Floats], Floats] | None = None
    ) -> GroupCounts:
        """Rows of each centre's region by the estimates of all cells, where these are at hand.

        Parameters
        ----------
        centers, placed
            Where the points are, or where ``placed`` puts these.
        """
        if self.everywhere is None:
            return self._by_weight(centers)
        estimates, points = self.everywhere.estimates, self.everywhere.points()
        points = points if placed is None else placed(points)
        labels = Nearest(centers).labels_of_points(points)
        sums, noises = estimates.added(labels, len(centers))
        each = [NoiseSum.geometric(estimates.step, times) for times in np.ceil(noises).tolist()]
        together = estimates.all_cells()
        in_all = NoiseSum.geometric(together.step, together.noises)
        return GroupCounts(sums, tuple(each), together.total, in_all)

    def complete(self, clusters: NoisyClusters, k: int) -> NoisyClusters:
        """``k`` centres: those that were refined, and the cells which these miss most."""
        points = self.placed(self.points)
        centers = add_farthest_points(clusters.centers, points, self.weights, k)
        width = 1.0 if self.view is None else self.view.width
        placed = replace(self, points=points, inside=self.inside * width**2, view=None)
        sizes, errors = placed.sizes_and_errors(centers)  # those added take rows from the others
        errors = np.append(clusters.errors, errors[len(clusters.centers) :])
        return NoisyClusters(centers, sizes, errors, self.counted(centers, self.placed))

    def _by_weight(self, centers: Floats) -> GroupCounts:
        """Of a synopsis that was loaded: weights, against an even part of the noise of all cells.

        Where cells that were not kept were never made, the heaviest cell of each centre, against
        what some empty cell would reach.
        """
        k, labels = len(centers), self._labels(centers)
        if self.all_cells is not None:
            total, noises, step = self.all_cells
            part = NoiseSum.geometric(step, noises / k)
            sizes = np.bincount(labels, self.sizes, k).astype(np.float64)
            return GroupCounts(sizes, (part,) * k, total, NoiseSum.geometric(step, noises))
        largest = np.zeros(k)
        np.maximum.at(largest, labels, self.sizes)
        noise, choices = NoiseSum.of_variance(self.variance), np.full(k, math.log(self.n_cells))
        return GroupCounts(largest, (noise,) * k, None, None, choices)

    def _labels(self, centers: Floats) -> Integers:
        reach = self.reach(centers)
        return Nearest(centers / reach).labels_of_points(self.points / reach)

    def reach(self, centers: Floats) -> float:
        """The farthest coordinate of the points and of these centres, 1 or more."""
        return max(1.0, float(np.abs(self.points).max(initial=0)), float(np.abs(centers).max()))


@dataclass(frozen=True, eq=False)
class AllCellPoints:
    """The estimates of all cells, and where their points lie."""

    estimates: Estimates
    box: Box
    deviation: float | None

    def points(self) -> Floats:
        """One for each cell, in [-1, 1]^p."""
        return _points(self.box, *self.estimates.corners(), self.deviation)


def cell_points(
    synopsis: Synopsis,
    *,
    soft: bool = False,
    deviation: float | None = None,
    by: Clusterer = "sklearn",
) -> CellPoints:
    """The cells of a synopsis in [-1, 1]^p.

    Parameters
    ----------
    soft
        Take most of the smallest weight off every weight.
    deviation
        Put points where rows of this spread about 0 would be, not in the middle of cells.
    """
    view, cells = synopsis.view_, synopsis.cells_
    box = synopsis.box if view is None else view.box
    low, high = box.scale(cells.low, -1, 1), box.scale(cells.high, -1, 1)
    points = _points(box, cells.low, cells.high, deviation)
    weights = soften_weights(cells.weight) if soft else cells.weight
    estimates = synopsis._estimates
    inside = ((high - low) ** 2).sum(axis=1) / 12
    if estimates is not None and isinstance(estimates.zoom, FarGrid):
        far = estimates.is_beyond_view()[cells.key]
        inside[far] = estimates.zoom.spread_inside(cells.key[far], synopsis.box.d)
    everywhere = None if estimates is None else AllCellPoints(estimates, box, deviation)
    return CellPoints(
        points,
        weights,
        cells.weight,
        synopsis.noise_variance,
        inside,
        view,
        by,
        everywhere,
        synopsis._all_cells,
        synopsis.n_cells_,
    )


def _points(box: Box, low: Floats, high: Floats, deviation: float | None) -> Floats:
    low, high = box.scale(low, -1, 1), box.scale(high, -1, 1)
    if deviation is None:
        return np.asarray((low + high) / 2)
    return gaussian_cell_means(low, high, deviation)


def weighted_cells(synopsis: Synopsis, plan: KMeansPlan, k: int, by: Clusterer) -> CellPoints:
    """The cells as points to begin with, where and as heavy as the plan has use for.

    In few columns most of the smallest weight comes off every weight, or, where the cells are few,
    rows are taken to be spread evenly in each. In a view of more, without small clusters, points
    lie where rows of its spread would be.
    """
    if plan.even:
        return even_points(synopsis, k, by)
    if plan.cells_an_axis:
        return cell_points(synopsis, deviation=None if plan.micro else DEVIATION, by=by)
    soft = synopsis.negative == "norm-cut" and plan.axes <= FEW_AXES
    cells = cell_points(synopsis, soft=soft, by=by)
    estimates = synopsis._estimates
    if estimates is None or estimates.inside is None:
        return cells
    in_cell = np.repeat(_parts_of_coarse_cells(estimates, plan), estimates.inside)
    return replace(cells, weights=cells.weights * in_cell[synopsis.cells_.key])


def _parts_of_coarse_cells(estimates: Estimates, plan: KMeansPlan) -> Floats:
    """Which part of each coarse count is to be expected, going by those of its shell together.

    Noise in an empty coarse cell far from all rows would draw a centre to itself.
    """
    values = estimates.coarse_values()
    zoom, parts = estimates.zoom, np.ones(values.size)
    shells = np.zeros(values.size, np.int64)
    if isinstance(zoom, ZoomedGrid):
        shells = zoom.shell_of_cells()
    for shell in range(0 if plan.axes <= _LIGHT_AXES else 1, int(shells.max()) + 1):
        own = shells == shell
        parts[own] = part_beyond_noise(values[own], 1 / estimates.step)
    return parts


def even_points(synopsis: Synopsis, k: int, by: Clusterer) -> CellPoints:
    """Public points all over the box, each as heavy as its cell makes it.

    Counts in which noise is large are shrunk towards their mean: what cannot be distinguished from
    noise leaves the points even, and centres of even points are the best guess without any rows.
    """
    cells, estimates = cell_points(synopsis, by=by), synopsis._estimates
    assert estimates is not None
    values, d = estimates.values, synopsis.box.d
    public = public_points(d, _POINTS * max(k, values.size))
    keys = estimates.cells.keys(synopsis.box.unscale(public, -1, 1))
    in_cell = np.maximum(np.bincount(keys, minlength=values.size), 1)
    shrunk = shrink_counts(values, synopsis.noise_variance) / in_cell
    inside = np.full(len(public), 4 * d / 12 * len(public) ** (-2 / d))
    variance = synopsis.noise_variance * values.size / len(public)
    weights = shrunk[keys]
    return replace(
        cells, points=public, weights=weights, sizes=weights, variance=variance, inside=inside
    )


def join_small_clusters(means: Means, k: int, rng: Randomness) -> Floats:
    """``k`` centres by weighted k-means of small clusters' means: fewer poor optima."""
    # Where next to no rows are, the mean is noise: it must not draw a centre to itself.
    weights = np.maximum(means.excess, FAINT)
    return find_centers(means.centers, weights, k, rng, _JOINING_RUNS)


def centers_of_cells(cells: CellPoints, k: int, rng: Randomness) -> NoisyClusters:
    """Weighted k-means of the cells: post-processing, so free for any number of clusters."""
    centers = cells.centers(k, rng)
    sizes, errors = cells.sizes_and_errors(centers)
    width = 1.0 if cells.view is None else cells.view.width
    return NoisyClusters(cells.placed(centers), sizes, errors * width, cells.counted(centers))
