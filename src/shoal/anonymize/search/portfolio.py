"""Several searches over one table, and the best cut they found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from shoal.anonymize.problem import Metrics, Outcome, Problem
from shoal.anonymize.search.gains import PORTFOLIO, LossUnit, ScoreName, resolved
from shoal.anonymize.search.greedy import Shared
from shoal.anonymize.search.top_down import Run
from shoal.errors import InvalidSetting
from shoal.randomness import Randomness

__all__ = ["Objective", "portfolio"]

Objective = Literal["ncp", "dm", "aecs", "entropy"]
Progress = Callable[[int, int], None]

_RESTARTS = 32  # unless asked otherwise
# Runs are made unasked up to this much work. A run over ten times the cells (lines times QIDs) was
# measured to take some thirty times as long: it counts as cells ** 1.5.
_WORK = 2.7e9


def portfolio(
    problem: Problem,
    *,
    score: str = "auto",
    objective: Objective = "ncp",
    restarts: int | None = None,
    seed: int = 1,
    loss_unit: LossUnit = "rows",
    progress: Progress | None = None,
) -> Outcome:
    """The best of one plain run of each score and of ``restarts`` runs with tilted scores.

    No score wins on every table. Choosing among releases that all keep the rules keeps them; how
    many were compared is in ``outcome.compared``. On large tables, where a run is dear and one
    more gains little, fewer are made unless ``restarts`` says how many: by the size of the
    table, never by the clock, so that the same table gives the same cut everywhere.

    Parameters
    ----------
    problem
        The frequency table and what is asked.
    score
        A score to run besides ``sq``, ``ncp``, ``ncp-rows`` and ``ncp-bits``; the only one if
        ``restarts`` is 0.
    objective
        What makes a cut the best: least ``ncp``, ``dm`` or ``aecs``, or most ``entropy``.
    restarts, seed
        How many tilted runs, 32 or fewer on a large table if not given; the same seed gives the
        same cut.
    loss_unit
        In what lost anonymity is counted: ``rows``, ``k`` or ``bits``.
    progress
        Called with the runs done and the runs to do.

    Examples
    --------
    >>> from shoal.anonymize.problem import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0]] * 5 + [[1]] * 4 + [[2]] + [[3]] * 2, k=3)
    >>> found = portfolio(table, restarts=2)
    >>> found.metrics.classes, found.compared
    (3, 6)
    """
    _check(objective, restarts)
    plan = list(_plan(resolved(score, problem.suppression), restarts))
    runs = plan if restarts is not None else plan[: _affordable(problem)]
    shared, rng = Shared(problem), Randomness(seed).compute
    found: Outcome | None = None
    for done, (name, tilted) in enumerate(runs, start=1):
        outcome = Run(shared, name, loss_unit, rng if tilted else None).outcome()
        if found is None or _loss(outcome.metrics, objective) < _loss(found.metrics, objective):
            found = outcome
        if progress is not None:
            progress(done, len(runs))
    assert found is not None
    return replace(found, compared=len(runs), curator_notes=tuple(_fewer(runs, plan)))


def _affordable(problem: Problem) -> int:
    """How many runs are made unasked."""
    return max(int(_WORK / max(problem.codes.size, 1) ** 1.5), 1)


def _fewer(runs: Sequence[object], plan: Sequence[object]) -> Iterator[str]:
    if len(runs) < len(plan):
        yield (
            f"The table is large: {len(runs)} of {len(plan)} searches were made. Say how many "
            "`restarts` to make to have more."
        )


def _plan(score: ScoreName, restarts: int | None) -> Iterator[tuple[ScoreName, bool]]:
    """The score of each run, and whether it is tilted."""
    restarts = _RESTARTS if restarts is None else restarts
    scores = tuple(dict.fromkeys((score, *PORTFOLIO))) if restarts else (score,)
    yield from ((name, False) for name in scores)
    yield from ((scores[i % len(scores)], True) for i in range(restarts))


def _loss(metrics: Metrics, objective: Objective) -> float:
    """Twelve digits, so that engines that sum in another order keep the same run."""
    loss = -metrics.entropy if objective == "entropy" else float(getattr(metrics, objective))
    return float(f"{loss:.12g}")


def _check(objective: str, restarts: int | None) -> None:
    if objective not in ("ncp", "dm", "aecs", "entropy"):
        raise InvalidSetting(
            f"There is no objective {objective!r}.", "Choose ncp, dm, aecs or entropy."
        )
    if restarts is not None and restarts < 0:
        raise InvalidSetting(f"{restarts} restarts came.", "Give a whole number from 0 up.")
