"""Generalise one node after another for all rows, and publish cells once they are full."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.local_recoding._units import Units, sum_by_group
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.arrays import Floats, Integers

# Powers of how full cells become, and of what that loses: docs/decisions/anonymize-search.md.
_FILL, _THRIFT = 3, 1.2


class _Step(NamedTuple):
    """A generalisation of QID ``q`` to the node ``place``; the most worth is taken."""

    worth: float
    q: int
    place: int


def roll_up(units: Units, rng: np.random.Generator) -> Integers:
    """Group units by publishing full cells on the way from the leaves up.

    Each step generalises to the node with the most gain in sum min(people, k)^3 over the cells,
    against its loss to the power 1.2, among nodes all of whose leaves stand right below it.

    Returns
    -------
    int64 (units,)
        The class of each unit, -1 for those left over.
    """
    climb = _Climb(units, rng)
    climb.publish()
    while len(climb.free) and (step := climb.best()) is not None:
        climb.take(step)
        climb.publish()
    return climb.classes


class _Climb:
    """The nodes of the free units, grouped in cells of equal nodes."""

    def __init__(self, units: Units, rng: np.random.Generator) -> None:
        self._units, self._k = units, units.problem.k
        self._trees = units.problem.trees
        self._marks = [rng.integers(2**64, size=t.size, dtype=np.uint64) for t in self._trees]
        self.classes = np.full(units.size, -1, dtype=np.int64)
        self._next = 0
        self.free = np.arange(units.size)
        self._cell = np.arange(units.size)
        leaves = [tree.leaf[codes] for tree, codes in zip(self._trees, units.codes.T, strict=True)]
        self._gather(np.stack(leaves))

    def _gather(self, nodes: NDArray[np.int32]) -> None:
        """Merge cells of equal nodes (d, cells)."""
        marks = (mark[column] for mark, column in zip(self._marks, nodes, strict=True))
        total = np.sum(np.stack(list(marks)), axis=0, dtype=np.uint64)
        self._hash, first, merged = np.unique(total, return_index=True, return_inverse=True)
        self._nodes, self._cell = nodes[:, first], merged[self._cell]
        size = len(self._hash)
        self._people = sum_by_group(self._cell, self._units.people[self.free], size)
        self._rows = sum_by_group(self._cell, self._units.rows[self.free], size)

    def publish(self) -> None:
        """Make full cells classes."""
        crowded = self._people >= self._k
        if not crowded.any():
            return
        at = np.flatnonzero(crowded[self._cell])
        of = (np.cumsum(crowded) - 1)[self._cell[at]]
        full = np.zeros(len(crowded), dtype=bool)
        full[crowded] = self._units.full(self.free[at], of, int(crowded.sum()))
        if full.any():
            self._leave(full)

    def _leave(self, cells: NDArray[np.bool_]) -> None:
        going = cells[self._cell]
        numbers = self._next + np.cumsum(cells) - 1
        self.classes[self.free[going]] = numbers[self._cell[going]]
        self._next += int(cells.sum())
        self.free, self._cell = self.free[~going], (np.cumsum(~cells) - 1)[self._cell[~going]]
        self._nodes, self._hash = self._nodes[:, ~cells], self._hash[~cells]
        self._people, self._rows = self._people[~cells], self._rows[~cells]

    def best(self) -> _Step | None:
        """Return the step worth most; of equals, that of the first QID and node."""
        steps = [step for q in range(len(self._trees)) if (step := self._best_of(q)) is not None]
        return max(steps, key=lambda step: step.worth, default=None)

    def _best_of(self, q: int) -> _Step | None:
        places, at, cells = self._ready(q)
        if not len(places):
            return None
        pay, mark, nodes = self._units.penalties[q], self._marks[q], self._nodes[q, cells]
        lost = np.bincount(at, self._rows[cells] * (pay[places[at]] - pay[nodes]))
        hashes = self._hash[cells] - mark[nodes] + mark[places[at]]
        worth = self._gain(hashes, at, cells) / np.maximum(lost, 1e-9) ** _THRIFT
        best = int(worth.round(9).argmax())
        return _Step(float(worth[best].round(9)), q, int(places[best]))

    def _gain(self, hashes: NDArray[np.uint64], at: Integers, cells: Integers) -> Floats:
        """Return, for each node, how much fuller the cells below it become in sum."""
        _, first, merged = np.unique(hashes, return_index=True, return_inverse=True)
        size = int(at.max()) + 1
        after = self._fill(sum_by_group(merged, self._people[cells], len(first)))
        before = self._fill(self._people[cells])
        return sum_by_group(at[first], after, size) - sum_by_group(at, before, size)

    def _fill(self, people: Floats) -> Floats:
        return np.asarray(np.minimum(people / self._k, 1.0) ** _FILL)

    def _ready(self, q: int) -> tuple[Integers, Integers, Integers]:
        """Return nodes whose cells are all right below them, those cells, and the node of each."""
        tree, nodes = self._trees[q], self._nodes[q]
        cells = np.flatnonzero(nodes != self._units.tops[q][tree.low[nodes]])
        parents = tree.parent[nodes[cells]]
        ready = ~_strictly_above(tree, np.unique(parents))[parents]
        places, at = np.unique(parents[ready], return_inverse=True)
        return places, at, cells[ready]

    def take(self, step: _Step) -> None:
        """Move everything below the step's node to it."""
        tree, column = self._trees[step.q], self._nodes[step.q]
        nodes = self._nodes.copy()
        below = (tree.low[column] >= tree.low[step.place]) & (
            tree.low[column] < tree.high[step.place]
        )
        nodes[step.q, below] = step.place
        self._gather(nodes)


def _strictly_above(tree: Tree, places: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which nodes lie strictly above one of these: bool (nodes,)."""
    above = np.zeros(tree.size + 1, dtype=bool)
    while len(places):
        places = np.unique(tree.parent[places])
        places = places[places >= 0]
        above[places] = True
    return above[:-1]
