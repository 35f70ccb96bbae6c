"""Place left-over units: each joins a class, takes in classes, or is suppressed."""

import numpy as np

from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.anonymize.local_recoding._units import Units
from shoal.arrays import Integers
from shoal.errors import StartFails, quantity

_TRIES = 24  # classes that a left-over unit tries to join, the cheapest first


def place_leftovers(units: Units, classes: Integers) -> Grouping:
    """Return a grouping in which k, l and t hold, and few enough units are in no class.

    A left-over unit joins the class whose rows lose least by it and in which l and t still hold.
    If more are left than may be suppressed, or if a class breaks a rule, they take in the classes
    nearest to them until the rules hold. Units in no class are the suppressed ones.

    Parameters
    ----------
    classes
        int64 (units,): full classes, -1 for left-over units.

    Raises
    ------
    StartFails
        If more rows than may be suppressed fit nowhere below the most general labels allowed.
    """
    grouping = _place_all(units, classes)
    if not _is_enough(grouping):
        grouping = _place_all(units, most_general_classes(units))
    if not _is_enough(grouping):
        raise _fits_nowhere(units, grouping.left)
    return grouping


def _place_all(units: Units, classes: Integers) -> Grouping:
    # Units are placed as if all were published; the repair then measures t against those that are.
    units.publish_only(np.arange(units.size))
    return _repair_classes(_take_in_classes(_join_classes(Grouping(units, classes))))


def _is_enough(grouping: Grouping) -> bool:
    units = grouping.units
    return bool(grouping.size) and units.rows[grouping.left].sum() <= units.problem.budget


def _fits_nowhere(units: Units, left: Integers) -> StartFails:
    return StartFails(
        f"{quantity(int(units.rows[left].sum()), 'row fits', 'rows fit')} into no class, even at "
        f"the most general labels allowed; {quantity(max(units.problem.budget, 0), 'row')} may "
        "be suppressed.",
        "Allow more general labels (max_level), more suppression, or a weaker l or t.",
    )


def most_general_classes(units: Units) -> Integers:
    """Return the full classes under the most general labels allowed: mostly the whole table.

    Returns
    -------
    int64 (units,): the class of each unit, -1 for none.
    """
    units.publish_only(np.arange(units.size))
    labels = np.stack([top[codes] for top, codes in zip(units.tops, units.codes.T, strict=True)])
    classes = number_classes(labels.T)
    full = units.full(np.arange(units.size), classes.ids, classes.size)
    return np.where(full[classes.ids], classes.ids, -1)


def _join_classes(grouping: Grouping) -> Grouping:
    """Let left-over units join classes, those of most rows first."""
    left = grouping.left
    for unit in left[np.argsort(-grouping.units.rows[left], kind="stable")].tolist():
        host = _cheapest_class(grouping, unit)
        if host is not None:
            grouping.take_in(unit, host)
    return Grouping(grouping.units, grouping.classes)


def _cheapest_class(grouping: Grouping, unit: int) -> int | None:
    """Return the class that a unit joins at least cost among those in which l and t still hold."""
    costs = grouping.join_costs(np.array([unit]))[0]
    near = np.argsort(costs, kind="stable")[:_TRIES]
    for c in near[np.isfinite(costs[near])].tolist():
        group = np.append(grouping.members(c), unit)
        if grouping.units.obeying(group, np.zeros_like(group), 1)[0]:
            return int(c)
    return None


def _take_in_classes(grouping: Grouping) -> Grouping:
    """Let left-over units take in classes, until few enough are left."""
    units = grouping.units
    left = grouping.left
    for unit in left[np.argsort(-units.rows[left], kind="stable")]:
        if units.rows[grouping.left].sum() <= units.problem.budget:
            break
        grouping = _widen_group(grouping, np.array([unit]))
    return grouping


def _repair_classes(grouping: Grouping) -> Grouping:
    """Measure t against what is published, and widen classes until every rule holds."""
    units = grouping.units
    while True:
        units.publish_only(np.flatnonzero(grouping.classes >= 0))
        bad = np.flatnonzero(~grouping.obeying())
        if not len(bad):
            return grouping
        grouping = _widen_group(grouping, grouping.members(int(bad[0])))


def _widen_group(grouping: Grouping, group: Integers) -> Grouping:
    """Let a group take in the nearest classes until it is full; else its units have no class.

    Each call leaves fewer classes, or fewer units in classes, so that repeated calls end.
    """
    units = grouping.units
    without = grouping.classes.copy()
    without[group] = -1
    rest = Grouping(units, without)
    while not units.full(group, np.zeros_like(group), 1)[0]:
        nearest = _nearest(rest, group)
        if nearest is None:
            return Grouping(units, without)
        group = np.concatenate([group, rest.members(nearest)])
        rest = Grouping(units, np.where(rest.classes == nearest, -1, rest.classes))
    classes = rest.classes.copy()
    classes[group] = rest.size
    return Grouping(units, classes)


def _nearest(grouping: Grouping, group: Integers) -> int | None:
    """Return the class that a group is merged with at least loss, if any may be."""
    if not grouping.size:
        return None
    units, trees = grouping.units, grouping.units.problem.trees
    codes, labels = units.codes[group], grouping.labels
    low = np.stack([tree.low[labels[:, q]] for q, tree in enumerate(trees)], axis=1)
    high = np.stack([tree.high[labels[:, q]] - 1 for q, tree in enumerate(trees)], axis=1)
    joint = units.covering(np.minimum(low, codes.min(axis=0)), np.maximum(high, codes.max(axis=0)))
    rows = grouping.rows + units.rows[group].sum()
    more = rows * units.penalty(joint) - grouping.rows * grouping.penalty
    best = int(more.argmin())
    return best if np.isfinite(more[best]) else None
