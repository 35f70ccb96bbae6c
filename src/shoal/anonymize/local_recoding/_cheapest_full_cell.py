"""Group units by publishing, repeatedly, the full cell whose labels lose least.

A *map* gives each leaf of one QID the node under which it is looked at; a ladder's maps are
nested, the first the leaves themselves, the last the most general labels allowed. A *cut* picks
a map of each QID, as a tuple of their numbers. Lines with equal nodes are a *cell* of the cut.
"""

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.taxonomy_arrays import Places, Tree
from shoal.arrays import Floats, Integers

CutOfMaps = tuple[int, ...]

_RUNGS = 8  # maps of a ladder by rarity: docs/decisions/anonymize-search.md
_ROUNDING = 1 - 1e-12


_SHRINK = 0.8  # gather the free units anew when fewer than this share of them is left
_CACHE_BYTES = 2**27  # bytes of hashes kept between cuts

_EARLY = 0.7  # a cut is first looked at when cells cost this share of its mean penalty
_NEAR, _MARGIN = 1.05, 0.02  # cells about as cheap as the cheapest are published with it
# Most cuts, most paths, and most units times QIDs times cuts on all of them:
# docs/decisions/anonymize-search.md.
_CUTS = 6_000
_PATHS, _WORK = 600, 3e9
_BISECT = 1e6  # units times QIDs from which only cuts near the first full one are looked at


def maps_by_level(units: Units, q: int) -> list[Places]:
    """Build a ladder in which every leaf climbs one step for each map, up to its top."""
    tree, top = units.problem.trees[q], units.tops[q]
    maps = [tree.leaf]
    while (maps[-1] != top).any():
        maps.append(np.where(maps[-1] == top, top, tree.parent[maps[-1]]))
    return maps


def maps_by_rarity(units: Units, q: int) -> list[Places]:
    """Build a ladder in which nodes absorb their leaves, those of the least rows times cost first.

    Of all the maps on the way, eight are kept whose mean costs grow in about equal ratios.
    """
    tree, pay, share = units.problem.trees[q], units.penalties[q], units.shares[q]
    nodes = np.flatnonzero((tree.high - tree.low > 1) & np.isfinite(pay))
    weight = tree.sums(share)[nodes] * pay[nodes]
    # A child must be absorbed before its parent, also where both weigh the same.
    order = nodes[np.lexsort((-nodes, weight.round(12)))]
    chosen = _rungs(np.array([share @ pay[m] for m in _merge_in_order(tree, order)]))
    return [m.copy() for i, m in enumerate(_merge_in_order(tree, order)) if i in chosen]


def _merge_in_order(tree: Tree, nodes: Integers) -> Iterator[Places]:
    """Yield the map of leaves, then the map after each node has absorbed those below it.

    The array is the same each time and changed in place.
    """
    current = tree.leaf.copy()
    yield current
    for node in nodes:
        current[tree.low[node] : tree.high[node]] = node
        yield current


def _rungs(means: Floats) -> set[int]:
    """Choose the first map, the last, and some between whose means are in about equal ratios."""
    rising = means - means[0]
    ends = {0, len(means) - 1}
    if rising[-1] <= 0:
        return ends
    goals = np.geomspace(rising[rising > 0][0], rising[-1], _RUNGS)
    return ends | set(np.searchsorted(rising, goals[:-1] * _ROUNDING).tolist())


LADDERS: dict[str, Callable[[Units, int], list[Places]]] = {
    "steps": maps_by_level,
    "mass": maps_by_rarity,
}


