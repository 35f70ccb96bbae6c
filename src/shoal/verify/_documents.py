"""Write the documents of a release, and check those that lie beside it.

What was written is listed with its digest in ``documents.json``, together with the publisher's
answers. A document is a function of the release and these, so a check draws it again.
"""

from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from shoal.documents import json_text, with_digest
from shoal.errors import AlreadyExists, InvalidSetting
from shoal.files import file_set
from shoal.synopsis.folder import digest_of
from shoal.verify._release import (
    DAMAGED,
    Findings,
    Release,
    check_digests,
    check_own_digest,
    read_document,
)
from shoal.verify._standing import audits_of
from shoal.verify.documents import KINDS, QUESTIONS, Facts, draw, obstacle

SUBJECT = "Documents"
LISTING = "documents.json"
SCHEMA = "shoal.documents/1"
_SIGNATURE = "signature.json"


class Documented(NamedTuple):
    """The documents that were written of a release.

    Parameters
    ----------
    release
        What was documented, in words.
    files
        The files that were written.
    left_out
        Why documents of some kinds were not, by their kinds.
    not_stated
        What the publisher was asked and did not answer.
    is_signed
        Whether the release has a signature, which does not cover these documents.
    """

    release: str
    files: list[Path]
    left_out: dict[str, str]
    not_stated: list[str]
    is_signed: bool


def write_documents(
    folder: Path,
    release: Release,
    kinds: Collection[str] | None,
    about: Mapping[str, str] | None,
    *,
    overwrite: bool,
) -> Documented:
    """Write documents of a release that holds; kinds that were written before are written anew.

    Parameters
    ----------
    kinds
        Which; None writes all that fit the release.
    about
        The publisher's answers; None keeps those of an earlier run.
    """
    prefix = _prefix(release)
    place = folder / f"{prefix}{LISTING}"
    earlier = read_document(place) or {}
    if place.exists() and not overwrite:
        raise AlreadyExists(f"{place} exists already.", "Add --overwrite to write them anew.")
    answers = about if about is not None else _answers(earlier)
    facts = _facts(folder, release, answers)
    wanted = list(KINDS if kinds is None else dict.fromkeys(kinds))
    obstacles = {kind: why for kind in wanted if (why := obstacle(kind, facts))}
    if obstacles and (kinds is not None or len(obstacles) == len(wanted)):
        kind, why = next(iter(obstacles.items()))
        raise InvalidSetting(f"{release.name} has no document of the kind {kind}. {why}",
                             "Leave it out.", setting="kinds")  # fmt: skip
    before = [kind for kind in earlier.get("kinds", ()) if kind in KINDS]
    made = [kind for kind in KINDS if kind in {*wanted, *before} and not obstacle(kind, facts)]
    texts = {name: text for kind in made for name, text in draw(kind, facts, prefix).items()}
    _write(place, texts, made, facts, overwrite)
    return Documented(
        release=release.name,
        files=[*(folder / name for name in texts), place],
        left_out=obstacles,
        not_stated=list(facts.missing()),
        is_signed=(folder / release.signature).exists(),
    )


def check_documents(folder: Path, release: Release, findings: Findings) -> tuple[str, ...]:
    """Check the documents beside a release, and return the names of their files."""
    listing = f"{_prefix(release)}{LISTING}"
    document = read_document(folder / listing)
    if document is None or document.get("schema") != SCHEMA:
        _leave_unlisted(folder, release, findings)
        return ()
    if document.get("release") != release.kind:
        return ()
    check_own_digest(listing, document, findings)
    try:
        names = check_digests(folder, document["files"], listing, findings)
        made_here = document["shoal"] == version("shoal")
        same = made_here and _draws_again(folder, release, document, names)
    except DAMAGED:
        findings.fail(SUBJECT, f"{listing} does not say what was written.")
        return (listing,)
    if not made_here:
        findings.leave(SUBJECT, "They were drawn by another version of shoal than this.")
    else:
        findings.check(
            same,
            SUBJECT,
            f"Drawn again from the release and the publisher's answers: {', '.join(names)}.",
            f"They do not follow from the release and the publisher's answers ({listing}).",
        )
    findings.leave(SUBJECT, "That the publisher's answers in them are true.")
    return (listing, *names)


def listing_marks(folder: Path, release: Release) -> dict[str, bool]:
    """Return the mark of a simulation in the listing of a release's documents."""
    name = f"{_prefix(release)}{LISTING}"
    document = read_document(folder / name) or {}
    if document.get("schema") != SCHEMA or document.get("release") != release.kind:
        return {}
    return {name: document.get("simulation") is not False}


def _draws_again(
    folder: Path, release: Release, document: Mapping[str, Any], names: list[str]
) -> bool:
    facts = _facts(folder, release, _answers(document))
    prefix = _prefix(release)
    texts: dict[str, str] = {}
    for kind in document["kinds"]:
        texts |= draw(kind, facts, prefix)
    return [*texts] == names and all(
        (folder / name).read_text(encoding="utf-8") == text for name, text in texts.items()
    )


def _leave_unlisted(folder: Path, release: Release, findings: Findings) -> None:
    prefix = _prefix(release)
    stray = [
        name
        for name in (f"{prefix}deployment.json", f"{prefix}nist.html", f"{prefix}croissant.json")
        if (folder / name).exists()
    ]
    if stray:
        findings.leave(SUBJECT, f"No {prefix}{LISTING} says what {', '.join(stray)} came from.")


def _prefix(release: Release) -> str:
    """Return what the names of a release's documents begin with, as that of its signature does."""
    return release.signature.removesuffix(_SIGNATURE)


def _answers(document: Mapping[str, Any]) -> dict[str, str]:
    about = document.get("about", {})
    return {name: str(about[name]) for name in QUESTIONS if name in about}


def _facts(folder: Path, release: Release, about: Mapping[str, str]) -> Facts:
    audits = [(each["name"], each["verdict"]) for each in audits_of(release)]
    return Facts(folder=folder, release=release, about=about, audits=audits)


def _write(
    place: Path, texts: Mapping[str, str], kinds: list[str], facts: Facts, overwrite: bool
) -> None:
    """Write documents and their listing together, or none of them."""
    with file_set(place, overwrite) as files:
        listed = []
        for name, text in texts.items():
            part = files.file(place.parent / name)
            part.write_text(text, encoding="utf-8", newline="\n")
            listed.append({"name": name, "sha256": digest_of(part)})
        content = {
            "schema": SCHEMA,
            "release": facts.release.kind,
            "kinds": kinds,
            "about": dict(facts.about),
            "simulation": facts.is_simulation,
            "shoal": version("shoal"),
            "files": listed,
        }
        files.file(place).write_text(
            json_text(with_digest(content)), encoding="utf-8", newline="\n"
        )
