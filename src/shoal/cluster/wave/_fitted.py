"""The fitted part of ``WaveCluster``: published attributes, labels, sizes and saving.

Everything here reads released numbers only, so it costs no budget: labels of points, clusters on
coarser grids, figures, and how many rows each cluster holds beyond what noise alone would count.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Floats, Integers
from shoal.cluster._description_cache import ComputedOnce
from shoal.cluster._groups_display import GroupsMixin
from shoal.cluster.group_sizes import (
    GroupCounts,
    NoiseSum,
    Totals,
    combine_counts,
    warn_if_no_group_is_certain,
)
from shoal.cluster.intervals import Intervals
from shoal.cluster.model_folder import save_model
from shoal.cluster.wave import _figure as figure
from shoal.cluster.wave import _saving as saving
from shoal.cluster.wave._noise import NoisyGrid
from shoal.cluster.wave._segmentation import LabelledCells, PeakTree
from shoal.cluster.wave._settings import Settings
from shoal.cluster.wave._transform import Lookup, Transform
from shoal.domain import Grid
from shoal.domain.box import as_matrix
from shoal.engine import Block, rows_of
from shoal.errors import ConflictingSettings, setting
from shoal.estimator import PrivateEstimator, unfitted_copy
from shoal.figures import Figure
from shoal.privacy import Public, Released, Result, Unprotected

CHUNK_ROWS = 32_768  # intermediate arrays of this many rows fit in a core's cache

PUBLISHED = ("n_rows_", "n_rows_within_", "rows_outside_", "n_clusters_", "threshold_",
             "cluster_sizes_", "is_certain_", "rows_detected_", "noise_sizes_", "boxes_",
             "noisy_counts_", "cell_labels_", "cell_keys_", "tree_")  # fmt: skip

# Cells of a cluster touch, so of all sets of as many cells only some can be a cluster: about this
# power of their number. Measured on empty tables, where 0.3 let none of 2,500 pass and 0.2 some in
# three columns: docs/decisions/certain-groups.md.
TOUCHING_POWER = 0.5


@dataclass(frozen=True, eq=False)
class CellLabels:
    """A kernel that gives each row the cluster label of its cell.

    Parameters
    ----------
    listed
        The sorted keys of the cells that have a label, if not all have one; others are -1.
    """

    lookup: Lookup
    labels: Integers
    listed: Integers | None = None

    def __call__(self, block: Block) -> tuple[Integers]:
        """Return one column: the label of each row of a block."""
        keys = self.lookup.keys(block.numbers)
        if self.listed is None:
            return (np.take(self.labels, keys, mode="clip"),)  # no key is outside
        return (_listed_labels(self.listed, self.labels, keys),)

    def of(self, X: Floats) -> Integers:
        """Label the points of an array, a chunk at a time."""
        labels = np.empty(len(X), dtype=np.int64)
        no_codes = np.empty((0, 0), dtype=np.int32)
        for start in range(0, len(X), CHUNK_ROWS):
            part = slice(start, start + CHUNK_ROWS)
            (labels[part],) = self(Block(X[part], no_codes))
        return labels


def _listed_labels(listed: Integers, labels: Integers, keys: Integers) -> Integers:
    """Return the label of each key that is listed, and -1 for the others."""
    at = np.searchsorted(listed, keys)
    known = at < listed.size
    known[known] = listed[at[known]] == keys[known]
    of_keys = np.full(keys.size, -1, dtype=np.int64)
    of_keys[known] = labels[at[known]]
    return of_keys


class FittedWave(GroupsMixin, ComputedOnce, PrivateEstimator):
    """The released grid of a fitted ``WaveCluster``, and what can be computed from it without rows.

    The attributes are described in ``WaveCluster``.
    """

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
    is_certain_: NDArray[np.bool_]
    rows_detected_: bool
    noise_sizes_: Floats
    cluster_sizes_: Floats
    boxes_: Floats
    guarantee_: Any
    level: int
    wavelet: str
    selector: Any
    _made_by_fit = "cell_labels_"

    @property
    def intervals_(self) -> Intervals:
        """Intervals of sizes and the total, simulated from the released grid: at no cost.

        Nine in ten hold how many rows lie in the cells of a group; NaN marks a group that refits
        do not find again. Read from the model's description (``shoal.describe``), or computed when
        first read, and kept. There are no centres.
        """
        from shoal.cluster.wave._intervals import wave_intervals

        check_is_fitted(self)
        return self._compute_once("intervals", lambda: wave_intervals(self))

    @property
    def is_private(self) -> bool:
        """Whether the model promises anything; plain WaveCluster does not."""
        return not isinstance(self._promise(), Unprotected)

    def predict(self, X: Any) -> Any:
        """Return the cluster of each point's cell, -1 for none.

        Returns
        -------
        An array; a Spark frame comes back with a column ``label``.
        """
        label = self._labels()
        if isinstance(X, np.ndarray | list | tuple):
            return label.of(as_matrix(X, self.grid_.box.d))
        return rows_of(X, self.grid_.box).map(label, ["label"]).like_input(squeeze=True)

    def coarser(self, levels: int = 1) -> Self:
        """Cluster the same release on a coarser grid, without further cost.

        The sums are noisier than counts taken on the coarse grid would be.

        Returns
        -------
        A new fitted model; this one is left as it is.

        Raises
        ------
        ConflictingSettings
            If the grid is sparse, or its coefficients are no plain block sums.

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
                "Only the block sums of a full grid can be combined.",
                "Fit with " + setting("wavelet", "haar") + ", up to three columns and 2**24 cells.",
            )
        model: Self = unfitted_copy(self).set_params(
            level=self.level + levels, cells=self.grid_.shape
        )
        settings = Settings.of(model, self.grid_.box)
        noisy = self._noisy.coarser(levels)
        model.n_rows_, model.guarantee_ = self.n_rows_, self.guarantee_
        coarse = Transform(self.grid_.shape, model.level, self.wavelet)
        clustering = settings.selector.label(noisy, settings.connectivity, settings.min_cells)
        return model._publish(coarse, self.grid_, noisy, clustering)

    def plot(self, X: Any = None) -> Figure:
        """Draw the cells by cluster and the tree of peaks, or the clusters along the only column.

        Parameters
        ----------
        X
            Rows to show as dots, over two columns. The figure then shows people, and is only for
            the holder of the rows.
        """
        check_is_fitted(self)
        points = None if X is None else rows_of(X, self.grid_.box).take(2000, _same_dots())
        return figure.draw_clusters(self, points)

    def to_result(self) -> Result:
        """Return the settings, which are public, and the released numbers, for a report."""
        check_is_fitted(self)
        settings = {"domain": Public(self.grid_.box), "cells": Public(self.grid_.shape)}
        flat = saving.flat_settings(self)
        # A page uses "context" for something else.
        flat["rule_context"] = flat.pop("context")
        settings |= {name: Public(value) for name, value in flat.items()}
        released = {name: Released(getattr(self, name)) for name in PUBLISHED}
        return Result("wave cluster", self.guarantee_, settings, released)

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Save the model to a folder, which ``shoal.load_model`` reads.

        Parameters
        ----------
        overwrite
            Whether a model that is already there may be replaced; other folders never are.
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
        clustering: LabelledCells,
        keys: Integers | None = None,
        rows_noise: NoiseSum | None = None,
    ) -> Self:
        """Set the fitted attributes from what was released.

        Parameters
        ----------
        rows_noise
            The law of the noise in ``n_rows_``; None if that is public or final.
        """
        self.grid_, self.noisy_counts_, self.cell_keys_ = grid, noisy.values, keys
        self._noisy = noisy
        self.threshold_, self.tree_ = clustering.threshold, clustering.tree
        self.n_clusters_ = int(clustering.labels.max(initial=-1)) + 1
        self.n_features_in_ = grid.box.d
        self.feature_names_in_ = np.array(grid.box.names, dtype=object)
        sizes = self._sizes(clustering.labels, transform)
        order = np.argsort(-sizes, kind="stable")  # the largest first
        self.cell_labels_ = np.append(np.argsort(order), -1)[clustering.labels]
        self.boxes_ = self._boxes(Lookup(grid, transform))
        size = None if keys is None else math.prod(transform.shape_out)
        are_peaks = clustering.tree is not None
        counts = cluster_counts(
            noisy, self.cell_labels_, transform.gain, size=size, are_peaks=are_peaks
        )
        self._set_totals(cluster_totals(self.n_rows_, rows_noise, counts, not self.is_private))
        return self

    def _set_totals(self, totals: Totals) -> None:
        """Set the sizes of the clusters, and of the rows in no cluster, which come last."""
        self.n_rows_, self.n_rows_within_ = totals.n_rows, totals.within
        self.cluster_sizes_, self.rows_outside_ = totals.sizes[:-1], float(totals.sizes[-1])
        self.is_certain_, self.noise_sizes_ = totals.is_certain[:-1], totals.reach[:-1]
        self.rows_detected_ = totals.rows_detected

    def fit(self, X: Any, y: None = None) -> Self:
        """Release the grid of the rows, and find clusters on it."""
        super().fit(X)
        if self.is_private:
            warn_if_no_group_is_certain(self.is_certain_, self.rows_detected_)
        return self

    def _group_values(self) -> dict[str, list[str]]:
        """Return from where to where each cluster reaches."""
        ends = enumerate(self.grid_.box.names)
        return {name: [f"{low:,.4g} to {high:,.4g}" for low, high in self.boxes_[:, :, axis]]
                for axis, name in ends}  # fmt: skip

    @property
    def _variance_of_cells(self) -> float | None:
        """The variance of the noise of one cell; None if cells share noise, or it is not known."""
        return self._noisy.variance if self._noisy.variance and self._transform.is_blocks else None

    def _counts_over(self, at: list[int]) -> Integers:
        """Return the released counts on a grid of one or two columns, given by their places."""
        return figure.project_counts(self, at)

    def _labels_over(self, at: list[int]) -> Integers:
        """Return the largest group over each place of a grid of two columns; -1 for none."""
        return figure.project_labels(self, at)

    def _densest_cells(self) -> Floats:
        """Return the middle of the cell with the highest noisy count in each cluster."""
        return figure.densest_cells(self)

    def _tree_branches(self) -> list[tuple[int, float, float, int]]:
        """Return the branches of the tree of peaks; none if there is no tree."""
        return [] if self.tree_ is None else figure.branches(self.tree_, self.cell_labels_)

    def _group_means(self) -> Floats:
        """Return the average of each cluster's cells, by their noisy counts."""
        inside = np.flatnonzero(self.cell_labels_ >= 0)
        labels, k = self.cell_labels_.ravel()[inside], self.n_clusters_
        weights = np.maximum(self.noisy_counts_.ravel()[inside], 0) + 1e-9
        places, shape = figure.places_of(self, inside), self._lookup.shape
        shares = [(at + 0.5) / side for at, side in zip(places, shape, strict=True)]
        total, box = np.bincount(labels, weights, k), self.grid_.box
        sums = np.column_stack([np.bincount(labels, weights * each, k) for each in shares])
        return np.asarray(box.low + sums / total[:, None] * (box.high - box.low))

    def _labels(self) -> CellLabels:
        """Return the kernel that labels a block of rows."""
        check_is_fitted(self)
        return CellLabels(self._lookup, self.cell_labels_, self.cell_keys_)

    @property
    def _transform(self) -> Transform:
        return Transform(self.grid_.shape, self.level, self.wavelet)

    @property
    def _lookup(self) -> Lookup:
        return Lookup(self.grid_, self._transform)

    def _sizes(self, labels: Integers, transform: Transform) -> Floats:
        """Estimate the rows of each cluster: its coefficients over what one row adds to them."""
        inside = labels >= 0
        values = self.noisy_counts_[inside]
        sums = np.bincount(labels[inside], weights=values, minlength=self.n_clusters_)
        return np.maximum(sums / transform.gain, 0)

    def _boxes(self, lookup: Lookup) -> Floats:
        """Return the lowest and the highest corner of each cluster."""
        inside = np.flatnonzero(self.cell_labels_ >= 0)
        keys = inside if self.cell_keys_ is None else self.cell_keys_[inside]
        low, high = lookup.bounds(keys)
        boxes = np.empty((self.n_clusters_, 2, self.grid_.box.d))
        boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
        labels = self.cell_labels_.ravel()[inside]
        # One column at a time: ``minimum.at`` is far slower on rows of a matrix.
        for axis in range(self.grid_.box.d):
            np.minimum.at(boxes[:, 0, axis], labels, low[:, axis])
            np.maximum.at(boxes[:, 1, axis], labels, high[:, axis])
        return boxes


