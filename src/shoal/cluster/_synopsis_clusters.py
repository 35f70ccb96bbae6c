"""Run scikit-learn's clusterers on a released synopsis: weights respected, no further cost."""

import inspect
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.cluster import AffinityPropagation
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Floats, Integers
from shoal.cluster.prototypes._mixed_rows import MixedRows, every_row, hold_rows
from shoal.domain import Box, Schema
from shoal.errors import InvalidSetting, quantity, value_text
from shoal.evaluate.array_checks import check_points
from shoal.privacy import Guarantee, whole_number
from shoal.synopsis import Synopsis
from shoal.synopsis.mixed import MixedSynopsis

# Affinity propagation compares all pairs some two hundred times: 1,000 cells take a few seconds.
# DBSCAN looks at neighbours alone.
_MOST_COMPARED, _MOST_CELLS = 1_000, 20_000
_FINEST, _COARSER = 256, 0.85  # cells an axis to merge into, and by how much fewer each time


@dataclass(frozen=True, eq=False)
class SynopsisClusters:
    """Groups of the cells of a synopsis; all of it may be published.

    Parameters
    ----------
    points
        What was clustered: middles of cells, or weighted means of cells that were merged; of a
        mixed synopsis synthetic rows, one-hot and weighted.
    labels
        The group of each point, -1 for none.
    cell_labels
        The group of each cell of the synopsis; of a mixed one, of each synthetic row.
    core
        Which points are dense, by DBSCAN; None for other methods.
    units
        The bounds in whose half sides distances are measured, or the schema of a mixed synopsis;
        None for raw units.
    """

    points: Floats
    weights: Floats
    labels: Integers
    cell_labels: Integers
    cluster_centers: Floats
    cluster_weights: Floats
    guarantee: Guarantee
    core: Integers | None = None
    eps: float = np.inf
    units: Box | Schema | None = None

    @property
    def n_clusters(self) -> int:
        """The number of groups."""
        return len(self.cluster_centers)

    @property
    def unassigned_weight(self) -> float:
        """About how many rows are in no group."""
        return float(self.weights[self.labels < 0].sum())

    def predict(self, X: Any) -> Integers:
        """Return the group of each row, for the holder: by the nearest centre.

        After DBSCAN by the nearest dense point, -1 where that is further than its radius.

        Parameters
        ----------
        X
            Rows in raw units; for a mixed synopsis, a table with its columns.
        """
        rows = self._row_points(X)
        if not self.n_clusters or not len(rows):
            return np.full(len(rows), -1, dtype=np.int64)
        at, labels = self._landmarks
        distances, near = NearestNeighbors(n_neighbors=1).fit(at).kneighbors(rows)
        return np.where(distances[:, 0] <= self.eps, labels[near[:, 0]], -1)

    @cached_property
    def _landmarks(self) -> tuple[Floats, Integers]:
        """The points whose group a row takes over, and those groups."""
        if self.core is not None:
            return self._in_units(self.points[self.core]), self.labels[self.core]
        return self._in_units(self.cluster_centers), np.arange(self.n_clusters)

    def _in_units(self, points: Floats) -> Floats:
        """Return points as distances see them; those of synthetic rows are so already."""
        return self.units.scale(points, -1, 1) if isinstance(self.units, Box) else points

    def _row_points(self, X: Any) -> Floats:
        if isinstance(self.units, Schema):
            return hold_rows(X, every_row(self.units)).points
        rows = check_points(X, self.points.shape[1])
        return rows if self.units is None else self._in_units(self.units.clip(rows))


