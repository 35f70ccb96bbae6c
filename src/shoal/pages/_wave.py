"""Build the page of a WaveCluster model, from released numbers only."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.totals import whole_shares
from shoal.cluster.wave import branches, densest_cells
from shoal.errors import quantity
from shoal.figures import cell_map, cluster_map
from shoal.figures.text import count_decimals, format_number
from shoal.pages._cluster_parts import (
    ROW_IS_PERSON,
    USUAL_FILES,
    CodeFiles,
    count_text,
    estimator_code,
    exact_promise_lines,
    has_no_person_column,
    no_group_text,
    promise_values,
    release_settings,
    unit_of,
    without_values,
)
from shoal.pages._groups import (
    CARD_ROWS,
    TITLES_NOTE,
    UNSTABLE_ROWS,
    Card,
    Groups,
    column_texts,
    replace_titles,
    title_columns,
)
from shoal.pages._numeric_profiles import NumericProfiles
from shoal.pages.page import Fact, Line, Page, Table

if TYPE_CHECKING:
    from shoal.cluster.intervals import Intervals
    from shoal.domain import Box
    from shoal.figures import CellMap, ClusterMap
    from shoal.privacy import Guarantee


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
DENSITY_SIDE = 96  # of the map of counts


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
        self.columns = column_texts(model.domain, self.names)
        self.k: int = model.n_clusters_
        self.unit = unit_of(model)
        # Whole numbers that add up to all rows: of each group, and of none.
        shares = [*model.cluster_sizes_, model.rows_outside_]
        *self.sizes, self.outside = whole_shares(shares, model.n_rows_)
        self.certain = [bool(each) for each in model.is_certain_]
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


def page(
    model: Any,
    *,
    title: str | None = None,
    publisher: str | None = None,
    names: Sequence[str] | None = None,
    files: CodeFiles = USUAL_FILES,
) -> Page:
    """Build the page of a fitted ``WaveCluster``.

    Parameters
    ----------
    model
        A fitted ``WaveCluster``.
    title
        Of the page; None names groups and columns.
    names
        The publisher's name of each group; None makes titles of what stands out.
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
        title=title or f"{heading} by {title_columns(groups.columns)}",
        method="WaveCluster",
        algorithm=model.variant,
        evidence="proofs beside the code: release_methods.proof.md and those it names",
        code=code(model, files),
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
        figures=_figures(groups),
        tables=[_table(groups)] if groups.k else [],
        limits=_limits(groups),
        groups=_cards(groups, names) if groups.k else None,
        lines=_lines(groups, counted),
        values=_values(groups),
        is_distinct=any(groups.certain),
    )


def _figures(groups: WaveGroups) -> list["CellMap | ClusterMap"]:
    """Return the map of the groups over the whole width, how many lie where, and further maps."""
    drawn = maps(groups)
    return [*drawn[:1], *densities(groups), *drawn[1:]]


def _cards(groups: WaveGroups, names: Sequence[str] | None) -> Groups:
    """Return a card for each group: its average beside everyone's, and how far it reaches."""
    box, boxes = groups.box, np.asarray(groups.model.boxes_, dtype=np.float64)
    means = _means(groups)
    profiles = NumericProfiles(
        groups.columns,
        np.stack([box.low, box.high]),
        means,
        boxes[:, 0],
        boxes[:, 1],
        np.average(means, axis=0, weights=np.asarray(groups.sizes, dtype=np.float64) + 1e-9),
        reaches=True,
    )
    titles = replace_titles(profiles.titles(), names)
    more = "" if groups.k <= PAGE_GROUPS else f" The largest {PAGE_GROUPS} groups are shown."
    return Groups(
        cards=[_card(groups, profiles, i, titles[i]) for i in range(min(groups.k, PAGE_GROUPS))],
        unit=groups.unit,
        interval="from the first to the last cell of the group",
        note=(TITLES_NOTE if names is None else "The publisher named the groups.") + more,
    )


def _card(groups: WaveGroups, profiles: NumericProfiles, i: int, title: str) -> Card:
    low, high = groups.intervals.sizes_low[i], groups.intervals.sizes_high[i]
    tried = groups.intervals.missing is None
    stable = not tried or not math.isnan(low)
    known = tried and stable
    return Card(
        number=i + 1,
        title=title if stable else f"Perhaps {title[:1].lower()}{title[1:]}",
        size=groups.sizes[i],
        low=math.floor(low) if known else None,
        high=math.ceil(high) if known else None,
        rows=profiles.rows(i, CARD_ROWS if stable else UNSTABLE_ROWS),
        warning="" if stable else UNSTABLE_NOTE,
    )


def _means(groups: WaveGroups) -> Floats:
    """Return the average of each group's cells, by their noisy counts."""
    model, lookup = groups.model, groups.model._lookup
    inside = np.flatnonzero(model.cell_labels_ >= 0)
    keys = inside if model.cell_keys_ is None else model.cell_keys_[inside]
    labels = model.cell_labels_.ravel()[inside]
    weights = np.maximum(model.noisy_counts_.ravel()[inside], 0) + 1e-9
    places = np.unravel_index(keys, lookup.shape)
    shares = np.column_stack([(at + 0.5) / side for at, side in zip(places, lookup.shape,
                                                                    strict=True)])  # fmt: skip
    total = np.bincount(labels, weights, groups.k)
    sums = np.column_stack([np.bincount(labels, weights * each, groups.k) for each in shares.T])
    return np.asarray(groups.box.low + sums / total[:, None] * (groups.box.high - groups.box.low))


