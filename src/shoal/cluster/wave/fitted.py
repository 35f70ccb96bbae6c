"""What a fitted ``WaveCluster`` can do: look points up, be read at other scales, drawn and kept."""

import math
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from shoal.cluster.folder import save_model
from shoal.cluster.noise_sum import NoiseSum
from shoal.cluster.totals import Totals, warn_if_none_is_told
from shoal.cluster.wave import saving
from shoal.cluster.wave.clustering import Clustering, cluster_grid
from shoal.cluster.wave.lookup import CellLabels, Lookup
from shoal.cluster.wave.noisy_grid import NoisyGrid
from shoal.cluster.wave.persistence import PeakTree
from shoal.cluster.wave.picture import picture
from shoal.cluster.wave.rows_told import counted_cells, settled
from shoal.cluster.wave.settings import Settings
from shoal.cluster.wave.transform import Transform
from shoal.domain import Grid
from shoal.domain.box import as_matrix
from shoal.engine import rows_of
from shoal.engine.spark_mapped import SparkMapped
from shoal.errors import ConflictingSettings
from shoal.figures import Figure
from shoal.privacy import Public, Released, Result
from shoal.synopsis.private import PrivateEstimator

__all__ = ["FittedWave"]

Integers = NDArray[np.int64]
Matrix = NDArray[np.float64]
PUBLISHED = ("n_rows_", "n_rows_within_", "rows_outside_", "n_clusters_", "threshold_",
             "cluster_sizes_", "groups_told_", "rows_told_", "size_reach_", "boxes_",
             "noisy_counts_", "cell_labels_", "cell_keys_", "tree_")  # fmt: skip


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
        mapped = rows_of(X, self.grid_.box).map(label, ["label"])
        if isinstance(mapped, SparkMapped):
            return mapped.appended()
        labels = (batch["label"] for batch in mapped.batches())
        return np.concatenate([np.zeros(0, np.int64), *labels])

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
        self._keep_totals(settled(self.n_rows_, rows_noise, counted, self.epsilon is None))
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
        if self.epsilon is not None:
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
