"""A fitted ``WaveCluster`` as plain values and tables, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.cluster.totals import Totals
from shoal.cluster.wave.clustering import Clustering
from shoal.cluster.wave.noise import NoiseLaw, NoisyGrid
from shoal.cluster.wave.persistence import PeakTree
from shoal.cluster.wave.transform import Transform
from shoal.domain import Grid
from shoal.estimator import read_promise, written_promise
from shoal.synopsis.folder import box_from

__all__ = ["document", "restore", "settings", "tables"]

CELLS, PEAKS, PASSES = "cells.parquet", "peaks.parquet", "passes.parquet"
_OF_EACH = ("cluster_sizes_", "groups_told_", "size_reach_")
_NOT_WRITTEN = ("epsilon", "privacy", "domain", "ledger", "random_state")


def settings(model: Any) -> dict[str, Any]:
    """The parameters as JSON has them, without the domain and what belongs to one run."""
    params = model.get_params(deep=False)
    written = {name: value for name, value in params.items() if name not in _NOT_WRITTEN}
    if not isinstance(model.cells, str):
        written["cells"] = [int(m) for m in np.atleast_1d(model.cells)]
    promise = {name: value for name, value in written_promise(model).items() if name != "delta"}
    return dict(sorted((written | promise).items()))


def document(model: Any) -> dict[str, Any]:
    """Settings and released numbers."""
    law = model._noisy.law
    noise = {"variance": model._noisy.variance, "step": law and law.step, "fold": law and law.fold}
    names = ("n_rows_", "n_rows_within_", "rows_outside_", "rows_told_", "threshold_")
    released = {name: getattr(model, name) for name in names}
    each = {name: getattr(model, name).tolist() for name in _OF_EACH}
    return {
        "settings": settings(model),
        "grid": list(model.grid_.shape),
        "noise": noise,
        "released": released | each,
    }


def tables(model: Any) -> dict[str, pa.Table]:
    """Cells, and, if there is a tree, its peaks and passes."""
    keys = model.cell_keys_
    keys = np.arange(model.cell_labels_.size) if keys is None else keys
    low, high = model._lookup.bounds(keys)
    columns: dict[str, Any] = {"key": keys}
    for side, corner in (("low", low), ("high", high)):
        columns |= {f"{side}_{name}": corner[:, i] for i, name in enumerate(model.grid_.box.names)}
    values = model.noisy_counts_.ravel()
    columns |= {"noisy_count": values, "weight": np.maximum(values, 0).astype(float)}
    columns["label"] = model.cell_labels_.ravel()
    if model.tree_ is None:
        return {CELLS: pa.table(columns)}
    return {CELLS: pa.table(columns | {"peak": model.tree_.basins.ravel()})} | _trees(model.tree_)


def _trees(tree: PeakTree) -> dict[str, pa.Table]:
    sides = tree.passes.reshape(-1, 2)
    passes = {
        "peak": sides[:, 0],
        "other_peak": sides[:, 1],
        "height": tree.heights,
        "significance": tree.significance,
    }
    return {
        PEAKS: pa.table({"key": tree.peaks, "height": tree.summits}),
        PASSES: pa.table(passes),
    }


def restore(model: Any, document: Mapping[str, Any], tables: Mapping[str, Any]) -> None:
    """Fill an estimator with what was saved."""
    box = box_from(document["domain"])
    params = read_promise(document["settings"], box)
    if isinstance(params["cells"], list):
        params["cells"] = tuple(params["cells"])
    model.set_params(**params)
    grid, cells = Grid(box, document["grid"]), tables[CELLS]
    transform = Transform(grid.shape, model.level, model.wavelet)
    dense = cells.num_rows == np.prod(transform.shape_out, dtype=object) and box.d <= 3
    shape = transform.shape_out if dense else (-1,)
    noise, released = document["noise"], document["released"]
    law = None if noise["step"] is None else NoiseLaw(noise["step"], noise["fold"])
    noisy = NoisyGrid(_column(cells, "noisy_count").reshape(shape), noise["variance"], law)
    labels = _column(cells, "label").reshape(shape)
    tree = _tree(cells, tables, shape) if PEAKS in tables else None
    model.n_rows_ = released["n_rows_"]
    found = Clustering(labels, released["threshold_"], tree)
    model._publish(transform, grid, noisy, found, None if dense else _column(cells, "key"))
    model._keep_totals(_totals(released))


def _totals(released: Mapping[str, Any]) -> Totals:
    """As they were settled on: of cells alone they cannot be, since counts of all rows are gone."""
    told = [*released["groups_told_"], True]
    return Totals(
        released["n_rows_"],
        released["n_rows_within_"],
        np.array([*released["cluster_sizes_"], released["rows_outside_"]]),
        np.array([*released["size_reach_"], 0.0]),
        np.array(told, dtype=np.bool_),
        released["rows_told_"],
    )


def _tree(cells: pa.Table, tables: Mapping[str, Any], shape: tuple[int, ...]) -> PeakTree:
    peaks, passes = tables[PEAKS], tables[PASSES]
    sides = np.stack([_column(passes, "peak"), _column(passes, "other_peak")], axis=1)
    return PeakTree(
        _column(cells, "peak").reshape(shape),
        _column(peaks, "key"),
        _column(peaks, "height"),
        sides,
        _column(passes, "height"),
        _column(passes, "significance"),
    )


def _column(table: pa.Table, name: str) -> Any:
    return table[name].to_numpy()
