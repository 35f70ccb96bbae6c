"""Advise the holder of a table on settings that would keep more of it.

Advice depends on all rows, suppressed ones included, so it is for the holder only.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from shoal.anonymize._policy import Policy
from shoal.anonymize.equivalence_classes import count_rows, number_classes
from shoal.anonymize.local_recoding._recoding import estimate_loss
from shoal.anonymize.search._top_down import specialise
from shoal.anonymize.search_problem import KEPT_CUT, Problem, SearchOutcome
from shoal.errors import ShoalError, quantity

_MOST_CELLS = 5e5  # lines times QIDs up to which other settings are tried: about a second
_FAR_LESS, _AT_LEAST = 0.75, 0.05  # another loss is worth a word below this share, and by this much
_MORE_SUPPRESSION = 0.05
_HUGE = 0.25  # a class of so many rows is huge, if it is also larger than so many k
_HUGE_K = 100


class Advice(NamedTuple):
    """What could be better, and the line of a policy that would change it.

    Parameters
    ----------
    part
        The part of the policy the line belongs to; empty if there is no line.
    """

    text: str
    part: str = ""
    line: str = ""


def advise(policy: Policy, problem: Problem, outcome: SearchOutcome) -> list[Advice]:
    """Return what the holder could change, and what that would give.

    Other settings are tried on tables of moderate size only, briefly, so a full run may reach a
    little less loss than is said; beside further models of the policy they are not tried.

    Parameters
    ----------
    outcome
        What the search found. A kept cut is not advised on: it must not change.

    Examples
    --------
    >>> from shoal.anonymize import count_combinations
    >>> from shoal.anonymize.search._run_search import run_search
    >>> tree = {"*": {"low": ["1", "2"], "high": ["3", "4"]}}
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 3, "suppression": 0}, "attributes":
    ...     {"x": {"role": "quasi", "hierarchy": {"tree": tree}}}})
    >>> problem = count_combinations(policy, {"x": list("1" * 20 + "2" * 20 + "34")}).problem
    >>> advised = advise(policy, problem, run_search(policy, problem))
    >>> print(advised[0].text)
    'x' is published as '*' throughout, so it says nothing.
    >>> advised[1].line
    'suppression: 0.05'
    """
    if outcome.method == KEPT_CUT:
        return []
    advice = [*_empty_columns(problem, outcome), *_huge_class(problem, outcome)]
    if problem.codes.size <= _MOST_CELLS and not policy.privacy.models:
        advice += [*_local(policy, problem, outcome), *_more_suppression(policy, problem, outcome)]
    return advice


def _empty_columns(problem: Problem, outcome: SearchOutcome) -> list[Advice]:
    labels = outcome.labels[~outcome.suppressed]
    return [
        Advice(f"{name!r} is published as {tree.nodes[0].label!r} throughout, so it says nothing.")
        for name, tree, column in zip(problem.names, problem.taxonomies, labels.T, strict=True)
        if len(column) and tree.size > 1 and not column.any()
    ]


def _huge_class(problem: Problem, outcome: SearchOutcome) -> list[Advice]:
    rows = count_rows(problem, number_classes(outcome.labels, outcome.suppressed))
    largest, published = int(rows.max(initial=0)), int(rows.sum())
    if len(rows) < 2 or largest < max(_HUGE * published, _HUGE_K * problem.k):
        return []
    return [
        Advice(
            f"The largest group has {quantity(largest, 'row')}, {100 * largest / published:.0f} % "
            f"of what is published, where k = {problem.k} was asked for."
        )
    ]


def _local(policy: Policy, problem: Problem, outcome: SearchOutcome) -> list[Advice]:
    if policy.search.recoding == "local":
        return []
    loss = _loss_or_none(lambda: estimate_loss(problem))
    if not _is_far_less(loss, outcome):
        return []
    return [
        Advice(
            f"With labels of each group's own the loss would be {loss:.3f} or less, in place of "
            f"{outcome.metrics.ncp:.3f}. Labels then overlap, and there is no cut to keep.",
            "search",
            "recoding: local",
        )
    ]


def _more_suppression(policy: Policy, problem: Problem, outcome: SearchOutcome) -> list[Advice]:
    if policy.search.recoding == "local" or problem.suppression >= _MORE_SUPPRESSION:
        return []
    more = replace(problem, suppression=_MORE_SUPPRESSION)
    loss = _loss_or_none(lambda: specialise(more).metrics.ncp)
    if not _is_far_less(loss, outcome):
        return []
    return [
        Advice(
            f"If up to {100 * _MORE_SUPPRESSION:g} % of the rows may be left out, the loss would "
            f"be {loss:.3f} or less, in place of {outcome.metrics.ncp:.3f}. Who is left out is "
            "not a random part of the people.",
            "privacy",
            f"suppression: {_MORE_SUPPRESSION:g}",
        )
    ]


def _loss_or_none(compute: Callable[[], float]) -> float | None:
    """Return a loss, or None where the setting has no release."""
    try:
        return compute()
    except ShoalError:
        return None


def _is_far_less(loss: float | None, outcome: SearchOutcome) -> bool:
    known = outcome.metrics.ncp
    return loss is not None and loss <= min(_FAR_LESS * known, known - _AT_LEAST)
