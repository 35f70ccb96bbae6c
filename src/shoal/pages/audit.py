"""Verdicts in words: what a terminal shows, what scripts read, and a page to keep."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.output import entry, write_page

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.audit import Case, Finding
    from shoal.report import Detail, Verdicts

__all__ = ["Told", "document", "names", "names_document", "page", "summary", "write"]

HEADS = ("Audited", "Verdict", "Claimed", "Found", "Could show", "Draws")
READING = (
    "Each picture has the number found, the claim, and the most that so many draws could show; "
    "below them how often the telling event came up on either input."
)
SAYS = (
    "Violated: more was found than is claimed. The claim is false for this pair of inputs, at the "
    "stated level.",
    "Broken: it raises, returns NaN, changes shape or is not random, so it protects nobody.",
    "The event was chosen on one half of the draws and tested on the other, or fixed beforehand.",
)
SAYS_NOT = (
    "Consistent is no proof: another pair of inputs, or an event nobody tried, may show more.",
    "Nothing is said about the time taken, about repeated use, or about who else sees the rows.",
)
FOR_YOU = "The inputs may be somebody's: for you alone. If they are made up, say --made-up."
_WORST_FIRST = ("violated", "broken", "no claim", "consistent")
_WITHOUT_DRAWS = ("ledger", "brute force")
_SHOWN = 3  # findings told in full where there are many


@dataclass(frozen=True, eq=False)
class Told:
    """What was audited, how, and what was found.

    Parameters
    ----------
    name, found
        What was asked for, and a finding for each case of it.
    asked, seed
        The options given, ``None`` for one left out; the seed of all draws.
    python, pair
        As they were given, for a function of somebody's own.
    """

    name: str
    found: Mapping[str, "Finding"]
    asked: Mapping[str, Any]
    seed: int
    python: str | None = None
    pair: str | None = None

    @property
    def faults(self) -> list[str]:
        """What is violated or broken."""
        bad = ("violated", "broken")
        return [name for name, finding in self.found.items() if finding.verdict in bad]

    @property
    def verdict(self) -> str:
        """The worst of all verdicts."""
        seen = {finding.verdict for finding in self.found.values()}
        return next(verdict for verdict in _WORST_FIRST if verdict in seen)

    @property
    def in_words(self) -> str:
        """All verdicts in a sentence."""
        if len(self.found) == 1:
            return _sentence(next(iter(self.found.values())))
        n, bad = len(self.found), len(self.faults)
        if not bad:
            return f"None of {n} audits shows more than is claimed, which proves nothing."
        return f"{bad} of {n} audits show more than is claimed, or something broken."

    @property
    def constructed(self) -> bool:
        """Whether all inputs were made up for the purpose."""
        return all(finding.constructed for finding in self.found.values())

    @property
    def command(self) -> str:
        """What does the same again; a pair that may be somebody's is left for them to fill in."""
        what = [self.name]
        if self.python is not None:
            pair = (
                ["--pair", str(self.pair), "--made-up"] if self.constructed else ["--pair", "..."]
            )
            what = ["--python", self.python, *pair]
        given = {**self.asked, "seed": self.seed}
        options = [part for option, value in given.items() if value is not None
                   for part in (f"--{option}", str(value))]  # fmt: skip
        return shlex.join(["shoal", "audit", *what, *options])


def document(told: Told, output: Path | None = None) -> dict[str, Any]:
    """What ``--json`` prints and a .json file holds; ``finding_of`` reads each finding back."""
    return {
        "schema": "shoal.audit/1",
        "audited": told.name,
        "verdict": told.verdict,
        "alpha_in_all": told.asked["alpha"],
        "seed": told.seed,
        "for_the_holder_alone": not told.constructed,
        "findings": {name: finding.to_dict() for name, finding in told.found.items()},
        "file": None if output is None else str(output),
    }


def summary(told: Told, output: Path | None = None) -> list["RenderableType"]:
    """What a terminal shows."""
    return [
        entry("Verdict", f"{told.verdict}: {told.in_words}"),
        _printed(told),
        *(entry("" if i else "Seen", line) for i, line in enumerate(_seen(told))),
        entry("Level", f"alpha {told.asked['alpha']:g} in all, seed {told.seed}"),
        *([] if told.constructed else [entry("For you", FOR_YOU)]),
        *([] if output is None else [entry("File", str(output), wrap=False)]),
    ]


