"""Draw a fitted ``WaveCluster``: its cells by cluster, and the tree of peaks."""

from typing import Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.wave._segmentation import PeakTree
from shoal.errors import DimensionMismatch, TooLarge, setting
from shoal.figures import Figure, cluster_map
from shoal.privacy import Unprotected


def draw_clusters(model: Any, points: Floats | None) -> Figure:
    """Draw the cells of a fitted model of two columns, and its tree, largest clusters first.

    Parameters
    ----------
    model
        A fitted ``WaveCluster``.
    points
        Rows to show as dots, for their holder; None for none.

    Raises
    ------
    DimensionMismatch
        If there are not two columns.
    TooLarge
        If only some cells were made.
    """
    box = model.grid_.box
    if box.d != 2:
        raise DimensionMismatch(
            f"A map shows two columns; the clusters have {box.d}.",
            "Fit two columns for a picture: domain=box.select([...]).",
        )
    if model.cell_keys_ is not None:
        raise TooLarge(
            f"{model.grid_.size} cells are too many for a map.",
            "Fit e.g. with " + setting("cells", 256) + ".",
            reason="cells",
        )
    places = [model._lookup.transform.places(axis) for axis in range(2)]
    return cluster_map(
        model.cell_labels_[np.ix_(*places)],  # cell by cell, whatever the transform made of them
        names=box.names,
        low=box.low,
        high=box.high,
        sizes=model.cluster_sizes_,
        centers=densest_cells(model),
        branches=[] if model.tree_ is None else branches(model.tree_, model.cell_labels_),
        rows=points,
        noisy=not isinstance(model.guarantee_, Unprotected),
        title="Clusters" if points is None else "Clusters and rows",
    )


def branches(tree: PeakTree, labels: Integers) -> list[tuple[int, float, float, int]]:
    """List the branches of the tree of peaks, the highest first.

    Parameters
    ----------
    tree
        Peaks and passes.
    labels
        The cluster of each cell.

    Returns
    -------
    For each branch: its cluster, the height of its peak, the height at which it joins a higher
    branch, and the cluster of that branch, -1 for none.
    """
    home = labels.ravel()[tree.peaks]
    top: dict[int, float] = {}
    for cluster, height in zip(home.tolist(), tree.summits.tolist(), strict=True):
        top[cluster] = max(top.get(cluster, height), height)
    root = {cluster: cluster for cluster in top if cluster >= 0}
    joins = dict.fromkeys(root, (0.0, -1))
    for (a, b), height in zip(home[tree.passes].tolist(), tree.heights.tolist(), strict=True):
        if min(a, b) < 0 or _root(root, a) == _root(root, b):
            continue
        high, low = sorted((_root(root, a), _root(root, b)), key=lambda c: -top[c])
        root[low] = high
        joins[low] = (height, high)
    order = sorted(root, key=lambda cluster: -top[cluster])
    return [(cluster, top[cluster], *joins[cluster]) for cluster in order]


def _root(root: dict[int, int], cluster: int) -> int:
    while root[cluster] != cluster:
        cluster = root[cluster]
    return cluster


def densest_cells(model: Any) -> Floats:
    """Find the middle of the cell with the highest noisy count in each cluster.

    Parameters
    ----------
    model
        A fitted ``WaveCluster``.

    Returns
    -------
    One row for each cluster, in raw units.
    """
    labels, values = model.cell_labels_.ravel(), model.noisy_counts_.ravel()
    inside = np.flatnonzero(labels >= 0)
    order = inside[np.lexsort((-values[inside], labels[inside]))]
    _, first = np.unique(labels[order], return_index=True)
    low, high = model._lookup.bounds(order[first])
    return np.asarray((low + high) / 2)
