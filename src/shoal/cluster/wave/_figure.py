"""Draw a fitted ``WaveCluster``: its cells by cluster, and the tree of peaks."""

import math
from typing import Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.figures import center_bars
from shoal.cluster.wave._segmentation import PeakTree
from shoal.errors import DimensionMismatch, TooLarge, setting
from shoal.figures import Figure, cluster_map
from shoal.privacy import Unprotected

MAP_SIDE = 1024  # parts of a map's side at most
_COUNTS_SIDE = 96  # of the map of counts


def draw_clusters(model: Any, points: Floats | None) -> Figure:
    """Draw the cells of a fitted model of two columns and its tree, or bars over its only column.

    Parameters
    ----------
    points
        Rows to show as dots, for their holder; None for none.

    Raises
    ------
    DimensionMismatch
        If there are more than two columns, or rows to show over one.
    TooLarge
        If only some cells were made.
    """
    box = model.grid_.box
    if box.d == 1 and points is None:
        return _draw_along(model)
    if box.d == 1:
        raise DimensionMismatch(
            "Rows are shown over two columns; the clusters have 1.", "Leave the rows out."
        )
    if box.d != 2:
        raise DimensionMismatch(
            f"A map shows two columns; the clusters have {box.d}.",
            "Fit one or two columns for a picture: domain=box.select([...]).",
        )
    if model.cell_keys_ is not None:
        raise TooLarge(
            f"{model.grid_.size} cells are too many for a map.",
            "Fit e.g. with " + setting("cells", 256) + ".",
            reason="cells",
        )
    return cluster_map(
        project_labels(model, [0, 1]),
        names=box.names,
        low=box.low,
        high=box.high,
        sizes=model.cluster_sizes_,
        centers=densest_cells(model),
        branches=model._tree_branches(),
        rows=points,
        noisy=not isinstance(model.guarantee_, Unprotected),
        title="Clusters" if points is None else "Clusters and rows",
    )


def _draw_along(model: Any) -> Figure:
    """Draw clusters as ranges of the only column, over bars of the released counts."""
    return center_bars(
        model.grid_.box,
        project_counts(model, [0]),
        densest_cells(model),
        model.boxes_[:, :, 0],
        of="rows",
        noisy=not isinstance(model.guarantee_, Unprotected),
    )


def places_of(model: Any, cells: Integers) -> tuple[Integers, ...]:
    """Return the places along each axis of cells that were made, given by their numbers."""
    keys = cells if model.cell_keys_ is None else model.cell_keys_[cells]
    return np.unravel_index(keys, model._lookup.shape)


def project_counts(model: Any, at: list[int]) -> Integers:
    """Add up the released counts over all columns but those given, one or two."""
    counts = np.rint(model.noisy_counts_.ravel()).astype(np.int64)
    places = places_of(model, np.arange(counts.size))
    sides = [model._lookup.shape[i] for i in at]
    # As many cells in each part, so that no stripes show.
    parts = [-(-side // -(-side // _COUNTS_SIDE)) for side in sides]
    drawn = [(places[i] * part) // side for i, side, part in zip(at, sides, parts, strict=True)]
    added = np.bincount(
        np.ravel_multi_index(drawn, parts), weights=counts, minlength=math.prod(parts)
    )
    return np.rint(added).astype(np.int64).reshape(parts)


def project_labels(model: Any, at: list[int]) -> Integers:
    """Return, on a grid of two columns, the group with most rows over each place; -1 for none."""
    inside = np.flatnonzero(model.cell_labels_ >= 0)
    places = places_of(model, inside)
    sides = [model._lookup.shape[i] for i in at]
    shape = [min(side, MAP_SIDE) for side in sides]
    # A side of more cells than a screen has dots is drawn in fewer, even parts.
    drawn = [
        places[i] if side == parts else (places[i] / side * parts).astype(np.int64)
        for i, side, parts in zip(at, sides, shape, strict=True)
    ]
    projected = _largest(model, inside, np.ravel_multi_index(drawn, shape), shape[0] * shape[1])
    if shape != sides:
        return projected.reshape(shape)
    edges = [model._lookup.transform.places(i) for i in at]
    return projected.reshape(shape)[np.ix_(*edges)]  # cell by cell, whatever the transform made


def _largest(model: Any, inside: Integers, flat: Integers, size: int) -> Integers:
    """Return, for each place, the group with most rows over it."""
    pair = flat * max(model.n_clusters_, 1) + model.cell_labels_.ravel()[inside]
    pairs, which = np.unique(pair, return_inverse=True)
    people = np.bincount(which, weights=model.noisy_counts_.ravel()[inside])
    place, label = np.divmod(pairs, max(model.n_clusters_, 1))
    projected = np.full(size, -1, dtype=np.int64)
    order = np.argsort(people, kind="stable")
    projected[place[order]] = label[order]  # the last written has most people
    return projected


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
    densest = order[first]
    keys = densest if model.cell_keys_ is None else model.cell_keys_[densest]
    low, high = model._lookup.bounds(keys)
    return np.asarray((low + high) / 2)