def code(model: Any, files: CodeFiles = USUAL_FILES) -> str:
    """Return Python code that does the same with a table of one's own.

    Parameters
    ----------
    model
        A fitted ``WaveCluster``.
    """
    own = {
        "variant": None if model.variant == "block" else model.variant,
        "cells": None if isinstance(model.cells, str) else model.cells,
        "level": model.level or None,
        "wavelet": None if model.wavelet == "haar" else model.wavelet,
        "selector": model.selector,
    }
    return estimator_code(model, "", files, **own)


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
        "certain_groups": sum(groups.certain),
        "counted": groups.unit,
        "rows_about": model.n_rows_,
        "rows_within_95_in_100": model.n_rows_within_,
        "rows_detected": model.rows_detected_,
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
        "noise_reach": float(groups.model.noise_sizes_[i]),
    }


def _one(groups: WaveGroups) -> str:
    return "person" if groups.unit == "people" else "row"


def _counted(groups: WaveGroups) -> str:
    """Return the sentence about how many rows are in groups, and in none."""
    if not any(groups.certain):
        return no_group_text(groups.model)
    rest = f"; about {groups.outside:,} are in none" if groups.outside else ""
    missed = groups.certain.count(False)
    uncertain = f" {missed} of the groups cannot be distinguished from noise." if missed else ""
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
        thin = "spread too thinly to be distinguished from noise"
        facts.append(Fact(f"{unit} in none, about", f"{groups.outside:,}", thin))
    return facts


def _table(groups: WaveGroups) -> Table:
    most = min(groups.k, PAGE_GROUPS)
    shown = [column.axis for column in groups.columns[:PAGE_COLUMNS]]
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
    columns = [
        "Group",
        *(each.axis for each in groups.columns),
        f"{groups.unit.capitalize()}, about",
    ]
    return Table("Where the groups lie", columns, rows, marked=True)


def _limits(groups: WaveGroups) -> list[str]:
    """Return what the groups do not say, and how far they may be off."""
    shape = " x ".join(str(cells) for cells in groups.model.grid_.shape)
    limits = [
        f"Nothing finer than a cell of the {shape} grid can be seen, so shapes have steps.",
        "People where few others are may be in no group though they belong to one.",
        "Other people in the table would have moved the borders too.",
    ]
    if has_no_person_column(groups.model):
        limits.append(ROW_IS_PERSON)
    return [CHOSEN if any(groups.certain) else no_group_text(groups.model), *limits]


def maps(groups: WaveGroups) -> list["ClusterMap"]:
    """Draw a map of each pair of columns, those with the most distant groups first."""
    return [_map(groups, pair, first=not i) for i, pair in enumerate(_pairs(groups))]


def densities(groups: WaveGroups) -> list["CellMap"]:
    """Draw how many lie where, over the pair of columns with the most distant groups."""
    return [_density(groups, list(pair)) for pair in _pairs(groups)[:1]]


def _density(groups: WaveGroups, at: list[int]) -> "CellMap":
    names = [groups.columns[i].axis for i in at]
    return cell_map(
        _projected_counts(groups.model, at),
        names=names,
        low=groups.box.low[at],
        high=groups.box.high[at],
        title=f"How many lie where, by {_pair_text(groups, at)}: noisy counts of the released "
        "cells",
        centers=densest_cells(groups.model)[:, at],
        of=groups.unit,
    )


def _projected_counts(model: Any, at: list[int]) -> Integers:
    """Return the released counts added up over all columns but two."""
    lookup = model._lookup
    counts = np.rint(model.noisy_counts_.ravel()).astype(np.int64)
    keys = np.arange(counts.size) if model.cell_keys_ is None else model.cell_keys_
    places = np.unravel_index(keys, lookup.shape)
    sides = [lookup.shape[i] for i in at]
    parts = [min(side, DENSITY_SIDE) for side in sides]
    drawn = [(places[i] * part) // side for i, side, part in zip(at, sides, parts, strict=True)]
    flat = np.ravel_multi_index(drawn, parts)
    added = np.bincount(flat, weights=counts, minlength=parts[0] * parts[1])
    return np.rint(added).astype(np.int64).reshape(parts)


def _pair_text(groups: WaveGroups, at: list[int]) -> str:
    return " and ".join(groups.columns[i].within for i in at)


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
    names = [groups.columns[i].axis for i in at]
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
        title=f"Groups of cells by {_pair_text(groups, at)}{some}",
        of=groups.unit,
    )


def _projection(model: Any, at: list[int]) -> Integers:
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


def _largest(model: Any, inside: Integers, flat: Integers, size: int) -> Integers:
    """Return, for each place, the group with most rows over it."""
    pair = flat * max(model.n_clusters_, 1) + model.cell_labels_.ravel()[inside]
    pairs, which = np.unique(pair, return_inverse=True)
    people = np.bincount(which, weights=model.noisy_counts_.ravel()[inside])
    place, label = np.divmod(pairs, max(model.n_clusters_, 1))
    projected = np.full(size, -1, dtype=np.int64)
    order = np.argsort(people, kind="stable")
    projected[place[order]] = label[order]  # the last written has most people
    return projected
