"""Sign a release with an Ed25519 key, as campaigns are signed, and check such a signature.

The signature covers the digest of every file of the release, its promise and its mark of a
simulation. Only `sign` needs the package cryptography; checking needs the standard library alone.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

from shoal.collector import client, read_key, sign_document
from shoal.errors import InvalidSetting
from shoal.files import atomic_file
from shoal.privacy import Guarantee
from shoal.synopsis.folder import digest_of
from shoal.verify._release import DAMAGED, Findings, Release, read_document

SUBJECT = "Signature"
KIND = "release"
_KEY = re.compile("[0-9a-f]{64}", re.ASCII)


def parse_public_key(text: str) -> bytes:
    """Return a public key: 64 hexadecimal digits, or the path of a file that holds them.

    Examples
    --------
    >>> parse_public_key("AB" * 32)[:2].hex()
    'abab'
    """
    written = text.strip().lower()
    if not _KEY.fullmatch(written):
        try:
            written = Path(text).read_text(encoding="ascii").strip().lower()
        except (OSError, ValueError):
            written = ""
    if not _KEY.fullmatch(written):
        raise InvalidSetting(
            "This is no public key.",
            "Give its 64 hexadecimal digits, as `shoal keys new` prints them, or a file of them.",
            setting="key",
        )
    return bytes.fromhex(written)


def public_key_of(path: str | Path) -> str:
    """Return the public key of a private one, in hexadecimal digits.

    Parameters
    ----------
    path
        The file of the private key, as ``shoal keys new`` wrote it.
    """
    public: bytes = read_key(path).public_key().public_bytes_raw()
    return public.hex()


def write_signature(folder: Path, release: Release, private: Any) -> Path:
    """Sign a release and write the signature beside its files."""
    envelope = sign_document(KIND, _statement(folder, release), private)
    path = folder / release.signature
    with atomic_file(path, True) as part:
        part.write_text(json.dumps(envelope, indent=1) + "\n", encoding="utf-8", newline="\n")
    return path


def check_signature(
    folder: Path, release: Release, key: bytes | None, findings: Findings
) -> str | None:
    """Check the signature of a release, if it has one; return the key that signed it.

    Parameters
    ----------
    key
        The public key that must have signed it; None takes the one that the signature names.
    """
    envelope = read_document(folder / release.signature)
    if envelope is None and release.signer is not None:
        return _check_signer(release.signer, key, findings)
    if envelope is None:
        _miss_signature(key, findings)
        return None
    try:
        signer = base64.b64decode(envelope["key"], validate=True) if key is None else key
        document, _ = client.open_envelope(envelope, KIND, signer)
    except (*DAMAGED, client.Refused):
        whose = "the key it names" if key is None else "the key that was given"
        findings.fail(SUBJECT, f"{release.signature} is not signed by {whose}.")
        return None
    _check_statement(folder, release, document, findings)
    if key is None:
        _leave_owner(signer.hex(), findings)
    return signer.hex()


def _check_signer(signer: str, key: bytes | None, findings: Findings) -> str:
    """Hold the key that signed a release's own documents against the one that was given."""
    if key is None:
        _leave_owner(signer, findings)
    else:
        findings.check(
            key.hex() == signer,
            SUBJECT,
            "The campaign is signed by the key that was given.",
            "The campaign is signed by another key than the one that was given.",
        )
    return signer


def _leave_owner(signer: str, findings: Findings) -> None:
    findings.leave(SUBJECT, f"Whose key {signer} is: ask its owner, and give it with --key.")


def _miss_signature(key: bytes | None, findings: Findings) -> None:
    if key is not None:
        findings.fail(SUBJECT, "A key was given, and the release is not signed.")
    else:
        findings.leave(SUBJECT, "Who wrote these files: nobody signed them.")


def _check_statement(
    folder: Path, release: Release, document: dict[str, Any], findings: Findings
) -> None:
    """Hold what was signed against the release as it lies there."""
    try:
        signed = {str(file["name"]): file["sha256"] for file in document["files"]}
        same = document["guarantee"] == _promise_text(release.guarantee)
        marked = document["simulation"]
    except DAMAGED:
        findings.fail(SUBJECT, f"{release.signature} does not say what was signed.")
        return
    wrong = [
        name
        for name in dict.fromkeys((*signed, *release.files))
        if name not in signed
        or not (folder / name).resolve().is_relative_to(folder.resolve())
        or not (folder / name).is_file()
        or digest_of(folder / name) != signed[name]
    ]
    findings.check(
        not wrong,
        SUBJECT,
        f"It covers all {len(signed)} files, as they are.",
        f"Not as they were signed: {', '.join(wrong)}.",
    )
    findings.check(
        same, SUBJECT, "The promise is the one that was signed.", "Another promise was signed."
    )
    if marked != _is_marked(release):
        findings.fail("Simulation", "The signature and the files do not say the same.")


def _statement(folder: Path, release: Release) -> dict[str, Any]:
    files = [{"name": name, "sha256": digest_of(folder / name)} for name in release.files]
    return {
        "format": 1,
        "type": KIND,
        "kind": release.kind,
        "files": files,
        "guarantee": _promise_text(release.guarantee),
        "simulation": _is_marked(release),
        "publisher": release.publisher or "",
    }


def _is_marked(release: Release) -> bool:
    return any(release.marks.values())


def _promise_text(guarantee: Guarantee | None) -> str:
    """Return a promise as text: signed documents hold no fractions."""
    return "" if guarantee is None else json.dumps(guarantee.to_dict(), sort_keys=True)
