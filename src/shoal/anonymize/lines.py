"""A problem from codes already in memory."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.anonymize.costs import counted_costs
from shoal.anonymize.problem import Problem
from shoal.domain import Taxonomy

__all__ = ["problem_of"]


def problem_of(
    taxonomies: Mapping[str, Taxonomy], codes: ArrayLike, *, k: int, **asked: Any
) -> Problem:
    """Group equal rows into lines; nodes cost by the leaves that occur below them.

    Parameters
    ----------
    taxonomies
        By name of the QID, in the order that settles ties.
    codes
        (rows, d): the leaf codes of each row.
    k, asked
        What is asked, as in ``Problem``. What has an entry a line there (``sensitive``,
        ``entities``, ``target``) has one a row here, and rows are not grouped then.

    Examples
    --------
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> problem = problem_of({"age": ages}, [[0], [0], [1], [2]], k=2)
    >>> problem.codes[:, 0].tolist(), problem.n.tolist(), problem.costs[0].round(1).tolist()
    ([0, 1, 2], [2, 1, 1], [1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    """
    lines = np.asarray(codes, dtype=np.int32)
    n = np.ones(len(lines), dtype=np.int64)
    if not asked.keys() & {"sensitive", "entities", "target"}:
        lines, n = np.unique(lines, axis=0, return_counts=True)
    trees = tuple(taxonomies.values())
    occurring = [np.bincount(lines[:, q], minlength=t.size) > 0 for q, t in enumerate(trees)]
    costs = tuple(counted_costs(t, seen) for t, seen in zip(trees, occurring, strict=True))
    return Problem(tuple(taxonomies), trees, costs, lines, n, k, **asked)