def _same_dots() -> np.random.Generator:
    """Return the generator that samples the dots of a figure, the same ones each time."""
    return np.random.default_rng(0)


def cluster_counts(
    noisy: NoisyGrid,
    labels: Integers,
    gain: float,
    *,
    size: int | None = None,
    are_peaks: bool,
) -> GroupCounts:
    """Add up the noisy rows of each cluster, and of all cells in no cluster as the last entry.

    Parameters
    ----------
    labels
        The cluster of each cell, -1 for none.
    size
        The number of cells of the whole grid, where cells below a level were never made; how many
        rows those hold is not known. None if all cells were made.
    are_peaks
        Whether clusters are peaks of a smoothed grid, of which there are about as many as pairs of
        cells. Otherwise any set of touching cells may have been chosen by its noise.
    """
    k = int(labels.max(initial=-1)) + 1
    regions = np.where(labels < 0, k, labels).ravel()
    sums = np.bincount(regions, noisy.values.ravel(), k + 1) / gain
    cells = np.bincount(regions, minlength=k + 1)
    one = NoiseSum.of_variance(noisy.variance).times(1 / gain)
    each = tuple(_times(one, count) for count in cells.tolist())
    known = bool(noisy.variance) and size is None
    total, in_all = (float(sums.sum()), _times(one, labels.size)) if known else (None, None)
    choices = _log_choices(cells, float(size or labels.size), are_peaks)
    return GroupCounts(sums, each, total, in_all, choices, are_sizes=True)


