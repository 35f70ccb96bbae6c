"""Cheapest cell first: publish, again and again, the full cell whose labels lose least."""

import heapq
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.free import Cells, Free
from shoal.anonymize.ladders import CutOfMaps, Ladder
from shoal.anonymize.units import Units

__all__ = ["cheapest_cells", "number_of_paths"]

Ints = NDArray[np.int64]

_EARLY = 0.7  # a cut is first looked at when cells of this share of its mean penalty are due
_NEAR, _MARGIN = 1.05, 0.02  # cells about as cheap as the cheapest are published with it
_CUTS = 6_000
_PATHS, _WORK = 600, 3e9  # paths at most; units times QIDs times cuts looked at on all of them
_BISECT = 1e6  # units times QIDs from which most cuts of a path are not worth a look


def number_of_paths(units: Units, ladder: Ladder, share: float = 1.0) -> int:
    """How many paths a search may afford: fewer the larger the table and the ladder are.

    Nor are there more than cuts in all, of which a few columns have few.
    """
    rungs = [len(maps) for maps in ladder.maps]
    affordable = _WORK / max(units.codes.size * sum(rungs), 1)
    return max(5, int(share * min(_PATHS, affordable, math.prod(rungs))))


def cheapest_cells(
    units: Units,
    ladder: Ladder,
    rng: np.random.Generator,
    *,
    paths: int,
    progress: Callable[[float], None] | None = None,
) -> Ints:
    """Group units by the full cells of many cuts, the cheapest cells first.

    Cuts wait in a heap by the penalty of their cheapest full cell, at first a guess. Units only
    leave, so a cut without a full cell has none later either: it is dropped for good. (With t,
    parts of a bad cell may turn out good; such a cell is passed over, never published.)

    Parameters
    ----------
    units, ladder
        What is grouped, and by which maps.
    rng
        The compute stream: tilts of the paths and hashes.
    paths
        How many paths up the ladder give the cuts.
    progress
        Called now and then with the share of people that are grouped.

    Returns
    -------
    int64 (units,)
        The class of each unit, -1 for those left over.
    """
    search = _Search(units, ladder, rng, progress)
    search.publish_leaves()
    search.run(_cuts(units, search.free, ladder.paths(paths, rng)))
    return search.classes


class _Search:
    def __init__(
        self,
        units: Units,
        ladder: Ladder,
        rng: np.random.Generator,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.free = Free(units, ladder, rng)
        self.classes = np.full(units.size, -1, dtype=np.int64)
        self._ladder, self._k = ladder, units.problem.k
        self._all, self._progress = max(self.free.people, 1.0), progress
        self._next = 0

    def publish_leaves(self) -> None:
        cells = self.free.cells((0,) * len(self._ladder.maps))
        if cells is not None:
            self._publish(cells, np.ones(len(cells.penalty), dtype=bool))

    def run(self, cuts: list[CutOfMaps]) -> None:
        heap = [(_EARLY * self._ladder.mean(cut), cut) for cut in cuts]
        heapq.heapify(heap)
        while heap and self.free.people >= self._k:
            due, cut = heapq.heappop(heap)
            cells = self.free.cells(cut)
            if cells is None:
                continue
            cheap = cells.penalty <= _NEAR * due + _MARGIN
            if not cheap.all():
                heapq.heappush(heap, (float(cells.penalty[~cheap].min()), cut))
            self._publish(cells, cheap)

    def _publish(self, cells: Cells, chosen: NDArray[np.bool_]) -> None:
        if not chosen.any():
            return
        taken = chosen[cells.of]
        units = cells.units[taken]
        self.classes[units] = self._next + (np.cumsum(chosen) - 1)[cells.of[taken]]
        self._next += int(chosen.sum())
        self.free.take(units)
        if self._progress is not None:
            self._progress(1 - self.free.people / self._all)


def _cuts(units: Units, free: Free, paths: list[list[CutOfMaps]]) -> list[CutOfMaps]:
    """The distinct cuts of the paths, the most general one among them whatever their number."""
    if units.codes.size > _BISECT:
        paths = [path[_first_full(free, path) :] for path in paths]
    cuts = dict.fromkeys(cut for path in paths for cut in path)
    tops = dict.fromkeys(path[-1] for path in paths if path)
    return list(dict.fromkeys([*tops, *list(cuts)[:_CUTS]]))


def _first_full(free: Free, path: list[CutOfMaps]) -> int:
    """Where on a path cells begin to be full: coarser cuts only have larger cells."""
    low, high = 0, len(path)
    while low < high:
        middle = (low + high) // 2
        if free.cells(path[middle]) is None:
            low = middle + 1
        else:
            high = middle
    return low
