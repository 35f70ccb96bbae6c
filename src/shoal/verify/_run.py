"""Find the releases in a folder and check each."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from shoal.cluster.model_folder import MODEL
from shoal.collector import read_key
from shoal.errors import InvalidSetting, UnreadableModel
from shoal.pages.verification import FAILED, Finding, Verification, VerifiedRelease
from shoal.privacy.wording import promise
from shoal.synopsis.folder import DOCUMENT
from shoal.verify._campaign import check_campaign, is_envelope
from shoal.verify._documents import (
    Documented,
    check_documents,
    listing_marks,
    write_documents,
)
from shoal.verify._groups import check_groups, check_synopsis
from shoal.verify._ledger import check_ledger
from shoal.verify._page import check_alone
from shoal.verify._release import Findings, Release, read_document
from shoal.verify._reports import SCHEMA as REPORTS
from shoal.verify._reports import check_reports
from shoal.verify._reproduction import MANIFEST, check_reproduction
from shoal.verify._reproduction import SCHEMA as REPRODUCTION
from shoal.verify._signature import check_signature, parse_public_key, write_signature
from shoal.verify._standing import check_standing
from shoal.verify._table import ENDING, check_table
from shoal.verify.documents import KINDS, read_about

Check = Callable[[Findings], Release]
ROWS_UNSEEN = "That the rows were what they are said to be: nobody outside has them."
NOISE_UNSEEN = (
    "That the noise was fresh: numbers drawn with a seed that was kept look the same as others."
)


def verify_folder(
    folder: str | Path,
    *,
    ledger: Path | None = None,
    key: str | None = None,
    policy: Path | None = None,
) -> Verification:
    """Check every release in a folder from its files alone.

    Parameters
    ----------
    folder
        What a command or ``save`` wrote, or a folder that holds released tables or reports.
    ledger
        The ledger of the table, if its holder shows it: each release must have its entry there.
    key
        The publisher's public key, in hexadecimal digits or as a file of them: each release must
        be signed by it. None takes the key that a signature names.
    policy
        The policy of a released table, if its publisher hands it out.

    Raises
    ------
    UnreadableModel
        If the folder holds no release.

    Examples
    --------
    >>> import shoal, tempfile
    >>> model = shoal.PrivateKMeans(2, epsilon=1, domain=shoal.Box.unit(1), random_state=1)
    >>> folder = model.fit([[0.2], [0.8]] * 200).save(tempfile.mkdtemp() + "/model")
    >>> verify_folder(folder).holds
    True
    """
    place = Path(folder)
    checks = _found(place, policy)
    public = None if key is None else parse_public_key(key)
    verified = [_verified(place, check, ledger, public)[1] for check in checks]
    return Verification(place, verified)


def sign_folder(
    folder: str | Path, key: str | Path, *, only: Collection[str] | None = None
) -> list[Path]:
    """Sign every release in a folder, after checking it: what does not hold is not signed.

    Parameters
    ----------
    folder
        The folder.
    key
        The file of the private key, as ``shoal keys new`` wrote it.
    only
        Sign releases that have one of these files; None signs all.

    Returns
    -------
    The files that hold the signatures.

    Raises
    ------
    InvalidSetting
        If a release does not hold, or there is none.
    """
    place, private, signed = Path(folder), read_key(key), []
    for check in _checks(place, None):
        release, verified = _verified(place, check, None, None, is_new=True)
        if only is not None and not {*only} & {*release.files}:
            continue
        if failed := verified.having(FAILED):
            _refuse_failed(release.name, failed, "signed", place)
        signed.append(write_signature(place, release, private))
    if not signed:
        raise InvalidSetting(f"{place} holds no release to sign.", "Name the folder of a release.")
    return signed


def document_folder(
    folder: str | Path,
    *,
    kinds: Collection[str] | None = None,
    about: str | Path | Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> list[Documented]:
    """Write documents that others ask for beside each release of a folder, after checking it.

    Parameters
    ----------
    folder
        The folder.
    kinds
        Of "deployment", "nist", "csvw" and "croissant"; None writes all that fit.
    about
        What only the publisher knows, as a mapping or a YAML file of it; None keeps the answers
        of an earlier run, or says "not stated".
    overwrite
        Whether documents that are there may be replaced.

    Returns
    -------
    What was written of each release.

    Raises
    ------
    InvalidSetting
        If a release does not hold, has no document of a kind, or is a campaign alone; or if an
        answer is to no question.
    UnreadableModel
        If the folder holds no release.

    Examples
    --------
    >>> import shoal, tempfile
    >>> model = shoal.PrivateKMeans(2, epsilon=1, domain=shoal.Box.unit(1))
    >>> folder = model.fit([[0.2], [0.8]] * 200).save(tempfile.mkdtemp() + "/model")
    >>> done = document_folder(folder, kinds=["deployment"], about={"publisher": "The town"})
    >>> [file.name for file in done[0].files]
    ['deployment.json', 'documents.json']
    >>> verify_folder(folder).holds
    True
    """
    place = Path(folder)
    answers = None if about is None else read_about(about)
    unknown = [kind for kind in kinds or () if kind not in KINDS]
    if unknown:
        raise InvalidSetting(
            f"There is no document of the kind {unknown[0]!r}.",
            f"Choose of {', '.join(KINDS)}.",
            setting="kinds",
        )
    releases = []
    for check in _found(place, None):
        findings = Findings()
        release = check(findings)
        if release.kind != "campaign":
            releases.append(release)
        if failed := [each for each in findings.found if each.outcome == FAILED]:
            _refuse_failed(release.name, failed, "documented", place)
    if not releases:
        raise InvalidSetting(
            f"{place} holds a campaign alone: signed questions, with nothing to document yet.",
            "Document the groups that are learnt from its reports: shoal learn reports.parquet "
            "-o groups, then shoal document groups.",
        )
    names = [release.signature for release in releases]
    if len({*names}) < len(names):
        raise InvalidSetting(
            f"{place} holds several releases whose documents would have one name.",
            "Document each in a folder of its own.",
        )
    return [
        write_documents(place, release, kinds, answers, overwrite=overwrite) for release in releases
    ]


def _found(folder: Path, policy: Path | None) -> list[Check]:
    """Return the checks of all releases in a folder, of which there must be one."""
    checks = list(_checks(folder, policy)) if folder.is_dir() else []
    if not checks:
        raise UnreadableModel(
            f"{folder} holds no release that this version knows.",
            "Name the folder that `shoal cluster -o`, `save` or `shoal anonymize` wrote.",
        )
    return checks


def _refuse_failed(name: str, failed: Sequence[Finding], what: str, folder: Path) -> NoReturn:
    """Refuse to vouch for a release that does not hold."""
    raise InvalidSetting(
        f"{name} does not hold, so it is not {what}: {failed[0].text}",
        f"See what else fails: shoal verify {folder}",
    )


def _checks(folder: Path, policy: Path | None) -> Iterator[Check]:
    """Yield the check of each release in a folder."""
    if _schema(folder / MODEL).startswith("shoal.model/"):
        yield partial(check_groups, folder)
    elif _schema(folder / DOCUMENT).startswith(("shoal.synopsis/", "shoal.mixed-synopsis/")):
        yield partial(check_synopsis, folder)
    elif _schema(folder / "report.json").startswith("shoal.report/"):
        yield partial(check_alone, folder)
    if _schema(folder / MANIFEST) == REPRODUCTION:
        yield partial(check_reproduction, folder)
    documents = sorted(folder.glob("*.json"))
    if envelopes := tuple(path.name for path in documents if is_envelope(path)):
        yield partial(check_campaign, folder, envelopes)
    for path in documents:
        if path.name.endswith(ENDING):
            yield partial(check_table, folder, path.name, policy)
        elif _schema(path) == REPORTS:
            yield partial(check_reports, folder, path.name.removesuffix(".json"))


def _schema(path: Path) -> str:
    """Return which format a document says it has; nothing if it is none."""
    return str((read_document(path) or {}).get("schema", ""))


def _verified(
    folder: Path,
    check: Check,
    ledger: Path | None,
    key: bytes | None,
    *,
    is_new: bool = False,
) -> tuple[Release, VerifiedRelease]:
    """Check a release; one that is about to be signed has no signature to be held against."""
    findings = Findings()
    release = check(findings)
    documents = check_documents(folder, release, findings)
    marks = {**release.marks, **listing_marks(folder, release)}
    release = replace(release, files=(*release.files, *documents), marks=marks)
    _check_marks(release, findings)
    check_standing(release, findings)
    check_ledger(release, ledger, findings)
    signer = None if is_new else check_signature(folder, release, key, findings)
    if release.kind != "reproduction":
        findings.leave("Rows", ROWS_UNSEEN)
    if release.kind not in ("table", "reproduction"):
        findings.leave("Noise", NOISE_UNSEEN)
    return release, VerifiedRelease(
        name=release.name,
        title=release.title,
        publisher=release.publisher,
        guarantee=release.guarantee,
        promise=_promise_texts(release),
        protects=None if release.guarantee is None else promise(release.guarantee).protects,
        version=release.version,
        signed_by=signer,
        findings=findings.found,
    )


def _check_marks(release: Release, findings: Findings) -> None:
    """Hold the marks of a simulation in all files against one another."""
    marked = [name for name, is_marked in release.marks.items() if is_marked]
    others = [name for name, is_marked in release.marks.items() if not is_marked]
    if not release.marks:
        return
    if marked and others:
        text = f"{', '.join(marked)} say simulation; {', '.join(others)} do not."
        findings.fail("Simulation", text)
    elif marked:
        findings.hold(
            "Simulation", "Every file says that this is a simulation: nobody is protected."
        )
    else:
        findings.hold("Simulation", "No file says that this is a simulation.")


def _promise_texts(release: Release) -> list[str]:
    """Return the promise in words: those of the page, where it is the release's own."""
    if release.guarantee is None:
        return []
    same = release.report is not None and release.report.get("guarantee") is not None
    if same and release.report is not None and "sentences" in release.report:
        sentences = release.report["sentences"]
        return [str(sentences.get("lead", "")), str(sentences.get("name", ""))]
    said = promise(release.guarantee)
    return [said.lead, said.name]