@dataclass(frozen=True, eq=False)
class GeneralizationMaps:
    """The ladders of all QIDs: their maps, and what each map costs."""

    maps: list[list[Places]]
    penalties: list[list[Floats]]
    means: list[Floats]

    @classmethod
    def of(cls, units: Units, kind: str) -> "GeneralizationMaps":
        """Build the ladders of a kind.

        Parameters
        ----------
        kind
            One of ``LADDERS``.
        """
        maps = [LADDERS[kind](units, q) for q in range(units.problem.d)]
        penalties = [[units.penalties[q][m] for m in below] for q, below in enumerate(maps)]
        shares = units.shares
        means = [np.array([shares[q] @ p for p in ps]) for q, ps in enumerate(penalties)]
        return cls(maps, penalties, means)

    def mean(self, cut: CutOfMaps) -> float:
        """Return the mean penalty of a row under a cut."""
        return float(sum(means[j] for means, j in zip(self.means, cut, strict=True)))

    def path(self, tilt: Floats) -> list[CutOfMaps]:
        """Return a path of cuts that raises one map at a time, by mean cost times the QID's
        tilt.
        """
        qids = np.repeat(np.arange(len(self.maps)), [len(maps) - 1 for maps in self.maps])
        order = np.argsort(
            np.concatenate([t * m[1:] for t, m in zip(tilt, self.means, strict=True)]),
            kind="stable",
        )
        heights = np.cumsum(qids[order][:, None] == np.arange(len(self.maps)), axis=0)
        return [tuple(cut) for cut in heights.tolist()]

    def paths(self, number: int, rng: np.random.Generator) -> list[list[CutOfMaps]]:
        """Return the plain path, then others with random tilts, e to a standard normal number."""
        tilts = np.exp(rng.standard_normal((number, len(self.maps))))
        tilts[:1] = 1.0
        return [self.path(tilt) for tilt in tilts]


class FullCells(NamedTuple):
    """The full cells of a cut."""

    units: Integers
    of: Integers
    penalty: Floats


class FreeUnits:
    """The units not yet published, hashed by the nodes of a cut to group them into cells.

    A hash is a sum of random 64-bit numbers, one for each node. Two combinations with the same hash
    would share a cell, which is harmless: a class is labelled by what it holds.
    """

    def __init__(self, units: Units, ladder: GeneralizationMaps, rng: np.random.Generator) -> None:
        self._units, self._ladder = units, ladder
        self._k = units.problem.k
        sizes = [tree.size for tree in units.problem.trees]
        self._marks = [rng.integers(2**64, size=size, dtype=np.uint64) for size in sizes]
        self._bits = np.uint64(64 - int(np.clip(np.log2(max(units.size, 1)) + 2, 12, 20)))
        self._gather(np.arange(units.size))

    def _gather(self, units: Integers) -> None:
        self._here = units
        self._codes = np.ascontiguousarray(self._units.codes[units].T)
        self._people = self._units.people[units].astype(np.float64)
        self._cache: dict[tuple[int, int], NDArray[np.uint64]] = {}
        self.people = float(self._people.sum())

    def take(self, units: Integers) -> None:
        """Remove units that were published."""
        places = np.searchsorted(self._here, units)
        self.people -= float(self._people[places].sum())
        self._people[places] = 0
        left = np.flatnonzero(self._people > 0)
        if len(left) < _SHRINK * len(self._here):
            self._gather(self._here[left])

    def cells(self, cut: CutOfMaps) -> FullCells | None:
        """Return the full cells of a cut, or None if there is none."""
        hashes = self._hashes(cut)
        places = self._in_large_buckets(hashes)
        if not len(places):
            return None
        order = np.argsort(hashes[places], kind="stable")
        places = places[order]
        new = np.ones(len(places), dtype=bool)
        new[1:] = hashes[places][1:] != hashes[places][:-1]
        return self._full(cut, places, np.cumsum(new) - 1)

    def _in_large_buckets(self, hashes: NDArray[np.uint64]) -> Integers:
        """Return free units whose hash enough people share; a person may count twice here."""
        buckets = (hashes >> self._bits).astype(np.intp)
        enough = np.bincount(buckets, self._people) >= self._k
        return np.flatnonzero(enough[buckets] & (self._people > 0))

    def _full(self, cut: CutOfMaps, places: Integers, of: Integers) -> FullCells | None:
        """Keep the cells that are full, counting people exactly, and number them from 0."""
        crowded = np.bincount(of, self._people[places]) >= self._k
        places, of = _select(places, of, crowded)
        size = int(crowded.sum())
        if not size:
            return None
        full = self._units.full(self._here[places], of, size)
        places, of = _select(places, of, full)
        if not len(places):
            return None
        firsts = places[np.searchsorted(of, np.arange(of[-1] + 1))]
        return FullCells(self._here[places], of, self._penalty(cut, firsts))

    def _penalty(self, cut: CutOfMaps, places: Integers) -> Floats:
        pays = zip(self._ladder.penalties, cut, self._codes, strict=True)
        return np.asarray(sum(pay[j][codes[places]] for pay, j, codes in pays), dtype=np.float64)

    def _hashes(self, cut: CutOfMaps) -> NDArray[np.uint64]:
        total: NDArray[np.uint64] = self._column(0, cut[0]).copy()
        for q in range(1, len(cut)):
            total += self._column(q, cut[q])
        return total

    def _column(self, q: int, j: int) -> NDArray[np.uint64]:
        if (q, j) in self._cache:
            return self._cache[q, j]
        column: NDArray[np.uint64] = self._marks[q][self._ladder.maps[q][j]][self._codes[q]]
        if (len(self._cache) + 1) * column.nbytes <= _CACHE_BYTES:
            self._cache[q, j] = column
        return column


