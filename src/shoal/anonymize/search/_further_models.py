"""Search for a release that keeps more than k, l and t: models of ``anonymize/_privacy_models.py``.

Models of classes are kept while a global cut is searched for. Whatever is left to keep, the models
of the whole table and all models under local recoding, is kept by trying: classes that break a
model of classes are suppressed as far as the budget allows, and if that does not do, the search is
made again with a larger k, until one release keeps every model. With k as large as the table all
rows are one class. k-map can only get worse when a class is split; the presence of a part may be
smaller than the whole's, so with it a finer release may be missed.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize._population import (
    Models,
    class_labels,
    count_all_people,
    count_covered,
    trim_population,
    with_population,
)
from shoal.anonymize._privacy_models import DeltaPresence
from shoal.anonymize.equivalence_classes import count_people, measure_release, number_classes
from shoal.anonymize.search._greedy_splits import find_violations
from shoal.anonymize.search_problem import Problem, SearchOutcome
from shoal.errors import StartFails

Search = Callable[[Problem], SearchOutcome]

_REFINEMENTS = 3  # how often the gap between a k that fails and one that does is halved


def search_with_models(problem: Problem, models: Models, search: Search) -> SearchOutcome:
    """Search for a release that keeps k, l, t and further models.

    Parameters
    ----------
    search
        Searches for a release of a problem; under local recoding it ignores the population.

    Returns
    -------
    The release of least loss among those tried that keep all models.

    Raises
    ------
    StartFails
        If no release that was tried keeps them.
    """
    everybody = max(count_all_people(problem), problem.k)
    failed, works = 0, models.k
    while (best := _try(problem, models, search, min(works, everybody))) is None:
        if works >= everybody:
            raise _no_release_error(models)
        failed, works = works, 2 * works
    for _ in range(_REFINEMENTS):
        middle = (failed + works) // 2
        if failed < models.k or middle == failed:
            break
        outcome = _try(problem, models, search, middle)
        if outcome is None:
            failed = middle
        else:
            works = middle
            best = min(best, outcome, key=lambda each: each.metrics.ncp)
    return best


def _try(problem: Problem, models: Models, search: Search, k: int) -> SearchOutcome | None:
    """Return a release searched for with this k, if it keeps the models."""
    try:
        outcome = search(with_population(replace(problem, k=k), models))
    except StartFails:
        return None
    return keep_models(problem, models, trim_population(problem, outcome))


def keep_models(problem: Problem, models: Models, outcome: SearchOutcome) -> SearchOutcome | None:
    """Suppress the classes that break a model, or return None if that would not do."""
    suppressed = outcome.suppressed.copy()
    while (broken := _broken(problem, models, replace(outcome, suppressed=suppressed))).any():
        classes = number_classes(outcome.labels, suppressed)
        suppressed |= np.append(broken, True)[classes.ids]
        if suppressed.all() or int(problem.n[suppressed].sum()) > problem.budget:
            return None
    mended = replace(
        outcome,
        suppressed=suppressed,
        metrics=measure_release(problem, outcome.labels, suppressed),
    )
    return mended if _table_holds(problem, models, mended) else None


def _broken(problem: Problem, models: Models, outcome: SearchOutcome) -> NDArray[np.bool_]:
    """Return which classes break k, l, t or a model of classes."""
    classes = number_classes(outcome.labels, outcome.suppressed)
    broken = find_violations(problem, classes)
    if models.lines is not None:
        members = count_people(problem, classes)
        people = count_covered(problem.trees, class_labels(problem, outcome), models.lines)
        for model in models.of_classes:
            broken |= ~model.holds(members, people)
    return broken


def _table_holds(problem: Problem, models: Models, outcome: SearchOutcome) -> bool:
    members = count_people(problem, number_classes(outcome.labels, outcome.suppressed))
    sizes = np.stack(np.unique(members, return_counts=True), axis=1)
    if not all(model.holds(sizes) for model in models.of_table):
        return False
    return all(
        model.least <= 0 or _covers_everybody(problem, models, outcome)
        for model in models.of_classes
        if isinstance(model, DeltaPresence)
    )


def _covers_everybody(problem: Problem, models: Models, outcome: SearchOutcome) -> bool:
    """Return whether everyone of the population has labels that occur in the release."""
    assert models.lines is not None
    people = count_covered(problem.trees, class_labels(problem, outcome), models.lines)
    return int(people.sum()) == int(models.lines.people.sum())


def _no_release_error(models: Models) -> StartFails:
    names = [type(model).__name__ for model in (*models.of_classes, *models.of_table)]
    return StartFails(
        f"No release that was tried keeps {', '.join(names)} besides k, l and t, not even one in "
        "which all rows are alike.",
        "Allow more suppression or a weaker threshold, or check that the table's people are in "
        "the population.",
    )
