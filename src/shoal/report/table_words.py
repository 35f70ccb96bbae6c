"""The words for what is released of a table with noise: ``PureDP`` and ``ApproxDP``."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from shoal.errors import InvalidBudget
from shoal.privacy import ApproxDP, PureDP
from shoal.report.amounts import (
    amount,
    at_most,
    by_factor,
    decimal,
    large,
    odds_move,
    one_in,
)
from shoal.report.limits import belief, in_100, odds
from shoal.report.sentences import GROUPS, KEPT, LATER, OTHERS, Promise

__all__ = ["of_tables"]


def of_tables(guarantee: PureDP | ApproxDP, value: str = "value", **_: Any) -> Promise:
    """Presence is hidden, or only what a row says."""
    if guarantee.neighbours == "replace-one":
        return _replace_one(guarantee, value)
    return _add_remove(guarantee)


def _add_remove(guarantee: PureDP | ApproxDP) -> Promise:
    after = belief(Decimal("0.1"), guarantee.epsilon).most
    unit = "row" if guarantee.rows == 1 else f"person with at most {guarantee.rows} rows"
    return Promise(
        lead="If someone thought the chance that you are in this table was 10 in 100, this release "
        f"can move them to {at_most(after)}, however clever they are{_but_for(guarantee)}.",
        more=(odds_move(guarantee.epsilon), "Anything they know from elsewhere is allowed for."),
        exact=f"{_inequality(guarantee)}, for all S and all D, D′ that differ by one {unit} added "
        f"or removed. Running time is left out.",
        holds=(
            "Beyond the limit above, nobody can tell from this page whether you took part.",
            "Nothing computed later from these numbers can weaken the limit.",
            "The limit is the same for everyone, whatever their row says.",
        ),
        fails=(
            *_broken(guarantee),
            GROUPS,
            f"One of your values, if your presence is known: {_value_limit(guarantee)}.",
            KEPT,
            OTHERS,
            LATER,
            *large(guarantee.epsilon),
        ),
        name=_named(guarantee),
        protects="one row" if guarantee.rows == 1 else f"one person, up to {guarantee.rows} rows",
        compared="the table without them",
        before="10",
        after=in_100(after),
        guessed="whether you took part",
    )


def _replace_one(guarantee: PureDP | ApproxDP, value: str) -> Promise:
    after = belief(Decimal("0.1"), guarantee.epsilon).most
    unit = "row" if guarantee.rows == 1 else f"person's at most {guarantee.rows} rows"
    return Promise(
        lead="Everyone may know that you are in the table. If someone gave your true "
        f"{value} a chance of 10 in 100, this release can move them to {at_most(after)}"
        f"{_but_for(guarantee)}.",
        more=(odds_move(guarantee.epsilon), "Anything they know from elsewhere is allowed for."),
        exact=f"{_inequality(guarantee)}, for all S and all D, D′ of equal size that differ in the "
        f"values of one {unit}. Running time is left out.",
        holds=(
            f"Beyond the limit above, nobody can tell from this page your true {value}.",
            "Nothing computed later from these numbers can weaken the limit.",
            "The limit is the same for everyone, whatever their row says.",
        ),
        fails=(
            *_broken(guarantee),
            "That you are in the table is not hidden, nor how many people are.",
            GROUPS,
            KEPT,
            OTHERS,
            LATER,
            *large(guarantee.epsilon),
        ),
        name=_named(guarantee),
        protects="the values of one row"
        if guarantee.rows == 1
        else f"the values of one person, up to {guarantee.rows} rows",
        compared="the table with other values in their place",
        before="10",
        after=in_100(after),
        guessed=f"which of two candidates is your true {value}",
    )


def _delta(guarantee: PureDP | ApproxDP) -> Fraction:
    return guarantee.delta if isinstance(guarantee, ApproxDP) else Fraction(0)


def _inequality(guarantee: PureDP | ApproxDP) -> str:
    delta = _delta(guarantee)
    return (
        f"P[M(D) ∈ S] ≤ e^ε · P[M(D′) ∈ S]{' + δ' if delta else ''} with "
        f"ε = {decimal(guarantee.epsilon)}, δ = {decimal(delta) if delta else 0}"
    )


def _named(guarantee: PureDP | ApproxDP) -> str:
    kind = "approximate" if _delta(guarantee) else "pure"
    return f"{amount(guarantee)}, {kind} differential privacy"


def _but_for(guarantee: PureDP | ApproxDP) -> str:
    delta = _delta(guarantee)
    return f", but for a chance of at most {one_in(delta)}" if delta else ""


def _value_limit(guarantee: PureDP | ApproxDP) -> str:
    """A swap is two steps: one row out, another in."""
    try:
        swapped = guarantee.as_replace_one()
    except InvalidBudget:  # two steps may fail with certainty
        return "nothing is limited"
    return f"odds change {by_factor(odds(swapped.epsilon))}{_but_for(swapped)}"


def _broken(guarantee: PureDP | ApproxDP) -> tuple[str, ...]:
    if not _delta(guarantee):
        return ()
    return ("If that small chance comes true, anything about you may show.",)
