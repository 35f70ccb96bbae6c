"""Verdicts in words: what a terminal shows, what scripts read, and a page to keep."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.apps.output import entry

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.audit import Case, Finding
    from shoal.report import Detail, Verdicts

__all__ = ["Told", "document", "names", "names_document", "page", "summary", "write"]

HEADS = ("Audited", "Claimed", "Certified", "Could show", "Draws", "Verdict")
READING = (
    "Each picture has the number certified, the claim and the most that so many draws could show; "
    "below them how often the telling event came up on either input."
)
SAYS = (
    "Violated: the two inputs are further apart than claimed, at the stated level.",
    "Broken: it raises, returns NaN, changes shape or is not random, so it protects nobody.",
    "The event was chosen on one half of the draws and tested on the other.",
)
SAYS_NOT = (
    "Consistent is no proof: another pair of inputs, or an event nobody tried, may show more.",
    "Nothing is said about the time taken, about repeated use, or about who else sees the rows.",
)


@dataclass(frozen=True, eq=False)
class Told:
    """What was audited, and what was found."""

    name: str
    found: Mapping[str, "Finding"]
    cases: Mapping[str, "Case"]
    alpha: float
    seed: int

    @property
    def faults(self) -> list[str]:
        """What is violated or broken."""
        bad = ("violated", "broken")
        return [name for name, finding in self.found.items() if finding.verdict in bad]

    @property
    def verdict(self) -> str:
        """The worst of all verdicts."""
        seen = {finding.verdict for finding in self.found.values()}
        order = ("violated", "broken", "no claim", "consistent")
        return next(verdict for verdict in order if verdict in seen)

    @property
    def in_words(self) -> str:
        """All verdicts in a sentence."""
        n, bad = len(self.found), self.faults
        if n == 1:
            return _sentence(next(iter(self.found.values())))
        if not bad:
            return f"None of {n} audits shows more than is claimed, which proves nothing."
        return f"{len(bad)} of {n} audits show more than is claimed, or something broken."

    @property
    def constructed(self) -> bool:
        """Whether all inputs were made up for the purpose."""
        return all(finding.constructed for finding in self.found.values())


def document(told: Told, output: Path | None = None) -> dict[str, Any]:
    """What ``--json`` prints and a .json file holds."""
    return {
        "schema": "shoal.audit/1",
        "audited": told.name,
        "verdict": told.verdict,
        "alpha_in_all": told.alpha,
        "seed": told.seed,
        "findings": [{"name": name, **each.to_dict()} for name, each in told.found.items()],
        "file": None if output is None else str(output),
    }


def summary(told: Told, output: Path | None = None) -> list["RenderableType"]:
    """What a terminal shows."""
    return [
        entry("Verdict", f"{told.verdict}: {told.in_words}"),
        _printed(told),
        *(entry("Seen", line) for line in _seen(told)),
        entry("Level", f"alpha {told.alpha:g} in all, seed {told.seed}"),
        *([] if output is None else [entry("File", str(output), wrap=False)]),
    ]


def names(known: Mapping[str, Mapping[str, "Case"]]) -> list["RenderableType"]:
    """What there is to audit, for a terminal."""
    return [entry(kind if i == 0 else "", name) for kind, cases in known.items()
            for i, name in enumerate(cases)]  # fmt: skip


def names_document(known: Mapping[str, Mapping[str, "Case"]]) -> dict[str, Any]:
    """The same for scripts, with what each case is about."""
    return {
        kind: {name: case.about for name, case in cases.items()} for kind, cases in known.items()
    }


def write(told: Told, output: Path, overwrite: bool) -> None:
    """A page or a document, whole or not at all."""
    from shoal.files import whole_file

    if output.suffix == ".json":
        text = json.dumps(document(told, output), indent=1, ensure_ascii=False) + "\n"
    else:
        from shoal.report import verdict_page

        text = verdict_page(page(told))
    with whole_file(output, overwrite) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def page(told: Told) -> "Verdicts":
    """The page a reviewer keeps."""
    from shoal.report import Verdicts

    rows = [_cells(name, finding) for name, finding in told.found.items()]
    note = (
        f"alpha {told.alpha:g} over all audits together; seed {told.seed}. A number beside a claim "
        "of another kind (a sum handed to the ledger, a sensitivity, a distance from a law) says "
        "so in its details."
    )
    table = {"title": "Verdicts", "columns": list(HEADS), "rows": rows, "marked": False}
    return Verdicts(
        title=f"Audit of {told.name}",
        lead=told.in_words,
        heading=f"Verdict: {told.verdict}",
        sub="What was certified from outputs alone, beside what is claimed.",
        tables=[table | {"note": note}],
        details=_details(told),
        reading=READING,
        says=SAYS,
        says_not=SAYS_NOT,
        constructed=told.constructed,
        again=f"shoal audit {told.name!r} --seed {told.seed}" if told.name in told.cases else "",
    )


def _details(told: Told) -> list["Detail"]:
    from shoal.report import Detail

    few = len(told.found) <= 3
    return [
        Detail(
            name,
            finding.verdict,
            (finding.plot(),),
            str(finding).splitlines(),
            open=few or name in told.faults[:3],
        )
        for name, finding in told.found.items()
    ]


def _sentence(finding: "Finding") -> str:
    if finding.verdict == "violated":
        return f"{finding.value:.3g} is certified where {finding.claim:.3g} is claimed."
    if finding.verdict == "broken":
        return f"{'; '.join(finding.notes)}."
    if finding.claim is None:
        return f"{finding.value:.3g} is certified, and nothing is claimed."
    return f"{finding.value:.3g} is certified, {finding.claim:.3g} claimed, which proves nothing."


def _seen(told: Told) -> list[str]:
    """What gives the first few faults away."""
    shown = told.faults[:3] or (list(told.found) if len(told.found) == 1 else [])
    return [line for name in shown for line in str(told.found[name]).splitlines()[1:]]


def _cells(name: str, finding: "Finding") -> list[str]:
    ceiling = getattr(finding, "ceiling", None)
    return [
        name,
        "" if finding.claim is None else f"{finding.claim:.3g}",
        f"{finding.value:.3g}",
        "" if ceiling is None else f"{ceiling:.3g}",
        f"{finding.draws:,}",
        finding.verdict,
    ]


def _printed(told: Told) -> "RenderableType":
    """The verdicts as a table for terminals."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in HEADS:
        table.add_column(head, justify="left" if head in ("Audited", "Verdict") else "right")
    for name, finding in told.found.items():
        table.add_row(*_cells(name, finding))
    return table
