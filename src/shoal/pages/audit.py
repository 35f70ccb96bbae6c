"""Build the page of an audit: verdicts on claims, as far as outputs show."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import quantity
from shoal.pages.page import Line, Summary, Table, VerdictPage, labelled_lines

if TYPE_CHECKING:
    from shoal.audit import Case, Finding
    from shoal.pages._verdicts import Detail, Verdicts


COLUMNS = ("Audited", "Verdict", "Claimed", "Found", "Could show", "Draws")
READING = (
    "Each picture has the number found, the claim, and the most that so many draws could "
    "show; below them how often the deciding event occurred on each input."
)
SAYS = (
    "Violated: more was found than is claimed. The claim is false for this pair of inputs, at the "
    "stated level.",
    "Broken: it raises, returns NaN, changes shape or is not random, so it protects nobody.",
    "The event was chosen on one half of the draws and tested on the other, or fixed beforehand.",
)
SAYS_NOT = (
    "Consistent is not a proof: another pair of inputs, or an event nobody tried, may show more.",
    "Nothing is said about the time taken, about repeated use, or about who else sees the rows.",
)
REPLAY_COLUMNS = ("Replayed", "Verdict", "Claimed", "Largest loss", "Pairs")
REPLAY_READING = "Each picture has the largest loss over all outputs of all steps beside the claim."
REPLAY_SAYS = (
    "Violated: a fit, or one of its steps, loses more than is claimed on a pair of tables. This "
    "is exact: every output was forced on both tables, and losses are added by the known laws.",
    "Broken: something other than the outputs depends on the rows: which steps are taken, what "
    "is published beside them, an error or a warning.",
)
REPLAY_SAYS_NOT = (
    "Consistent is exact for the pairs and paths that were tried, and says nothing of others.",
    "Nothing is said about the samplers, which are tested apart, nor about time and memory.",
)
FOR_YOU = "The inputs may be somebody's: for you only. If they are made up, add --made-up."
_WORST_FIRST = ("violated", "broken", "no claim", "consistent")
_WITHOUT_DRAWS = ("ledger", "brute force")
_REPLAY = "replay"
_SHOWN = 3  # findings told in full where there are many


@dataclass(frozen=True, eq=False)
class Audit:
    """What was audited, how, and what was found.

    Parameters
    ----------
    options
        The options given, ``None`` for one left out.
    """

    name: str
    findings: Mapping[str, "Finding"]
    options: Mapping[str, Any]
    seed: int
    python: str | None = None
    pair: str | None = None

    @property
    def faults(self) -> list[str]:
        """The names of what is violated or broken."""
        bad = ("violated", "broken")
        return [name for name, finding in self.findings.items() if finding.verdict in bad]

    @property
    def verdict(self) -> str:
        """The worst of all verdicts."""
        verdicts = {finding.verdict for finding in self.findings.values()}
        return next(verdict for verdict in _WORST_FIRST if verdict in verdicts)

    @property
    def sentence(self) -> str:
        """All verdicts in a sentence."""
        if len(self.findings) == 1:
            return _sentence(next(iter(self.findings.values())))
        n, bad = len(self.findings), len(self.faults)
        if not bad:
            return f"No audit shows more than is claimed ({n} run). This is not a proof."
        return (
            f"{bad} of {quantity(n, 'audit')} {'shows' if bad == 1 else 'show'} more than is "
            "claimed, or a fault."
        )

    @property
    def is_replay(self) -> bool:
        """Whether losses were computed and nothing was left to chance."""
        return all(finding.instrument == _REPLAY for finding in self.findings.values())

    @property
    def constructed(self) -> bool:
        """Whether all inputs were made up for the purpose."""
        return all(finding.constructed for finding in self.findings.values())

    @property
    def command(self) -> str:
        """The command that repeats the audit; a pair that may be somebody's is left out."""
        what = [self.name]
        if self.python is not None:
            given_pair = [str(self.pair), "--made-up"] if self.constructed else ["..."]
            what = ["--python", self.python, *(["--pair", *given_pair] if self.pair else [])]
        given = {**self.options, "seed": self.seed}
        options = [_option(name, value) for name, value in given.items() if value is not None]
        return shlex.join(["shoal", "audit", *what, *(part for each in options for part in each)])


def _option(name: str, value: Any) -> list[str]:
    """Return an option as it is typed; a flag has no value."""
    return [f"--{name}"] if value is True else [f"--{name}", str(value)]


def page(audit: Audit) -> VerdictPage:
    """Build the page of an audit."""
    level, table = _level(audit), _table(audit)
    lines: list[Line | Table] = [
        Line("Verdict", f"{audit.verdict}: {audit.sentence}"),
        table,
        *labelled_lines("Seen", _evidence(audit)),
        Line("Level", f"{level}, seed {audit.seed}"),
        *([] if audit.constructed else [Line("For you", FOR_YOU)]),
    ]
    values = {
        "schema": "shoal.audit/1",
        "audited": audit.name,
        "verdict": audit.verdict,
        "alpha_in_all": audit.options.get("alpha", 0.0),
        "seed": audit.seed,
        "for_the_holder_alone": not audit.constructed,
        "findings": {name: finding.to_dict() for name, finding in audit.findings.items()},
    }
    return VerdictPage(lines=lines, values=values, verdicts=_verdicts(audit, table))


