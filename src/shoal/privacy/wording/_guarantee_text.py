"""The text of each kind of guarantee, for pages.

The words for reports that were changed one by one: ``LocalDP`` and ``MetricDP``.

The words for a table in which people share what is shown of them: ``KAnonymity``.

One guarantee in words, and the sentences that several guarantees share.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from shoal.errors import InvalidBudget
from shoal.privacy import ApproxDP, KAnonymity, KMap, LocalDP, MetricDP, PureDP
from shoal.privacy.wording.amounts import (
    amount,
    at_most,
    belief,
    by_factor,
    decimal,
    in_100,
    large_budget_note,
    odds,
    odds_move,
    one_in,
)

GROUPS = (
    "Facts about groups stay visible. What is common among many may be true of you too, whether or "
    "not you took part."
)
OTHERS = "People whose rows say something about you count for themselves: family, friends, twins."
REPORTED = "Worked out from reports that were changed at random one by one; none is listed here."
HOLDER_KEEPS_ROWS = (
    "Whoever collected the rows still holds them. This page does not cover how they are kept."
)
LATER = "Other releases from the same rows add up. Only those in this table's ledger are counted."

_TERMS = (
    ("ε (epsilon)", "is the budget: smaller means more noise and a tighter limit."),
    ("Odds", "set the chance for against the chance against: 10 in 100 is 1 to 9."),
    ("Cell", "means a rectangle in which rows are counted, with noise added to the count."),
    ("The ledger", "adds up what was promised about one table."),
)
TABLE_TERMS = (
    ("Quasi-identifier", "means a column others may know of you: age, place, occupation."),
    ("Group", "means the rows that show the same in all of these columns."),
    ("Detail kept", "is 100 % for single values, 0 % for a column that only shows *."),
    ("Suppressed", "rows are left out, since no group was large enough for them."),
)

_STATED = (
    "This rests on the publisher's statement that nobody in this table was in an earlier release. "
    "Nothing has checked it; if it is false, the releases can be subtracted from each other."
)
_COMPARED = (
    "Nobody in it was in an earlier release under the same grouping: people were compared before "
    "it was made."
)


@dataclass(frozen=True)
class Promise:
    """One guarantee in words.

    Parameters
    ----------
    lead
        The sentence to set large.
    more
        Further sentences below it.
    exact
        The formal statement, for auditors.
    holds
        What the guarantee protects from, in sentences.
    fails
        What it does not protect from.
    name
        The kind and amount of the guarantee.
    protects
        Who or what is protected.
    compared
        What the release is compared with.
    before
        The chance in ``lead`` before the release, in 100, if it has one.
    after
        The chance after it, in 100.
    guessed
        What these chances are about.
    head
        The title above ``lead``.
    found
        The sentence above the results.
    costs
        The title above what the guarantee costs in accuracy.
    costs_from
        The sentence below that title.
    terms
        Words of the page, each with its explanation.
    """

    lead: str
    more: tuple[str, ...]
    exact: str
    holds: tuple[str, ...]
    fails: tuple[str, ...]
    name: str
    protects: str
    compared: str
    before: str | None = None
    after: str | None = None
    guessed: str | None = None
    head: str = "The promise to you"
    found: str = "What you see carries noise, and no row of the table is drawn or listed here."
    costs: str = "How much the noise costs"
    costs_from: str = "Worked out from the promise and the released numbers alone."
    terms: tuple[tuple[str, str], ...] = _TERMS


def table_promise(guarantee: PureDP | ApproxDP, value: str = "value", **_: Any) -> Promise:
    """Write the guarantee of a noisy release from a table.

    Parameters
    ----------
    value
        What a row tells, e.g. "answer".
    """
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
            *_delta_warning(guarantee),
            GROUPS,
            f"One of your values, if your presence is known: {_value_limit(guarantee)}.",
            HOLDER_KEEPS_ROWS,
            OTHERS,
            LATER,
            *large_budget_note(guarantee.epsilon),
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
            *_delta_warning(guarantee),
            "That you are in the table is not hidden, nor how many people are.",
            GROUPS,
            HOLDER_KEEPS_ROWS,
            OTHERS,
            LATER,
            *large_budget_note(guarantee.epsilon),
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
    """Write what limits one value: a swap is two steps, one row out and another in."""
    try:
        swapped = guarantee.as_replace_one()
    except InvalidBudget:  # two steps may fail with certainty
        return "nothing is limited"
    return f"odds change {by_factor(odds(swapped.epsilon))}{_but_for(swapped)}"


def _delta_warning(guarantee: PureDP | ApproxDP) -> tuple[str, ...]:
    if not _delta(guarantee):
        return ()
    return ("If that small chance comes true, anything about you may show.",)


class _Origin(NamedTuple):
    """Who randomised the values, and what follows from that."""

    where: str
    truth: str
    truth_place: str
    visible: str
    fails: tuple[str, ...] = ()


_ON_DEVICE = _Origin(
    where="on your own device before it was sent",
    truth="Nobody, the collector included, holds the true one.",
    truth_place="never left your device",
    visible="That you took part, when, and from which address is not hidden.",
)
_BY_HOLDER = _Origin(
    where="before it left whoever holds the table",
    truth="They still hold the true one.",
    truth_place="is in no report",
    visible="That you are in the table is not hidden.",
    fails=(HOLDER_KEEPS_ROWS,),
)


def local_promise(
    guarantee: LocalDP, value: str = "answer", by_holder: bool = False, **_: Any
) -> Promise:
    """Write the guarantee of reports: one limit, whatever was reported.

    Parameters
    ----------
    value
        What a report tells, e.g. "answer".
    by_holder
        Whether a holder's table was randomised, not values on people's devices.
    """
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
            f"The true {value} {made.truth_place}.",
            "Nothing computed later from the reports can weaken the limit.",
            f"The limit is the same for every {value}.",
        ),
        fails=(
            made.visible,
            "Each further report of yours adds to what can be learnt.",
            *made.fails,
            GROUPS,
            OTHERS,
            *large_budget_note(guarantee.epsilon),
        ),
        name=f"ε = {decimal(guarantee.epsilon)} a report, local differential privacy",
        protects=f"one {value} of one person",
        compared=f"any other {value}",
        before="10",
        after=in_100(after),
        guessed=f"which of two candidates your {value} was",
        found=REPORTED,
    )


def metric_promise(
    guarantee: MetricDP, diameter: float | None = None, dimensions: int | None = None, **_: Any
) -> Promise:
    """Write the guarantee of reports whose limit grows with distance.

    Parameters
    ----------
    diameter
        The largest distance in the public domain, if known.
    dimensions
        How many columns a report has, if known.
    """
    near, far = 1 / (10 * guarantee.epsilon), 1 / guarantee.epsilon
    lead = f"Between two places {_apart(guarantee, near)}; between places {_apart(guarantee, far)}."
    if diameter is not None:
        lead += f" Between opposite ends of the area, {_apart(guarantee, Fraction(diameter))}."
    scale = "1 a column" if guarantee.scale is None else str(guarantee.scale)
    per = decimal(guarantee.epsilon) + ("" if guarantee.unit == "1" else f" per {guarantee.unit}")
    return Promise(
        lead=lead,
        more=(
            *_report_spread(guarantee, dimensions),
            "There is no single limit: it grows with distance.",
        ),
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


def _apart(guarantee: MetricDP, distance: Fraction) -> str:
    """How far odds can change between places so far apart."""
    factor = by_factor(odds(guarantee.epsilon * distance + guarantee.slack))
    return f"{_length(float(distance), guarantee.unit)} apart, odds change {factor}"


def _report_spread(guarantee: MetricDP, dimensions: int | None) -> tuple[str, ...]:
    """Write within which distances half and 95 in 100 of Laplace reports fall."""
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
        return f"{float(f'{value * 1000:.3g}'):g} m" if value < 1 else f"{value:.3g} km"
    return f"{value:.3g}" if unit == "1" else f"{value:.3g} {unit}"


def k_anonymity_promise(
    guarantee: KAnonymity,
    columns: Sequence[str] = (),
    rules: Sequence[Mapping[str, Any]] = (),
    earlier: str = "first",
    models: Sequence[str] = (),
    **_: Any,
) -> Promise:
    """Write the guarantee of a k-anonymous table, and what it does not hide.

    Parameters
    ----------
    earlier
        Why nobody in the table was in an earlier release: it is the ``first``, people were
        ``compared``, or it was ``stated``.
    """
    these = _join_names(columns) or "the listed columns"
    unit = f"people, told apart by {guarantee.person}" if guarantee.person else "rows"
    return Promise(
        lead=f"In the published table at least {guarantee.k} people share every combination of "
        f"{these} that occurs.",
        more=(
            "Someone who knows these of you, and that you are in it, picks your record with a "
            f"chance of at most 1 in {guarantee.k}.",
            *(line for rule in rules for line in _rule(rule)),
            *(() if rules else _rules_not_stated(guarantee)),
            *models,
            *((_STATED,) if "stated" in earlier else ()),
        ),
        exact=f"Every combination of {', '.join(columns) or these} in the published table belongs "
        f"to at least k = {guarantee.k} {unit}.",
        holds=(
            f"Nobody stands alone: every group has at least {guarantee.k} members.",
            "The written file was counted again before it was published.",
            *((_COMPARED,) if earlier == "compared" else ()),
        ),
        fails=(
            "This is not differential privacy, and it adds to no such promise.",
            "A group whose members share a sensitive value gives that value away.",
            "Two releases of one table, or of tables that share people, can be compared to undo "
            "the grouping.",
            "Someone who knows how many rows you have may learn more."
            if guarantee.person
            else "One row is taken as one person. Whoever has several may share a group with "
            "nobody else.",
            "Someone who reasons about why the grouping stopped where it did may learn more.",
        ),
        name=f"k = {guarantee.k}, k-anonymity",
        protects=f"one {guarantee.person or 'row'}",
        compared="the other records of the same group",
        found="Values are grouped, not noisy: what is shown of a group is true of it.",
        costs="What the grouping costs",
        costs_from="Counted over all rows; what was left out counts as lost.",
        terms=TABLE_TERMS,
    )


def _join_names(names: Sequence[str], most: int = 6) -> str:
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more columns"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _rule(rule: Mapping[str, Any]) -> Iterator[str]:
    """Yield what holds of a sensitive column in every group; the worst share is counted."""
    column, diverse, close = rule["column"], rule.get("l"), rule.get("t")
    if diverse is not None:
        value = f"{diverse['value']:g}"
        yield {
            "distinct": f"Every such group shows at least {value} different values of {column}.",
            "entropy": f"In every such group {column} is as varied as {value} equally common "
            "values.",
            "recursive": f"In every such group the most common value of {column} is rarer than "
            f"{diverse.get('c', 1):g} times all values from number {value} in rank "
            "together.",
        }[diverse["kind"]]
    share = rule.get("share")
    if share is not None:
        yield f"In the worst group {_sharing(share)} one value of {column}."
    if close is not None and close["kind"] == "equal":
        yield (
            f"No value of {column} is more than {100 * close['value']:g} points in 100 more "
            "common in a group than in the whole table."
        )
    elif close is not None:
        yield (
            f"In every group {column} differs from the whole table by at most "
            f"{close['value']:g}, on a scale from 0 to 1."
        )


def _sharing(share: float) -> str:
    return "all share" if share >= 1 else f"{in_100(Decimal(share))} in 100 share"


def k_map_promise(
    guarantee: KMap, columns: Sequence[str] = (), models: Sequence[str] = (), **_: Any
) -> Promise:
    """Write the guarantee of a table whose combinations many people of a population share."""
    these = _join_names(columns) or "the listed columns"
    return Promise(
        lead=f"At least {guarantee.k} people of the population share every combination of {these} "
        "that occurs in the published table.",
        more=(
            "Someone who knows these of you, and not whether you are in it, picks your record with "
            f"a chance of at most 1 in {guarantee.k}.",
            *models,
        ),
        exact=f"Every combination of {', '.join(columns) or these} in the published table belongs "
        f"to at least k = {guarantee.k} people of the population that was named.",
        holds=("The written file was counted again, against the population, before it left.",),
        fails=(
            "This is not differential privacy, and it adds to no such promise.",
            "Someone who knows that you are in the table may find your record: you may stand alone "
            "in it.",
            "It is as true as the population that was named: people who moved away or died are "
            "counted, if they are in it.",
            "A group whose members share a sensitive value gives that value away.",
        ),
        name=f"k = {guarantee.k}, k-map",
        protects=f"one {guarantee.person or 'row'}",
        compared="the people of the population with the same values",
        found="Values are grouped, not noisy: what is shown of a group is true of it.",
        costs="What the grouping costs",
        costs_from="Counted over all rows; what was left out counts as lost.",
        terms=TABLE_TERMS,
    )


def _rules_not_stated(guarantee: KAnonymity) -> Iterator[str]:
    if guarantee.l is not None:
        yield f"Every such group shows at least {guarantee.l} different values."
        yield "Share of the most common value in the worst group: not stated."
    if guarantee.t is not None:
        yield f"Groups differ from the whole table by at most {guarantee.t:g} (0 to 1)."
