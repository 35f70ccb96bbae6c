"""Build the page of a plan: what error to expect at which budget, before anything is spent."""

import math
from collections.abc import Sequence
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
# Measured by bench/fresh_tables.py: docs/decisions/plan.md.
HOW_GOOD = (
    "A forecast, not a promise: in 43 settings, by which it was weighted, fits did better than "
    "the typical error in 65 of 100 and than the bad case in 93."
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
    "Off by: half of the coordinates of all centres are off by less, in % of their column's range, "
    "against plain k-means of the same rows. Bad case: what nine of ten made-up tables stay below. "
    "Come back: groups found where plain k-means has them."
)
DETAILS = "The typical error for each shape of made-up tables, in %, and the band over all of them."


def page(plan: "Plan", *, domain: str | None = None, details: bool = False) -> VerdictPage:
    """Build the page of a plan; it names nobody, and may be passed on unless it is a simulation.

    Parameters
    ----------
    domain
        The file of the public bounds, for a command that can be pasted; None gives none.
    details
        Whether to show the shapes of made-up tables one by one.
    """
    tables = [_table(plan, curve) for curve in plan.curves.values()]
    shapes = [_shapes_table(curve) for curve in plan.curves.values()] if details else []
    answers = [_answer(plan, curve) for curve in plan.curves.values()]
    limits = _limits(plan)
    lines: list[Line | Table] = [Line("Planned", _subject(plan)), Line("Note", _source(plan))]
    for table, answer in zip(tables, answers, strict=True):
        lines += [
            Line(table.title, _ESTIMATORS[table.title.lower()]),
            table,
            Line("Needed", answer),
        ]
    lines += shapes
    if domain is not None and "central" in plan.curves:
        lines.append(Line("Next", _command(plan, domain)))
    lines += [Line("Skipped", why) for why in plan.skipped.values()]
    lines += [Line("Limits" if not i else "", text) for i, text in enumerate(limits)]
    return VerdictPage(
        lines=lines,
        values=_values(plan),
        verdicts=_verdicts(plan, [*tables, *shapes], answers, limits),
    )


def by_groups(plans: Sequence["Plan"]) -> VerdictPage:
    """Build the page of plans for several numbers of groups: a line for each."""
    from shoal.pages._verdicts import Verdicts

    first, counts = plans[0], [plan.n_clusters for plan in plans]
    groups = f"{counts[0]} to {counts[-1]} groups"
    subject = f"{groups} in {_table_text(first)}"
    tables = [_table_by_groups(plans, trust) for trust in first.curves]
    limits = _limits(first)
    lines: list[Line | Table] = [Line("Planned", subject), Line("Note", _source(first)), *tables]
    lines += [Line("Limits" if not i else "", text) for i, text in enumerate(limits)]
    values = {"plans": [_values(plan) for plan in plans]}
    verdicts = Verdicts(
        title="What to expect before a budget is spent",
        lead=subject,
        heading="Errors by number of groups",
        sub=_source(first),
        tables=[table.to_dict() for table in tables],
        details=[],
        reading=READING,
        says=("How far centres will lie from those of plain k-means, for each number.",),
        says_not=(_source(first), *limits),
        constructed=True,
    )
    return VerdictPage(lines=lines, values=values, verdicts=verdicts)


def _table_by_groups(plans: Sequence["Plan"], trust: str) -> Table:
    """Return the typical error and the bad case of each number of groups at each budget."""
    epsilons = [format_number(band.epsilon) for band in plans[0].curves[trust].bands]
    rows = [
        [
            str(plan.n_clusters),
            *(
                f"{100 * band.typical:.2g}, {100 * band.bad:.2g}"
                for band in plan.curves[trust].bands
            ),
        ]
        for plan in plans
    ]
    columns = ["Groups", *(f"Epsilon {epsilon}" for epsilon in epsilons)]
    note = f"Off by, and bad case, in %. {READING}"
    return Table(f"{_NAMES[trust]}: {_ESTIMATORS[trust]}", columns, rows, note=note)


def _subject(plan: "Plan") -> str:
    return f"{quantity(plan.n_clusters, 'group')} in {_table_text(plan)}"


