"""WaveCluster in words: what its page says and what it prints, all from released numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.apps.cluster_methods import Asked
from shoal.apps.cluster_telling import (
    code,
    ending,
    label,
    listed,
    none_told,
    outcome,
    promised,
    without,
)
from shoal.apps.output import entry
from shoal.apps.wave_groups import WaveGroups

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.privacy import Result

__all__ = ["document", "result", "same_code", "summary"]

CHOSEN = (
    "Cells were chosen by their noisy counts, so numbers of rows lean high, in small groups "
    "most; and a group of few cells may be noise."
)
PROOFS = {
    "block": "block.proof.md",
    "privqt": "privqt.proof.md",
    "privthr": "privthr.proof.md",
    "privthrem": "privthrem.proof.md",
    "baseline": "baseline.proof.md",
}
MOST_LISTED = 40
_IN_TERMINAL = 12
_IN_LINE = 4  # columns whose two ends fit a line of a terminal


def result(model: Any, asked: Asked) -> "Result":
    """The release as a page wants it: words and settings public, the rest released."""
    from shoal.apps.wave_maps import maps
    from shoal.privacy import Public, Released, Result

    groups, fitted = WaveGroups(model), model.to_result()
    told = label(
        asked,
        groups.guarantee,
        title=asked.title or f"{_headed(groups)} by {listed(asked.box.names)}",
        method="WaveCluster",
        algorithm=model.method,
        evidence=f"proofs beside the code: {PROOFS[model.method]} and those it names",
        code=same_code(asked, model),
    )
    released = {
        "summary": f"{_found(groups)} Every count carries noise, so one {_one(groups)} more or "
        "less changes little of what you see.",
        "facts": _facts(groups),
        "figures": maps(groups),
        "tables": [_table(groups)] if groups.k else [],
        "errors": _errors(groups, asked),
    }
    settings = {name: leaf for name, leaf in fitted.settings.items() if leaf.value is not None}
    # Cells and tree are files of their own, and drawn.
    rest = without(fitted.released, "noisy_counts_", "cell_labels_", "cell_keys_", "tree_")
    return Result(
        fitted.kind,
        fitted.guarantee,
        settings | {name: Public(value) for name, value in told.items()},
        rest | {name: Released(value) for name, value in released.items()},
    )


def document(model: Any, asked: Asked, files: Sequence[Path]) -> dict[str, Any]:
    """What ``--json`` prints."""
    groups = WaveGroups(model)
    return outcome(asked, files, groups.guarantee) | {
        "n_clusters": groups.k,
        "groups_told": sum(groups.told),
        "counted": groups.unit,
        "rows_about": groups.model.n_rows_,
        "rows_within_95_in_100": groups.model.n_rows_within_,
        "rows_told": groups.model.rows_told_,
        "rows_outside_about": groups.outside,
        "cells_an_axis": list(model.grid_.shape),
        "groups": [_told(groups, i) for i in range(groups.k)],
    }


def summary(model: Any, asked: Asked, files: Sequence[Path]) -> list["RenderableType"]:
    """What a terminal shows: promised, found, where it is, and what next."""
    groups = WaveGroups(model)
    short = any(groups.told) and len(groups.names) <= _IN_LINE
    return [
        *promised(groups.guarantee),
        entry("Found", _found(groups)),
        *([_printed(groups)] if short else []),
        *ending(asked, files),
    ]


def same_code(asked: Asked, model: Any) -> str:
    """Python that does the same with a table of one's own."""
    own = {
        "method": None if model.method == "block" else model.method,
        "cells": None if isinstance(model.cells, str) else model.cells,
        "level": model.level or None,
        "wavelet": None if model.wavelet == "haar" else model.wavelet,
        "selector": model.selector,
    }
    return code(asked, "WaveCluster", "", **own)