def cluster_synopsis(
    synopsis: Synopsis | MixedSynopsis,
    estimator: Any,
    *,
    weights: Literal["rows", "relative"] = "rows",
    scaled: bool = False,
    max_cells: int | None = None,
    random_state: int = 0,
) -> SynopsisClusters:
    r"""Cluster a released synopsis by affinity propagation, DBSCAN or another weighted method.

    A cell of weight w acts as w rows in its middle. For DBSCAN that is its ``sample_weight``:
    a cell is dense if the cells within ``eps`` stand for ``min_samples`` rows. Affinity
    propagation has no weights; w equal rows i add w times their similarity to an exemplar k and
    pay for at most one exemplar, so its objective is that of the matrix
    :math:`s_{ik} = -w_i \lVert x_i - x_k \rVert^2` with the preference on the diagonal.

    Guarantee
    ---------
    That of the synopsis: released numbers alone are read, so it costs nothing more.

    Parameters
    ----------
    synopsis
        Fitted. Of a ``MixedSynopsis``, ``max_cells`` synthetic rows are drawn that stand for equal
        parts of the rows; squared distances are then the mixed cost.
    estimator
        ``AffinityPropagation``, ``DBSCAN``, or a clusterer whose ``fit`` takes ``sample_weight``,
        such as ``KMeans``. It is copied. Affinity propagation without a preference takes the median
        similarity of two rows times the mean weight of a cell: about as many groups as it would
        find among the cells alone.
    weights
        "rows": how many rows a cell stands for. "relative": the same, over the mean of all cells;
        settings chosen by ``choose.radius``, ``choose.min_points`` and ``choose.preference`` are
        for this one.
    scaled
        Measure distances in half sides of the box, not in raw units.
    max_cells
        The most points to cluster: above it, cells are merged into coarser ones that stand in the
        weighted mean of theirs. Left out, 1,000 for affinity propagation and 20,000 for others.
    random_state
        The seed of a mixed synopsis' synthetic rows, and of the estimator if it has none.

    Raises
    ------
    InvalidSetting
        If the estimator takes no weights, or affinity propagation does not converge.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> from shoal.synopsis import UniformGrid
    >>> rows = np.repeat([[0.2, 0.2], [0.8, 0.8]], 500, axis=0)
    >>> grid = UniformGrid(epsilon=1, domain=Box.unit(2), cells=5, random_state=7).fit(rows)
    >>> groups = cluster_synopsis(grid, DBSCAN(eps=0.25, min_samples=50))
    >>> groups.n_clusters, groups.predict([[0.25, 0.3], [0.7, 0.9]]).tolist()
    (2, [0, 1])

    References
    ----------
    Frey, Dueck, Clustering by passing messages between data points, Science 2007; Zhang,
    Furtlehner, Sebag, Data streaming with affinity propagation, ECML 2008 (with weights).
    """
    check_is_fitted(synopsis)
    method = _checked_estimator(estimator, random_state)
    most = _checked_limit(max_cells, method)
    if weights not in ("rows", "relative"):
        raise InvalidSetting.of("weights", "must be 'rows' or 'relative'", "rows", weights)
    if isinstance(synopsis, MixedSynopsis):
        points, rows, places, units = _synthetic_points(synopsis, most, random_state)
    else:
        points, rows, places, units = _merged_cells(synopsis, most, scaled)
    if not len(points):
        return _no_groups(points, synopsis.guarantee_)
    mean = 1.0 if weights == "rows" else float(rows.mean())
    measured = units.scale(points, -1, 1) if isinstance(units, Box) else points
    if isinstance(method, AffinityPropagation):
        labels, exemplars = _propagate(method, measured, rows / mean)
    else:
        labels = np.asarray(method.fit(measured, sample_weight=rows / mean).labels_, np.int64)
        exemplars = None
    centers, sizes = _groups(points, rows, labels, exemplars)
    core = getattr(method, "core_sample_indices_", None)
    eps = float(method.eps) if core is not None else np.inf
    return SynopsisClusters(
        points, rows, labels, labels[places], centers, sizes, synopsis.guarantee_, core, eps, units
    )


def _checked_estimator(estimator: Any, random_state: int) -> Any:
    """Return a copy that is not fitted; refuse what takes no weights or no points."""
    weighted = (
        hasattr(estimator, "fit") and "sample_weight" in inspect.signature(estimator.fit).parameters
    )
    if not weighted and not isinstance(estimator, AffinityPropagation):
        raise InvalidSetting(
            f"{value_text(estimator)} takes no weights, so cells of many rows would count like "
            "cells of few.",
            "Give AffinityPropagation, DBSCAN or KMeans; or draw points: synopsis.sample(2_000).",
            setting="estimator",
        )
    distance = getattr(estimator, "affinity", getattr(estimator, "metric", "euclidean"))
    if distance != "euclidean":
        raise InvalidSetting.of(
            "estimator", "must measure Euclidean distances", "DBSCAN(eps=0.5)", estimator
        )
    copy = clone(estimator)
    if "random_state" in copy.get_params() and copy.random_state is None:
        copy.set_params(random_state=random_state)
    return copy


def _checked_limit(max_cells: int | None, method: Any) -> int:
    if max_cells is None:
        return _MOST_COMPARED if isinstance(method, AffinityPropagation) else _MOST_CELLS
    most = whole_number(max_cells)
    if most is None or most < 1:
        raise InvalidSetting.of("max_cells", "must be a whole number of 1 or more", 1000, max_cells)
    return most