def names(known: Mapping[str, Mapping[str, "Case"]]) -> list["RenderableType"]:
    """What there is to audit, for a terminal: each kind named once."""
    listed = [(kind, name) for kind, cases in known.items() for name in cases]
    first = dict(reversed(listed))
    return [entry(kind if first[kind] == name else "", name) for kind, name in listed]


def names_document(known: Mapping[str, Mapping[str, "Case"]]) -> dict[str, Any]:
    """The same for scripts, with what each case is about."""
    return {
        kind: {name: case.about for name, case in cases.items()} for kind, cases in known.items()
    }


def write(told: Told, output: Path, overwrite: bool) -> None:
    """A page or a document, whole or not at all."""
    write_page(
        output,
        overwrite,
        document=document(told, output),
        page=lambda: page(told),
        for_the_holder=not told.constructed,
    )


def page(told: Told) -> "Verdicts":
    """The page a reviewer keeps."""
    from shoal.report import Verdicts

    rows = [_cells(name, finding) for name, finding in told.found.items()]
    note = (
        f"alpha {told.asked['alpha']:g} over all audits together; seed {told.seed}. Found is a "
        "bound on epsilon, unless the details say that it is a sum handed to the ledger, a "
        "sensitivity or a distance from a law."
    )
    table = {"title": "Verdicts", "columns": list(HEADS), "rows": rows, "marked": False}
    return Verdicts(
        title=f"Audit of {told.name}",
        lead=told.in_words,
        heading=f"Verdict: {told.verdict}",
        sub="What was found from outputs alone, beside what is claimed.",
        tables=[table | {"note": note}],
        details=_details(told),
        reading=READING,
        says=SAYS,
        says_not=SAYS_NOT,
        constructed=told.constructed,
        again=told.command,
    )


def _details(told: Told) -> list["Detail"]:
    from shoal.report import Detail

    shown = list(told.found) if len(told.found) <= _SHOWN else told.faults[:_SHOWN]
    return [
        Detail(
            name,
            finding.verdict,
            (finding.plot(),),
            str(finding).splitlines(),
            open=name in shown,
        )
        for name, finding in told.found.items()
    ]


def _sentence(finding: "Finding") -> str:
    found, claimed = _digits(finding)
    if finding.verdict == "violated":
        return f"{found} was found where {claimed} is claimed."
    if finding.verdict == "broken":
        return f"{'; '.join(finding.notes)}."
    if finding.claim is None:
        return f"{found} was found, and nothing is claimed."
    return f"{found} was found where {claimed} is claimed, which proves nothing."


def _digits(finding: "Finding") -> tuple[str, str]:
    """The number found and the claim, with as many digits as it takes to tell them apart."""
    found, claim = finding.value, finding.claim
    if claim is None:
        return f"{found:.3g}", ""
    told = [(f"{found:.{digits}g}", f"{claim:.{digits}g}") for digits in (3, 5, 8)]
    return next((pair for pair in told if pair[0] != pair[1]), told[0])


def _seen(told: Told) -> list[str]:
    """What gives the first few faults away; of a single finding all of it."""
    if len(told.found) == 1:
        return str(next(iter(told.found.values()))).splitlines()[1:]
    return [f"{name}: {str(told.found[name]).splitlines()[1]}" for name in told.faults[:_SHOWN]]


def _cells(name: str, finding: "Finding") -> list[str]:
    ceiling = getattr(finding, "ceiling", None)
    found, claimed = _digits(finding)
    most = "" if ceiling is None else f"{ceiling:.3g}"
    draws = "" if finding.instrument in _WITHOUT_DRAWS else f"{finding.draws:,}"
    return [name, finding.verdict, claimed, found, most, draws]


def _printed(told: Told) -> "RenderableType":
    """The verdicts as a table for terminals."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in HEADS:
        table.add_column(head, justify="left" if head in ("Audited", "Verdict") else "right")
    for name, finding in told.found.items():
        table.add_row(*_cells(name, finding))
    return table
