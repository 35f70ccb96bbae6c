"""What a ledger says: totals, limits, what is left of them, and runs that did not end."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from shoal.errors import InvalidSetting, LedgerError, LedgerNotWritable, NotALedger, sentence
from shoal.privacy._ledger import Ledger
from shoal.privacy.guarantees import ApproxDP, Budget, Guarantee, LocalDP, MetricDP, PureDP


class LimitKind(StrEnum):
    """Kinds of promise a limit can be set for."""

    pure = "pure"
    replace_one = "replace-one"
    local = "local"
    metric = "metric"


class Left(NamedTuple):
    """What is left of a limit, exactly; never less than 0.

    Parameters
    ----------
    delta
        What is left of its delta; None if it has none.
    """

    limit: Budget
    epsilon: Fraction
    delta: Fraction | None


class Account(NamedTuple):
    """All that a ledger says.

    Parameters
    ----------
    totals
        What was promised, one total for each kind.
    simulated
        What was simulated, likewise.
    limits
        The limits in force.
    left
        What is left of each of them; simulations count.
    unfinished
        Runs that paid and did not end: when each began, and its task.
    """

    totals: tuple[Guarantee, ...]
    simulated: tuple[Guarantee, ...]
    limits: tuple[Budget, ...]
    left: tuple[Left, ...]
    unfinished: tuple[tuple[datetime, str], ...]


def account_of(ledger: Ledger) -> Account:
    """Add up what a ledger holds.

    Parameters
    ----------
    ledger
        The ledger.

    Examples
    --------
    >>> account_of(Ledger(limit=PureDP(3))).left[0].epsilon
    Fraction(3, 1)
    """
    totals = ledger.totals()
    spent: dict[Any, Budget] = {}
    for each in totals:
        if isinstance(each, Budget):  # a limit binds what was promised and simulated together
            spent[each.kind] = each + spent[each.kind] if each.kind in spent else each
    return Account(
        totals=tuple(each for each in totals if not each.simulation),
        simulated=tuple(each for each in totals if each.simulation),
        limits=tuple(ledger.limits),
        left=tuple(_left(each, spent.get(each.kind)) for each in ledger.limits),
        unfinished=tuple(ledger.unfinished()),
    )


def existing_ledger(path: Path) -> Ledger:
    """Open a ledger that is there: an empty one would say that nothing was promised.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> existing_ledger(Path("none.ledger"))
    Traceback (most recent call last):
    ...
    shoal.errors.NotALedger: There is no ledger at none.ledger.
    Name the ledger of a release, e.g. shoal-demo/ledger.sqlite; create a new one with: ...
    """
    if not path.is_file():
        raise NotALedger(
            f"There is no ledger at {path}.",
            "Name the ledger of a release, e.g. shoal-demo/ledger.sqlite; create a new one "
            "with: shoal ledger limit LEDGER --epsilon 3.",
        )
    return Ledger(path)


def limit_of(
    kind: LimitKind, epsilon: str, delta: str | None = None, rows: int = 1, unit: str = "1"
) -> Budget:
    """Return a limit of this kind.

    Parameters
    ----------
    epsilon
        The most that may be promised, exactly as it is written.

    Examples
    --------
    >>> limit_of(LimitKind.pure, "3")
    PureDP(epsilon=3)
    """
    amount: Any = epsilon
    if delta is not None and kind not in (LimitKind.pure, LimitKind.replace_one):
        raise InvalidSetting(
            sentence(f"{{delta}} does not go with {{kind:{kind}}}."),
            sentence("Use it with {kind:pure} or replace-one."),
        )
    if kind is LimitKind.local:
        return LocalDP(amount)
    if kind is LimitKind.metric:
        return MetricDP(amount, unit=unit)
    neighbours = "replace-one" if kind is LimitKind.replace_one else "add-remove"
    if delta is None:
        return PureDP(amount, neighbours=neighbours, rows=rows)
    return ApproxDP(amount, delta, neighbours=neighbours, rows=rows)  # type: ignore[arg-type]


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Word what a ledger refuses for those who only look: they spend nothing anyway."""
    try:
        yield
    except LedgerNotWritable:
        raise LedgerNotWritable(
            f"'{path.name}' cannot be opened here, not even to read it.",
            "Check that you may read it and its folder. If its disk is read-only, copy it, with "
            "the files beside it whose names begin the same, and open the copy.",
        ) from None
    except LedgerError as error:
        raise error.changed(hint=str(error.facts.get("reader_hint", error.hint))) from None


def _left(limit: Budget, spent: Budget | None) -> Left:
    epsilon = max(limit.epsilon - (spent.epsilon if spent else 0), Fraction(0))
    if not isinstance(limit, ApproxDP):
        return Left(limit, epsilon, None)
    delta = max(limit.delta - getattr(spent, "delta", 0), Fraction(0))
    return Left(limit, epsilon, delta)
