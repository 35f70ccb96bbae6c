"""Hold a release against the ledger of its table."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from shoal.privacy import Budget, Guarantee, existing_ledger
from shoal.privacy.ledger_summary import reading
from shoal.verify._release import Findings, Release

SUBJECT = "Ledger"


def check_ledger(release: Release, path: Path | None, findings: Findings) -> None:
    """Look for the entry of a release in a ledger, and for its mark of a simulation."""
    if release.kind == "reproduction":  # made-up and public tables, on which nothing is spent
        return
    if path is None:
        findings.leave(
            SUBJECT,
            "What else was released about the same people: the table's ledger says so, if its "
            "holder shows it (--ledger).",
        )
        return
    if not isinstance(release.guarantee, Budget) or not release.spends:
        findings.leave(SUBJECT, "This release spends nothing of a table's budget: it has no entry.")
        return
    with reading(path):
        entries = existing_ledger(path).entries().to_pylist()
    paid: Guarantee = release.guarantee
    if release.budget is not None:
        paid = replace(release.budget, simulation=release.guarantee.simulation)
    own = [entry for entry in entries if entry["guarantee"] == str(paid)]
    own = [entry for entry in own if entry["by"] == release.method] or own
    if own:
        findings.hold(SUBJECT, f"Entry {own[-1]['id']} promises {own[-1]['guarantee']}, as stated.")
        _check_totals(release, entries, findings)
        return
    either = {str(replace(paid, simulation=mark)) for mark in (False, True)}
    other = [entry for entry in entries if entry["guarantee"] in either]
    if other:
        marked, not_marked = "a simulation", "a real release"
        there, here = (marked, not_marked) if other[-1]["simulation"] else (not_marked, marked)
        findings.fail(SUBJECT, f"Entry {other[-1]['id']} is of {there}, and this says {here}.")
    else:
        findings.fail(SUBJECT, f"No entry promises {paid}.")


def _check_totals(release: Release, entries: list[dict[str, Any]], findings: Findings) -> None:
    """Hold the sum that the page states against the sums that the ledger had."""
    stated = None if release.report is None else release.report.get("ledger", {}).get("total")
    if stated is None:
        return
    sums = {Fraction(entry["total"]) for entry in entries if entry["total"] is not None}
    is_known = False
    with suppress(ValueError, TypeError):
        is_known = Fraction(stated) in sums
    findings.check(
        is_known,
        SUBJECT,
        f"The sum on the page, {stated}, is one that the ledger had.",
        f"The sum on the page, {stated}, is none that the ledger ever had.",
    )
