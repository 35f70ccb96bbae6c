"""Build the part of a model's page that says what another budget would have done."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shoal.figures.text import format_number
from shoal.pages.page import Table
from shoal.pages.plan import flattery_text, percent_range
from shoal.privacy.wording.amounts import belief, in_100

if TYPE_CHECKING:
    from shoal.planning import Plan


_READING = (
    "From fits of made-up rows like the released ones, in % of a column's range. Typical: half of "
    "the coordinates of all centres are off by less; nine in ten: nine in ten are."
)


def what_if_table(plan: "Plan") -> Table:
    """Return errors by budget as a table, whose note states how far such figures flattered.

    Parameters
    ----------
    plan
        That of a model's ``describe``.
    """
    (curve,) = plan.curves.values()
    middle = curve.bands[len(curve.bands) // 2].epsilon
    rows = [
        [
            format_number(band.epsilon) + (" (this release)" if band.epsilon == middle else ""),
            percent_range(band.low, band.high),
            percent_range(*band.most),
        ]
        for band in curve.bands
    ]
    note = f"{_READING} {flattery_text(plan.flattery)}"
    columns = ["Epsilon", "Typical error, %", "Nine in ten, %"]
    return Table("What another budget would do", columns, rows, note=note)


def budgets_table(plan: "Plan") -> Table:
    """Return the same by what an outsider's guess can become, for readers who know no epsilon.

    Parameters
    ----------
    plan
        That of a model's ``describe``.
    """
    from shoal.privacy import exact_budget

    by_epsilon = what_if_table(plan)
    (curve,) = plan.curves.values()
    rows = []
    for band, (name, *cells) in zip(curve.bands, by_epsilon.rows, strict=True):
        after = in_100(belief(Decimal("0.1"), exact_budget(band.epsilon)).most)
        mark = " (this release)" if "(" in name else ""
        rows.append([f"10 → {after} in 100{mark}", *cells])
    columns = ["A guess of 10 in 100 can become", *by_epsilon.columns[1:]]
    return Table(by_epsilon.title, columns, rows, note=by_epsilon.note)


def what_if_values(plan: "Plan") -> dict[str, Any]:
    """Return the same as numbers, for ``--json``.

    Parameters
    ----------
    plan
        That of a model's ``describe``.
    """
    (curve,) = plan.curves.values()
    return {
        "budgets": [
            {
                "epsilon": band.epsilon,
                "typical": {"low": band.low, "high": band.high},
                "nine_in_ten": band.most._asdict(),
            }
            for band in curve.bands
        ],
        "flattery": plan.flattery._asdict(),
    }
