"""What a release says of itself, and the findings about it, as checkers gather them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from shoal.bounds_check import BoundsCheck
from shoal.documents import has_own_digest, parse_json
from shoal.pages.verification import CHECKED, FAILED, UNSEEN, Finding
from shoal.privacy import ApproxDP, Guarantee, PureDP, guarantee_of
from shoal.synopsis.folder import digest_of

# What reading a document of an unknown hand may raise.
DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)


@dataclass
class Findings:
    """The findings about one release, in the order in which things were looked at."""

    found: list[Finding] = field(default_factory=list)

    def hold(self, subject: str, text: str) -> None:
        """Note something that holds."""
        self.found.append(Finding(CHECKED, subject, text))

    def fail(self, subject: str, text: str) -> None:
        """Note something that does not hold."""
        self.found.append(Finding(FAILED, subject, text))

    def leave(self, subject: str, text: str) -> None:
        """Note something that cannot be checked."""
        self.found.append(Finding(UNSEEN, subject, text))

    def check(self, holds: object, subject: str, good: str, bad: str) -> bool:
        """Note something that holds or not, and return which."""
        (self.hold if holds else self.fail)(subject, good if holds else bad)
        return bool(holds)

    @property
    def has_failed(self) -> bool:
        """Whether anything does not hold so far."""
        return any(finding.outcome == FAILED for finding in self.found)


@dataclass(frozen=True, kw_only=True)
class Release:
    """What a release says of itself.

    Parameters
    ----------
    kind
        "groups", "synopsis", "reports", "table", "campaign", "reproduction" or "page".
    name
        What it is and where it lies, in words.
    files
        The names of its files, from the folder.
    signature
        The name of the file that its signature has, or would have.
    guarantee
        What it promises; None if it states nothing.
    marks
        By file: whether it says that the release is a simulation.
    method
        The class whose noise it carries, for the ledger and the audits; None if it has none.
    spends
        Whether it drew from the table's own budget, so that a ledger must have it.
    budget
        The budget that was given, where it is not quite what is promised.
    version
        The version of shoal that made it.
    signer
        The public key that signed its own documents, in hexadecimal digits; None if none did.
    report
        What its page says, if it has one.
    document
        Its main document: settings, bounds, what was counted.
    """

    kind: str
    name: str
    files: tuple[str, ...]
    signature: str
    guarantee: Guarantee | None = None
    marks: Mapping[str, bool] = field(default_factory=dict)
    method: str | None = None
    spends: bool = False
    budget: Guarantee | None = None
    version: str | None = None
    signer: str | None = None
    title: str | None = None
    publisher: str | None = None
    report: Mapping[str, Any] | None = None
    document: Mapping[str, Any] = field(default_factory=dict)


def read_document(path: Path) -> dict[str, Any] | None:
    """Return the content of a JSON file, or None if it holds no mapping."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def check_own_digest(name: str, document: Mapping[str, Any], findings: Findings) -> None:
    """Hold a document against the digest in it."""
    findings.check(
        has_own_digest(document),
        "Files",
        f"{name} is as it was written, by its own digest.",
        f"{name} was changed after it was written: its own digest differs, or is gone.",
    )


def check_digests(folder: Path, listed: Any, source: str, findings: Findings) -> list[str]:
    """Hold files against the digests that a document lists; return their names."""
    names = []
    wrong = []
    for file in listed:
        name, digest = str(file["name"]), file["sha256"]
        names.append(name)
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            wrong.append(f"{name} is missing")
        elif digest_of(path) != digest:
            wrong.append(f"{name} is not the file that was written")
    if wrong:
        findings.fail("Files", f"{'; '.join(wrong)} (digests in {source}).")
    elif names:
        shown = [f"{len(names)} files"] if len(names) > 8 else names
        them = "it" if len(names) == 1 else "them"
        findings.hold("Files", f"{_listing(shown)} as {source} lists {them}, byte for byte.")
    return names


def _listing(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} {'are' if names[0].endswith(' files') else 'is'}"
    return f"{', '.join(names[:-1])} and {names[-1]} are"


def read_promise(document: Mapping[str, Any]) -> Guarantee | None:
    """Return the guarantee that a document states, or None if it states none that is known."""
    try:
        return guarantee_of(document["guarantee"])
    except DAMAGED:
        return None


def moved_rows(document: Mapping[str, Any]) -> str | None:
    """Return that the bounds of a release missed its rows, if its noisy check found so."""
    try:
        check = BoundsCheck.of(document["bounds_check"])
        return " ".join(str(check).splitlines()) if check.is_alarm else None
    except DAMAGED:
        return None


def unmarked(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee without its mark of a simulation, to compare what it promises."""
    return replace(guarantee, simulation=False)


def is_kept(guarantee: Guarantee, stated: Guarantee) -> bool:
    """Whether a release promises what was stated, or with a smaller chance to fail."""
    plain = unmarked(guarantee)
    if isinstance(plain, ApproxDP) and isinstance(stated, ApproxDP):
        return plain.delta <= stated.delta and replace(plain, delta=stated.delta) == stated
    return plain == stated


def row_budget(guarantee: Guarantee) -> Fraction | None:
    """Return what mechanisms may spend for one row added or removed; None without an epsilon."""
    if not isinstance(guarantee, PureDP | ApproxDP):
        return None
    replaced = 2 if guarantee.neighbours == "replace-one" else 1
    return guarantee.epsilon / guarantee.rows / replaced


def own_marks(name: str, document: Mapping[str, Any]) -> dict[str, bool]:
    """Return the marks of a simulation that a document has, each by its place in it."""
    marks = {}
    if "simulation" in document:
        marks[name] = document["simulation"] is not False
    promise = document.get("guarantee")
    if isinstance(promise, Mapping) and "simulation" in promise:
        marks[f"the promise in {name}"] = promise["simulation"] is not False
    domain = document.get("domain")
    columns = domain.get("columns", {}) if isinstance(domain, Mapping) else {}
    if any(isinstance(c, Mapping) and c.get("simulation") for c in columns.values()):
        marks[f"the bounds in {name}"] = True
    return marks
