"""Maps of released groups of cells, two columns at a time."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

from shoal.apps.wave_groups import WaveGroups

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.figures import ClusterMap

__all__ = ["maps"]

MAPS = 3  # pairs of columns to draw at most
MOST_SIDE = 1024  # parts of a map's side


def maps(groups: WaveGroups) -> list["ClusterMap"]:
    """A map of each pair of columns, those first along which the groups lie apart most."""
    return [_map(groups, pair, first=not i) for i, pair in enumerate(_pairs(groups))]


def _pairs(groups: WaveGroups) -> list[tuple[int, int]]:
    box = groups.box
    if box.distance_unit == "km":
        return [(1, 0)]  # longitude across
    middles = groups.model.boxes_.mean(axis=1) / (box.high - box.low)
    spread = middles.std(axis=0) if groups.k else [0.0] * box.d
    pairs = combinations(range(box.d), 2)
    return sorted(pairs, key=lambda pair: -spread[pair[0]] * spread[pair[1]])[:MAPS]


def _map(groups: WaveGroups, pair: tuple[int, int], first: bool) -> "ClusterMap":
    from shoal.cluster.wave.picture import branches, densest
    from shoal.figures import cluster_map

    at, model = list(pair), groups.model
    names = [groups.names[i] for i in at]
    some = "" if groups.box.d == 2 else "; each place shows its largest group"
    tree = first and model.tree_ is not None
    return cluster_map(
        _shadow(model, at),
        names=names,
        low=groups.box.low[at],
        high=groups.box.high[at],
        sizes=groups.sizes,
        centers=densest(model)[:, at],
        branches=branches(model.tree_, model.cell_labels_) if tree else (),
        title=f"Groups of cells by {names[0]} and {names[1]}{some}",
        of=groups.unit,
    )


def _shadow(model: Any, at: list[int]) -> "NDArray[np.int64]":
    """On a grid of two columns, the group with most people over each place; -1 for none."""
    import numpy as np

    lookup = model._lookup
    inside = np.flatnonzero(model.cell_labels_ >= 0)
    keys = inside if model.cell_keys_ is None else model.cell_keys_[inside]
    places = np.unravel_index(keys, lookup.shape)
    sides = [lookup.shape[i] for i in at]
    shape = [min(side, MOST_SIDE) for side in sides]
    # A side of more cells than a screen has dots is drawn in fewer, even parts.
    drawn = [
        places[i] if side == parts else (places[i] / side * parts).astype(np.int64)
        for i, side, parts in zip(at, sides, shape, strict=True)
    ]
    shadow = _largest(model, inside, np.ravel_multi_index(drawn, shape), shape[0] * shape[1])
    if shape != sides:
        return shadow.reshape(shape)
    edges = [lookup.transform.places(i) for i in at]
    return shadow.reshape(shape)[np.ix_(*edges)]  # cell by cell, whatever the transform made


def _largest(
    model: Any, inside: "NDArray[np.int64]", flat: "NDArray[np.int64]", size: int
) -> "NDArray[np.int64]":
    """For each of so many places, the group with most people over it."""
    import numpy as np

    pair = flat * max(model.n_clusters_, 1) + model.cell_labels_.ravel()[inside]
    pairs, which = np.unique(pair, return_inverse=True)
    people = np.bincount(which, weights=model.noisy_counts_.ravel()[inside])
    place, label = np.divmod(pairs, max(model.n_clusters_, 1))
    shadow = np.full(size, -1, dtype=np.int64)
    order = np.argsort(people, kind="stable")
    shadow[place[order]] = label[order]  # the last written has most people
    return shadow
