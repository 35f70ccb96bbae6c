"""Search the full-domain cuts, in which all labels of a QID are of one level.

There are as many of them as combinations of levels, so on few QIDs with flat hierarchies all that
could beat a known release can be counted. A cut costs at least the mean cost of its labels, and
where a cut suppresses too many rows, so does every finer one: most cuts are never counted.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.search._greedy_splits import SharedCounts
from shoal.anonymize.search_problem import Cut, Problem
from shoal.arrays import Floats, Integers

# Most combinations of levels, and most lines times QIDs times cuts to count. Tables on which fewer
# than so many cuts could be counted are not searched: docs/decisions/anonymize-search.md.
_MOST_CUTS = 200_000
_WORK = 2e8
_FEWEST_COUNTS = 100

_DENSE = 2**20  # up to this many possible classes a table of all is faster than sorting


def affordable_counts(problem: Problem) -> int:
    """Return how many full-domain cuts a search may count; 0 if it is not worth beginning."""
    counts = int(_WORK / max(problem.codes.size, 1))
    cuts = math.prod(len(level_maps(problem, q)) for q in range(problem.d))
    return counts if counts >= _FEWEST_COUNTS and cuts <= _MOST_CUTS else 0


def level_maps(problem: Problem, q: int) -> list[NDArray[np.int32]]:
    """Return the label of each leaf at every level that may be published, the finest first.

    Examples
    --------
    >>> from shoal.anonymize.search_problem import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> [places.tolist() for places in level_maps(problem_of({"age": ages}, [[0]], k=2), 0)]
    [[2, 3, 5, 6], [1, 1, 4, 4], [0, 0, 0, 0]]
    """
    tree = problem.trees[q]
    top = tree.partition(problem.top.nodes[q])
    levels = problem.levels[q] if problem.levels else tree.ancestors[::-1]
    maps: list[NDArray[np.int32]] = []
    for places in levels:
        below_top = (tree.depth[places] >= tree.depth[top]).all()
        if below_top and not (maps and np.array_equal(maps[-1], places)):
            maps.append(places)
    return maps or [top]


def search_full_domain(shared: SharedCounts, loss: float) -> Cut | None:
    """Return the full-domain cut that loses least, or None if none loses less than is known.

    With k and distinct l, all cuts that could lose less are counted or ruled out, unless that
    takes more than ``affordable_counts``; where that is 0, None is returned. A rule that finer
    classes may meet again can hide a cut.

    Parameters
    ----------
    shared
        The problem, and how its lines are counted. Its rules must not measure t.
    Examples
    --------
    >>> from shoal.anonymize.search_problem import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0]] * 2 + [[1]] + [[2]] * 2 + [[3]] * 2, k=2)
    >>> search_full_domain(SharedCounts(table), 1.0)
    Cut(nodes=((1, 4),))
    """
    counts, best = affordable_counts(shared.problem), None
    if not counts:
        return None
    lattice = _LevelLattice(shared)
    lattice.keep_below(loss)
    for _ in range(counts):
        levels = lattice.next()
        if levels is None:
            break
        of_levels = lattice.loss(levels)
        if of_levels is None:
            lattice.drop_finer(levels)
        elif of_levels < loss:
            loss, best = of_levels, levels
            lattice.keep_below(loss)
    return None if best is None else lattice.cut(best)


class _LevelLattice:
    """All combinations of levels, and which of them are still to be counted."""

    def __init__(self, shared: SharedCounts) -> None:
        self._shared, self._problem = shared, shared.problem
        problem = self._problem
        self._maps = [level_maps(problem, q) for q in range(problem.d)]
        self._ranks = [[_ranks(places) for places in maps] for maps in self._maps]
        weights = np.array(problem.weights) / math.fsum(problem.weights)
        self._costs = [
            [weights[q] * problem.costs[q][places] for places in maps]
            for q, maps in enumerate(self._maps)
        ]
        # Counters of sensitive values have an entry for each class and value.
        self._dense = len(problem.n) if shared.rules.any else _DENSE
        self._references = shared.rules.references(np.arange(len(problem.n)))
        levels = np.indices([len(maps) for maps in self._maps]).reshape(problem.d, -1).T
        bounds = sum((means[levels[:, q]] for q, means in enumerate(self._means())), np.zeros(1))
        order = np.argsort(bounds, kind="stable")
        self._levels, self._bounds = levels[order], bounds[order]
        self._open = np.ones(len(order), dtype=bool)

    def _means(self) -> Iterator[Floats]:
        """Yield, for each QID, the mean cost of a row at each level."""
        problem = self._problem
        for q, costs in enumerate(self._costs):
            rows = np.bincount(problem.codes[:, q], problem.n, minlength=len(costs[0]))
            yield np.array([rows @ of_leaves for of_leaves in costs]) / problem.N

    def keep_below(self, loss: float) -> None:
        """Drop the cuts whose labels alone lose as much."""
        self._open[np.searchsorted(self._bounds, loss) :] = False

    def drop_finer(self, levels: Integers) -> None:
        """Drop the cuts that are nowhere more general."""
        self._open &= (self._levels > levels).any(axis=1)

    def next(self) -> Integers | None:
        """Return the most general cut that is open, which is likely to rule out most others."""
        at = len(self._open) - 1 - int(np.argmax(self._open[::-1]))
        if not self._open[at]:
            return None
        self._open[at] = False
        levels: Integers = self._levels[at]
        return levels

    def loss(self, levels: Integers) -> float | None:
        """Return the certainty penalty of a cut, or None if it suppresses too many rows."""
        problem, lines = self._problem, np.arange(len(self._problem.n))
        groups, size = self._classes(levels)
        hold, _ = self._shared.passes(lines, groups, size, self._references)
        stay = hold[groups]
        gone = int(problem.n[~stay].sum())
        if gone > problem.budget or not stay.any():
            return None
        cost = sum(self._costs[q][j][problem.codes[:, q]] for q, j in enumerate(levels))
        published = float((problem.n * cost)[stay].sum())
        return (published + gone + problem.lost) / problem.N

    def _classes(self, levels: Integers) -> tuple[Integers, int]:
        """Return the class of each line, some of them perhaps empty, and how many there are."""
        groups, size = np.zeros(len(self._problem.n), dtype=np.int64), 1
        for q, j in enumerate(levels):
            ranks, labels = self._ranks[q][j]
            groups, size = groups * labels + ranks[self._problem.codes[:, q]], size * labels
            if size > self._dense:
                distinct, groups = np.unique(groups, return_inverse=True)
                size = len(distinct)
        return groups, size

    def cut(self, levels: Integers) -> Cut:
        """Return the cut at these levels."""
        places = (np.unique(self._maps[q][j]) for q, j in enumerate(levels))
        return Cut(tuple(tuple(nodes.tolist()) for nodes in places))


def _ranks(places: NDArray[np.int32]) -> tuple[Integers, int]:
    """Return the rank of each leaf's label among the labels of its level, and their number."""
    distinct, ranks = np.unique(places, return_inverse=True)
    return ranks.astype(np.int64), len(distinct)
