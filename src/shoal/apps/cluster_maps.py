"""Maps of released cells with the centres found on them, two columns at a time."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from shoal.apps.cluster_groups import Groups

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.domain import Box
    from shoal.figures import CellMap

__all__ = ["PARTS", "maps", "pairs"]

MAPS = 4  # pairs of columns to draw at most
PARTS = 48  # of a map along each axis at most
_NAMED = 4  # groups told of in a map's description


def maps(groups: Groups) -> list["CellMap"]:
    """A map of each pair of columns, those first along which the centres differ most."""
    return [_map(groups, pair) for pair in pairs(groups.box, groups.centers)]


def pairs(box: "Box", centers: "NDArray[np.float64]") -> list[tuple[int, int]]:
    """Pairs of columns worth a map, those first along which the centres differ most."""
    if box.distance_unit == "km":
        return [(1, 0)]  # longitude across
    spread = (centers / (box.high - box.low)).std(axis=0)
    each = combinations(range(box.d), 2)
    return sorted(each, key=lambda pair: -spread[pair[0]] * spread[pair[1]])[:MAPS]


def _map(groups: Groups, pair: Sequence[int]) -> "CellMap":
    from shoal.figures import cell_map

    at = list(pair)
    names = [groups.names[i] for i in at]
    return cell_map(
        _counts(groups, at),
        names=names,
        low=groups.box.low[at],
        high=groups.box.high[at],
        title=f"{_title(groups)} by {names[0]} and {names[1]}: centres numbered, noisy counts of "
        "the released cells spread over an even grid",
        finding=_finding(groups, at),
        centers=groups.centers[:, at],
        reach=groups.reach[:, at],
        of=groups.unit,
    )


def _title(groups: Groups) -> str:
    return "Groups" if any(groups.told) else "No groups can be told"


def _counts(groups: Groups, at: list[int]) -> "NDArray[np.int64]":
    """The released cells on a grid of two columns; an empty grid if none were released."""
    import numpy as np

    from shoal.figures import raster_of_cells, raster_of_points

    box, synopsis = groups.box, getattr(groups.model, "synopsis_", None)
    within = np.stack([box.low[at], box.high[at]])
    parts = min(PARTS, max(8, math.isqrt(groups.n_rows // 8)))
    if synopsis is None:
        return np.zeros((1, 1), dtype=np.int64)
    cells, view = synopsis.cells_, synopsis.view_
    if view is None:
        corners = cells.low[:, at], cells.high[:, at]
        return raster_of_cells(*corners, cells.weight, within=within, parts=parts)
    points = view.embed(cells.centers)[:, at]
    return raster_of_points(points, cells.weight, within=within, parts=parts)


def _finding(groups: Groups, at: list[int]) -> str:
    from shoal.figures.text import shorten

    names = [shorten(groups.names[i], 80) for i in at]
    each = []
    for i in sorted(range(groups.k), key=lambda i: -groups.sizes[i])[:_NAMED]:
        words = groups.in_words(i)
        place = ", ".join(f"{n} {words[j]}" for n, j in zip(names, at, strict=True))
        each.append(f"{place} (group {i + 1})")
    which = "Centres" if groups.k <= _NAMED else f"The {_NAMED} largest groups' centres"
    return f"{which}: {'; '.join(each)}. Rings show how far noise may have moved a centre."
