"""From a policy and a table to an outcome.

The search a policy asks for, or the cut it keeps.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import Classes, classes_of, metrics_of
from shoal.anonymize.frames import study_frame
from shoal.anonymize.frequency_table import Frequency, problem_of
from shoal.anonymize.local_recoding.recoding import recode
from shoal.anonymize.policy import Policy
from shoal.anonymize.problem import KEPT, Cut, Outcome, Problem
from shoal.anonymize.release.lines import violations
from shoal.anonymize.release.manifest import cut_of
from shoal.anonymize.search.portfolio import portfolio
from shoal.anonymize.table import AnyTable
from shoal.engine.entry import by_engine
from shoal.errors import StartFails
from shoal.randomness import Randomness

__all__ = [
    "Progress",
    "Studied",
    "decide",
    "kept",
    "search",
    "studied",
]

Progress = Callable[[str, float], None]

Studied = tuple[Frequency, Outcome]


def search(policy: Policy, problem: Problem, progress: Progress | None = None) -> Outcome:
    """The best release the policy's search finds."""
    asked = policy.search
    tell = progress or (lambda what, share: None)
    if asked.recoding == "local":
        return recode(problem, Randomness(asked.seed).compute, asked.local, tell)
    return portfolio(
        problem,
        score=asked.score,
        objective=asked.objective,
        restarts=asked.restarts,
        seed=asked.seed,
        loss_unit=asked.loss_unit,
        progress=lambda done, of: tell("search", done / of),
    )


def kept(problem: Problem, cut: Cut) -> Outcome:
    """A kept cut on new rows: classes that break k, l or t are suppressed, within the budget.

    Two cuts of one table can be intersected, so a table that is released again keeps its cut.
    """
    labels = problem.labels(cut)
    suppressed: NDArray[np.bool_] = np.asarray(
        (labels < 0).any(axis=1)
    )  # values the cut does not cover
    labels[suppressed] = 0
    classes = classes_of(labels, suppressed)
    while classes.size and (broken := violations(problem, classes)).any():
        suppressed[np.append(broken, True)[classes.ids]] = True
        classes = classes_of(labels, suppressed)
    _refuse_over_budget(problem, classes, int(problem.n[suppressed].sum()))
    metrics = metrics_of(problem, labels, suppressed)
    return Outcome(labels, suppressed, metrics, cut, method=KEPT)


def _refuse_over_budget(problem: Problem, classes: Classes, lost: int) -> None:
    if lost > problem.budget or not classes.size:
        raise StartFails(
            f"Under the kept cut {lost} rows lie in classes that break k, l or t; "
            f"{max(problem.budget, 0)} may be suppressed.",
            "Gather more rows, or allow more suppression; another cut could be intersected with "
            "the first release.",
        )


def studied(
    policy: Policy, table: AnyTable, cut: Any = None, progress: Progress | None = None
) -> Studied:
    """The frequency table of a table, and the release that is found for it.

    Parameters
    ----------
    policy, table
        What is asked, and of which table.
    cut
        A kept cut, as labels, instead of a search.
    progress
        Called now and then with what is being done and the share of it that is done.
    """
    return by_engine(
        table,
        embedded=lambda table: decide(policy, problem_of(policy, table), cut, progress),
        distributed=lambda table: study_frame(policy, table, cut, progress),
    )


def decide(policy: Policy, frequency: Frequency, cut: Any, progress: Progress | None) -> Studied:
    """The release of a frequency table that came here: by a kept cut, or by a search.

    Parameters
    ----------
    policy, frequency
        What is asked, and of which table.
    cut, progress
        As for ``studied``.
    """
    if cut is None:
        return frequency, search(policy, frequency.problem, progress)
    return frequency, kept(frequency.problem, cut_of(cut, frequency.codec))
