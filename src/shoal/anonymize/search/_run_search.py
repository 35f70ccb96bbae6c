"""Run the search that a policy asks for, or apply the cut of an earlier release.

Global recoding takes the best of several greedy searches and of the full-domain cuts; local
recoding has its own package.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize._frequency_table import FrequencyTable
from shoal.anonymize._policy import Policy
from shoal.anonymize._population import Models, count_all_people, models_of, without_population
from shoal.anonymize.codec import published_places
from shoal.anonymize.equivalence_classes import Classes, measure_release, number_classes
from shoal.anonymize.local_recoding._recoding import recode
from shoal.anonymize.release._manifest import cut_of
from shoal.anonymize.search._full_domain import search_full_domain
from shoal.anonymize.search._further_models import keep_models, search_with_models
from shoal.anonymize.search._greedy_splits import (
    PORTFOLIO,
    LossUnit,
    ScoreName,
    SharedCounts,
    find_violations,
    resolve_score,
)
from shoal.anonymize.search._top_down import TopDownRun
from shoal.anonymize.search_problem import KEPT_CUT, Cut, Metrics, Problem, SearchOutcome
from shoal.errors import InvalidSetting, StartFails, quantity
from shoal.randomness import Randomness

Objective = Literal["ncp", "dm", "aecs", "entropy"]
Progress = Callable[[str, float], None]

_RESTARTS = 32  # by default: docs/decisions/anonymize-search.md
# By default, runs are made up to this much work. A run over ten times the cells (lines times QIDs)
# took some thirty times as long, so it counts as cells ** 1.5.
_WORK = 2.7e9


def find_outcome(
    policy: Policy, frequency: FrequencyTable, cut: Any = None, progress: Progress | None = None
) -> SearchOutcome:
    """Search for a release of a frequency table, or apply a cut to it.

    Parameters
    ----------
    cut
        The labels of a cut that is to be kept, by column; None searches for one.
    """
    return as_published(frequency, _find_outcome(policy, frequency, cut, progress))


def as_published(frequency: FrequencyTable, outcome: SearchOutcome) -> SearchOutcome:
    """Return the outcome with the labels that are published, and what is kept by those.

    Nulls that are published as the root must not be counted apart from it: a page would reveal
    which rows of ``*`` are nulls.
    """
    problem, codec, labels = frequency.problem, frequency.codec, outcome.labels.copy()
    for q, hierarchy in enumerate(codec.hierarchies.values()):
        labels[:, q] = published_places(codec.policy, hierarchy)[labels[:, q]]
    if (labels == outcome.labels).all():
        return outcome
    metrics = measure_release(problem, labels, outcome.suppressed)
    return replace(outcome, labels=labels, metrics=metrics)


def _find_outcome(
    policy: Policy, frequency: FrequencyTable, cut: Any, progress: Progress | None
) -> SearchOutcome:
    problem, models = frequency.problem, models_of_frequency(policy, frequency)
    if cut is not None:
        applied = apply_cut(problem, cut_of(cut, frequency.codec))
        outcome = keep_models(problem, models, applied) if models.any else applied
        if outcome is None:
            raise _models_broken_error()
        return outcome
    if not models.any and models.k == problem.k:
        return run_search(policy, problem, progress)
    return search_with_models(problem, models, lambda of: run_search(policy, of, progress))


def run_search(policy: Policy, problem: Problem, progress: Progress | None = None) -> SearchOutcome:
    """Search for the best release in the way a policy asks for.

    Parameters
    ----------
    policy
        How to search, in its part ``search``.
    """
    settings = policy.search
    report = progress or (lambda what, share: None)
    if settings.recoding == "local":
        problem = without_population(problem)
        return recode(problem, Randomness(settings.seed).compute, settings.local, report)
    return search_portfolio(
        problem,
        score=settings.score,
        objective=settings.objective,
        restarts=settings.restarts,
        seed=settings.seed,
        loss_unit=settings.loss_unit,
        progress=lambda done, of: report("search", done / of),
    )


def search_portfolio(
    problem: Problem,
    *,
    score: str = "auto",
    objective: Objective = "ncp",
    restarts: int | None = None,
    seed: int = 1,
    loss_unit: LossUnit = "rows",
    progress: Callable[[int, int], None] | None = None,
) -> SearchOutcome:
    """Return the best of one plain run of each score and of ``restarts`` runs with tilted scores.

    No score is best on every table. With the objective ``ncp`` the cuts in which all labels of a
    QID are of one level are searched too, where the table's size allows it, and the best of them
    is specialised further. All compared releases keep the rules, so the chosen one does;
    how many were compared is in ``outcome.compared``. On large tables fewer runs are made unless
    ``restarts`` says how many; that depends on the size of the table, never on the clock, so that
    the same table gives the same cut everywhere.

    Parameters
    ----------
    score
        A score to run besides ``sq``, ``ncp``, ``ncp-rows`` and ``ncp-bits``; the only one if
        ``restarts`` is 0.
    objective
        What makes a cut the best: least ``ncp``, ``dm`` or ``aecs``, or most ``entropy``.
    restarts
        How many runs with tilted scores; 32, or fewer on a large table, if not given.
    loss_unit
        In what lost anonymity is counted: ``rows``, ``k`` or ``bits``.

    Examples
    --------
    >>> from shoal.anonymize.search_problem import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0]] * 5 + [[1]] * 4 + [[2]] + [[3]] * 2, k=3)
    >>> found = search_portfolio(table, restarts=2)
    >>> found.metrics.classes, found.compared
    (3, 6)
    """
    _check(objective, restarts)
    plan = list(_plan(resolve_score(score, problem.suppression), restarts))
    runs = plan if restarts is not None else plan[: _affordable_runs(problem)]
    shared, rng = SharedCounts(problem), Randomness(seed).compute
    best: SearchOutcome | None = None
    for done, (name, tilted) in enumerate(runs, start=1):
        outcome = TopDownRun(shared, name, loss_unit, rng if tilted else None).search()
        if best is None or _loss(outcome.metrics, objective) < _loss(best.metrics, objective):
            best = outcome
        if progress is not None:
            progress(done, len(runs))
    assert best is not None
    if objective == "ncp" and restarts != 0:
        best = min([best, *_full_domain_runs(shared, best, loss_unit)], key=_loss_of_ncp)
    return replace(best, compared=len(runs), curator_notes=tuple(_fewer_runs_note(runs, plan)))


def _full_domain_runs(
    shared: SharedCounts, best: SearchOutcome, loss_unit: LossUnit
) -> Iterator[SearchOutcome]:
    """Yield the best full-domain cut and searches from it down, if it loses less than is known.

    What t measures changes with every suppressed row, so with t the pass is left out.
    """
    if shared.rules.closeness:
        return
    cut = search_full_domain(shared, _loss_of_ncp(best))
    if cut is not None:
        yield replace(apply_cut(shared.problem, cut), method="full-domain")
        below = SharedCounts(replace(shared.problem, start=cut))
        for name in PORTFOLIO:
            outcome = TopDownRun(below, name, loss_unit).search()
            yield replace(outcome, method=f"full-domain, {name}")


def _loss_of_ncp(outcome: SearchOutcome) -> float:
    return _loss(outcome.metrics, "ncp")


def _affordable_runs(problem: Problem) -> int:
    """Return how many runs are made by default."""
    return max(int(_WORK / max(problem.codes.size, 1) ** 1.5), 1)


def _fewer_runs_note(runs: Sequence[object], plan: Sequence[object]) -> Iterator[str]:
    if len(runs) < len(plan):
        yield (
            f"The table is large, so only {len(runs)} of {len(plan)} searches were run. Set "
            "`restarts` under `search` to run more."
        )


def _plan(score: ScoreName, restarts: int | None) -> Iterator[tuple[ScoreName, bool]]:
    """Yield the score of each run, and whether it is tilted."""
    restarts = _RESTARTS if restarts is None else restarts
    scores = tuple(dict.fromkeys((score, *PORTFOLIO))) if restarts else (score,)
    yield from ((name, False) for name in scores)
    yield from ((scores[i % len(scores)], True) for i in range(restarts))


def _loss(metrics: Metrics, objective: Objective) -> float:
    """Return the loss to twelve digits, so that engines that sum in another order agree."""
    loss = -metrics.entropy if objective == "entropy" else float(getattr(metrics, objective))
    return float(f"{loss:.12g}")


def _check(objective: str, restarts: int | None) -> None:
    if objective not in ("ncp", "dm", "aecs", "entropy"):
        raise InvalidSetting(
            f"There is no objective {objective!r}.",
            "Choose ncp, dm, aecs or entropy.",
            setting="objective",
        )
    if restarts is not None and restarts < 0:
        raise InvalidSetting.of("restarts", "must be a whole number of 0 or more", 8, restarts)


def apply_cut(problem: Problem, cut: Cut) -> SearchOutcome:
    """Apply a cut to new rows; classes that break k, l or t are suppressed, within the budget.

    Two different cuts of one table can be intersected, so a table that is released again keeps its
    cut.

    Raises
    ------
    StartFails
        If more rows would have to be suppressed than the budget allows.
    """
    labels = problem.labels(cut)
    # A learnt hierarchy may have values that the earlier cut does not cover.
    uncovered = (labels < 0).any(axis=1)
    suppressed: NDArray[np.bool_] = np.asarray(uncovered)
    labels[suppressed] = 0
    classes = number_classes(labels, suppressed)
    while classes.size and (broken := find_violations(problem, classes)).any():
        suppressed[np.append(broken, True)[classes.ids]] = True
        classes = number_classes(labels, suppressed)
    _refuse_over_budget(problem, classes, int(problem.n[suppressed].sum()))
    metrics = measure_release(problem, labels, suppressed)
    return SearchOutcome(labels, suppressed, metrics, cut, method=KEPT_CUT)


def models_of_frequency(policy: Policy, frequency: FrequencyTable) -> Models:
    """Return the models of a policy besides k, l and t, for a table that was counted."""
    problem = frequency.problem
    return models_of(policy, frequency.codec, count_all_people(problem))


def _models_broken_error() -> StartFails:
    return StartFails(
        "Under the earlier cut the table breaks a model that the policy asks for besides k, l "
        "and t, and too few rows may be suppressed.",
        "Collect more rows, or allow more suppression.",
    )


def _refuse_over_budget(problem: Problem, classes: Classes, lost: int) -> None:
    if lost > problem.budget or not classes.size:
        raise StartFails(
            f"Under the earlier cut {quantity(lost, 'row is', 'rows are')} in classes that do "
            f"not meet k, l or t; {max(problem.budget, 0)} may be suppressed.",
            "Collect more rows, or allow more suppression; a different cut could be intersected "
            "with the first release.",
        )
