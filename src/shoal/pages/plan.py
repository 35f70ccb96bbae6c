"""Build the page of a plan: what error to expect at which budget, before anything is spent."""

import math
from typing import TYPE_CHECKING, Any

from shoal.errors import quantity
from shoal.figures import error_band
from shoal.figures.text import format_number
from shoal.pages.page import Line, Table, VerdictPage, bounds_text

if TYPE_CHECKING:
    from shoal.pages._verdicts import Verdicts
    from shoal.planning import Band, Curve, Flattery, Plan


_NAMES = {"central": "Central", "local": "Local"}
_ESTIMATORS = {
    "central": "PrivateKMeans, a curator holds the rows",
    "local": "LocalClusterer, everybody sends one report",
}
NOT_OPENED = "No table was opened and nothing was spent: public facts and made-up tables alone."
FROM_RELEASE = "No row was read and nothing was spent: rows were drawn about what was released."
# Measured by bench/plan.py: docs/decisions/plan.md.
HOW_GOOD = (
    "A band, not a promise: in 10 of 10 settings that were not used to build it, the typical error "
    "of fits lay in it; in the 10 before, by which it was widened, in 8. Nine in ten coordinates "
    "were within what is said here in 8 of the last 10."
)
WORSE = (
    "Heavy tails, a group far from all others and columns of few values do worse: there a fit may "
    "miss a whole group, which the typical error does not show."
)
REPORTS = (
    "All of this is about a curator. For reports the band was tried in seven settings that were "
    "not used to build it, and held in five; in the others it was missed by a few hundredths."
)
SIMULATION = (
    "Simulation. Its bounds, or the release that rows were drawn about, have noise from a seed, so "
    "this tells of people's rows: keep it to yourself."
)
READING = (
    "Typical: half of the coordinates of all centres are off by less, in % of their column's "
    "range, against plain k-means of the same rows. Nine in ten: nine in ten coordinates are, in "
    "nine of ten fits. From clear groups to the least clear."
)


def page(plan: "Plan") -> VerdictPage:
    """Build the page of a plan; it names nobody, and may be passed on unless it is a simulation."""
    tables = [_table(plan, curve) for curve in plan.curves.values()]
    answers = [_answer(plan, curve) for curve in plan.curves.values()]
    limits = _limits(plan)
    lines: list[Line | Table] = [Line("Planned", _subject(plan)), Line("Note", _source(plan))]
    for table, answer in zip(tables, answers, strict=True):
        lines += [
            Line(table.title, _ESTIMATORS[table.title.lower()]),
            table,
            Line("Needed", answer),
        ]
    lines += [Line("Skipped", why) for why in plan.skipped.values()]
    lines += [Line("Limits" if not i else "", text) for i, text in enumerate(limits)]
    return VerdictPage(
        lines=lines, values=_values(plan), verdicts=_verdicts(plan, tables, answers, limits)
    )


def _subject(plan: "Plan") -> str:
    return (
        f"{quantity(plan.n_clusters, 'group')} in {quantity(plan.box.d, 'column')} "
        f"({bounds_text(plan.box)}), {quantity(plan.n_expected, 'row')} expected"
        + (f", up to {plan.rows_per_person} a person." if plan.rows_per_person > 1 else ".")
    )


def _source(plan: "Plan") -> str:
    source = NOT_OPENED if plan.flattery is None else FROM_RELEASE
    return f"{SIMULATION} {source}" if plan.simulation else source


def _limits(plan: "Plan") -> list[str]:
    if plan.flattery is None:
        return [HOW_GOOD, WORSE, *([REPORTS] if "local" in plan.curves else [])]
    return [flattery_text(plan.flattery), WORSE]


def flattery_text(flattery: "Flattery") -> str:
    """Return how far predictions from a release were off, as measured."""
    return (
        "Drawn rows are smoother than those behind the release. Predicted over true error, "
        f"measured in {flattery.settings} settings at the budget of the release: "
        f"{flattery.median:.2g} in the median, from {flattery.least:.2g} to "
        f"{flattery.greatest:.2g}. Below 1 it flatters."
    )


