"""Lower the loss of a finished grouping: dissolve classes into others, and move single units."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.arrays import Floats, Integers

Codes = NDArray[np.int32]

_PASSES = 12
_PAIRS = 2.5e8  # most units times classes times QIDs looked at in the first pass
_ENOUGH = 3e-4  # a pass that lowers the loss by less than this share is the last
_ROUNDING = 1e-9  # smaller gains may be rounding


class _Offers:
    """For each unit, the class it would join and the cost; infinite if not computed.

    A class is remembered by one of its units, since its number changes from pass to pass.
    """

    def __init__(self, size: int) -> None:
        self.host = np.zeros(size, dtype=np.int64)
        self.cost = np.full(size, np.inf)

    def look(self, grouping: Grouping, units: Integers) -> None:
        """Compute the offers of these units."""
        targets, self.cost[units] = grouping.cheapest_joins(units)
        self.host[units] = grouping.firsts[targets]


class _Change(NamedTuple):
    """Units of one class that move to others; ordered by the gain for all rows."""

    less: float
    source: int
    units: Integers


def improve_grouping(grouping: Grouping) -> Grouping:
    """Repeat passes over the costliest units as long as the loss falls.

    In a pass each class changes at most once, so that costs computed before stay valid. A pass that
    does not lower the loss, or that breaks a rule where classes got equal labels, is undone. Later
    passes look only at units whose class or offer has changed.

    Returns
    -------
    A grouping of at most the same loss, in which all rules hold.
    """
    offers, units = _Offers(grouping.units.size), _costliest(grouping)
    for _ in range(_PASSES):
        offers.look(grouping, units)
        better, units = _pass(grouping, offers)
        gained = grouping.loss - better.loss
        if gained <= _ROUNDING or not better.obeying().all():
            break
        grouping = better
        if gained < _ENOUGH * grouping.loss:
            break
    return grouping


def _costliest(grouping: Grouping) -> Integers:
    """Return the units with the highest loss, as many as one pass may look at."""
    pays = np.append(grouping.penalty, 0.0)[grouping.classes]
    most = int(_PAIRS / max(grouping.size * grouping.units.problem.d, 1))
    units = np.argsort(-pays.round(9), kind="stable")[:most]
    return units[pays[units] > 0]


def _pass(grouping: Grouping, offers: _Offers) -> tuple[Grouping, Integers]:
    """Apply all changes that pay; return the grouping, and the units to look at again."""
    acts = sorted(_dissolutions(grouping, offers) + _moves(grouping, offers), key=lambda a: a.less)
    classes, target = grouping.classes.copy(), grouping.classes[offers.host]
    fixed = np.zeros(grouping.size + 1, dtype=bool)
    for act in acts:
        to = target[act.units]
        if fixed[act.source] or fixed[to].any() or not _pays(grouping, act, to):
            continue
        fixed[act.source] = fixed[to] = True
        classes[act.units] = to
    changed = (fixed[grouping.classes] | fixed[target]) & np.isfinite(offers.cost)
    return Grouping(grouping.units, classes), np.flatnonzero(changed)


def _dissolutions(grouping: Grouping, offers: _Offers) -> list[_Change]:
    """Return classes whose units all lose less elsewhere."""
    inside = np.flatnonzero(grouping.classes >= 0)
    cost = np.bincount(grouping.classes[inside], offers.cost[inside], minlength=grouping.size)
    less = cost - grouping.rows * grouping.penalty
    return [
        _Change(less[c], c, grouping.members(c)) for c in np.flatnonzero(less < -_ROUNDING).tolist()
    ]


def _moves(grouping: Grouping, offers: _Offers) -> list[_Change]:
    """Return units that a class does not need, and that cost less elsewhere."""
    units = _dispensable(grouping, np.flatnonzero(np.isfinite(offers.cost)))
    less = offers.cost[units] - _gain_of_leaving(grouping, units)
    good = np.flatnonzero(less < -_ROUNDING)
    sources = grouping.classes[units]
    return [_Change(less[i], int(sources[i]), units[i : i + 1]) for i in good]


def _dispensable(grouping: Grouping, units: Integers) -> Integers:
    """Return the units without which k people remain; a person may remain through another unit."""
    stay = grouping.people()[grouping.classes[units]] - grouping.units.people[units]
    return units[stay >= grouping.units.problem.k]


def _gain_of_leaving(grouping: Grouping, units: Integers) -> Floats:
    """Return how much less all rows of a class lose once a unit has left it."""
    own = grouping.classes[units]
    first, last = _without(grouping, units, own)
    after = grouping.units.penalty(grouping.units.covering(first, last))
    rows = grouping.rows[own]
    return np.asarray(rows * grouping.penalty[own] - (rows - grouping.units.rows[units]) * after)


def _without(grouping: Grouping, units: Integers, own: Integers) -> tuple[Codes, Codes]:
    """Return the first and last code of the other units of each unit's class, on every QID."""
    near = np.flatnonzero(np.isin(grouping.classes, own))
    classes, codes, mine = grouping.classes[near], grouping.units.codes[near], grouping.units.codes
    first, last = np.empty((2, len(units), codes.shape[1]), dtype=codes.dtype)
    for q, column in enumerate(codes.T):
        order = np.lexsort((column, classes))
        ranked = column[order]
        low = np.searchsorted(classes[order], own)
        high = np.searchsorted(classes[order], own, side="right") - 1
        first[:, q] = np.where(mine[units, q] == ranked[low], ranked[low + 1], ranked[low])
        last[:, q] = np.where(mine[units, q] == ranked[high], ranked[high - 1], ranked[high])
    return first, last


def _pays(grouping: Grouping, act: _Change, target: Integers) -> bool:
    """Return whether a change lowers the loss, computed exactly, and keeps l and t."""
    units, hosts = grouping.units, np.unique(target)
    groups = [np.append(grouping.members(c), act.units[target == c]) for c in hosts.tolist()]
    stay = np.setdiff1d(grouping.members(act.source), act.units, assume_unique=True)
    groups += [stay] if len(stay) else []
    of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    together = np.concatenate(groups)
    pays = units.penalty(units.tightest(together, of, len(groups)))
    after = float(np.bincount(of, units.rows[together]) @ pays)
    before = [*hosts.tolist(), act.source]
    if after >= float(grouping.rows[before] @ grouping.penalty[before]) - _ROUNDING:
        return False
    return bool(units.obeying(together, of, len(groups)).all())
