"""What becomes of each line of the frequency table, once a search is done."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import Classes, classes_of
from shoal.anonymize.problem import Cut, Outcome, Problem
from shoal.anonymize.search.greedy import Shared

__all__ = ["Release", "all_hold", "released", "violations"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Release:
    """The labels each line is published under.

    Parameters
    ----------
    labels
        int32 (F, d): places of nodes; the roots for a starred line, nothing for a suppressed one.
    suppressed, starred
        bool (F,): lines that are not published, or published under ``*`` alone.
    cut
        The cut all other lines share; ``None`` with local recoding.
    """

    labels: NDArray[np.int32]
    suppressed: Mask
    starred: Mask
    cut: Cut | None

    def classes(self) -> Classes:
        """The classes of the published lines."""
        return classes_of(self.labels, self.suppressed)


def released(problem: Problem, outcome: Outcome, star: bool) -> Release:
    """The release an outcome stands for; with ``star``, suppressed lines stay as rows of ``*``.

    Those rows are a combination of labels like any other, so they stay only if all classes keep
    k, l and t with them; else they are dropped.
    """
    nobody = np.zeros_like(outcome.suppressed)
    dropped = Release(outcome.labels, outcome.suppressed, nobody, outcome.cut)
    if not star or not outcome.suppressed.any():
        return dropped
    labels = np.where(outcome.suppressed[:, None], 0, outcome.labels).astype(np.int32)
    starred = Release(labels, nobody, outcome.suppressed, outcome.cut)
    return starred if all_hold(problem, starred.classes()) else dropped


def all_hold(problem: Problem, classes: Classes) -> bool:
    """Whether every class keeps k, l and t."""
    return not violations(problem, classes).any()


def violations(problem: Problem, classes: Classes) -> Mask:
    """Which classes break k, l or t, held against the rows the classes make up together."""
    shared = Shared(problem)
    live = np.flatnonzero(classes.ids >= 0)
    references = shared.rules.references(live)
    hold, _ = shared.passes(live, classes.ids[live], classes.size, references)
    return ~hold