def _select(places: Integers, of: Integers, cells: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Keep the places of some cells, which are renumbered."""
    inside = cells[of]
    return places[inside], (np.cumsum(cells) - 1)[of[inside]]


def choose_number_of_paths(units: Units, ladder: GeneralizationMaps, share: float = 1.0) -> int:
    """Choose how many paths a search may follow: fewer for larger tables and ladders.

    There are never more than there are cuts.
    """
    rungs = [len(maps) for maps in ladder.maps]
    affordable = _WORK / max(units.codes.size * sum(rungs), 1)
    return max(5, int(share * min(_PATHS, affordable, math.prod(rungs))))


def group_by_cheapest_cell(
    units: Units,
    ladder: GeneralizationMaps,
    rng: np.random.Generator,
    *,
    paths: int,
    progress: Callable[[float], None] | None = None,
) -> Integers:
    """Group units by the full cells of many cuts, the cheapest cells first.

    Cuts are in a heap by the penalty of their cheapest full cell, at first an estimate. Units are
    only removed, so a cut without a full cell never gets one and is dropped. (With t, parts of a
    cell that fails may hold the rule; such a cell is skipped, never published.)

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
    """The state of the search: free units, and the class of each published one."""

    def __init__(
        self,
        units: Units,
        ladder: GeneralizationMaps,
        rng: np.random.Generator,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.free = FreeUnits(units, ladder, rng)
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

    def _publish(self, cells: FullCells, chosen: NDArray[np.bool_]) -> None:
        if not chosen.any():
            return
        taken = chosen[cells.of]
        units = cells.units[taken]
        self.classes[units] = self._next + (np.cumsum(chosen) - 1)[cells.of[taken]]
        self._next += int(chosen.sum())
        self.free.take(units)
        if self._progress is not None:
            self._progress(1 - self.free.people / self._all)


def _cuts(units: Units, free: FreeUnits, paths: list[list[CutOfMaps]]) -> list[CutOfMaps]:
    """Return the distinct cuts of the paths, always with the most general one."""
    if units.codes.size > _BISECT:
        paths = [path[_first_full(free, path) :] for path in paths]
    cuts = dict.fromkeys(cut for path in paths for cut in path)
    tops = dict.fromkeys(path[-1] for path in paths if path)
    return list(dict.fromkeys([*tops, *list(cuts)[:_CUTS]]))


def _first_full(free: FreeUnits, path: list[CutOfMaps]) -> int:
    """Return where on a path cells begin to be full; coarser cuts only have larger cells."""
    low, high = 0, len(path)
    while low < high:
        middle = (low + high) // 2
        if free.cells(path[middle]) is None:
            low = middle + 1
        else:
            high = middle
    return low
