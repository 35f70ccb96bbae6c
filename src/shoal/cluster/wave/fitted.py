"""What a fitted ``WaveCluster`` can do: look points up, be read at other scales, drawn and kept.

Where the coefficients of a grid lie in the rows' box, and which one answers for a point.

The picture of a fitted ``WaveCluster``: cells by cluster, and the tree of peaks.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from shoal.cluster.model_folder import save_model
from shoal.cluster.noise_sum import NoiseSum
from shoal.cluster.totals import Totals, warn_if_none_is_told
from shoal.cluster.wave import saving
from shoal.cluster.wave.clustering import Clustering, cluster_grid
from shoal.cluster.wave.noise import NoisyGrid
from shoal.cluster.wave.persistence import PeakTree
from shoal.cluster.wave.row_counts import counted_cells, settled
from shoal.cluster.wave.settings import Settings
from shoal.cluster.wave.transform import Transform
from shoal.domain import Grid
from shoal.domain.box import as_matrix
from shoal.domain.grid import whole_steps
from shoal.engine import rows_of
from shoal.engine.rows import Block
from shoal.errors import ConflictingSettings, DimensionMismatch, TooManyCells
from shoal.estimator import PrivateEstimator
from shoal.figures import Figure, cluster_map
from shoal.privacy import Public, Released, Result, Unprotected

__all__ = [
    "CellLabels",
    "FittedWave",
    "Lookup",
    "branches",
    "densest",
    "picture",
]

Integers = NDArray[np.int64]
Matrix = NDArray[np.float64]
_CHUNK = 32_768  # what is made of so many rows stays in a core's cache

PUBLISHED = ("n_rows_", "n_rows_within_", "rows_outside_", "n_clusters_", "threshold_",
             "cluster_sizes_", "groups_told_", "rows_told_", "size_reach_", "boxes_",
             "noisy_counts_", "cell_labels_", "cell_keys_", "tree_")  # fmt: skip


@dataclass(frozen=True)
class Lookup:
    """Points to cells, and cells back to the rows' box.

    Parameters
    ----------
    grid
        The cells that were counted.
    transform
        What made coefficients of them.
    """

    grid: Grid
    transform: Transform

    @property
    def shape(self) -> tuple[int, ...]:
        """Coefficients along each axis."""
        return self.transform.shape_out

    def keys(self, X: Matrix) -> Integers:
        """The number of the coefficient that answers for each point."""
        if self.transform.level == 0:
            return self.grid.keys(X)
        keys = np.zeros(len(X), dtype=np.int64)
        for axis, (cells, width) in enumerate(zip(self.grid.shape, self.shape, strict=True)):
            keys *= width
            places = whole_steps(self.grid.steps(X[:, axis], axis), cells)
            keys += self.transform.answering(places, axis)
        return keys

    def bounds(self, keys: Integers) -> tuple[Matrix, Matrix]:
        """Lowest and highest corner of the cells each of these coefficients answers for."""
        places = np.stack(np.unravel_index(keys, self.shape), axis=1)
        return self._corners(places), self._corners(places + 1)

    def _corners(self, places: Integers) -> Matrix:
        """Where the cells of these coefficients begin, in the rows' own units."""
        cells = [self.transform.first_cells(along, axis) for axis, along in enumerate(places.T)]
        box = self.grid.box
        corners: Matrix = np.stack(cells, axis=1) / np.array(self.grid.shape)
        return box.low + corners * (box.high - box.low)


@dataclass(frozen=True, eq=False)
class CellLabels:
    """The label of each point's cell; of the ``listed`` keys only, if not all have one."""

    lookup: Lookup
    labels: Integers
    listed: Integers | None = None

    def __call__(self, block: Block) -> tuple[Integers]:
        """Those of a block of rows, as its one column."""
        keys = self.lookup.keys(block.numbers)
        if self.listed is None:
            return (np.take(self.labels, keys, mode="clip"),)  # no key is outside
        return (_among(self.listed, self.labels, keys),)

    def of(self, X: Matrix) -> Integers:
        """Those of an array, a cacheful at a time."""
        found = np.empty(len(X), dtype=np.int64)
        no_codes = np.empty((0, 0), dtype=np.int32)
        for start in range(0, len(X), _CHUNK):
            part = slice(start, start + _CHUNK)
            (found[part],) = self(Block(X[part], no_codes))
        return found


def _among(listed: Integers, labels: Integers, keys: Integers) -> Integers:
    """The label of each key that is listed; -1 for the others."""
    at = np.searchsorted(listed, keys)
    known = at < listed.size
    known[known] = listed[at[known]] == keys[known]
    found = np.full(keys.size, -1, dtype=np.int64)
    found[known] = labels[at[known]]
    return found


