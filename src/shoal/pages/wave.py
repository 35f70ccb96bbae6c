"""Build the page of a WaveCluster model, from released numbers only."""

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.totals import whole_shares
from shoal.cluster.wave.figure import branches, densest_cells
from shoal.errors import quantity
from shoal.figures import cluster_map
from shoal.figures.text import count_decimals, format_number
from shoal.pages.cluster_parts import (
    count_text,
    estimator_code,
    exact_promise_lines,
    has_no_entity,
    no_group_text,
    promise_values,
    release_settings,
    unit_of,
    without_values,
)
from shoal.pages.page import Fact, Line, Page, Table, name_list

if TYPE_CHECKING:
    from shoal.cluster.intervals.result import Intervals
    from shoal.domain import Box
    from shoal.figures import ClusterMap
    from shoal.privacy import Guarantee

__all__ = ["WaveGroups", "code", "maps", "page"]

CHOSEN = (
    "Cells were chosen by their noisy counts, so row counts tend to be too high, most of "
    "all in small groups; and a group of few cells may be noise."
)
NOT_TOLD = "(uncertain): noise alone may count as many where nobody is."
UNSTABLE = "unstable"
INTERVALS_NOTE = (
    "Nine in ten of the intervals hold how many lie in the cells of a group, as far as the "
    "released grid, noised again, tells."
)
UNSTABLE_NOTE = (
    "When the grid is noised again, an unstable group is not found: it may be made of noise."
)
PAGE_GROUPS = 40  # listed on a page at most
PAGE_COLUMNS = 8  # whose two ends fit a page
LINE_GROUPS = 12  # listed in a terminal at most
LINE_COLUMNS = 4  # whose two ends fit a line of a terminal
MAPS = 3  # pairs of columns to draw at most
MAP_SIDE = 1024  # parts of a map's side at most


