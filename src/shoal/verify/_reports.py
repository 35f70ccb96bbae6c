"""Check reports of a local mechanism: the file, what made it, how many there are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.privacy import Guarantee, LocalDP
from shoal.privacy.wording import promise
from shoal.verify._release import (
    DAMAGED,
    Findings,
    Release,
    check_digests,
    check_own_digest,
    own_marks,
    read_document,
    read_promise,
    unmarked,
)

SCHEMA = "shoal.reports/1"
_IN_ROUNDS = ("LocalPrototypes", "LocalRounds")


def check_reports(folder: Path, name: str, findings: Findings) -> Release:
    """Check a file of reports and the one beside it that says what made them.

    Parameters
    ----------
    name
        The name of the file of reports.
    """
    beside = f"{name}.json"
    document = read_document(folder / beside) or {}
    check_own_digest(beside, document, findings)
    guarantee = read_promise(document)
    _check_file(folder, name, document, findings)
    _check_promise(document, guarantee, findings)
    _check_rows(folder / name, document, findings)
    mechanism = document.get("mechanism")
    return Release(
        kind="reports",
        name=f"Reports in {name}",
        files=(name, beside),
        signature=f"{name}.signature.json",
        guarantee=guarantee,
        marks=own_marks(beside, document),
        method=str(mechanism.get("class")) if isinstance(mechanism, Mapping) else None,
        spends=document.get("protects") != "a person, who reported once",
        version=(document.get("versions") or {}).get("shoal"),
        document=document,
    )


def _check_file(folder: Path, name: str, document: Mapping[str, Any], findings: Findings) -> None:
    if (folder / name).is_dir():
        findings.leave("Files", f"{name} is a folder that Spark wrote; its digest was not taken.")
        return
    try:
        check_digests(folder, [document["file"]], f"{name}.json", findings)
        if document["file"]["name"] != name:
            findings.fail("Files", f"{name}.json is about a file of another name.")
    except DAMAGED:
        findings.fail("Files", f"{name}.json does not say which file it is about.")


def _check_promise(
    document: Mapping[str, Any], guarantee: Guarantee | None, findings: Findings
) -> None:
    """Hold the promise against the mechanism, whose settings state the budget once more."""
    if guarantee is None:
        findings.fail("Promise", "No promise that this version knows is stated.")
        return
    try:
        stated = _promise_of(document["mechanism"])
    except (*DAMAGED, ShoalError):
        findings.fail("Promise", "The mechanism is not one that this version knows.")
        return
    findings.check(
        stated == unmarked(guarantee),
        "Promise",
        f"The settings of the mechanism give the same: {promise(stated).name}, for "
        f"{document['protects']}.",
        f"It states {unmarked(guarantee)}, and the settings of the mechanism {stated}.",
    )


def _promise_of(mechanism: Mapping[str, Any]) -> Guarantee:
    from shoal.cluster.local import mechanism_of

    if mechanism["class"] in _IN_ROUNDS:
        return LocalDP(mechanism["epsilon"])
    promised: Guarantee = mechanism_of(mechanism).guarantee
    return promised


def _check_rows(path: Path, document: Mapping[str, Any], findings: Findings) -> None:
    """Count the reports, and hold them against what the mechanism can produce."""
    from shoal.data import source_of

    try:
        source = source_of(str(path))
        rows = sum(batch.num_rows for batch in source.batches(source.names[:1]))
    except (*DAMAGED, OSError, ShoalError):
        findings.fail("Counts", f"{path.name} cannot be read as a table.")
        return
    findings.check(
        rows == document.get("rows"),
        "Counts",
        f"{path.name} has {rows:,} reports, as stated.",
        f"{path.name} has {rows:,} reports; others are stated.",
    )
