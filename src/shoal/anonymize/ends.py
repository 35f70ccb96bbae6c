"""How a search begins and ends: what is refused at the start, what t asks for at the end."""

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import classes_of
from shoal.anonymize.problem import Cut, Problem
from shoal.anonymize.shared import Shared
from shoal.errors import StartFails, TooFewEntities

__all__ = ["refuse_start", "refuse_too_few", "settled", "start_fails"]


def refuse_too_few(shared: Shared) -> None:
    """Raise unless the whole table would make one class."""
    lines = np.arange(len(shared.problem.n))
    people = int(shared.counting.people(lines, np.zeros_like(lines), 1)[0])
    if people < shared.problem.k:
        raise TooFewEntities(
            f"The table has {people} of the k = {shared.problem.k} that a class needs.",
            "Choose a smaller k, or gather more rows.",
        )


def refuse_start(problem: Problem, suppressed: int, some_stay: bool) -> None:
    """Raise if the starting classes that break a rule are too many."""
    if suppressed > problem.budget or not some_stay:
        raise start_fails(f"{suppressed} rows lie in classes that break k, l or t", problem)


def start_fails(what: str, problem: Problem) -> StartFails:
    """The error that says what is wrong at the start, and how much would be allowed."""
    return StartFails(
        f"At the most general labels allowed, {what}; {max(problem.budget, 0)} rows may be "
        "suppressed.",
        "Allow more general labels (max_level), more suppression, or ask for less of l or t.",
    )


def settled(shared: Shared, cut: Cut, suppressed: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Suppress what fails against the published rows, until nothing does; None if too much."""
    problem, suppressed = shared.problem, suppressed.copy()
    while int(problem.n[suppressed].sum()) <= problem.budget and not suppressed.all():
        classes = classes_of(problem.labels(cut), suppressed)
        hold = shared.hold(classes)
        if hold.all():
            return suppressed
        suppressed |= ~np.append(hold, True)[classes.ids]
    return None
