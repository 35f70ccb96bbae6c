"""The words for reports that were changed one by one: ``LocalDP`` and ``MetricDP``."""

from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from shoal.figures.text import number
from shoal.privacy import LocalDP, MetricDP
from shoal.report.amounts import at_most, decimal, large, odds_move
from shoal.report.limits import belief, in_100, odds
from shoal.report.sentences import GROUPS, KEPT, OTHERS, REPORTED, Promise

__all__ = ["of_places", "of_reports"]


class _Made(NamedTuple):
    """Who changed the values, and what follows from it."""

    where: str
    truth: str
    kept: str
    seen: str
    fails: tuple[str, ...] = ()


_ON_DEVICE = _Made(
    where="on your own device before it was sent",
    truth="Nobody, the collector included, holds the true one.",
    kept="never left your device",
    seen="That you took part, when, and from which address is not hidden.",
)
_BY_HOLDER = _Made(
    where="before it left whoever holds the table",
    truth="They still hold the true one.",
    kept="is in no report",
    seen="That you are in the table is not hidden.",
    fails=(KEPT,),
)


_ON_DEVICE = _Made(
    where="on your own device before it was sent",
    truth="Nobody, the collector included, holds the true one.",
    kept="never left your device",
    seen="That you took part, when, and from which address is not hidden.",
)
_BY_HOLDER = _Made(
    where="before it left whoever holds the table",
    truth="They still hold the true one.",
    kept="is in no report",
    seen="That you are in the table is not hidden.",
    fails=(KEPT,),
)


def of_reports(
    guarantee: LocalDP, value: str = "answer", by_holder: bool = False, **_: Any
) -> Promise:
    """One limit, whatever was reported."""
    after = belief(Decimal("0.1"), guarantee.epsilon).most
    made = _BY_HOLDER if by_holder else _ON_DEVICE
    return Promise(
        lead=f"Your {value} was changed at random {made.where}. If "
        "someone gave a guess about it 10 in 100, your report can move them to "
        f"{at_most(after)}.",
        more=(made.truth, odds_move(guarantee.epsilon)),
        exact=f"P[R(x) ∈ S] ≤ e^ε · P[R(x′) ∈ S] with ε = {decimal(guarantee.epsilon)}, for all S "
        "and any two values x, x′ of one person; δ = 0. Several reports: ε times their number.",
        holds=(
            f"The true {value} {made.kept}.",
            "Nothing computed later from the reports can weaken the limit.",
            f"The limit is the same for every {value}.",
        ),
        fails=(
            made.seen,
            "Each further report of yours adds to what can be learnt.",
            *made.fails,
            GROUPS,
            OTHERS,
            *large(guarantee.epsilon),
        ),
        name=f"ε = {decimal(guarantee.epsilon)} a report, local differential privacy",
        protects=f"one {value} of one person",
        compared=f"any other {value}",
        before="10",
        after=in_100(after),
        guessed=f"which of two candidates your {value} was",
        found=REPORTED,
    )


def of_places(
    guarantee: MetricDP, diameter: float | None = None, dimensions: int | None = None, **_: Any
) -> Promise:
    """A limit that grows with distance."""
    near, far = 1 / (10 * guarantee.epsilon), 1 / guarantee.epsilon
    steps = [_apart(guarantee, near), _apart(guarantee, far, short=True)]
    if diameter is not None:
        steps.append(_apart(guarantee, Fraction(diameter), ends=True))
    scale = "1 a column" if guarantee.scale is None else str(guarantee.scale)
    per = decimal(guarantee.epsilon) + ("" if guarantee.unit == "1" else f" per {guarantee.unit}")
    return Promise(
        lead=" ".join(steps),
        more=(*_spread(guarantee, dimensions), "There is no single limit: it grows with distance."),
        exact=f"P[R(x) ∈ S] ≤ e^(ε·d(x, x′) + s) · P[R(x′) ∈ S] for all S, with ε = {per}, d "
        f"{guarantee.metric}, scale {scale}, slack s = {decimal(guarantee.slack)}.",
        holds=(
            "Nearby places are hard to tell apart from your report, within the limits above.",
            "Nothing computed later from the reports can weaken these limits.",
        ),
        fails=(
            "Places far apart can be told apart: your town may show even if your street does not.",
            "That you took part, when, and from which address is not hidden.",
            "Each further report of yours adds to what can be learnt.",
            GROUPS,
        ),
        name=f"ε = {per}, metric differential privacy",
        protects="one place of one person",
        compared="any other place, the nearer the better hidden",
        found=REPORTED,
    )


def _apart(guarantee: MetricDP, far: Fraction, short: bool = False, ends: bool = False) -> str:
    factor = odds(guarantee.epsilon * far + guarantee.slack)
    where = _length(float(far), guarantee.unit)
    limit = "" if short else "odds change by at most "
    if factor.startswith("over"):
        limit, factor = "", f"{factor} times, which limits next to nothing"
    if ends:
        return f"Opposite ends of the area, {where}: {limit}{factor}."
    return f"{where}: {limit}{factor}." if short else f"Places {where} apart: {limit}{factor}."


def _spread(guarantee: MetricDP, dimensions: int | None) -> tuple[str, ...]:
    """Half and 95 in 100 of the reports of Laplace noise in the plane or in space."""
    quantiles = {2: (1.678, 4.744), 3: (2.674, 6.296)}
    if dimensions not in quantiles or guarantee.metric != "euclidean":
        return ()
    half, most = (q / float(guarantee.epsilon) for q in quantiles[dimensions])
    unit = guarantee.unit
    return (
        f"Half of the reports land within {_length(half, unit)} of the true place, 95 in 100 "
        f"within {_length(most, unit)}.",
    )


def _length(value: float, unit: str) -> str:
    if unit == "km":
        return f"{number(float(f'{value * 1000:.3g}'))} m" if value < 1 else f"{value:.3g} km"
    return f"{value:.3g}" if unit == "1" else f"{value:.3g} {unit}"
