"""Check signed documents of a collection: the campaign, its rounds, its model, its openings."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.collector import Campaign, client
from shoal.errors import ShoalError
from shoal.privacy import Guarantee
from shoal.verify._release import DAMAGED, Findings, Release, read_document

SUBJECT = "Signature"
_ENVELOPE = {"payload", "signature", "key"}
_KINDS = ("campaign", "round", "model", "close", "people", "opening")


def is_envelope(path: Path) -> bool:
    """Whether a file holds a signed document of a collection."""
    content = read_document(path)
    return content is not None and set(content) == _ENVELOPE and _kind_of(content) in _KINDS


def check_campaign(folder: Path, names: tuple[str, ...], findings: Findings) -> Release:
    """Check the signed documents of a folder against the keys that sign them.

    Parameters
    ----------
    names
        The files that hold them.
    """
    opened: dict[str, tuple[str, Any, bytes]] = {}
    for name in names:
        envelope = read_document(folder / name) or {}
        kind = _kind_of(envelope)
        try:
            key = base64.b64decode(envelope["key"], validate=True)
            document, identity = client.open_envelope(envelope, kind, key)
        except (*DAMAGED, client.Refused):
            findings.fail(SUBJECT, f"{name} is not signed by the key it names.")
            continue
        opened[name] = kind, document, identity
        findings.hold(SUBJECT, f"{name}: a {kind}, signed by the key {key.hex()[:16]}….")
    first = next((name for name, each in opened.items() if each[0] == "campaign"), None)
    campaign = _load(folder, first, findings)
    if campaign is not None:
        _check_belonging(folder, campaign, opened, findings)
    about = {} if campaign is None else campaign.document
    return Release(
        kind="campaign",
        name=f"Campaign in {first or names[0]}",
        files=names,
        signature="signature.json",
        guarantee=_promise(campaign),
        title=about.get("name"),
        publisher=about.get("operator"),
        signer=None if campaign is None else campaign.key.hex(),
        document=about,
    )


def _kind_of(envelope: Mapping[str, Any]) -> str:
    """Return what a signed document says it is, before its signature is checked."""
    try:
        payload = base64.b64decode(envelope["payload"], validate=True)
        document = client._parse(payload)
        return str(document["type"])
    except (*DAMAGED, client.Refused):
        return ""


def _load(folder: Path, name: str | None, findings: Findings) -> Campaign | None:
    if name is None:
        findings.leave("Campaign", "The campaign itself is not in this folder.")
        return None
    try:
        campaign = Campaign.load(folder / name)
    except ShoalError:
        findings.fail("Campaign", f"No client would take part in the campaign of {name}.")
        return None
    findings.hold("Campaign", "Clients would take part in it: its questions cost what it says.")
    return campaign


def _check_belonging(
    folder: Path,
    campaign: Campaign,
    opened: Mapping[str, tuple[str, Any, bytes]],
    findings: Findings,
) -> None:
    """Hold every other document against the campaign: its id, and who may sign it."""
    allowed = {campaign.key.hex(), *(each["key"] for each in campaign.aggregators)}
    wrong = []
    for name, (kind, document, _) in opened.items():
        key = base64.b64decode((read_document(folder / name) or {})["key"]).hex()
        operators = {campaign.key.hex()} if kind in ("round", "model", "close") else allowed
        is_own = kind == "campaign" or document.get("campaign") == campaign.id.hex()
        if key not in operators or not is_own:
            wrong.append(name)
    if len(opened) > 1:
        findings.check(
            not wrong,
            "Campaign",
            "Every document is of this campaign, signed by its operator or aggregators.",
            f"Not of this campaign, or signed by others: {', '.join(wrong)}.",
        )


def _promise(campaign: Campaign | None) -> Guarantee | None:
    """Return what a report to the operator promises; None where this version cannot tell."""
    try:
        return None if campaign is None else campaign.guarantee
    except ShoalError:
        return None