def case_list(known: Mapping[str, Mapping[str, "Case"]]) -> Summary:
    """List what there is to audit, by kind."""
    lines = [line for kind, cases in known.items() for line in labelled_lines(kind, list(cases))]
    values = {
        kind: {name: case.about for name, case in cases.items()} for kind, cases in known.items()
    }
    return Summary(lines=lines, values=values)


def _verdicts(audit: Audit, table: Table) -> "Verdicts":
    """Return the content of the HTML page."""
    from shoal.pages._verdicts import Verdicts

    return Verdicts(
        title=f"Audit of {audit.name}",
        lead=audit.sentence,
        heading=f"Verdict: {audit.verdict}",
        sub="What was computed of whole fits, beside what is claimed."
        if audit.is_replay
        else "What was found from outputs alone, beside what is claimed.",
        tables=[table.to_dict()],
        details=_details(audit),
        reading=REPLAY_READING if audit.is_replay else READING,
        says=REPLAY_SAYS if audit.is_replay else SAYS,
        says_not=REPLAY_SAYS_NOT if audit.is_replay else SAYS_NOT,
        constructed=audit.constructed,
        again=audit.command,
        gauge=_gauge(audit),
    )


def _gauge(audit: Audit) -> dict[str, object] | None:
    """Return a bar of the finding that comes nearest to its claim, or passes it."""
    claims = {name: each.claim for name, each in audit.findings.items() if each.claim}
    if not claims:
        return None
    name = max(claims, key=lambda each: audit.findings[each].value / claims[each])
    worst, most = audit.findings[name], claims[name]
    value, claim = _digits(worst)
    whole = 1.25 * max(most, worst.value)
    of = f" ({name})" if len(audit.findings) > 1 else ""
    return {
        "found": max(worst.value, 0.0) / whole,
        "limit": most / whole,
        "words": f"found: {value}{of}",
        "limit_words": f"claimed: {claim}",
        "ends": ["nothing lost", "more than is claimed"],
    }


def _level(audit: Audit) -> str:
    if audit.is_replay:
        return "exact, nothing left to chance"
    return f"alpha {audit.options['alpha']:g} in all"


def _replay_table(audit: Audit) -> Table:
    rows = [
        [name, finding.verdict, *reversed(_digits(finding)), f"{finding.draws:,}"]
        for name, finding in audit.findings.items()
    ]
    note = (
        f"Pairs of neighbouring tables, each replayed both ways; seed {audit.seed}. The largest "
        "loss is that over all outputs of every step, added up."
    )
    return Table("Verdicts", REPLAY_COLUMNS, rows, note=note, left=("Verdict",))


def _table(audit: Audit) -> Table:
    if audit.is_replay:
        return _replay_table(audit)
    rows = [_cells(name, finding) for name, finding in audit.findings.items()]
    note = (
        f"alpha {audit.options['alpha']:g} over all audits together; seed {audit.seed}. Found is a "
        "bound on epsilon, unless the details say that it is a sum handed to the ledger, a "
        "sensitivity or a distance from a law."
    )
    return Table("Verdicts", COLUMNS, rows, note=note, left=("Verdict",))


def _details(audit: Audit) -> list["Detail"]:
    from shoal.pages._verdicts import Detail

    shown = list(audit.findings) if len(audit.findings) <= _SHOWN else audit.faults[:_SHOWN]
    return [
        Detail(
            name,
            finding.verdict,
            (finding.plot(),),
            str(finding).splitlines(),
            open=name in shown,
        )
        for name, finding in audit.findings.items()
    ]


def _sentence(finding: "Finding") -> str:
    value, claimed = _digits(finding)
    if finding.verdict == "violated":
        return f"{value} was found where {claimed} is claimed."
    if finding.verdict == "broken":
        return f"{'; '.join(finding.notes)}."
    if finding.claim is None:
        return f"{value} was found, and nothing is claimed."
    if finding.instrument == _REPLAY:
        return f"At most {value} is lost on these pairs where {claimed} is claimed."
    return f"{value} was found where {claimed} is claimed. This is not a proof."


def _digits(finding: "Finding") -> tuple[str, str]:
    """Return the number found and the claim, with enough digits to distinguish them."""
    value, claim = finding.value, finding.claim
    if claim is None:
        return f"{value:.3g}", ""
    pairs = [(f"{value:.{digits}g}", f"{claim:.{digits}g}") for digits in (3, 5, 8)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def _evidence(audit: Audit) -> list[str]:
    """Return what shows the first few faults; of a single finding all of it."""
    if len(audit.findings) == 1:
        return str(next(iter(audit.findings.values()))).splitlines()[1:]
    return [
        f"{name}: {str(audit.findings[name]).splitlines()[1]}" for name in audit.faults[:_SHOWN]
    ]


def _cells(name: str, finding: "Finding") -> list[str]:
    ceiling = getattr(finding, "ceiling", None)
    value, claimed = _digits(finding)
    most = "" if ceiling is None else f"{ceiling:.3g}"
    draws = "" if finding.instrument in _WITHOUT_DRAWS else f"{finding.draws:,}"
    return [name, finding.verdict, claimed, value, most, draws]