def _table_text(plan: "Plan") -> str:
    return (
        f"{quantity(plan.box.d, 'column')} "
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


def expectation(band: "Band") -> str:
    """Return what to expect at a budget, in a sentence."""
    back = (
        ""
        if math.isnan(band.came_back)
        else f" About {100 * band.came_back:.0f} in 100 groups come back."
    )
    return (
        f"At epsilon {format_number(band.epsilon)}, expect centres to be off by about "
        f"{_percent(band.typical)} of a column's range; in nine of ten tables by less than "
        f"{_percent(band.bad)}.{back}"
    )


def _answer(plan: "Plan", curve: "Curve") -> str:
    """Which budget the wanted error takes, in a sentence."""
    wanted = f"{_percent(plan.within)} of the range in nine of ten tables"
    expected = expectation(_best_band(curve))
    if curve.needed is None:
        most = format_number(curve.bands[-1].epsilon)
        return f"{wanted}: not reached up to epsilon {most}. {expected}"
    needed = _epsilon_text(curve.needed, curve.bands[0].epsilon)
    return f"{wanted}: epsilon {needed}. {expected}"


def _best_band(curve: "Curve") -> "Band":
    """Return the least budget tried that reaches the wanted error, or the largest."""
    reached = [band for band in curve.bands if curve.needed and band.epsilon >= curve.needed]
    return (reached or curve.bands[-1:])[0]


def _command(plan: "Plan", domain: str) -> str:
    """Return the release that reaches the wanted error, as a command for a terminal."""
    curve = plan.curves["central"]
    needed = curve.bands[-1].epsilon if curve.needed is None else curve.needed
    least = format_number(_two_digits(max(needed, curve.bands[0].epsilon)))
    return (
        f"shoal cluster TABLE.csv -k {plan.n_clusters} --epsilon {least} --domain {domain} "
        "-o groups"
    )


def _table(plan: "Plan", curve: "Curve") -> Table:
    columns = ["Epsilon", "Off by, %", "Bad case, %", "Come back, in 100"]
    columns.append(f"{_rows_name(plan)} for {_percent(plan.within)}")
    rows = [
        [
            format_number(band.epsilon),
            f"{100 * band.typical:.2g}",
            f"{100 * band.bad:.2g}",
            "-" if math.isnan(band.came_back) else f"{100 * band.came_back:.0f}",
            "not reached"
            if band.people_needed is None
            else f"{_two_digits_up(band.people_needed):,}",
        ]
        for band in curve.bands
    ]
    return Table(_NAMES[curve.trust], columns, rows, note=READING)


def _shapes_table(curve: "Curve") -> Table:
    """Return the typical errors by shape, and the band over all of them."""
    shapes = list(curve.bands[0].by_shape)
    rows = [
        [
            format_number(band.epsilon),
            *(f"{100 * band.by_shape[shape]:.2g}" for shape in shapes),
            percent_range(band.low, band.high),
            percent_range(*band.most),
            _people_text(band),
        ]
        for band in curve.bands
    ]
    heads = ["Epsilon", *(shape.capitalize() for shape in shapes)]
    columns = [*heads, "Band, %", "Nine in ten, %", "People"]
    return Table(f"{_NAMES[curve.trust]}, by shape", columns, rows, note=DETAILS)


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
    return format_number(_two_digits(epsilon))


def _two_digits(epsilon: float) -> float:
    """Return a budget rounded up to two digits."""
    digits = 1 - math.floor(math.log10(epsilon))
    return float(math.ceil(epsilon * 10.0**digits - 1e-9) / 10.0**digits)


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
        "epsilon_needed": curve.needed,
        "epsilon_by_shape": curve.epsilon._asdict(),
        "bands": [
            {
                "epsilon": band.epsilon,
                "typical": band.typical,
                "bad_case": band.bad,
                "groups_that_come_back": None if math.isnan(band.came_back) else band.came_back,
                "people_needed": band.people_needed,
                "band": {"low": band.low, "high": band.high},
                "by_shape": dict(band.by_shape),
                "nine_in_ten": band.most._asdict(),
                "people_by_shape": band.people._asdict(),
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
            (band.epsilon, band.typical, band.bad) for band in curve.bands
        ]
        for trust, curve in plan.curves.items()
    }
    figure = error_band(
        bands, title="Error to expect at each epsilon", wanted=plan.within, finding=answers[0]
    )
    detail = Detail(
        "Error to expect", "typical and bad case at each epsilon", (figure,), answers, open=True
    )
    return Verdicts(
        title="What to expect before a budget is spent",
        lead=f"{_subject(plan)} {answers[0]}",
        heading="Errors by epsilon",
        sub=_source(plan),
        tables=[table.to_dict() for table in tables],
        details=[detail],
        reading=READING,
        says=(
            "How far released centres lie from those of plain k-means: typically, and at worst.",
            "Which epsilon, and how many people, a wanted error takes.",
        ),
        says_not=(_source(plan), *limits, *plan.skipped.values()),
        constructed=True,
    )