class FittedWave(PrivateEstimator):
    """Labelled cells, and what can be read off them at no cost."""

    grid_: Grid
    noisy_counts_: NDArray[Any]
    cell_labels_: Integers
    cell_keys_: Integers | None
    threshold_: float | None
    tree_: PeakTree | None
    n_rows_: int | None
    n_rows_within_: int
    rows_outside_: float
    n_clusters_: int
    groups_told_: NDArray[np.bool_]
    rows_told_: bool
    size_reach_: Matrix
    cluster_sizes_: Matrix
    boxes_: Matrix
    guarantee_: Any
    level: int
    wavelet: str
    selector: Any

    def predict(self, X: Any) -> Any:
        """The cluster of each point's cell, -1 for none: for public points, or your own rows.

        An array; a Spark frame comes back with a column ``label``.
        """
        label = self._labels()
        if isinstance(X, np.ndarray | list | tuple):
            return label.of(as_matrix(X, self.grid_.box.d))
        return rows_of(X, self.grid_.box).map(label, ["label"]).like_input(squeeze=True)

    def coarser(self, levels: int = 1) -> Self:
        """The same release on a grid halved so many times more: free, though noisier than counted.

        Parameters
        ----------
        levels
            How many times. Blocks of released counts are added up, and clustered anew.

        Examples
        --------
        >>> from shoal.cluster import WaveCluster
        >>> from shoal.domain import Box
        >>> X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 500, axis=0)
        >>> fine = WaveCluster(domain=Box.unit(2), epsilon=1, cells=32, random_state=7).fit(X)
        >>> [model.noisy_counts_.shape for model in (fine, fine.coarser(), fine.coarser(2))]
        [(32, 32), (16, 16), (8, 8)]
        """
        check_is_fitted(self)
        if self.cell_keys_ is not None or not self._transform.is_blocks:
            raise ConflictingSettings(
                "Only the block sums of a full grid can be added up.",
                'Fit with wavelet="haar", up to three columns and 2**24 cells.',
            )
        model: Self = clone(self).set_params(level=self.level + levels, cells=self.grid_.shape)
        settings = Settings.of(model, self.grid_.box)
        noisy = self._noisy.coarser(levels)
        model.n_rows_, model.guarantee_ = self.n_rows_, self.guarantee_
        coarse = Transform(self.grid_.shape, model.level, self.wavelet)
        return model._publish(coarse, self.grid_, noisy, cluster_grid(noisy, settings))

    def plot(self, X: Any = None) -> Figure:
        """The cells by cluster, the tree of peaks, and, for the holder, the rows ``X`` as dots.

        With rows the picture is the holder's: it shows people.
        """
        check_is_fitted(self)
        points = None if X is None else rows_of(X, self.grid_.box).take(2000, _same_dots())
        return picture(self, points)

    def to_result(self) -> Result:
        """What a report shows: settings, which are public, and what was released."""
        check_is_fitted(self)
        settings = {"domain": Public(self.grid_.box), "cells": Public(self.grid_.shape)}
        told = saving.settings(self)
        told["rule_context"] = told.pop("context")  # pages mean something else by this name
        settings |= {name: Public(value) for name, value in told.items()}
        released = {name: Released(getattr(self, name)) for name in PUBLISHED}
        return Result("wave cluster", self.guarantee_, settings, released)

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Keep it in a folder: ``shoal.load_model`` takes it back.

        Parameters
        ----------
        folder, overwrite
            Where to; whether a model that is there may be replaced. Nothing else ever is.
        """
        check_is_fitted(self)
        return save_model(self, folder, overwrite)

    def _document(self) -> dict[str, Any]:
        return saving.document(self)

    def _tables(self) -> dict[str, Any]:
        return saving.tables(self)

    @classmethod
    def _restore(cls, document: Any, tables: Any) -> Self:
        model = cls()
        saving.restore(model, document, tables)
        return model

    def _publish(
        self,
        transform: Transform,
        grid: Grid,
        noisy: NoisyGrid,
        found: Clustering,
        keys: Integers | None = None,
        rows_noise: NoiseSum | None = None,
    ) -> Self:
        """Keep what was released and what follows from it.

        ``rows_noise`` is the law of the noise in ``n_rows_``; None if that is public or settled.
        """
        self.grid_, self.noisy_counts_, self.cell_keys_ = grid, noisy.values, keys
        self._noisy = noisy
        self.threshold_, self.tree_ = found.threshold, found.tree
        self.n_clusters_ = int(found.labels.max(initial=-1)) + 1
        self.n_features_in_ = grid.box.d
        sizes = self._sizes(found.labels, transform)
        order = np.argsort(-sizes, kind="stable")  # the largest first
        self.cell_labels_ = np.append(np.argsort(order), -1)[found.labels]
        self.boxes_ = self._boxes(Lookup(grid, transform))
        size = None if keys is None else math.prod(transform.shape_out)
        smooth = found.tree is not None
        counted = counted_cells(
            noisy, self.cell_labels_, transform.gain, size=size, smoothed=smooth
        )
        self._keep_totals(settled(self.n_rows_, rows_noise, counted, not self.is_private))
        return self

    def _keep_totals(self, totals: Totals) -> None:
        """Sizes of the clusters, and of what is in none, which is the last of them."""
        self.n_rows_, self.n_rows_within_ = totals.n_rows, totals.within
        self.cluster_sizes_, self.rows_outside_ = totals.sizes[:-1], float(totals.sizes[-1])
        self.groups_told_, self.size_reach_ = totals.told[:-1], totals.reach[:-1]
        self.rows_told_ = totals.rows_told

    def fit(self, X: Any, y: None = None) -> Self:
        """Read the rows, once paid for, and find the clusters of their cells."""
        super().fit(X)
        if self.is_private:
            warn_if_none_is_told(self.groups_told_, self.rows_told_)
        return self

    def _labels(self) -> CellLabels:
        """What labels a block of rows."""
        check_is_fitted(self)
        return CellLabels(self._lookup, self.cell_labels_, self.cell_keys_)

    @property
    def _transform(self) -> Transform:
        return Transform(self.grid_.shape, self.level, self.wavelet)

    @property
    def _lookup(self) -> Lookup:
        return Lookup(self.grid_, self._transform)

    def _sizes(self, labels: Integers, transform: Transform) -> Matrix:
        """Noisy rows of each cluster: its coefficients, over what one row adds to them."""
        inside = labels >= 0
        values = self.noisy_counts_[inside]
        sums = np.bincount(labels[inside], weights=values, minlength=self.n_clusters_)
        return np.maximum(sums / transform.gain, 0)

    def _boxes(self, lookup: Lookup) -> Matrix:
        """Lowest and highest corner of each cluster."""
        inside = np.flatnonzero(self.cell_labels_ >= 0)
        keys = inside if self.cell_keys_ is None else self.cell_keys_[inside]
        low, high = lookup.bounds(keys)
        boxes = np.empty((self.n_clusters_, 2, self.grid_.box.d))
        boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
        labels = self.cell_labels_.ravel()[inside]
        for axis in range(self.grid_.box.d):  # a column at a time: far faster than rows of them
            np.minimum.at(boxes[:, 0, axis], labels, low[:, axis])
            np.maximum.at(boxes[:, 1, axis], labels, high[:, axis])
        return boxes


def _same_dots() -> np.random.Generator:
    """Which rows are drawn as dots: the same ones each time."""
    return np.random.default_rng(0)


def picture(model: Any, points: Matrix | None) -> Figure:
    """The cells of a model of two columns, largest clusters first in its tree."""
    box = model.grid_.box
    if box.d != 2:
        raise DimensionMismatch(
            f"The clusters are of {box.d} columns; a map shows two.",
            "Fit two columns for a picture: domain=box.select([...]).",
        )
    if model.cell_keys_ is not None:
        raise TooManyCells(
            f"{model.grid_.size} cells are too many for a map.", "Fit e.g. with cells=256."
        )
    places = [model._lookup.transform.places(axis) for axis in range(2)]
    return cluster_map(
        model.cell_labels_[np.ix_(*places)],  # cell by cell, whatever the transform made of them
        names=box.names,
        low=box.low,
        high=box.high,
        sizes=model.cluster_sizes_,
        centers=densest(model),
        branches=[] if model.tree_ is None else branches(model.tree_, model.cell_labels_),
        rows=points,
        noisy=not isinstance(model.guarantee_, Unprotected),
        title="Clusters" if points is None else "Clusters and rows",
    )


def branches(tree: PeakTree, labels: NDArray[np.int64]) -> list[tuple[int, float, float, int]]:
    """Cluster, height of its peak, height where it joins a higher one, and which; -1 for none."""
    home = labels.ravel()[tree.peaks]
    top: dict[int, float] = {}
    for cluster, height in zip(home.tolist(), tree.summits.tolist(), strict=True):
        top[cluster] = max(top.get(cluster, height), height)
    root = {cluster: cluster for cluster in top if cluster >= 0}
    joins = dict.fromkeys(root, (0.0, -1))
    for (a, b), height in zip(home[tree.passes].tolist(), tree.heights.tolist(), strict=True):
        if min(a, b) < 0 or _first(root, a) == _first(root, b):
            continue
        high, low = sorted((_first(root, a), _first(root, b)), key=lambda c: -top[c])
        root[low] = high
        joins[low] = (height, high)
    order = sorted(root, key=lambda cluster: -top[cluster])
    return [(cluster, top[cluster], *joins[cluster]) for cluster in order]


def _first(root: dict[int, int], cluster: int) -> int:
    while root[cluster] != cluster:
        cluster = root[cluster]
    return cluster


def densest(model: Any) -> Matrix:
    """The middle of each cluster's fullest cell."""
    labels, values = model.cell_labels_.ravel(), model.noisy_counts_.ravel()
    inside = np.flatnonzero(labels >= 0)
    order = inside[np.lexsort((-values[inside], labels[inside]))]
    _, first = np.unique(labels[order], return_index=True)
    low, high = model._lookup.bounds(order[first])
    return np.asarray((low + high) / 2)
