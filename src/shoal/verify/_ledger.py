"""Hold a release against the ledger of its table."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from typing import Any

from shoal.bounds_check import CHECK_ENTRY, SIDE_ENTRY
from shoal.pages.page import name_list
from shoal.privacy import ApproxDP, Budget, Guarantee, PureDP, existing_ledger
from shoal.privacy.ledger_summary import reading
from shoal.privacy.wording import promise
from shoal.verify._release import Findings, Release, unmarked

Entry = dict[str, Any]

SUBJECT = "Ledger"


def check_ledger(release: Release, path: Path | None, findings: Findings) -> None:
    """Look for the entry of a release in a ledger, and for its mark of a simulation."""
    if release.kind == "reproduction":  # made-up and public tables, on which nothing is spent
        return
    if release.kind == "campaign":
        findings.leave(SUBJECT, "What else these people reported: only their devices count that.")
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
    own = _entries_of(entries, paid)
    own = [part for part in own if part[-1]["by"] == release.method] or own
    if own:
        findings.hold(SUBJECT, f"{_numbers(own[-1])} {promise(unmarked(paid)).name}, as stated.")
        _check_totals(release, entries, findings)
        return
    for mark in (False, True):
        other = _entries_of(entries, replace(paid, simulation=mark))
        if other:
            marked, not_marked = "a simulation", "a real release"
            there, here = (marked, not_marked) if mark else (not_marked, marked)
            number = other[-1][-1]["id"]
            findings.fail(SUBJECT, f"Entry {number} is of {there}, and this says {here}.")
            return
    findings.fail(SUBJECT, f"No entry promises {paid}.")


def _entries_of(entries: list[Entry], paid: Any) -> list[list[Entry]]:
    """Return the entries of every fit that promises this, each fit's together."""
    return [run for run in _runs(entries) if _promises(run, paid)]


def _runs(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Yield what may be the entries of one fit: one, or those of a check of bounds and one more.

    A fit that its bounds stopped may be continued after others by the same method.
    """
    by_method: dict[str, list[Entry]] = {}
    for last in entries:
        earlier = by_method.setdefault(last["by"], [])
        yield [last]
        for start, check in enumerate(earlier):
            if check["what"] == CHECK_ENTRY:
                sides = takewhile(lambda entry: entry["what"] == SIDE_ENTRY, earlier[start + 1 :])
                yield [check, *sides, last]
        earlier.append(last)


def _promises(run: list[Entry], paid: Any) -> bool:
    """Whether entries promise this together, and only the last of them a delta."""
    *before, last = (entry["guarantee"] for entry in run)
    if not before:
        return bool(last == str(paid))
    if any(entry["epsilon"] is None for entry in run):
        return False
    *parts, rest = (Fraction(entry["epsilon"]) for entry in run)
    if sum(parts) + rest != paid.epsilon or not isinstance(paid, PureDP | ApproxDP):
        return False
    no_delta: dict[str, Any] = {"delta": Fraction(0)} if isinstance(paid, ApproxDP) else {}
    return last == str(replace(paid, epsilon=rest)) and before == [
        str(replace(paid, epsilon=part, **no_delta)) for part in parts
    ]


def _numbers(run: list[Entry]) -> str:
    """Return which entries promise, with what each paid for where they are several."""
    if len(run) == 1:
        return f"Entry {run[0]['id']} promises"
    paid_for = name_list(list(dict.fromkeys(entry["what"] for entry in run)))
    numbers = name_list([str(entry["id"]) for entry in run], most=len(run))
    return f"Entries {numbers} ({paid_for}) together promise"


def _check_totals(release: Release, entries: list[Entry], findings: Findings) -> None:
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
        f"The sum of all releases on the page, ε = {stated}, is one that the ledger had.",
        f"The sum of all releases on the page, ε = {stated}, is none that the ledger ever had.",
    )
