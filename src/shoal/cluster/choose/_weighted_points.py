"""Weighted points on which settings are chosen: of a synopsis, of reports, or an array."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans

from shoal.arrays import Floats
from shoal.cluster.kmeans._cells import cell_points
from shoal.cluster.kmeans._weighted_kmeans import FAINT, weighted_kmeans
from shoal.domain.box import as_matrix
from shoal.errors import DimensionMismatch, NotFinite
from shoal.privacy import Guarantee, Unprotected
from shoal.synopsis import Synopsis

MOST_POINTS = 5_000  # largest number of points whose pairs are all compared
LEAST_INERTIA = 1e-6  # of the whole inertia, below which inertia counts as none


@dataclass(frozen=True, eq=False)
class Cloud:
    """Weighted points, in the units in which distances to centres are measured.

    Parameters
    ----------
    within
        The inertia that the spread of rows inside cells adds, 0 for points that are no cells.
    """

    points: Floats
    weights: Floats
    within: float
    low: Floats
    high: Floats

    @cached_property
    def n_distinct(self) -> int:
        """The number of distinct points."""
        return len(np.unique(self.points, axis=0))

    def fit_kmeans(self, count: int, rng: np.random.Generator, n_init: int = 5) -> KMeans:
        """Fit weighted k-means, with no more clusters than there are distinct points."""
        seed = int(rng.integers(2**31))
        most = min(count, self.n_distinct)
        return weighted_kmeans(self.points, self.weights, most, seed, n_init)

    def log_inertia(self, count: int, rng: np.random.Generator, n_init: int = 5) -> float:
        """Return the logarithm of the inertia of k-means; an estimate where points are cells."""
        inertia = self.fit_kmeans(count, rng, n_init).inertia_ + self.within
        return float(np.log(max(inertia, self._floor)))

    @property
    def _floor(self) -> float:
        """The least inertia, so that points in few places have a finite logarithm."""
        middle = np.average(self.points, axis=0, weights=self.weights)
        whole = self.weights @ ((self.points - middle) ** 2).sum(axis=1)
        return max(LEAST_INERTIA * float(whole), np.finfo(float).tiny)

    def sample(self, rng: np.random.Generator) -> "Cloud":
        """Draw few enough points by weight to compare all pairs, if there are more."""
        if len(self.points) <= MOST_POINTS:
            return self
        chances = self.weights / self.weights.sum()
        drawn = rng.choice(len(self.points), MOST_POINTS, p=chances)
        points, times = np.unique(self.points[drawn], axis=0, return_counts=True)
        return replace(self, points=points, weights=times * (self.weights.sum() / MOST_POINTS))

    def uniform(self, rng: np.random.Generator) -> "Cloud":
        """Draw as many points of the same weights evenly from the box."""
        return replace(self, points=rng.uniform(self.low, self.high, self.points.shape))


def cloud_of(
    points: Any, weights: ArrayLike | None, guarantee: Guarantee | None
) -> tuple[Cloud, Guarantee]:
    """Return points in the units in which distances to centres are measured.

    Returns
    -------
    The points, and the promise that covers them.
    """
    if isinstance(points, Synopsis):
        return _cloud_of_cells(points), points.guarantee_
    cloud, own_weights, promise = weighted_points(points, weights, guarantee)
    cloud = cloud / getattr(points, "units_", 1.0)
    # Shares are scaled up to a mean weight of 1, so that they count like rows.
    own_weights = own_weights / min(own_weights.mean(), 1.0)
    return Cloud(cloud, own_weights, 0.0, cloud.min(axis=0), cloud.max(axis=0)), promise


def _cloud_of_cells(synopsis: Synopsis) -> Cloud:
    """Return the cells in [-1, 1]^d; the middle if a synopsis has none."""
    cells = cell_points(synopsis)
    ones = np.ones(cells.points.shape[1])
    if not len(cells.points):
        return Cloud(np.zeros((1, len(ones))), np.array([FAINT]), 0.0, -ones, ones)
    return Cloud(cells.points, cells.weights, cells.within, -ones, ones)


def weighted_points(
    points: Any, weights: ArrayLike | None = None, guarantee: Guarantee | None = None
) -> tuple[Floats, Floats, Guarantee]:
    """Return points and weights in raw units, without those of weight 0, and their guarantee.

    Parameters
    ----------
    points
        A fitted synopsis, a model with a ``density_`` learnt from reports, or an array.
    guarantee
        What an array was released under, if it was.

    Raises
    ------
    DimensionMismatch
        If the weights do not fit the points.
    NotFinite
        If a point or weight is NaN or infinite.

    Examples
    --------
    >>> weighted_points([[1.0], [2.0], [3.0]], [1, 0, 2])[1].tolist()
    [1.0, 2.0]
    """
    if isinstance(points, Synopsis):
        return *_with_weight(*points.points()), points.guarantee_
    if hasattr(points, "density_"):
        density = points.density_
        return *_with_weight(density.atoms, density.weights), points.guarantee_
    cloud = as_matrix(points)
    own_weights = np.ones(len(cloud)) if weights is None else np.asarray(weights, dtype=np.float64)
    if guarantee is None:
        guarantee = Unprotected("read off points as they came, which may be rows")
    return *_with_weight(cloud, own_weights), guarantee


def _with_weight(points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    if weights.shape != (len(points),) or not (weights >= 0).all() or not (weights > 0).any():
        raise DimensionMismatch(
            f"There are {weights.size} weights for {len(points)} points.",
            "Give at least one point, and a weight of 0 or more for each, not all 0.",
        )
    if not (np.isfinite(points).all() and np.isfinite(weights).all()):
        raise NotFinite("Some points hold NaN or infinity.", "Leave them out.")
    return points[weights > 0], weights[weights > 0]
