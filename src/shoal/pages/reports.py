"""What is written beside reports, and what a terminal shows of it."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.cli.inputs.mechanism import columns_of
from shoal.cli.output import entry

if TYPE_CHECKING:
    from rich.text import Text

    from shoal.domain import Box, Schema
    from shoal.privacy import Guarantee

__all__ = ["sidecar", "summary"]

_ORDERS = {
    "shuffled": "random; nothing shows where a row stood in the table.",
    "kept": "the table's own: report i is row i, and a row's place is not hidden.",
}
_PARTS = ("shoal", "numpy", "randomgen", "pyarrow")


def sidecar(
    mechanism: Any,
    remap: Any,
    domain: "Box | Schema",
    guarantee: "Guarantee",
    user: str | None,
    keep_order: bool,
    rows: int,
    file: Mapping[str, str],
) -> dict[str, Any]:
    """Everything public about the reports in a file: what made them, and what was promised."""
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
        "protects": "a row" if user is None else f"a person, told by {user!r}",
        "columns": list(columns_of(domain)),
        "domain": domain.to_dict(),
        "rows": rows,
        "order": "kept" if keep_order else "shuffled",
        "file": dict(file),
        "versions": {part: version(part) for part in _PARTS},
    }


def summary(
    document: dict[str, Any], guarantee: "Guarantee", files: Sequence[str], ledger: Path | None
) -> list["Text"]:
    """What a terminal shows: promised, to whom, where it is."""
    from shoal.report.promise import SIMULATION, promise

    words = promise(guarantee, by_holder=True)
    lead = words.lead
    if guarantee.simulation:
        said = [entry("Note", SIMULATION), entry("Promised", f"Nothing. With real noise: {lead}")]
    else:
        said = [entry("Promised", lead)]
    kept = "nowhere; --ledger FILE adds up what is promised about a table"
    return [
        *said,
        entry(
            "Exactly", f"{words.name}, for {document['protects']}. {_more_rows(document)}".strip()
        ),
        entry("Reported", f"{document['rows']:,} rows of {', '.join(document['columns'])}."),
        entry("Order", _ORDERS[document["order"]]),
        entry("Reports", files[0], wrap=False),
        entry("About", files[1], wrap=False),
        entry("Ledger", kept if ledger is None else str(ledger), wrap=False),
    ]


def _more_rows(document: dict[str, Any]) -> str:
    if document["protects"] != "a row":
        return "One row of each was reported."
    return "Whoever has k rows has k times this; --user COLUMN reports each person once."