def _merged_cells(
    synopsis: Synopsis, most: int, scaled: bool
) -> tuple[Floats, Floats, Integers, Box | Schema | None]:
    """Return at most so many points, their rows, the point of each cell, and units."""
    if synopsis.view_ is not None:
        raise InvalidSetting(
            "The synopsis was counted through a view, so distances between its cells are not "
            "those of the columns.",
            "Fit a synopsis on the columns themselves.",
        )
    centers, weights = synopsis.points()
    units = synopsis.box if scaled else None
    if len(centers) <= most:
        return centers, weights, np.arange(len(centers)), units
    places = _coarser_places(synopsis.box.scale(centers, 0, 1), most)
    rows = np.bincount(places, weights).astype(np.float64)
    sums = [np.bincount(places, weights * axis) for axis in centers.T]
    return np.column_stack(sums) / rows[:, None], rows, places, units


def _coarser_places(unit: Floats, most: int) -> Integers:
    """Return the cell of each point of [0, 1]^d on the finest grid that has few enough occupied."""
    axis_cells = _FINEST
    while True:
        keys = np.minimum((unit * axis_cells).astype(np.int64), axis_cells - 1)
        distinct, places = np.unique(keys, axis=0, return_inverse=True)
        if len(distinct) <= most:
            return np.asarray(places.ravel(), dtype=np.int64)
        axis_cells = min(axis_cells - 1, int(axis_cells * _COARSER))


def _synthetic_points(
    synopsis: MixedSynopsis, n: int, seed: int
) -> tuple[Floats, Floats, Integers, Box | Schema | None]:
    """Return synthetic rows as points whose squared distances are the mixed cost."""
    numbers, codes = synopsis.synthetic_rows(n, np.random.default_rng(seed))
    points = MixedRows(synopsis.columns, numbers, codes).points
    rows = np.full(n, max(synopsis.n_rows_, 1) / n)
    return points, rows, np.arange(n), synopsis.domain


def _propagate(
    method: AffinityPropagation, points: Floats, weights: Floats
) -> tuple[Integers, Integers]:
    """Return labels and exemplars of affinity propagation on points that stand for several."""
    squares = np.square(points).sum(axis=1)
    likeness = -np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0)
    preference = method.preference
    if preference is None:
        preference = _median_similarity(likeness, weights) * weights.mean()
    fitted = clone(method).set_params(affinity="precomputed", preference=preference)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # all points alike: they are one group
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            fitted.fit(likeness * weights[:, None])
        except ConvergenceWarning:
            raise InvalidSetting(
                f"Affinity propagation did not converge on {quantity(len(points), 'cell')}.",
                "Raise its damping, e.g. AffinityPropagation(damping=0.9), or its max_iter.",
                setting="estimator",
            ) from None
    exemplars = np.asarray(fitted.cluster_centers_indices_, dtype=np.int64)
    return np.asarray(fitted.labels_, dtype=np.int64), exemplars


def _median_similarity(likeness: Floats, weights: Floats) -> float:
    """Return the median similarity of two rows of different cells; 0 of a single cell."""
    first, second = np.triu_indices(len(weights), 1)
    if not len(first):
        return 0.0
    values, pairs = likeness[first, second], weights[first] * weights[second]
    order = np.argsort(values)
    heavy = np.cumsum(pairs[order])
    return float(values[order][np.searchsorted(heavy, heavy[-1] / 2)])


def _groups(
    points: Floats, rows: Floats, labels: Integers, exemplars: Integers | None
) -> tuple[Floats, Floats]:
    """Return a centre for each group, and its rows."""
    inside = labels >= 0
    k = int(labels.max(initial=-1)) + 1
    sizes = np.bincount(labels[inside], rows[inside], k).astype(np.float64)
    if exemplars is not None:
        return points[exemplars], sizes
    sums = [np.bincount(labels[inside], (rows * axis)[inside], k) for axis in points.T]
    return np.column_stack(sums) / np.maximum(sizes, np.finfo(float).tiny)[:, None], sizes


def _no_groups(points: Floats, guarantee: Guarantee) -> SynopsisClusters:
    """Return what a synopsis without any cell has."""
    none = np.empty(0, dtype=np.int64)
    return SynopsisClusters(points, np.empty(0), none, none, points, np.empty(0), guarantee)
