"""Local recoding: search for a grouping of rows in which each class has labels of its own.

A search groups the rows (``cheapest_cell``, ``roll_up``, ``peel``), left-over rows are given a
class or suppressed (``leftovers``), classes exchange rows as long as that pays (``improvement``).
Labels are then the lowest nodes that cover a class; see ``recoding.proof.md`` for why k, l and t
hold.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from shoal.anonymize._diversity import ClassRules, LineCounter
from shoal.anonymize.equivalence_classes import measure_release, number_classes
from shoal.anonymize.local_recoding._cheapest_full_cell import (
    LADDERS,
    GeneralizationMaps,
    choose_number_of_paths,
    group_by_cheapest_cell,
)
from shoal.anonymize.local_recoding._class_splitting import split_classes
from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.anonymize.local_recoding._improvement import improve_grouping
from shoal.anonymize.local_recoding._leftovers import place_leftovers
from shoal.anonymize.local_recoding._roll_up import roll_up
from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import Problem, SearchOutcome
from shoal.errors import InvalidSetting, NotKAnonymous, TooFewRows, quantity

How = Literal["auto", "cheapest-cell", "roll-up", "peel"]
Progress = Callable[[str, float], None]

# How much work a search may take: docs/decisions/anonymize-search.md.
_TRIAL = 0.1  # share of the work that goes into finding the better ladder
_SMALL, _MORE = 5e4, 3  # units times QIDs up to which a table is searched three times more
_FEW_QIDS = 5  # up to which one search has seen most cuts
_HOPELESS = 1.1  # a full search seldom loses a tenth less than a short one
_LONGER = 2  # on large tables a full search is hardly longer than a short one, and no better
_ROLL = 3e7  # units times QIDs times steps up to which roll-up is tried, too
_NOTE = (
    "Every class has labels of its own: labels overlap, and no table of values leads from a value "
    "to its label."
)


class _Candidate(NamedTuple):
    """A grouping, and the name of the method that found it."""

    method: str
    grouping: Grouping


def recode(
    problem: Problem,
    rng: np.random.Generator,
    how: How = "auto",
    progress: Progress | None = None,
) -> SearchOutcome:
    """Generalise each class of rows by itself, so that k, l and t hold and little is lost.

    Lines with equal QIDs get equal labels. The result does not depend on the order of the lines.

    Parameters
    ----------
    how
        ``cheapest-cell``: publish the full cell that loses least, again and again. ``roll-up``:
        generalise all rows step by step and publish what is full. ``peel``: split classes one by
        one; fastest. ``auto``: whichever of them loses least, as far as the table's size allows.

    Returns
    -------
    The labels of the release of least loss.

    Raises
    ------
    TooFewRows
        If there are fewer people than k.
    StartFails
        If too many rows fit into no class.

    Examples
    --------
    >>> from shoal.anonymize.taxonomy_arrays import leaf_count_costs
    >>> from shoal.domain import Taxonomy
    >>> age = Taxonomy.nested("*", {"20-29": ["21", "22"], "30-39": ["31", "32"]})
    >>> problem = Problem(("age",), (age,), (leaf_count_costs(age, np.ones(4)),),
    ...     codes=np.array([[0], [1], [2], [3]], dtype=np.int32), n=np.array([3, 1, 1, 1]), k=2)
    >>> outcome = recode(problem, np.random.default_rng(1))
    >>> [age.nodes[place].label for place in outcome.labels[:, 0]]
    ['20-29', '20-29', '30-39', '30-39']

    References
    ----------
    Xu et al., Utility-based anonymization using local recoding, KDD 2006.
    """
    _refuse(how)
    units = Units(problem)  # [P1]
    _refuse_too_few(units)
    candidates = list(_searches(units, rng, how, progress or _ignore_progress))
    best = min(candidates, key=lambda candidates: candidates.grouping.loss)
    units.publish_only(np.flatnonzero(best.grouping.classes >= 0))
    outcome = _outcome(improve_grouping(best.grouping), best.method, len(candidates))
    _refuse_broken(problem, outcome)
    return outcome


def estimate_loss(problem: Problem) -> float:
    """Return a certainty penalty that local recoding reaches, by the fastest search alone.

    Raises
    ------
    TooFewRows
        If there are fewer people than k.
    StartFails
        If too many rows fit into no class.
    """
    units = Units(problem)
    _refuse_too_few(units)
    grouping = place_leftovers(units, split_classes(units))
    return _outcome(grouping, "peel", 1).metrics.ncp


def _searches(
    units: Units, rng: np.random.Generator, how: How, progress: Progress
) -> Iterator[_Candidate]:
    peel_result = None
    if how in ("auto", "peel"):
        progress("peel", 0.0)
        peel_result = _Candidate("peel", place_leftovers(units, split_classes(units)))
        yield peel_result
    if how == "roll-up" or (how == "auto" and _steps(units) <= _ROLL):
        progress("roll-up", 0.0)
        yield _Candidate("roll-up", place_leftovers(units, roll_up(units, rng)))
    if how in ("auto", "cheapest-cell"):
        yield from _cheapest(units, rng, peel_result, progress)


def _steps(units: Units) -> int:
    """Return the work of rolling up: every unit on every QID, at each node with children."""
    return units.codes.size * sum(int((tree.fanout > 0).sum()) for tree in units.problem.trees)


def _cheapest(
    units: Units, rng: np.random.Generator, rival: _Candidate | None, progress: Progress
) -> Iterator[_Candidate]:
    """Search briefly on each ladder, then fully on the better one if it may beat the rival."""
    ladders = {kind: GeneralizationMaps.of(units, kind) for kind in LADDERS}

    def search(kind: str, share: float) -> _Candidate:
        name, ladder = f"cheapest-cell, {kind}", ladders[kind]
        classes = group_by_cheapest_cell(
            units,
            ladder,
            rng,
            paths=choose_number_of_paths(units, ladder, share),
            progress=lambda done: progress(name, done),
        )
        return _Candidate(name, place_leftovers(units, classes))

    trials = {kind: search(kind, _TRIAL) for kind in ladders}
    yield from trials.values()
    better = min(trials, key=lambda kind: trials[kind].grouping.loss)
    short, full = (choose_number_of_paths(units, ladders[better], x) for x in (_TRIAL, 1.0))
    hopeless = _HOPELESS if full > _LONGER * short else 1.0
    if rival and trials[better].grouping.loss > hopeless * rival.grouping.loss:
        return
    yield search(better, 1.0)
    if _FEW_QIDS * units.size < units.codes.size <= _SMALL:
        yield from (search(better, 1.0) for _ in range(_MORE))


def _outcome(grouping: Grouping, method: str, compared: int) -> SearchOutcome:
    units = grouping.units
    classes = grouping.classes[units.of_line]
    suppressed = classes < 0  # [P2]
    labels = np.zeros((len(classes), units.problem.d), dtype=np.int32)
    labels[~suppressed] = grouping.labels[classes[~suppressed]]  # [P3]
    metrics = measure_release(units.problem, labels, suppressed)
    return SearchOutcome(labels, suppressed, metrics, None, f"local: {method}", compared, (_NOTE,))


def _refuse(how: str) -> None:
    if how not in ("auto", "cheapest-cell", "roll-up", "peel"):
        raise InvalidSetting(
            f"how must be a known way of local recoding; got {how!r}.",
            "Choose 'auto', 'cheapest-cell', 'roll-up' or 'peel'.",
            setting="how",
        )


def _refuse_too_few(units: Units) -> None:
    k = units.problem.k
    people = int(units.people_of(np.arange(units.size), np.zeros(units.size, np.int64), 1)[0])
    if people < k:
        raise TooFewRows(
            f"The table has {quantity(people, 'person', 'people')}; a single class needs k = {k}.",
            "Choose a smaller k, or collect more rows.",
            reason="people",
        )


def _refuse_broken(problem: Problem, outcome: SearchOutcome) -> None:
    """Recount the classes from their labels, so that an error of a search publishes nothing."""
    classes = number_classes(outcome.labels, outcome.suppressed)
    live = np.flatnonzero(~outcome.suppressed)
    counting = LineCounter(problem)
    rules, groups = ClassRules(counting), classes.ids[live]
    people = counting.people(live, groups, classes.size)
    hold = rules.hold(live, groups, classes.size, rules.references(live))  # [P4]
    broken = int((~hold | (people < problem.k)).sum())
    if broken:
        raise NotKAnonymous(
            f"{broken} of {classes.size} classes would not meet k, l or t.",
            "Nothing was published. Please report this, with the policy but without the table.",
        )


def _ignore_progress(what: str, share: float) -> None:
    """Ignore progress, where no callback was given."""
