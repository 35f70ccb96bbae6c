"""What each node of each QID would gain by a split, from the live rows below its children."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.problem import Problem
from shoal.anonymize.scores import ScoreName
from shoal.errors import InvalidSetting

__all__ = ["Gains", "Nodes", "ncp_gains"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Nodes:
    """The nodes of all QIDs in one row: node ``place`` of QID q is number ``first[q] + place``."""

    def __init__(self, problem: Problem) -> None:
        self.trees = problem.trees
        self.first = np.cumsum([0] + [tree.size for tree in self.trees])

    @property
    def size(self) -> int:
        """How many nodes in all."""
        return int(self.first[-1])

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Which nodes have children."""
        return np.concatenate([tree.fanout > 0 for tree in self.trees])

    def home(self, node: int) -> tuple[int, int]:
        """The QID of a node and its place there."""
        q = int(np.searchsorted(self.first, node, side="right")) - 1
        return q, node - int(self.first[q])


class Gains:
    """The gain of splitting each node, kept up to date as lines are suppressed.

    Children that would be suppressed count like the others. For ``leteo`` the gain is not of the
    node alone but of the classes it divides: it is not found here.

    Parameters
    ----------
    problem, score
        What is searched and by which score; ``label-gain`` needs ``problem.target``.
    """

    def __init__(self, problem: Problem, score: ScoreName) -> None:
        self._problem, self._score = problem, score
        self._classes = _classes_of_target(problem) if score == "label-gain" else None
        everything = np.arange(len(problem.n))
        self._live = [self._count(q, everything) for q in range(problem.d)]

    def suppress(self, lines: Ints) -> None:
        """Lines are published no more."""
        for q in range(self._problem.d):
            self._live[q] -= self._count(q, lines)
        self.__dict__.pop("of_nodes", None)

    @cached_property
    def of_nodes(self) -> Floats:
        """float64 (nodes of all QIDs,): the gain of splitting each, 0 for a leaf."""
        of_qid = self._ncp_gain if self._classes is None else self._label_gain
        return np.concatenate([of_qid(q) for q in range(self._problem.d)])

    def _count(self, q: int, lines: Ints) -> Ints:
        """Rows of each leaf (axis 0), apart by class value (axis 1) if the score asks for it."""
        code, width = self._problem.codes[lines, q].astype(np.int64), 1
        if self._classes is not None:
            width = int(self._classes.max()) + 1
            code = code * width + self._classes[lines]
        size = self._problem.trees[q].taxonomy.size
        counts = np.bincount(code, self._problem.n[lines], minlength=size * width)
        return counts.astype(np.int64).reshape(size, width)

    def _ncp_gain(self, q: int) -> Floats:
        rows = self._problem.trees[q].sums(self._live[q][:, 0])
        return ncp_gains(self._problem, q, rows, self._score)

    def _label_gain(self, q: int) -> Floats:
        """Entropy of the class column below X less its mean over the children, in bits."""
        tree = self._problem.trees[q]
        counts = np.stack([tree.sums(column) for column in self._live[q].T])
        rows = counts.sum(axis=0)
        spread = _n_log_n(rows) - _n_log_n(counts).sum(axis=0)  # entropy times rows
        below = np.bincount(tree.parent[1:], spread[1:], minlength=tree.size)
        gain = np.round((spread - below) / np.maximum(rows, 1), 12)  # 0, where it is 0
        return np.where((tree.fanout > 0) & (rows > 0), gain, 0.0)


def ncp_gains(problem: Problem, q: int, rows: Floats, score: ScoreName) -> Floats:
    r""":math:`(w / N \sum w) \sum_y m_y [ncp(X)^p - ncp(y)^p]` over the children y of each X.

    ``rows``: for each node y of a QID the live rows below it, :math:`m_y`.
    """
    tree, cost = problem.trees[q], problem.costs[q] ** (2 if score == "sq" else 1)
    parent = tree.parent[1:]
    saved = np.bincount(parent, rows[1:] * (cost[parent] - cost[1:]), minlength=tree.size)
    return np.asarray(saved * (problem.weights[q] / sum(problem.weights) / problem.N))


def _classes_of_target(problem: Problem) -> Ints:
    if problem.target is None:
        raise InvalidSetting(
            "The score label-gain came without a class column.",
            "Name one, or choose another score.",
        )
    return np.unique(problem.target, return_inverse=True)[1]


def _n_log_n(n: Floats) -> Floats:
    return np.asarray(n * np.log2(np.maximum(n, 1)))
