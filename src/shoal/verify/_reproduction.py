"""Check a document that was run again: its files, and its claims against their table."""

import csv
from collections import Counter
from pathlib import Path

from shoal.verify._release import (
    DAMAGED,
    Findings,
    Release,
    check_digests,
    check_own_digest,
    own_marks,
    read_document,
)

MANIFEST = "manifest.json"
SCHEMA = "shoal.reproduction/1"
_CLAIMS = "tables/claims.csv"


def check_reproduction(folder: Path, findings: Findings) -> Release:
    """Check the folder that ``shoal reproduce`` wrote."""
    document = read_document(folder / MANIFEST) or {}
    check_own_digest(MANIFEST, document, findings)
    try:
        names = check_digests(folder, document["files"], MANIFEST, findings)
    except DAMAGED:
        findings.fail("Files", f"{MANIFEST} does not list the files of the run.")
        names = []
    if document.get("claims") is not None and (folder / _CLAIMS).is_file():
        _check_claims(folder, document["claims"], findings)
    findings.leave(
        "Draws", "That the cells were run as they say: run them again, with shoal reproduce."
    )
    return Release(
        kind="reproduction",
        name=f"Document run again in {folder.name or folder.resolve().name}",
        files=(MANIFEST, *names),
        signature="signature.json",
        marks=own_marks(MANIFEST, document),
        version=(document.get("versions") or {}).get("shoal"),
        title=document.get("title"),
    )


def _check_claims(folder: Path, stated: object, findings: Findings) -> None:
    """Count the verdicts in the table of claims, and on the page."""
    with (folder / _CLAIMS).open(encoding="utf-8", newline="") as file:
        counted = Counter(line.get("verdict") for line in csv.DictReader(file))
    same = isinstance(stated, dict) and {k: v for k, v in stated.items() if v} == dict(counted)
    tally = ", ".join(f"{count} {verdict}" for verdict, count in counted.items())
    findings.check(
        same,
        "Claims",
        f"Counted again in {_CLAIMS}: {tally}.",
        f"{_CLAIMS} has other verdicts than are stated.",
    )