def _log_choices(cells: Integers, size: float, are_peaks: bool) -> Floats:
    """Return the logarithm of how many possible clusters each cluster was chosen from."""
    pairs = np.full(cells.size, 2 * math.log(size))
    if are_peaks:
        return pairs
    log_sets = gammaln(size + 1) - gammaln(cells + 1) - gammaln(size - cells + 1)
    return np.asarray(pairs + TOUCHING_POWER * log_sets)


def cluster_totals(
    n_rows: int | None, rows_noise: NoiseSum | None, counted: GroupCounts, exact: bool
) -> Totals:
    """Combine all counts into one total, and sizes of clusters that add up to it.

    Parameters
    ----------
    n_rows
        The number of rows; None if it was neither public nor paid for.
    rows_noise
        The law of its noise; None if it has none.
    """
    if exact:
        clear = np.ones(counted.sizes.size, dtype=np.bool_)
        total = round(float(counted.sizes.sum()))
        return Totals(total, 0, counted.sizes, np.zeros(clear.size), clear, rows_detected=True)
    totals = _with_total(n_rows, rows_noise, counted)
    if not any(noise.parts for noise in counted.noise):  # of points drawn anew from noisy cells
        return replace(totals, is_certain=totals.is_certain & totals.rows_detected)
    return totals


