"""Check a folder of groups or of a synopsis: its files, its promise, what follows from them."""

import math
from collections.abc import Mapping
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.cluster.model_folder import MODEL, load_model
from shoal.documents import json_text, parse_json
from shoal.errors import ShoalError
from shoal.privacy import ApproxDP, Guarantee, PureDP
from shoal.privacy.wording import promise
from shoal.synopsis.folder import DOCUMENT, load_synopsis
from shoal.verify._page import (
    check_page,
    check_promise_text,
    check_redrawn,
    is_close,
    page_marks,
)
from shoal.verify._release import (
    DAMAGED,
    Findings,
    Release,
    check_digests,
    check_own_digest,
    is_kept,
    moved_rows,
    own_marks,
    read_document,
    read_promise,
    row_budget,
    unmarked,
)

DESCRIPTION = "description.json"
LEARNT = ("LocalClusterer", "RoundsModel")  # from reports, which a ledger has in their place
_MIXED = "shoal.mixed-synopsis/1"


def check_groups(folder: Path, findings: Findings) -> Release:
    """Check the folder of a fitted model."""
    document = read_document(folder / MODEL) or {}
    check_own_digest(MODEL, document, findings)
    names = _listed(folder, document, MODEL, findings)
    stem = _page_stem(folder)
    content = check_page(folder, stem, findings)
    guarantee = read_promise(document)
    budget = _check_budget(document, guarantee, findings)
    _check_bounds(document, findings)
    marks = own_marks(MODEL, document)
    if (folder / DOCUMENT).is_file():
        within = read_document(folder / DOCUMENT) or {}
        marks |= own_marks(DOCUMENT, within)
        _check_part_promise(within, guarantee, findings)
    if content is not None:
        marks |= page_marks(folder, stem, content)
        check_promise_text(content, guarantee, findings)
    _check_model(folder, document, content, findings)
    settings = {} if content is None else content.get("settings", {})
    pages = (f"{stem}.html", f"{stem}.json") if content is not None else ()
    kind = str(document.get("class"))
    return Release(
        kind="groups",
        name=f"Groups in {folder.name or folder.resolve().name} ({kind})",
        files=(*pages, MODEL, *names),
        signature="signature.json",
        guarantee=guarantee,
        marks=marks,
        method=_method(document),
        spends=kind not in LEARNT,
        budget=budget,
        version=_version(document),
        title=settings.get("title"),
        publisher=settings.get("publisher"),
        report=content,
        document=document,
    )


def check_synopsis(folder: Path, findings: Findings) -> Release:
    """Check the folder of a synopsis: cells with noisy counts, or tables of a mixed table."""
    document = read_document(folder / DOCUMENT) or {}
    check_own_digest(DOCUMENT, document, findings)
    is_mixed = document.get("schema") == _MIXED
    names = [] if is_mixed else _listed(folder, document, DOCUMENT, findings)
    stem = _page_stem(folder)
    content = check_page(folder, stem, findings)
    guarantee = read_promise(document)
    _check_bounds(document, findings)
    if not is_mixed:
        _check_budget(document, guarantee, findings)
        _check_noise(document, guarantee, findings)
    _check_synopsis_loads(folder, is_mixed, findings)
    marks = own_marks(DOCUMENT, document)
    if content is not None:
        marks |= page_marks(folder, stem, content)
        check_promise_text(content, guarantee, findings)
    settings = {} if content is None else content.get("settings", {})
    pages = (f"{stem}.html", f"{stem}.json") if content is not None else ()
    kind = "MixedSynopsis" if is_mixed else str(document.get("class"))
    return Release(
        kind="synopsis",
        name=f"Synopsis in {folder.name or folder.resolve().name} ({kind})",
        files=(*pages, DOCUMENT, *names),
        signature="signature.json",
        guarantee=guarantee,
        marks=marks,
        method=kind,
        spends=True,
        version=_version(document),
        title=settings.get("title"),
        publisher=settings.get("publisher"),
        report=content,
        document=document,
    )


def _listed(folder: Path, document: Mapping[str, Any], name: str, findings: Findings) -> list[str]:
    try:
        return check_digests(folder, document["files"], name, findings)
    except DAMAGED:
        findings.fail("Files", f"{name} does not list the files of the release.")
        return []


def _page_stem(folder: Path) -> str:
    """Return the name of the page without its ending: a simulation's says so."""
    marked = "report-simulation"
    return marked if any(folder.glob(f"{marked}.*")) else "report"


def _version(document: Mapping[str, Any]) -> str | None:
    versions = document.get("versions")
    return versions.get("shoal") if isinstance(versions, Mapping) else None


def _method(document: Mapping[str, Any]) -> str:
    """Return the class whose noise a model carries: of reports, the mechanism's."""
    settings = document.get("settings", {})
    mechanism = settings.get("mechanism")
    if isinstance(mechanism, Mapping):
        return str(mechanism.get("class"))
    return str(settings.get("rounds") or document.get("class"))


def _check_budget(
    document: Mapping[str, Any], guarantee: Guarantee | None, findings: Findings
) -> Guarantee | None:
    """Hold the promise against the settings of the fit, which state the budget once more."""
    if guarantee is None:
        findings.fail("Promise", "No promise that this version knows is stated.")
        return None
    try:
        stated = _stated_promise(document)
    except (*DAMAGED, ShoalError):
        findings.fail("Promise", "The settings do not say which budget was given.")
        return None
    if stated is None:
        findings.leave("Promise", "The settings state no budget: it was paid by another release.")
        return None
    findings.check(
        is_kept(guarantee, stated),
        "Promise",
        f"The settings of the fit give the same: {promise(stated).name}.",
        f"It states {unmarked(guarantee)}, and the settings of the fit {stated}.",
    )
    return stated


