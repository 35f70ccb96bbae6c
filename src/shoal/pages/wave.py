"""WaveCluster in words: what its page says and what it prints, all from released numbers.

The groups of any shape that a model released, as pages and terminals tell of them.

Maps of released groups of cells, two columns at a time.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.inputs.clustering import Options
from shoal.cli.output import entry
from shoal.pages.cluster import (
    code,
    ending,
    label,
    listed,
    none_told,
    outcome,
    promised,
    unit_of,
    without,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from shoal.figures import ClusterMap
    from shoal.privacy import Guarantee, Result

__all__ = [
    "WaveGroups",
    "document",
    "maps",
    "result",
    "same_code",
    "summary",
]

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

MAPS = 3  # pairs of columns to draw at most
MOST_SIDE = 1024  # parts of a map's side


class WaveGroups:
    """How many rows each group holds, where it lies, and what noise leaves unsure.

    Everything here is read off a fitted ``WaveCluster``. Group i is label i - 1 of ``predict``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.guarantee: Guarantee = model.guarantee_
        self.box = model.grid_.box
        self.names: tuple[str, ...] = self.box.names
        self.k: int = model.n_clusters_
        self.unit = unit_of(model)

    @cached_property
    def sizes(self) -> list[int]:
        """About how many belong to each group."""
        return self._shares[:-1]

    @property
    def outside(self) -> int:
        """About how many belong to no group."""
        return self._shares[-1]

    @property
    def told(self) -> list[bool]:
        """Whether each group can be told from nobody."""
        return [bool(each) for each in self.model.groups_told_]

    @cached_property
    def _shares(self) -> list[int]:
        """Whole numbers of rows of the groups and of none, which add up to all rows."""
        from shoal.cluster.totals import whole_shares

        model = self.model
        return whole_shares([*model.cluster_sizes_, model.rows_outside_], model.n_rows_)

    @cached_property
    def cells(self) -> list[int]:
        """Of how many cells each is made."""
        labels = self.model.cell_labels_
        return [int((labels == i).sum()) for i in range(self.k)]

    @cached_property
    def noise(self) -> list[int] | None:
        """The standard deviation of what noise added to each size, if it is known.

        That of cells chosen beforehand; these were chosen by their noisy counts, so the numbers
        lean high as well, most in small groups.
        """
        variance = self.model._noisy.variance
        if not (variance and self.model._transform.is_blocks):
            return None
        return [math.ceil(math.sqrt(cells * variance)) for cells in self.cells]

    def sides(self, group: int) -> list[str]:
        """Where the smallest box around a group begins and ends, along each column."""
        from shoal.figures.text import number, places

        low, high = self.model.boxes_[group]
        steps = (self.box.high - self.box.low) / self.model.grid_.shape
        each = zip(low.tolist(), high.tolist(), steps.tolist(), strict=True)
        return [
            " to ".join(number(end, places(step)) for end in (first, last))
            for first, last, step in each
        ]

    def counted(self, group: int) -> str:
        """``1,230 ± 45``, or the number alone; marked if that may be nobody."""
        size, mark = f"{self.sizes[group]:,}", "" if self.told[group] else " (not told)"
        return f"{size}{mark}" if self.noise is None else f"{size} ± {self.noise[group]:,}{mark}"


def result(model: Any, asked: Options) -> "Result":
    """The release as a page wants it: words and settings public, the rest released."""
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


def document(model: Any, asked: Options, files: Sequence[Path]) -> dict[str, Any]:
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


def summary(model: Any, asked: Options, files: Sequence[Path]) -> list["RenderableType"]:
    """What a terminal shows: promised, found, where it is, and what next."""
    groups = WaveGroups(model)
    short = any(groups.told) and len(groups.names) <= _IN_LINE
    return [
        *promised(groups.guarantee),
        entry("Found", _found(groups)),
        *([_printed(groups)] if short else []),
        *ending(asked, files),
    ]


def same_code(asked: Options, model: Any) -> str:
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


def _errors(groups: WaveGroups, asked: Options) -> list[str]:
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


def maps(groups: WaveGroups) -> list["ClusterMap"]:
    """A map of each pair of columns, those first along which the groups lie apart most."""
    return [_map(groups, pair, first=not i) for i, pair in enumerate(_pairs(groups))]


def _pairs(groups: WaveGroups) -> list[tuple[int, int]]:
    box = groups.box
    if box.distance_unit == "km":
        return [(1, 0)]  # longitude across
    middles = groups.model.boxes_.mean(axis=1) / (box.high - box.low)
    spread = middles.std(axis=0) if groups.k else [0.0] * box.d
    pairs = combinations(range(box.d), 2)
    return sorted(pairs, key=lambda pair: -spread[pair[0]] * spread[pair[1]])[:MAPS]


def _map(groups: WaveGroups, pair: tuple[int, int], first: bool) -> "ClusterMap":
    from shoal.cluster.wave.fitted import branches, densest
    from shoal.figures import cluster_map

    at, model = list(pair), groups.model
    names = [groups.names[i] for i in at]
    some = "" if groups.box.d == 2 else "; each place shows its largest group"
    tree = first and model.tree_ is not None
    return cluster_map(
        _shadow(model, at),
        names=names,
        low=groups.box.low[at],
        high=groups.box.high[at],
        sizes=groups.sizes,
        centers=densest(model)[:, at],
        branches=branches(model.tree_, model.cell_labels_) if tree else (),
        title=f"Groups of cells by {names[0]} and {names[1]}{some}",
        of=groups.unit,
    )


def _shadow(model: Any, at: list[int]) -> "NDArray[np.int64]":
    """On a grid of two columns, the group with most people over each place; -1 for none."""
    import numpy as np

    lookup = model._lookup
    inside = np.flatnonzero(model.cell_labels_ >= 0)
    keys = inside if model.cell_keys_ is None else model.cell_keys_[inside]
    places = np.unravel_index(keys, lookup.shape)
    sides = [lookup.shape[i] for i in at]
    shape = [min(side, MOST_SIDE) for side in sides]
    # A side of more cells than a screen has dots is drawn in fewer, even parts.
    drawn = [
        places[i] if side == parts else (places[i] / side * parts).astype(np.int64)
        for i, side, parts in zip(at, sides, shape, strict=True)
    ]
    shadow = _largest(model, inside, np.ravel_multi_index(drawn, shape), shape[0] * shape[1])
    if shape != sides:
        return shadow.reshape(shape)
    edges = [lookup.transform.places(i) for i in at]
    return shadow.reshape(shape)[np.ix_(*edges)]  # cell by cell, whatever the transform made


def _largest(
    model: Any, inside: "NDArray[np.int64]", flat: "NDArray[np.int64]", size: int
) -> "NDArray[np.int64]":
    """For each of so many places, the group with most people over it."""
    import numpy as np

    pair = flat * max(model.n_clusters_, 1) + model.cell_labels_.ravel()[inside]
    pairs, which = np.unique(pair, return_inverse=True)
    people = np.bincount(which, weights=model.noisy_counts_.ravel()[inside])
    place, label = np.divmod(pairs, max(model.n_clusters_, 1))
    shadow = np.full(size, -1, dtype=np.int64)
    order = np.argsort(people, kind="stable")
    shadow[place[order]] = label[order]  # the last written has most people
    return shadow
