"""Cells that touch: connected components on a full grid, and among listed cells only."""

from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

__all__ = ["Connectivity", "components", "half_offsets", "listed_components", "sifted"]

Connectivity = Literal["full", "faces"]
Labels = NDArray[np.int64]


def components(
    chosen: NDArray[np.bool_], connectivity: Connectivity = "full", min_cells: int = 1
) -> Labels:
    """Number the groups of chosen cells that touch, in the order of their first cell; -1 is none.

    Examples
    --------
    >>> components(np.array([[True, False, True], [True, False, False]])).tolist()
    [[0, -1, 1], [0, -1, -1]]
    """
    reach = chosen.ndim if connectivity == "full" else 1
    found, _ = ndimage.label(chosen, ndimage.generate_binary_structure(chosen.ndim, reach))
    return sifted(found.astype(np.int64) - 1, min_cells)


def listed_components(
    keys: NDArray[np.int64],
    shape: tuple[int, ...],
    connectivity: Connectivity = "full",
    min_cells: int = 1,
) -> Labels:
    """The same for cells given by their sorted keys, however large the grid.

    Examples
    --------
    >>> listed_components(np.array([0, 2, 3]), (2, 3)).tolist()
    [0, 1, 0]
    """
    places = np.stack(np.unravel_index(keys, shape), axis=1)
    strides = np.append(np.cumprod(shape[:0:-1])[::-1], 1)
    starts, ends = [], []
    for offset in half_offsets(len(shape), connectivity):
        moved = places + offset
        inside = np.flatnonzero(((moved >= 0) & (moved < shape)).all(axis=1))
        wanted = keys[inside] + int(np.dot(offset, strides))
        at = np.searchsorted(keys, wanted)
        hit = at < keys.size
        hit[hit] = keys[at[hit]] == wanted[hit]
        starts.append(inside[hit])
        ends.append(at[hit])
    edges = np.concatenate(starts), np.concatenate(ends)
    graph = coo_array((np.ones(edges[0].size, dtype=bool), edges), shape=(keys.size, keys.size))
    return sifted(connected_components(graph, directed=False)[1].astype(np.int64), min_cells)


def half_offsets(d: int, connectivity: Connectivity) -> NDArray[np.int64]:
    """Steps to the neighbours that come later in key order: each pair of cells once."""
    if connectivity == "faces":
        return np.eye(d, dtype=np.int64)
    return np.array([step for step in product((-1, 0, 1), repeat=d) if step > (0,) * d])


def sifted(labels: Labels, min_cells: int) -> Labels:
    """Without the groups of fewer cells, renumbered in order."""
    sizes = np.bincount(labels[labels >= 0])
    kept = sizes >= max(min_cells, 1)
    numbers = np.where(kept, np.cumsum(kept) - 1, -1)
    return np.append(numbers, -1)[labels]  # -1 finds the last
