"""Build the page of a release that was checked: what holds, what does not, what nobody can see."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.errors import quantity
from shoal.pages.page import Line, VerdictPage, labelled_lines

if TYPE_CHECKING:
    from shoal.privacy import Guarantee


CHECKED, FAILED, UNSEEN = "checked", "failed", "cannot be checked"
_MARKS = {FAILED: "Does not hold", CHECKED: "Holds"}
NOT_STATED = "not stated"
HELD = "Everything that can be checked from outside holds."
NOTHING_PROMISED = "No promise is stated."


class Finding(NamedTuple):
    """One thing that was looked at.

    Parameters
    ----------
    outcome
        "checked", "failed" or "cannot be checked".
    subject
        What it is about, in a word or two: "Files", "Promise".
    text
        What was seen, in a sentence.
    """

    outcome: str
    subject: str
    text: str


@dataclass(frozen=True, kw_only=True)
class VerifiedRelease:
    """A release as it was found, with what was seen of it.

    Parameters
    ----------
    name
        What it is and where it lies, e.g. "groups in model".
    title
        The title that its publisher gave it; None if it has none.
    publisher
        Who publishes it, as it says itself; None if it does not say.
    guarantee
        What it promises; None if it states nothing.
    promise
        The promise in sentences, as its page has it or would have it.
    protects
        What the promise is made for: "one row"; None without a promise.
    version
        The version of shoal that made it; None if it does not say.
    signed_by
        The public key that signed it, in hexadecimal digits; None if it is not signed.
    findings
        What was seen.
    """

    name: str
    title: str | None
    publisher: str | None
    guarantee: "Guarantee | None"
    promise: Sequence[str]
    protects: str | None
    version: str | None
    signed_by: str | None
    findings: Sequence[Finding]

    def having(self, outcome: str) -> list[Finding]:
        """Return the findings with an outcome."""
        return [finding for finding in self.findings if finding.outcome == outcome]


@dataclass(frozen=True)
class Verification:
    """What was seen of the releases in a folder."""

    folder: Path
    releases: Sequence[VerifiedRelease]

    @property
    def failed(self) -> list[Finding]:
        """What does not hold."""
        return [finding for release in self.releases for finding in release.having(FAILED)]

    @property
    def holds(self) -> bool:
        """Whether everything that can be checked from outside holds."""
        return not self.failed


def page(verification: Verification) -> VerdictPage:
    """Build the page of a folder that was checked."""
    return VerdictPage(
        lines=[line for release in verification.releases for line in _lines(release)]
        + [Line("Verdict", _verdict(verification))],
        values=_values(verification),
        verdicts=_verdicts(verification),
    )


def _verdict(verification: Verification) -> str:
    failed = len(verification.failed)
    if not failed:
        return HELD
    return f"{quantity(failed, 'check')} failed: do not rely on this release as it lies here."


def _lines(release: VerifiedRelease) -> list[Line]:
    by_outcome = {"Fails": FAILED, "Holds": CHECKED, "Unseen": UNSEEN}
    return [
        Line("Release", _title(release)),
        *labelled_lines("Promised", _promise_of(release)),
        Line("By", _by(release)),
        *(
            line
            for label, outcome in by_outcome.items()
            for line in labelled_lines(
                label, [f"{each.subject}: {each.text}" for each in release.having(outcome)]
            )
        ),
    ]


def _title(release: VerifiedRelease) -> str:
    return f"{release.name}: {release.title}" if release.title else release.name


def _promise_of(release: VerifiedRelease) -> list[str]:
    """Return the promise in a sentence, and by its name and what it is made for."""
    if not release.promise:
        return [NOTHING_PROMISED]
    *before, name = release.promise
    return [*before, f"{name}, for {release.protects}" if release.protects else name]


def _by(release: VerifiedRelease) -> str:
    """Return who publishes a release, and whether somebody signed it."""
    who = f"{release.publisher}, as it says itself" if release.publisher else NOT_STATED
    if release.signed_by is None:
        return f"{who}; nobody signed it"
    return f"{who}; signed by the key {release.signed_by[:16]}…"


def _values(verification: Verification) -> dict[str, Any]:
    return {
        "schema": "shoal.verification/1",
        "folder": str(verification.folder),
        "holds": verification.holds,
        "releases": [
            {
                "name": each.name,
                "title": each.title,
                "publisher": each.publisher,
                "guarantee": None if each.guarantee is None else each.guarantee.to_dict(),
                "promise": list(each.promise),
                "version": each.version,
                "signed_by": each.signed_by,
                "findings": [finding._asdict() for finding in each.findings],
            }
            for each in verification.releases
        ],
    }


def _verdicts(verification: Verification) -> Any:
    from shoal.pages._verdicts import Verdicts

    releases = verification.releases
    several = len(releases) > 1
    first = releases[0]
    unseen = dict.fromkeys(
        f"{finding.subject}: {finding.text}"
        for release in releases
        for finding in release.having(UNSEEN)
    )
    return Verdicts(
        title=f"Checked: {quantity(len(releases), 'release')}"
        if several
        else first.title or first.name,
        lead=" ".join([_verdict(verification), *([] if several else first.promise[:1])]),
        heading="What was checked",
        sub="Recomputed from the files of the release alone, without the rows.",
        says=[text for each in releases for text in _promise_lines(each, several)],
        says_not=list(unseen),
        constructed=True,
        tag="Checked from outside: no row was read",
        facts=_facts(verification),
        details=[detail for each in releases for detail in _details(each, several)],
        reading="What fails comes first.",
        again=f"shoal verify {verification.folder.name or '.'}",
    )


def _promise_lines(release: VerifiedRelease, several: bool) -> list[str]:
    texts = _promise_of(release)
    return [f"{release.name}: {text}" for text in texts] if several else texts


def _facts(verification: Verification) -> list[dict[str, str]]:
    first = verification.releases[0]
    counts = {
        outcome: sum(len(each.having(outcome)) for each in verification.releases)
        for outcome in (CHECKED, FAILED, UNSEEN)
    }
    signed = "nobody signed it" if first.signed_by is None else f"key {first.signed_by[:16]}…"
    promised = {
        "name": "Promise",
        "value": first.promise[-1] if first.promise else NOTHING_PROMISED,
        "detail": f"for {first.protects}" if first.protects else "",
    }
    return [
        promised,
        {"name": "Published by", "value": first.publisher or NOT_STATED, "detail": signed},
        {
            "name": "Checks that hold",
            "value": f"{counts[CHECKED]} of {counts[CHECKED] + counts[FAILED]}",
            "detail": "each is listed below",
        },
        {
            "name": "Cannot be checked",
            "value": str(counts[UNSEEN]),
            "detail": "from outside, by anybody; listed below",
        },
    ]


def _details(release: VerifiedRelease, several: bool) -> list[Any]:
    """Return what fails and what holds, in sentences: a cell of a table would cut them off."""
    from shoal.pages._verdicts import Detail

    before = f"{release.name}: " if several else ""
    return [
        Detail(
            f"{before}{_MARKS[outcome]}",
            quantity(len(found), "check"),
            lines=[f"{each.subject}: {each.text}" for each in found],
            open=True,
        )
        for outcome in _MARKS
        if (found := release.having(outcome))
    ]
