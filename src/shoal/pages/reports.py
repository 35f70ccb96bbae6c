"""Build what is written beside reports, and what a terminal shows of it."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from shoal.errors import quantity
from shoal.pages.page import Line, promise_lines

if TYPE_CHECKING:
    from shoal.domain import Box, Schema
    from shoal.privacy import Guarantee


MANY_FOR_ROUNDS = 7  # columns: docs/methods/local-grid.md
COARSE_GRID = (
    "In {} columns the cells of one grid are coarse, so that groups learnt from these reports come "
    "out less exact; in eight they are hardly found, however many people report. Rounds "
    "(--mechanism rounds -k N) come nearer, and so do fewer columns."
)
COARSE_ROUNDS = (
    "In {} columns the cells of the first round are wide. In eight, groups were found well at "
    "epsilon 4 and poorly at 1. Fewer columns come nearer."
)
_ORDERS = {
    "shuffled": "random; nothing shows where a row stood in the table.",
    "kept": "the table's own: report i is row i, and a row's place is not hidden.",
}
_VERSIONED = ("shoal", "numpy", "randomgen", "pyarrow")  # packages whose versions are recorded


def sidecar(
    mechanism: Any,
    remap: Any,
    domain: "Box | Schema",
    guarantee: "Guarantee",
    person: str | None,
    keep_order: bool,
    rows: int,
    file: Mapping[str, str],
) -> dict[str, Any]:
    """Return everything public about the reports in a file: their mechanism and promise.

    Parameters
    ----------
    mechanism
        The local mechanism that drew them.
    remap
        What was applied to them afterwards, or None.
    domain
        The public bounds and categories of their columns.
    guarantee
        What one report promises.
    person
        The column that says whose a row is, or None.
    keep_order
        Whether reports are in the table's order.
    rows
        How many reports there are.
    file
        The name of the file and its checksum.
    """
    from shoal.domain import Box
    from shoal.perturb import settings_of
    from shoal.privacy import MetricDP

    implied, box = None, cast("Any", domain)
    if isinstance(guarantee, MetricDP):
        implied = guarantee.as_local(box).to_dict()
    return {
        "schema": "shoal.reports/1",
        "mechanism": settings_of(mechanism),
        "remap": None if remap is None else settings_of(remap),
        "guarantee": guarantee.to_dict(),
        "as_local": implied,
        "simulation": guarantee.simulation,
        "protects": "a row" if person is None else f"a person, identified by {person!r}",
        "columns": list(domain.names if isinstance(domain, Box) else domain.columns),
        "domain": domain.to_dict(),
        "rows": rows,
        "order": "kept" if keep_order else "shuffled",
        "file": dict(file),
        "versions": {part: version(part) for part in _VERSIONED},
    }


def coarse_note(columns: int, in_rounds: bool = False) -> str | None:
    """Return what to know before reports of so many numbers are made; None if nothing.

    Parameters
    ----------
    in_rounds
        Whether reports are made in rounds, and not all of one grid.
    """
    from shoal.cluster.local import ROUNDS_FROM

    if in_rounds:
        return None if columns < MANY_FOR_ROUNDS else COARSE_ROUNDS.format(columns)
    return None if columns < ROUNDS_FROM else COARSE_GRID.format(columns)


def report_lines(sidecar: Mapping[str, Any], guarantee: "Guarantee") -> list[Line]:
    """Return what a terminal shows: the promise, to whom, of which rows, in which order."""
    from shoal.privacy.wording import promise

    name = promise(guarantee, by_holder=True).name
    exactly = f"{name}, for {sidecar['protects']}. {_more_rows(sidecar)}"
    return [
        *promise_lines(guarantee, by_holder=True),
        Line("Exactly", exactly),
        Line("Reported", f"{quantity(sidecar['rows'], 'row')} of {', '.join(sidecar['columns'])}."),
        Line("Order", _ORDERS[sidecar["order"]]),
    ]


def _more_rows(sidecar: Mapping[str, Any]) -> str:
    if sidecar["protects"] != "a row":
        return "One row of each was reported."
    return "Whoever has k rows has k times this; --person COLUMN reports each person once."
