"""Check a page: against the numbers beside it, and these against what they were drawn from."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.documents import json_text, parse_json
from shoal.privacy import Guarantee, Result
from shoal.privacy.wording import SIMULATION, promise
from shoal.verify._release import (
    DAMAGED,
    Findings,
    Release,
    check_digests,
    own_marks,
    read_document,
    read_promise,
)

SUBJECT = "Page"
# What a page says of the ledger, the moment and the file names; the rest follows from the files.
_FROM_ELSEWHERE = ("ledger", "label", "limits_in_all", "made", "versions", "files")
# What the learner of reports finds without data is drawn anew each time.
_CONTROL = ("Without data", "Found without data", "Agreement without data", "Had everybody")


def check_page(folder: Path, stem: str, findings: Findings) -> dict[str, Any] | None:
    """Check a page against the numbers beside it; return the numbers, or None without any.

    Parameters
    ----------
    stem
        The name of both files without their endings.
    """
    numbers, page = folder / f"{stem}.json", folder / f"{stem}.html"
    content = read_document(numbers)
    if content is None or content.get("schema") != "shoal.report/1":
        if page.exists():
            findings.fail(SUBJECT, f"{page.name} has no numbers beside it: {numbers.name}.")
        return None
    if numbers.read_text(encoding="utf-8") != json_text(content):
        findings.fail(SUBJECT, f"{numbers.name} is not as shoal writes it: it was edited.")
    if not page.is_file():
        findings.fail(SUBJECT, f"{page.name} is missing.")
    elif _made_here(content):
        findings.check(
            _rendered(content) == page.read_text(encoding="utf-8"),
            SUBJECT,
            f"{page.name} shows what {numbers.name} holds, and nothing else.",
            f"{page.name} does not show what {numbers.name} holds: one of them was edited.",
        )
    elif _says_version(content, page.read_text(encoding="utf-8")):
        findings.leave(SUBJECT, f"{page.name} was drawn by another version of shoal than this.")
    else:
        findings.fail(SUBJECT, f"{page.name} and {numbers.name} name different versions of shoal.")
    check_digests(folder, content.get("files", ()), numbers.name, findings)
    return content


def check_redrawn(content: Mapping[str, Any], subject: Any, findings: Findings) -> None:
    """Draw the page of a loaded model again, and hold its numbers against those of the page."""
    from shoal.pages._write_page import build_page, page_findings

    if not _made_here(content):
        findings.leave(SUBJECT, "Its numbers were drawn by another version of shoal than this.")
        return
    settings = content["settings"]
    if "rows" in settings:
        findings.leave(
            SUBJECT, "What a row was made of: the features file that says so is not here."
        )
    is_withheld = content["groups"] is None and not content["result"]["tables"]
    result = build_page(
        subject,
        title=settings.get("title"),
        publisher=settings.get("publisher"),
        publish_anyway=not is_withheld,
    )
    assert isinstance(result, Result)  # a model's page is no page of verdicts
    again = parse_json(json_text(page_findings(result)))
    differ = sorted(_differences(_comparable(content), _comparable(again)))
    parts = ", ".join(dict.fromkeys(differ))
    findings.check(
        not differ,
        SUBJECT,
        "Every number on it follows from the released files.",
        f"Its numbers do not follow from the released files ({parts}).",
    )


def check_promise_text(
    content: Mapping[str, Any], guarantee: Guarantee | None, findings: Findings
) -> None:
    """Hold the promise of a page, in numbers and words, against the one of the release."""
    if guarantee is None:
        return
    same = content.get("guarantee") == guarantee.to_dict()
    name = promise(guarantee).name if same else ""
    words = content["sentences"]["name"] == name
    findings.check(
        same and words,
        "Promise",
        f"The page states the same: {name}.",
        "The page states another promise than the release.",
    )


def page_marks(folder: Path, stem: str, content: Mapping[str, Any]) -> dict[str, bool]:
    """Return the marks of a simulation on a page and in its numbers."""
    name = f"{stem}.json"
    marks = own_marks(name, content) | {f"the banner in {name}": content.get("banner") is not None}
    marks[f"the name of {stem}.html"] = stem.endswith("-simulation")
    page = folder / f"{stem}.html"
    if page.is_file():
        banner = SIMULATION.removeprefix("Simulation. ")
        marks[page.name] = banner in page.read_text(encoding="utf-8", errors="replace")
    return marks


def _made_here(content: Mapping[str, Any]) -> bool:
    """Whether this version of shoal drew a page."""
    versions = content.get("versions")
    return isinstance(versions, Mapping) and versions.get("shoal") == version("shoal")


def _says_version(content: Mapping[str, Any], page: str) -> bool:
    """Whether a page names the version that its numbers name."""
    versions = content.get("versions")
    return isinstance(versions, Mapping) and f"shoal {versions.get('shoal')}<" in page


def _rendered(content: Mapping[str, Any]) -> str | None:
    from jinja2 import TemplateError

    from shoal.pages import render

    try:
        return render(content)
    except (*DAMAGED, TemplateError):  # numbers that a template cannot show are not ours
        return None


def _comparable(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a page follows from the released files alone."""
    kept = {name: value for name, value in content.items() if name not in _FROM_ELSEWHERE}
    # The sums of a ledger end the list of what does not hold; code names the publisher's files, and
    # what a row is made of follows from a features file.
    sentences = {name: value for name, value in kept["sentences"].items() if name != "fails"}
    settings = {n: value for n, value in kept["settings"].items() if n not in ("code", "rows")}
    return kept | {
        "sentences": sentences,
        "settings": settings,
        "figures": _without_control(kept["figures"], "title"),
        "errors": [text for text in kept["errors"] if not text.startswith(_CONTROL)],
        "result": kept["result"]
        | {
            "facts": _without_control(kept["result"]["facts"], "name"),
            "tables": _without_control(kept["result"]["tables"], "title"),
        },
    }


def _without_control(parts: Any, key: str) -> list[Any]:
    return [part for part in parts if not str(part.get(key, "")).startswith(_CONTROL)]


def _differences(first: Any, second: Any, where: str = "") -> list[str]:
    """Return the parts of two documents that differ, by their outermost two names."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        names = [*first, *(name for name in second if name not in first)]
        return [
            part
            for name in names
            for part in _differences(
                first.get(name),
                second.get(name),
                where if where.count(".") > 1 else f"{where}.{name}",
            )
        ]
    if is_close(first, second):
        return []
    return [where.lstrip(".")]


def is_close(first: Any, second: Any) -> bool:
    """Whether two values are equal, numbers up to rounding: machines differ in the last digit."""
    if isinstance(first, list) and isinstance(second, list):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(is_close(*pair) for pair in pairs)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            is_close(value, second[name]) for name, value in first.items()
        )
    if isinstance(first, float) and isinstance(second, float | int):
        return abs(first - second) <= 1e-6 * max(abs(first), abs(second), 1e-9)
    return bool(first == second)


def check_alone(folder: Path, findings: Findings) -> Release:
    """Check a page that lies without the files it was drawn from."""
    content = check_page(folder, "report", findings) or {}
    guarantee = read_promise(content)
    check_promise_text(content, guarantee, findings)
    findings.leave(SUBJECT, "The files that it was drawn from are not here.")
    settings = content.get("settings", {})
    return Release(
        kind="page",
        name="Page in report.html",
        files=("report.html", "report.json"),
        signature="signature.json",
        guarantee=guarantee,
        marks=page_marks(folder, "report", content),
        spends=True,
        version=content.get("versions", {}).get("shoal"),
        title=settings.get("title"),
        publisher=settings.get("publisher"),
        report=content,
    )