class WaveGroups:
    """How many rows each group holds, where it lies, and what noise leaves uncertain.

    Only released numbers of a fitted ``WaveCluster`` are read. Group i is label i - 1 of
    ``predict``.

    Parameters
    ----------
    model
        A fitted ``WaveCluster``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.guarantee: Guarantee = model.guarantee_
        self.box: Box = model.grid_.box
        self.names: tuple[str, ...] = self.box.names
        self.k: int = model.n_clusters_
        self.unit = unit_of(model)
        # Whole numbers that add up to all rows: of each group, and of none.
        shares = [*model.cluster_sizes_, model.rows_outside_]
        *self.sizes, self.outside = whole_shares(shares, model.n_rows_)
        self.certain = [bool(each) for each in model.groups_told_]  # told from nobody
        self.cells = [int((model.cell_labels_ == i).sum()) for i in range(self.k)]
        self.intervals: Intervals = model.intervals_

    @property
    def noise(self) -> list[int] | None:
        """The standard deviation of the noise in each size, if it is known.

        It is that of cells chosen beforehand. These cells were chosen by their noisy counts, so
        sizes are also biased upwards, most in small groups.
        """
        variance = self.model._noisy.variance
        if not (variance and self.model._transform.is_blocks):
            return None
        return [math.ceil(math.sqrt(cells * variance)) for cells in self.cells]

    def sides(self, group: int) -> list[str]:
        """Return where the smallest box around a group begins and ends, along each column.

        Parameters
        ----------
        group
            The number of the group, from 0.
        """
        low, high = self.model.boxes_[group]
        steps = (self.box.high - self.box.low) / self.model.grid_.shape
        each = zip(low.tolist(), high.tolist(), steps.tolist(), strict=True)
        return [
            " to ".join(format_number(end, count_decimals(step)) for end in (first, last))
            for first, last, step in each
        ]

    def size_text(self, group: int) -> str:
        """Format ``1,230 (1,150 to 1,310)``; marked if the group is unstable or may be empty.

        Without intervals, ``1,230 ± 45`` has the noise of its cells, where that is known.

        Parameters
        ----------
        group
            The number of the group, from 0.
        """
        size, mark = f"{self.sizes[group]:,}", "" if self.certain[group] else " (uncertain)"
        if self.intervals.missing is None:
            return f"{size} ({self._interval_text(group)}){mark}"
        return f"{size}{mark}" if self.noise is None else f"{size} ± {self.noise[group]:,}{mark}"

    def _interval_text(self, group: int) -> str:
        low, high = self.intervals.sizes_low[group], self.intervals.sizes_high[group]
        if math.isnan(low):
            return UNSTABLE
        return f"{math.floor(low):,} to {math.ceil(high):,}"


def page(model: Any, *, title: str | None = None, publisher: str | None = None) -> Page:
    """Build the page of a fitted ``WaveCluster``.

    Parameters
    ----------
    model
        A fitted ``WaveCluster``.
    title
        Of the page; None names groups and columns.
    publisher
        Who publishes it.
    """
    groups, result = WaveGroups(model), model.to_result()
    counted = _counted(groups)
    heading = f"{count_text(groups.k)} of any shape"
    if not any(groups.certain):
        heading = "No clear groups"
    settings = release_settings(
        groups.box,
        groups.guarantee,
        publisher,
        title=title or f"{heading} by {name_list(groups.names)}",
        method="WaveCluster",
        algorithm=model.method,
        evidence="proofs beside the code: release_methods.proof.md and those it names",
        code=code(model),
    )
    given = {name: leaf for name, leaf in result.settings.items() if leaf.value is not None}
    # Cells and tree are files of their own, and drawn.
    shown = without_values(result, "noisy_counts_", "cell_labels_", "cell_keys_", "tree_")
    return Page(
        result=replace(shown, settings=given),
        settings=settings,
        summary=f"{counted} Every count carries noise, so one {_one(groups)} more or less changes "
        "little of what you see.",
        facts=_facts(groups),
        figures=maps(groups),
        tables=[_table(groups)] if groups.k else [],
        limits=_limits(groups),
        lines=_lines(groups, counted),
        values=_values(groups),
    )


def code(model: Any) -> str:
    """Return Python code that does the same with a table of one's own.

    Parameters
    ----------
    model
        A fitted ``WaveCluster``.
    """
    own = {
        "method": None if model.method == "block" else model.method,
        "cells": None if isinstance(model.cells, str) else model.cells,
        "level": model.level or None,
        "wavelet": None if model.wavelet == "haar" else model.wavelet,
        "selector": model.selector,
    }
    return estimator_code(model, "", **own)


def _lines(groups: WaveGroups, counted: str) -> list[Line | Table]:
    """Return what a terminal shows: the promise, and the groups."""
    fits = any(groups.certain) and len(groups.names) <= LINE_COLUMNS
    return [
        *exact_promise_lines(groups.guarantee),
        Line("Found", counted),
        *([_short_table(groups)] if fits else []),
    ]


def _values(groups: WaveGroups) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    model = groups.model
    return promise_values(groups.guarantee) | {
        "n_clusters": groups.k,
        "groups_told": sum(groups.certain),
        "counted": groups.unit,
        "rows_about": model.n_rows_,
        "rows_within_95_in_100": model.n_rows_within_,
        "rows_told": model.rows_told_,
        "interval_rate": groups.intervals.rate,
        "rows_interval": [groups.intervals.total_low, groups.intervals.total_high],
        "rows_outside_about": groups.outside,
        "cells_an_axis": list(model.grid_.shape),
        "groups": [_group_values(groups, i) for i in range(groups.k)],
    }


def _group_values(groups: WaveGroups, i: int) -> dict[str, Any]:
    low, high = groups.model.boxes_[i].tolist()
    intervals, unstable = groups.intervals, bool(groups.intervals.unstable[i])
    ends = [float(intervals.sizes_low[i]), float(intervals.sizes_high[i])]
    return {
        "box": {n: list(ends) for n, *ends in zip(groups.names, low, high, strict=True)},
        "cells": groups.cells[i],
        "rows_about": groups.sizes[i],
        "rows_interval": None if unstable else ends,
        "stable": None if intervals.missing is not None else not unstable,
        "noise_deviation": groups.noise and groups.noise[i],
        "told": groups.certain[i],
        "noise_reach": float(groups.model.size_reach_[i]),
    }


def _one(groups: WaveGroups) -> str:
    return "person" if groups.unit == "people" else "row"


def _counted(groups: WaveGroups) -> str:
    """Return the sentence about how many rows are in groups, and in none."""
    if not any(groups.certain):
        return no_group_text(groups.model)
    rest = f"; about {groups.outside:,} are in none" if groups.outside else ""
    missed = groups.certain.count(False)
    uncertain = f" {missed} of the groups cannot be told from nobody." if missed else ""
    rows = f"About {quantity(sum(groups.sizes), _one(groups), groups.unit)}"
    return f"{rows} in {count_text(groups.k)}{rest}.{uncertain}"


def _facts(groups: WaveGroups) -> list[Fact]:
    unit = groups.unit.capitalize()
    counts = "noisy counts of their cells, added up"
    facts = [
        Fact("Groups", str(groups.k), "cells that stand out and touch"),
        Fact(f"{unit} in groups, about", f"{sum(groups.sizes):,}", counts),
    ]
    if groups.outside:
        thin = "spread too thinly to be told from noise"
        facts.append(Fact(f"{unit} in none, about", f"{groups.outside:,}", thin))
    return facts


def _table(groups: WaveGroups) -> Table:
    shown, most = groups.names[:PAGE_COLUMNS], min(groups.k, PAGE_GROUPS)
    rows = [
        [f"Group {i + 1}", *groups.sides(i)[: len(shown)], f"{groups.cells[i]:,}",
         groups.size_text(i)]
        for i in range(most)
    ]  # fmt: skip
    note = "The smallest box that holds all cells of a group; a group need not fill it."
    if groups.intervals.missing is None:
        note += f" {INTERVALS_NOTE}"
        if groups.intervals.unstable.any():
            note += f" {UNSTABLE_NOTE}"
    elif groups.noise is not None:
        note += " ± is the noise in that many cells, one standard deviation."
    if not all(groups.certain):
        note += f" {NOT_TOLD}"
    if most < groups.k:
        note += (
            f" {quantity(groups.k - most, 'more group is', 'more groups are')} in cells.parquet."
        )
    columns = ["Group", *shown, "Cells", f"{groups.unit.capitalize()}, about"]
    return Table("Where the groups lie", columns, rows, marked=True, note=note)


def _short_table(groups: WaveGroups) -> Table:
    """Return a narrower table for terminals."""
    rows = [
        [f"Group {i + 1}", *groups.sides(i), groups.size_text(i)]
        for i in range(min(groups.k, LINE_GROUPS))
    ]
    if groups.k > LINE_GROUPS:
        rows.append([f"and {groups.k - LINE_GROUPS} more"])
    columns = ["Group", *groups.names, f"{groups.unit.capitalize()}, about"]
    return Table("Where the groups lie", columns, rows, marked=True)


def _limits(groups: WaveGroups) -> list[str]:
    """Return what the groups do not say, and how far they may be off."""
    shape = " x ".join(str(cells) for cells in groups.model.grid_.shape)
    limits = [
        f"Nothing finer than a cell of the {shape} grid can be seen, so shapes have steps.",
        "People where few others are may be in no group though they belong to one.",
        "Other people in the table would have moved the borders too.",
    ]
    if has_no_entity(groups.model):
        limits.append("One row is taken as one person. Someone with several has that many times ε.")
    return [CHOSEN if any(groups.certain) else no_group_text(groups.model), *limits]


def maps(groups: WaveGroups) -> list["ClusterMap"]:
    """Draw a map of each pair of columns, those with the most distant groups first.

    Parameters
    ----------
    groups
        The groups.
    """
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
    at, model = list(pair), groups.model
    names = [groups.names[i] for i in at]
    some = "" if groups.box.d == 2 else "; each place shows its largest group"
    tree = first and model.tree_ is not None
    return cluster_map(
        _projection(model, at),
        names=names,
        low=groups.box.low[at],
        high=groups.box.high[at],
        sizes=groups.sizes,
        centers=densest_cells(model)[:, at],
        branches=branches(model.tree_, model.cell_labels_) if tree else (),
        title=f"Groups of cells by {names[0]} and {names[1]}{some}",
        of=groups.unit,
    )


def _projection(model: Any, at: list[int]) -> NDArray[np.int64]:
    """Return, on a grid of two columns, the group with most rows over each place; -1 for none."""
    lookup = model._lookup
    inside = np.flatnonzero(model.cell_labels_ >= 0)
    keys = inside if model.cell_keys_ is None else model.cell_keys_[inside]
    places = np.unravel_index(keys, lookup.shape)
    sides = [lookup.shape[i] for i in at]
    shape = [min(side, MAP_SIDE) for side in sides]
    # A side of more cells than a screen has dots is drawn in fewer, even parts.
    drawn = [
        places[i] if side == parts else (places[i] / side * parts).astype(np.int64)
        for i, side, parts in zip(at, sides, shape, strict=True)
    ]
    projected = _largest(model, inside, np.ravel_multi_index(drawn, shape), shape[0] * shape[1])
    if shape != sides:
        return projected.reshape(shape)
    edges = [lookup.transform.places(i) for i in at]
    return projected.reshape(shape)[np.ix_(*edges)]  # cell by cell, whatever the transform made


def _largest(
    model: Any, inside: NDArray[np.int64], flat: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Return, for each place, the group with most rows over it."""
    pair = flat * max(model.n_clusters_, 1) + model.cell_labels_.ravel()[inside]
    pairs, which = np.unique(pair, return_inverse=True)
    people = np.bincount(which, weights=model.noisy_counts_.ravel()[inside])
    place, label = np.divmod(pairs, max(model.n_clusters_, 1))
    projected = np.full(size, -1, dtype=np.int64)
    order = np.argsort(people, kind="stable")
    projected[place[order]] = label[order]  # the last written has most people
    return projected