def _answer(plan: "Plan", curve: "Curve") -> str:
    """Which budget the wanted error takes, in a sentence."""
    wanted = f"{_percent(plan.within)} of the range for nine in ten coordinates"
    low, high = curve.epsilon
    least = curve.bands[0].epsilon
    if low is None:
        most = format_number(curve.bands[-1].epsilon)
        return f"{wanted}: not reached up to epsilon {most}."
    first = _epsilon_text(low, least)
    if high is None:
        return f"{wanted}: epsilon {first} for clear groups; not reached for the least clear."
    second = _epsilon_text(high, least)
    if first == second:
        return f"{wanted}: epsilon {first}."
    return f"{wanted}: epsilon {first} for clear groups, {second} for the least clear."


def _table(plan: "Plan", curve: "Curve") -> Table:
    columns = ["Epsilon", "Typical error, %", "Nine in ten, %"]
    columns.append(f"{_rows_name(plan)} for {_percent(plan.within)}")
    rows = [
        [
            format_number(band.epsilon),
            percent_range(band.low, band.high),
            percent_range(*band.most),
            _people_text(band),
        ]
        for band in curve.bands
    ]
    return Table(_NAMES[curve.trust], columns, rows, note=READING)


def _rows_name(plan: "Plan") -> str:
    return "People" if plan.rows_per_person == 1 else "Rows"


def percent_range(low: float, high: float) -> str:
    """Return two shares in percent, or one where they read the same."""
    first, second = (f"{100 * share:.2g}" for share in (low, high))
    return first if first == second else f"{first} to {second}"


def _people_text(band: "Band") -> str:
    low, high = band.people
    if low is None:
        return "not reached"
    first = f"{_two_digits_up(low):,}"
    if high is None:
        return f"{first} or more"
    second = f"{_two_digits_up(high):,}"
    return first if first == second else f"{first} to {second}"


def _epsilon_text(epsilon: float, least: float) -> str:
    if epsilon <= least:
        return f"{format_number(least)} or less"
    digits = 1 - math.floor(math.log10(epsilon))
    return format_number(math.ceil(epsilon * 10**digits) / 10**digits)


def _two_digits_up(number: float) -> int:
    step: int = 10 ** max(0, math.floor(math.log10(max(number, 1))) - 1)
    return math.ceil(number / step) * step


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _values(plan: "Plan") -> dict[str, Any]:
    flattery = plan.flattery
    return {
        "groups": plan.n_clusters,
        "columns": list(plan.box.names),
        "rows_expected": plan.n_expected,
        "rows_per_person": plan.rows_per_person,
        "known_of_groups": plan.groups,
        "within": plan.within,
        "opened_a_table": False,
        "spent": 0,
        "simulation": plan.simulation,
        "curves": {trust: _curve_values(curve) for trust, curve in plan.curves.items()},
        "skipped": dict(plan.skipped),
        "flattery": None if flattery is None else flattery._asdict(),
        "limits": _limits(plan),
    }


def _curve_values(curve: "Curve") -> dict[str, Any]:
    return {
        "epsilon_needed": curve.epsilon._asdict(),
        "bands": [
            {
                "epsilon": band.epsilon,
                "typical": {"low": band.low, "high": band.high},
                "by_shape": dict(band.by_shape),
                "nine_in_ten": band.most._asdict(),
                "people_needed": band.people._asdict(),
            }
            for band in curve.bands
        ],
    }


def _verdicts(
    plan: "Plan", tables: list[Table], answers: list[str], limits: list[str]
) -> "Verdicts":
    from shoal.pages._verdicts import Detail, Verdicts

    bands = {
        f"{_NAMES[trust]}: {_ESTIMATORS[trust]}": [
            (band.epsilon, band.low, band.high) for band in curve.bands
        ]
        for trust, curve in plan.curves.items()
    }
    figure = error_band(
        bands, title="Error to expect at each epsilon", wanted=plan.within, finding=answers[0]
    )
    detail = Detail("Error to expect", "a band at each epsilon", (figure,), answers, open=True)
    return Verdicts(
        title="What to expect before a budget is spent",
        lead=f"{_subject(plan)} {answers[0]}",
        heading="Errors by epsilon",
        sub=_source(plan),
        tables=[table.to_dict() for table in tables],
        details=[detail],
        reading=READING,
        says=(
            "How far released centres will lie from those of plain k-means, as a band.",
            "Which epsilon, and how many people, a wanted error takes.",
        ),
        says_not=(_source(plan), *limits, *plan.skipped.values()),
        constructed=True,
    )
