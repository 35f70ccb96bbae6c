"""The default method: cells find the clusters, steps towards noisy means refine their centres."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.cluster.kmeans.ball import Means, Rings, ball_step, pick_radius, read_rings
from shoal.cluster.kmeans.cells import CellPoints, cell_points, centers_of_cells
from shoal.cluster.kmeans.location import DEVIATION, locate
from shoal.cluster.kmeans.nearest import Nearest, ViewedCube
from shoal.cluster.kmeans.plan import (
    FEW_AXES,
    Plan,
    cells_alone,
    cells_then_step,
    location_share,
    plan_of_view,
)
from shoal.cluster.kmeans.settings import CellSettings
from shoal.cluster.kmeans.weighted import FAINT, farthest, weighted_centers
from shoal.cluster.kmeans.work import Found, Work
from shoal.cluster.totals import Counted
from shoal.domain import View
from shoal.domain.box import Matrix
from shoal.estimator import Spending
from shoal.synopsis import AdaptiveGrid, PrivTree, UniformGrid
from shoal.synopsis.base import Synopsis
from shoal.synopsis.uniform_grid import MAX_CELLS_DENSE

__all__ = ["Refinement", "begin"]

_RUNS = 40  # of k-means on small clusters' means: there are few, and a poor optimum costs most
_MOST_CELLS = 100_000  # more would cost more to cluster than they tell


@dataclass(frozen=True, eq=False)
class Refinement:
    """What the cells found, and what is left to spend on it.

    Parameters
    ----------
    work, plan
        Rows and what pays for them; how.
    cells
        As weighted points.
    guess
        A radius of clusters, public or released.
    """

    work: Work
    plan: Plan
    cells: CellPoints
    guess: float

    def centers(self, k: int) -> Found:
        """``k`` refined centres. This spends the rest of the budget: once."""
        if not self.plan.steps:
            return centers_of_cells(self.cells, k, self.work.rng)
        if self.plan.micro_clusters:
            return self._last_steps(self._through_small_clusters(k))
        few = min(self.plan.refined, k)
        seen = self.cells.centers(few, self.work.rng)
        found = self._last_steps(self.cells.placed(seen), self._looks(seen))
        return found if few == k else self._completed(found, k)

    def _through_small_clusters(self, k: int) -> Matrix:
        """Means of many small clusters, and weighted k-means of these: fewer poor optima."""
        seen = self.cells.centers(self.plan.micro_clusters, self.work.rng)
        centers, looks = self.cells.placed(seen), self._looks(seen)
        means = self._step(centers, self.plan.micro, looks, of="small clusters")
        # Where next to no rows are, the mean is noise: it must not draw a centre to itself.
        weights = np.maximum(means.excess, FAINT)
        return weighted_centers(means.centers, weights, k, self.work.rng, n_init=_RUNS)

    def _last_steps(self, centers: Matrix, looks: Nearest | None = None) -> Found:
        for number, share in enumerate(self.plan.steps, start=1):
            means = self._step(centers, share, looks, of=f"clusters, step {number}")
            centers, looks = means.centers, None
        counted = Counted.alike(means.sizes, means.noise)
        return Found(means.centers, means.sizes, means.errors, counted)

    def _step(self, centers: Matrix, share: Fraction, looks: Nearest | None, *, of: str) -> Means:
        """A radius and a step towards the means, in one pass."""
        work, rings = self.work, self._pass(centers, looks)
        cost = work.pure(self.plan.radius)
        pick = pick_radius(rings, work.page, cost, work.rng, guess=self.guess, of=f"radius of {of}")
        budget = work.step(share - self.plan.radius, of=self.plan.for_steps)
        return ball_step(rings, pick, work.page, budget, work.rng, of=f"means of {of}")

    def _pass(self, centers: Matrix, looks: Nearest | None) -> Rings:
        work = self.work
        if looks is None:
            return read_rings(work.rows, work.cube, Nearest(centers))
        assert self.cells.view is not None
        seen = ViewedCube(self.cells.view)
        return read_rings(work.rows, work.cube, looks, centers=centers, seen=seen)

    def _looks(self, seen: Matrix) -> Nearest | None:
        """How to label rows by a shadow; from a full view their own place tells more."""
        return Nearest(seen) if self.cells.in_shadow else None

    def _completed(self, found: Found, k: int) -> Found:
        """With the cells that the refined centres miss most."""
        points = self.cells.placed(self.cells.points)
        centers = farthest(found.centers, points, self.cells.weights, k)
        width = 1.0 if self.cells.view is None else self.cells.view.width
        inside = self.cells.inside * width**2
        placed = replace(self.cells, points=points, inside=inside, view=None)
        sizes, errors = placed.told(centers)  # those added take rows from those refined
        errors = np.append(found.errors, errors[len(found.centers) :])
        return Found(centers, sizes, errors, self.cells.counted(centers, self.cells.placed))


def begin(work: Work, k: int, asked: CellSettings) -> tuple[Synopsis, Refinement]:
    """Count cells by the rules for so many clusters, and keep back what refines them."""
    if asked.method == "auto" and work.d > FEW_AXES:
        return _begin_located(work, k, asked)
    if asked.refine:
        plan = cells_then_step(work.left, work.n_rows, work.epsilon, work.d, k)
    else:
        plan = cells_alone(work.left, work.d)
    synopsis = _counted(_synopsis(work, plan, asked), work, plan)
    soft = asked.negative == "norm-cut" and work.d <= FEW_AXES
    cells = cell_points(synopsis, soft=soft, by=asked.spark_kmeans)
    return synopsis, Refinement(work, plan, cells, guess=0.3 * math.sqrt(work.d))


def _begin_located(work: Work, k: int, asked: CellSettings) -> tuple[Synopsis, Refinement]:
    """In many columns: where the rows are, then the cells of a view of them."""
    share = location_share(work.n_rows, work.epsilon, work.d)
    plan = plan_of_view(work.left - share, work.n_rows, work.epsilon, work.d, k)
    if not asked.refine:
        plan = cells_alone(work.left - share, plan.axes)
    location = locate(work, share)
    finest = cells_an_axis(work.n_rows * work.epsilon * float(plan.cells), plan.axes)
    grid = UniformGrid(**_settings(work, plan), cells=finest, negative=asked.negative)
    synopsis = _counted(grid, work, plan, view=location.view(work, plan.axes))
    deviation = None if plan.micro else DEVIATION
    cells = cell_points(synopsis, deviation=deviation, by=asked.spark_kmeans)
    return synopsis, Refinement(work, plan, cells, guess=0.6 * location.spread)


def _synopsis(work: Work, plan: Plan, asked: CellSettings) -> Synopsis:
    """The synopsis asked for, not fitted yet."""
    settings = {**_settings(work, plan), "negative": asked.negative}
    if asked.method == "uniform-grid":
        return UniformGrid(**settings)
    if asked.method == "privtree":
        return PrivTree(**settings)
    most = _MOST_CELLS if asked.method == "auto" else MAX_CELLS_DENSE
    return AdaptiveGrid(**settings, consistency=asked.consistency, max_cells=most)


def _settings(work: Work, plan: Plan) -> dict[str, Any]:
    return {"epsilon": work.budget.epsilon * plan.cells, "domain": work.cube.box}


def _counted(synopsis: Synopsis, work: Work, plan: Plan, view: View | None = None) -> Synopsis:
    budget = work.pure(plan.cells)
    synopsis.spend(Spending(work.rows, work.page, budget, work.rng, work.n_rows, view))
    synopsis.guarantee_ = budget.simulated(work.rng.noise.simulation)
    return synopsis


def cells_an_axis(rows_felt: float, axes: int) -> int:
    """(N epsilon / 5)^(2 / (2 + p)): the rule of the uniform grid, twice as fine, within limits."""
    wanted: int = max(2, round((rows_felt / 5) ** (2 / (2 + axes))))
    while wanted > 2 and wanted**axes > _MOST_CELLS:
        wanted -= 1
    return wanted
