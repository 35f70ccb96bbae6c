"""Build the part of a model's page that says what another budget would have done."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shoal.figures.text import format_number
from shoal.pages.page import Table
from shoal.pages.plan import flattery_text
from shoal.privacy import exact_budget
from shoal.privacy.wording.amounts import belief, in_100

if TYPE_CHECKING:
    from shoal.planning import Plan


_READING = (
    "From fits of made-up rows like the released ones, in % of a column's range. Off by: half of "
    "the coordinates of all centres are off by less; bad case: in nine of ten such tables."
)


_BY_NOISE = (
    "Half the width of the middle interval of this release, and what noise alone would make of it: "
    "that goes with 1 / epsilon. The groups themselves would change too, and with a smaller budget "
    "fewer steps may be taken."
)
_TIMES = (Decimal("0.25"), Decimal(1), Decimal(4))


def budgets_table(plan: "Plan") -> Table:
    """Return errors by what an outsider's guess can become, for readers who know no epsilon.

    The note states how far such figures flattered.
    """
    (curve,) = plan.curves.values()
    middle = curve.bands[len(curve.bands) // 2].epsilon
    rows = []
    for band in curve.bands:
        after = in_100(belief(Decimal("0.1"), exact_budget(band.epsilon)).most)
        mark = " (this release)" if band.epsilon == middle else ""
        cells = [f"{100 * band.typical:.2g}", f"{100 * band.bad:.2g}"]
        rows.append([f"10 → {after} in 100{mark}", *cells])
    columns = ["A guess of 10 in 100 can become", "Off by, %", "Bad case, %"]
    note = f"{_READING} {flattery_text(plan.flattery)}"
    return Table("What another budget would do", columns, rows, note=note)


def noise_table(epsilon: Decimal, widths: Mapping[str, float]) -> Table:
    """Return how wide intervals by the noise alone would be at other budgets.

    Parameters
    ----------
    epsilon
        The budget of the release.
    widths
        Half the width of a typical interval of each kind, by what it is called.
    """
    rows = []
    for times in _TIMES:
        after = in_100(belief(Decimal("0.1"), exact_budget(float(epsilon * times))).most)
        mark = " (this release)" if times == 1 else ""
        cells = [format_number(half / float(times), 1) for half in widths.values()]
        rows.append([f"10 → {after} in 100{mark}", *cells])
    columns = ["A guess of 10 in 100 can become", *widths]
    return Table("What another budget would do", columns, rows, note=_BY_NOISE)


def what_if_values(plan: "Plan") -> dict[str, Any]:
    """Return the same as numbers, for ``--json``."""
    (curve,) = plan.curves.values()
    return {
        "budgets": [
            {
                "epsilon": band.epsilon,
                "typical": band.typical,
                "bad_case": band.bad,
                "band": {"low": band.low, "high": band.high},
                "nine_in_ten": band.most._asdict(),
            }
            for band in curve.bands
        ],
        "flattery": plan.flattery._asdict(),
    }