def _check_bounds(document: Mapping[str, Any], findings: Findings) -> None:
    """Say that rows were moved to the bounds, which only an accepted fit may do in numbers."""
    moved = moved_rows(document)
    if moved is not None:
        findings.check(
            document.get("settings", {}).get("clipping") == "accept",
            "Bounds",
            f"The release says it, and its settings that this was accepted: {moved}",
            "Many rows were moved to the bounds, and the settings say that such a fit stops.",
        )


def _stated_promise(document: Mapping[str, Any]) -> Guarantee | None:
    """Return the promise that the settings of a fit imply, or None if they name no budget."""
    from shoal.cluster.local import mechanism_of
    from shoal.privacy import LocalDP

    settings = document["settings"]
    if "mechanism" in settings:
        promised: Guarantee = mechanism_of(settings["mechanism"]).guarantee
        return promised
    if settings.get("epsilon") is None:
        return None
    if "rounds" in settings:
        return LocalDP(settings["epsilon"])
    about = {
        "neighbours": settings["neighbours"],
        "rows": settings.get("max_rows_per_person") or 1,
    }
    if settings.get("delta") is not None:
        return ApproxDP(settings["epsilon"], settings["delta"], **about)
    return PureDP(settings["epsilon"], **about)


def _check_part_promise(
    within: Mapping[str, Any], guarantee: Guarantee | None, findings: Findings
) -> None:
    """Hold the share that the cells of a model took against the whole budget."""
    if guarantee is None:
        return
    promised = read_promise(within)
    share = within.get("settings", {}).get("epsilon")
    budget = row_budget(guarantee)
    try:
        fits = share is None or budget is None or Fraction(str(share)) <= budget
    except ValueError:
        fits = False
    same = promised is not None and is_kept(promised, unmarked(guarantee))
    findings.check(
        same and fits,
        "Promise",
        f"The cells in {DOCUMENT} took {f'ε = {share}' if share else 'a part'} of it.",
        f"The share of the cells in {DOCUMENT} does not fit the promise.",
    )
    _check_noise(within, guarantee, findings)


def _check_noise(
    document: Mapping[str, Any], guarantee: Guarantee | None, findings: Findings
) -> None:
    """Hold the noise that is stated for cells against the budget: less would break the promise."""
    budget = None if guarantee is None else row_budget(guarantee)
    cells = document.get("all_cells")
    if budget is None or not isinstance(cells, Mapping) or cells.get("step") is None:
        return
    step = float(cells["step"])
    fits = 0 < step <= float(budget) * (1 + 1e-9)
    if document.get("class") == "UniformGrid" and fits:
        ratio = math.exp(-step)  # two-sided geometric noise: Pr[k] proportional to e^(-step |k|)
        fits = is_close(2 * ratio / (1 - ratio) ** 2, float(document["noise_variance"]))
    findings.check(
        fits,
        "Noise",
        f"The noise that is stated for the counts is that of ε = {step:.4g}, within the promise.",
        "The noise that is stated for the counts does not fit the promise.",
    )


def _check_model(
    folder: Path,
    document: Mapping[str, Any],
    content: Mapping[str, Any] | None,
    findings: Findings,
) -> None:
    """Load the model, draw its page again, and compute its intervals again."""
    try:
        model = load_model(folder)
    except ShoalError:
        findings.fail("Files", f"The model cannot be loaded from {folder.name or '.'}.")
        return
    if content is not None:
        _check_page_of(model, content, findings)
    if (folder / DESCRIPTION).is_file():
        _check_intervals(folder, document, findings)


def _check_page_of(model: Any, content: Mapping[str, Any], findings: Findings) -> None:
    try:
        check_redrawn(content, model, findings)
    except (*DAMAGED, ShoalError):
        findings.fail("Page", "Its numbers are not those of a page of this release.")


def _check_intervals(folder: Path, document: Mapping[str, Any], findings: Findings) -> None:
    """Compute intervals, what-if and the curve over k again from what was released."""
    from shoal.planning import describe

    if _version(document) != version("shoal"):
        findings.leave("Intervals", "Another version of shoal than this computed them.")
        return
    model = load_model(folder)
    model._computed = None  # what the folder holds is not to be taken for granted
    try:
        again = parse_json(json_text(describe(model).to_dict()))
    except ShoalError:
        findings.leave("Intervals", "They cannot be computed from what was released.")
        return
    findings.check(
        is_close(read_document(folder / DESCRIPTION), again),
        "Intervals",
        f"Computed again from what was released, they are those of {DESCRIPTION}.",
        f"Computed again from what was released, they are not those of {DESCRIPTION}.",
    )


def _check_synopsis_loads(folder: Path, is_mixed: bool, findings: Findings) -> None:
    from shoal.synopsis import MixedSynopsis

    try:
        loaded = MixedSynopsis.load(folder) if is_mixed else load_synopsis(folder)
    except ShoalError:
        findings.fail("Files", f"The synopsis cannot be loaded from {folder.name or '.'}.")
        return
    if not is_mixed:
        cells = len(loaded.cells_)
        stated = loaded.n_cells_
        findings.check(
            cells <= stated,
            "Counts",
            f"It holds the counts of {cells:,} of {stated:,} cells of the public box.",
            "It holds more cells than the public box has.",
        )
