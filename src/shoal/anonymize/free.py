"""The units not yet published, and the cells in which a cut gathers them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.ladders import CutOfMaps, Ladder
from shoal.anonymize.units import Units

__all__ = ["Cells", "Free"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SHRINK = 0.8  # gather the free units anew when fewer than this share of them is left
_KEPT = 2**27  # bytes of hashes kept between cuts


class Cells(NamedTuple):
    """Full cells: ``units`` one cell after another, the cell ``of`` each, each cell's penalty."""

    units: Ints
    of: Ints
    penalty: Floats


class Free:
    """Units that are still free, hashed by the nodes of a cut to find those that meet.

    A hash is a sum of random 64-bit numbers, one a node. Two combinations of nodes with the same
    hash would be gathered in one cell; that is harmless, for a class is labelled by what it holds.

    Parameters
    ----------
    units, ladder
        What is grouped, and by which maps.
    rng
        The compute stream: the random numbers of the nodes.
    """

    def __init__(self, units: Units, ladder: Ladder, rng: np.random.Generator) -> None:
        self._units, self._ladder = units, ladder
        self._k = units.problem.k
        sizes = [tree.size for tree in units.problem.trees]
        self._marks = [rng.integers(2**64, size=size, dtype=np.uint64) for size in sizes]
        self._bits = np.uint64(64 - int(np.clip(np.log2(max(units.size, 1)) + 2, 12, 20)))
        self._gather(np.arange(units.size))

    def _gather(self, units: Ints) -> None:
        self._here = units
        self._codes = np.ascontiguousarray(self._units.codes[units].T)
        self._people = self._units.people[units].astype(np.float64)
        self._kept: dict[tuple[int, int], NDArray[np.uint64]] = {}
        self.people = float(self._people.sum())

    def take(self, units: Ints) -> None:
        """These units are free no more."""
        places = np.searchsorted(self._here, units)
        self.people -= float(self._people[places].sum())
        self._people[places] = 0
        left = np.flatnonzero(self._people > 0)
        if len(left) < _SHRINK * len(self._here):
            self._gather(self._here[left])

    def cells(self, cut: CutOfMaps) -> Cells | None:
        """The cells of free units that are full under a cut; None if there is none."""
        hashes = self._hashes(cut)
        places = self._crowded(hashes)
        if not len(places):
            return None
        order = np.argsort(hashes[places], kind="stable")
        places = places[order]
        new = np.ones(len(places), dtype=bool)
        new[1:] = hashes[places][1:] != hashes[places][:-1]
        return self._full(cut, places, np.cumsum(new) - 1)

    def _crowded(self, hashes: NDArray[np.uint64]) -> Ints:
        """Free units in buckets of hashes with enough people; a person may count twice here."""
        buckets = (hashes >> self._bits).astype(np.intp)
        enough = np.bincount(buckets, self._people) >= self._k
        return np.flatnonzero(enough[buckets] & (self._people > 0))

    def _full(self, cut: CutOfMaps, places: Ints, of: Ints) -> Cells | None:
        """Keep the cells that are full, people counted anew, and number them from 0."""
        crowded = np.bincount(of, self._people[places]) >= self._k
        places, of = _kept(places, of, crowded)
        size = int(crowded.sum())
        if not size:
            return None
        full = self._units.full(self._here[places], of, size)
        places, of = _kept(places, of, full)
        if not len(places):
            return None
        firsts = places[np.searchsorted(of, np.arange(of[-1] + 1))]
        return Cells(self._here[places], of, self._penalty(cut, firsts))

    def _penalty(self, cut: CutOfMaps, places: Ints) -> Floats:
        pays = zip(self._ladder.penalties, cut, self._codes, strict=True)
        return np.asarray(sum(pay[j][codes[places]] for pay, j, codes in pays), dtype=np.float64)

    def _hashes(self, cut: CutOfMaps) -> NDArray[np.uint64]:
        total: NDArray[np.uint64] = self._column(0, cut[0]).copy()
        for q in range(1, len(cut)):
            total += self._column(q, cut[q])
        return total

    def _column(self, q: int, j: int) -> NDArray[np.uint64]:
        if (q, j) in self._kept:
            return self._kept[q, j]
        column: NDArray[np.uint64] = self._marks[q][self._ladder.maps[q][j]][self._codes[q]]
        if (len(self._kept) + 1) * column.nbytes <= _KEPT:
            self._kept[q, j] = column
        return column


def _kept(places: Ints, of: Ints, cells: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Only the places of these cells, which are numbered anew."""
    kept = cells[of]
    return places[kept], (np.cumsum(cells) - 1)[of[kept]]
