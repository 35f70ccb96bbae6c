"""Several searches over one table, and the best cut they found."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from shoal.anonymize.problem import Metrics, Outcome, Problem
from shoal.anonymize.scores import PORTFOLIO, LossUnit, ScoreName, resolved
from shoal.anonymize.shared import Shared
from shoal.anonymize.top_down import Run
from shoal.errors import InvalidSetting
from shoal.randomness import Randomness

__all__ = ["Objective", "portfolio"]

Objective = Literal["ncp", "dm", "aecs", "entropy"]
Progress = Callable[[int, int], None]


def portfolio(
    problem: Problem,
    *,
    score: str = "auto",
    objective: Objective = "ncp",
    restarts: int = 32,
    seed: int = 1,
    loss_unit: LossUnit = "rows",
    progress: Progress | None = None,
) -> Outcome:
    """The best of one plain run of each score and of ``restarts`` runs with tilted scores.

    No score wins on every table. Choosing among releases that all keep the rules keeps them; how
    many were compared is in ``outcome.compared``.

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
        How many tilted runs; the same seed gives the same cut.
    loss_unit
        In what lost anonymity is counted: ``rows``, ``k`` or ``bits``.
    progress
        Called with the runs done and the runs to do.

    Examples
    --------
    >>> from shoal.anonymize.lines import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0]] * 5 + [[1]] * 4 + [[2]] + [[3]] * 2, k=3)
    >>> found = portfolio(table, restarts=2)
    >>> found.metrics.classes, found.compared
    (3, 6)
    """
    _check(objective, restarts)
    runs = list(_plan(resolved(score, problem.suppression), restarts))
    shared, rng = Shared(problem), Randomness(seed).compute
    found: Outcome | None = None
    for done, (name, tilted) in enumerate(runs, start=1):
        outcome = Run(shared, name, loss_unit, rng if tilted else None).outcome()
        if found is None or _loss(outcome.metrics, objective) < _loss(found.metrics, objective):
            found = outcome
        if progress is not None:
            progress(done, len(runs))
    assert found is not None
    return replace(found, compared=len(runs))


def _plan(score: ScoreName, restarts: int) -> Iterator[tuple[ScoreName, bool]]:
    """The score of each run, and whether it is tilted."""
    scores = tuple(dict.fromkeys((score, *PORTFOLIO))) if restarts else (score,)
    yield from ((name, False) for name in scores)
    yield from ((scores[i % len(scores)], True) for i in range(restarts))


def _loss(metrics: Metrics, objective: Objective) -> float:
    """Twelve digits, so that engines that sum in another order keep the same run."""
    loss = -metrics.entropy if objective == "entropy" else float(getattr(metrics, objective))
    return float(f"{loss:.12g}")


def _check(objective: str, restarts: int) -> None:
    if objective not in ("ncp", "dm", "aecs", "entropy"):
        raise InvalidSetting(
            f"There is no objective {objective!r}.", "Choose ncp, dm, aecs or entropy."
        )
    if restarts < 0:
        raise InvalidSetting(f"{restarts} restarts came.", "Give a whole number from 0 up.")
