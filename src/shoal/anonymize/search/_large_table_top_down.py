"""Search from the top over too many lines to hold, by merging them below the frontier.

A greedy choice needs, of each candidate, how its children divide the classes; nothing below them.
So lines are merged at nodes a few steps below the cut, and fetched in more detail where the search
moves on. Candidates found invalid never return, so lines below them stay merged. Every count is
that of the whole table, so cuts are those of ``specialise``: see ``remote_top_down.proof.md``.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.search._distributed_top_down import RemoteLines, RemoteSearch
from shoal.anonymize.search._greedy_splits import (
    LossUnit,
    Nodes,
    ScoreName,
    SharedCounts,
    resolve_score,
)
from shoal.anonymize.search._top_down import TopDownRun
from shoal.anonymize.search_problem import Cut, Problem, SearchOutcome
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.arrays import Integers

_NODES = (64, 16, 0)  # most nodes at which a QID is merged, tried in this order

Mask = NDArray[np.bool_]


def specialise_remotely(
    problem: Problem,
    lines: RemoteLines,
    *,
    most: int,
    score: str = "auto",
    loss_unit: LossUnit = "rows",
) -> tuple[Problem, SearchOutcome]:
    """Split the best valid node of the cut until none is left, with few lines here at a time.

    Parameters
    ----------
    problem
        The rules, without lines; only k is supported, counted in rows.
    most
        How many merged lines may be fetched. If even those right below the frontier are more, all
        lines stay remote, and each further split is counted there.

    Returns
    -------
    problem, outcome
        The outcome, and the merged lines it speaks of.
    """
    return _LazySearch(
        problem, lines, most, resolve_score(score, problem.suppression), loss_unit
    ).search()


class _LazySearch:
    """The state of the search: the cut so far, and how deep lines are merged."""

    def __init__(
        self, problem: Problem, lines: RemoteLines, most: int, score: ScoreName, unit: LossUnit
    ) -> None:
        self._problem, self._lines, self._most = problem, lines, most
        self._score, self._unit = score, unit
        self._nodes = Nodes(problem)
        self._depths = list(_NODES)

    def search(self) -> tuple[Problem, SearchOutcome]:
        cut, alive = self._problem.top, self._nodes.inner
        while True:
            dead = self._on(cut) & ~alive
            merged = self._near(cut, alive)
            if merged is None:
                return self._remote(cut, dead)
            near, known = merged
            run = TopDownRun(SharedCounts(near), self._score, self._unit, known=known)  # [P2]
            run.start()
            unknown = self._nodes.inner & ~known & ~dead
            nodes = _split_while_known(run, unknown)  # [P3]
            if not (run.held[unknown] > 0).any():
                return replace(near, start=self._problem.start), run.outcome()
            cut, alive = run.cut, unknown & (run.held > 0)
            alive[nodes] = True  # [P4]

    def _near(self, cut: Cut, alive: Mask) -> tuple[Problem, Mask] | None:
        """Fetch lines merged below the live nodes of a cut, and return which nodes they resolve."""
        while self._depths:
            floor = self._floor(cut, alive, self._depths[0])
            merged = self._lines.merged(floor, self._most)
            if merged is not None:
                near = replace(self._problem, codes=merged.codes, n=merged.n, start=cut)  # [P1]
                return near, self._above(floor)
            # A later frontier has hardly fewer lines below it, so this depth is not tried again.
            self._depths.pop(0)
        return None

    def _remote(self, cut: Cut, dead: Mask) -> tuple[Problem, SearchOutcome]:
        merged = self._lines.merged(cut)
        assert merged is not None
        classes = replace(self._problem, codes=merged.codes, n=merged.n, start=cut)
        run = RemoteSearch(
            SharedCounts(classes), self._lines, self._score, self._unit, closed=dead
        )  # [P5]
        last, outcome = run.search()
        return replace(last, start=self._problem.start), outcome

    def _floor(self, cut: Cut, alive: Mask, most: int) -> Cut:
        parts = np.split(alive, self._nodes.first[1:-1])
        trees = zip(self._problem.trees, cut.nodes, parts, strict=True)
        return Cut(tuple(_below(tree, nodes, live, most) for tree, nodes, live in trees))

    def _above(self, floor: Cut) -> Mask:
        """Return the nodes that lie above a floor."""
        known = np.zeros(self._nodes.size, dtype=bool)
        for q, (tree, nodes) in enumerate(zip(self._problem.trees, floor.nodes, strict=True)):
            above = tree.parent[list(nodes)]
            while len(above := np.unique(above[above >= 0])):
                known[self._nodes.first[q] + above] = True
                above = tree.parent[above]
        return known

    def _on(self, cut: Cut) -> Mask:
        on = np.zeros(self._nodes.size, dtype=bool)
        for first, nodes in zip(self._nodes.first[:-1], cut.nodes, strict=True):
            on[first + np.array(nodes)] = True
        return on


def _split_while_known(run: TopDownRun, unknown: Mask) -> Integers:
    """Split while every node that could be next is resolved; return the valid nodes at the end."""
    while len(nodes := run.valid()) and not (run.held[unknown] > 0).any():
        run.split_best(nodes)
    return nodes


def _below(tree: Tree, cut: tuple[int, ...], alive: Mask, most: int) -> tuple[int, ...]:
    """Replace the live nodes of a cut by their children, repeatedly, up to ``most`` nodes."""
    floor = np.array(cut)
    grows = floor[alive[floor]]
    first = True
    while len(grows):
        children = np.flatnonzero(np.isin(tree.parent, grows))
        if not first and len(floor) - len(grows) + len(children) > most:
            break
        floor = np.append(np.setdiff1d(floor, grows), children)
        grows, first = children[tree.fanout[children] > 0], False
    return tuple(sorted(floor.tolist()))