def _with_total(n_rows: int | None, rows_noise: NoiseSum | None, counted: GroupCounts) -> Totals:
    if n_rows is None:  # the cells' own sum is the only one
        assert counted.total is not None  # cells of a full grid
        assert counted.total_noise is not None
        totals = combine_counts(max(1, round(counted.total)), None, counted)
        return replace(totals, within=math.ceil(counted.total_noise.reach(0.025)))
    # Cells below the level were never made, so rows in no cluster are what is left of all rows.
    if counted.total is None:
        clusters = np.maximum(counted.sizes[:-1], 0)
        if rows_noise is None and clusters.sum() > n_rows:  # how many there are is public
            clusters *= n_rows / clusters.sum()
        in_all = max(n_rows, math.ceil(float(clusters.sum()) - 1e-9))
        totals = combine_counts(in_all, rows_noise, counted)
        sizes = np.append(clusters, in_all - clusters.sum())
        within = 0 if rows_noise is None else math.ceil(rows_noise.reach(0.025))
        return replace(totals, n_rows=in_all, within=within, sizes=sizes)
    return combine_counts(n_rows, rows_noise, counted)


def _times(noise: NoiseSum, count: int) -> NoiseSum:
    """Return the law of the sum of ``count`` such noises."""
    return NoiseSum(tuple((scale, shape * count) for scale, shape in noise.parts))
