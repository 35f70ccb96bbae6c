"""What stands behind the version that made a release: its proofs, and what audits of it found."""

import re
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from shoal.audit import shipped_verdicts
from shoal.verify._release import Findings, Release

SUBJECT = "Version"
# What is audited in place of rounds: the mechanism of each report.
_PARTS = {
    "LocalPrototypes": ("prototype-report",),
    "LocalRounds": ("residual-sign", "local-grid"),
}
_PROOFS = "*.proof.md"


def check_standing(release: Release, findings: Findings) -> None:
    """Say whether proofs and audits of the version that made a release stand."""
    here = version("shoal")
    if release.version is None:
        findings.leave(SUBJECT, "The release does not say which version of shoal made it.")
    elif release.version != here:
        findings.leave(
            SUBJECT,
            f"shoal {release.version} made it; proofs and audits that come with {here} are not of "
            f"that version: install shoal {release.version} and check again.",
        )
    else:
        _check_audits(release, here, findings)


def _check_audits(release: Release, here: str, findings: Findings) -> None:
    proofs = sum(1 for _ in _proof_names())
    verdicts = shipped_verdicts()
    if release.method is None:
        findings.hold(SUBJECT, f"shoal {here} made it; its {proofs} proofs come with it.")
        return
    own = audits_of(release)
    wrong = [each["name"] for each in own if each["verdict"] != "consistent"]
    if not own:
        findings.leave(SUBJECT, f"shoal {here} has no audit of {release.method}.")
    elif verdicts["shoal"] != here:
        findings.leave(SUBJECT, f"The audits that come with shoal {here} are of another version.")
    else:
        findings.check(
            not wrong,
            SUBJECT,
            f"shoal {here} made it; {len(own)} audits of {release.method} "
            f"({verdicts['date']}) found nothing against its claim, and its proofs come with it.",
            f"shoal {here} made it, and an audit found its claim violated: {', '.join(wrong)}.",
        )


def audits_of(release: Release) -> list[dict[str, Any]]:
    """Return the shipped verdicts on a release's class, or on the mechanism of that name."""
    method, verdicts = release.method, shipped_verdicts()
    if method is None:
        return []
    names = (method, *_PARTS.get(method, (_short_name(method),)))
    return [
        each
        for each in verdicts["verdicts"]
        if any(each["name"] == name or each["name"].startswith((f"{name},", f"{name} "))
               for name in names)
    ]  # fmt: skip


def _short_name(method: str) -> str:
    """Return a class's name as the command line has it: NDLaplace is nd-laplace."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", method).lower()


def _proof_names() -> Any:
    from pathlib import Path

    return Path(str(files("shoal"))).rglob(_PROOFS)