def _told(groups: WaveGroups, i: int) -> dict[str, Any]:
    low, high = groups.model.boxes_[i].tolist()
    return {
        "box": {n: list(ends) for n, *ends in zip(groups.names, low, high, strict=True)},
        "cells": groups.cells[i],
        "rows_about": groups.sizes[i],
        "noise_deviation": groups.noise and groups.noise[i],
        "told": groups.told[i],
        "noise_reach": float(groups.model.size_reach_[i]),
    }


def _count(groups: WaveGroups) -> str:
    return "1 group" if groups.k == 1 else f"{groups.k or 'No'} groups"


def _headed(groups: WaveGroups) -> str:
    return f"{_count(groups)} of any shape" if any(groups.told) else "No groups can be told"


def _one(groups: WaveGroups) -> str:
    return "person" if groups.unit == "people" else "row"


def _found(groups: WaveGroups) -> str:
    if not any(groups.told):
        return none_told(groups.model)
    rest = f"; about {groups.outside:,} are in none" if groups.outside else ""
    missed = groups.told.count(False)
    untold = f" {missed} of the groups cannot be told from nobody." if missed else ""
    return f"About {sum(groups.sizes):,} {groups.unit} in {_count(groups)}{rest}.{untold}"


def _facts(groups: WaveGroups) -> list[dict[str, str]]:
    unit = groups.unit.capitalize()
    facts = [
        {"name": "Groups", "value": str(groups.k), "detail": "cells that stand out and touch"},
        {"name": f"{unit} in groups, about", "value": f"{sum(groups.sizes):,}"}
        | {"detail": "noisy counts of their cells, added up"},
    ]
    if groups.outside:
        told = "spread too thinly to be told from noise"
        facts.append(
            {"name": f"{unit} in none, about", "value": f"{groups.outside:,}", "detail": told}
        )
    return facts


def _table(groups: WaveGroups) -> dict[str, Any]:
    shown, most = groups.names[:8], min(groups.k, MOST_LISTED)
    rows = [
        [f"Group {i + 1}", *groups.sides(i)[: len(shown)], f"{groups.cells[i]:,}",
         groups.counted(i)]
        for i in range(most)
    ]  # fmt: skip
    note = "The smallest box that holds all cells of a group; a group need not fill it."
    if groups.noise is not None:
        note += " ± is the noise in that many cells, one standard deviation."
    if not all(groups.told):
        note += " (not told): noise alone may count as many where nobody is."
    if most < groups.k:
        note += f" The other {groups.k - most} groups are in cells.parquet."
    columns = ["Group", *shown, "Cells", f"{groups.unit.capitalize()}, about"]
    told = {"title": "Where the groups lie", "columns": columns, "rows": rows}
    return told | {"marked": True, "note": note}


def _errors(groups: WaveGroups, asked: Asked) -> list[str]:
    shape = " x ".join(str(cells) for cells in groups.model.grid_.shape)
    said = [
        f"Nothing finer than a cell is seen, of {shape}; shapes have steps for that reason.",
        "People where few others are may be in no group though they belong to one.",
        "Other people in the table would have moved the borders too.",
    ]
    if asked.entity is None:
        said.append("One row is taken as one person. Someone with several has that many times ε.")
    return [CHOSEN if any(groups.told) else none_told(groups.model), *said]


def _printed(groups: WaveGroups) -> "RenderableType":
    """The groups as a table for terminals."""
    from rich.table import Table

    from shoal.figures.text import clean

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "Group", *map(clean, groups.names), f"{groups.unit.capitalize()}, about"):
        at_left = name in ("", "Group")
        table.add_column(name, justify="left" if at_left else "right", overflow="fold")
    for i in range(min(groups.k, _IN_TERMINAL)):
        table.add_row(" " * 8, str(i + 1), *groups.sides(i), groups.counted(i))
    if groups.k > _IN_TERMINAL:
        table.add_row("", f"and {groups.k - _IN_TERMINAL} more")
    return table
