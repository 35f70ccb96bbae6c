"""The groups of a WaveCluster model: how many rows each holds, and where it lies."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.arrays import Floats
from shoal.cluster.figures import column_pairs
from shoal.cluster.group_sizes import whole_shares
from shoal.errors import quantity
from shoal.figures import cell_map, cluster_map
from shoal.figures.text import count_decimals, format_number
from shoal.pages.groups._code import estimator_code
from shoal.pages.groups._view import UNCERTAIN_NOTE, ReleasedView, count_text
from shoal.pages.page import Fact, Line, Table

if TYPE_CHECKING:
    from shoal.figures import CellMap, ClusterMap, Figure
    from shoal.privacy import Result


CHOSEN = (
    "Cells were chosen by their noisy counts, so row counts tend to be too high, most of "
    "all in small groups; and a group of few cells may be noise."
)
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


class WaveGroups(ReleasedView):
    """How many rows each group holds, where it lies, and what noise leaves uncertain."""

    method = "WaveCluster"
    proofs = "proofs beside the code: release_methods.proof.md and those it names"
    # Cells and tree are files of their own, and drawn.
    files_apart = ("noisy_counts_", "cell_labels_", "cell_keys_", "tree_")
    most_cards = PAGE_GROUPS
    has_curve = False
    unstable_warning = UNSTABLE_NOTE
    shows_reach = True
    interval_note = "from the first to the last cell of the group"
    noisy = "Every count"

    @property
    def box(self) -> Any:
        return self.model.grid_.box

    @cached_property
    def centers(self) -> Any:
        """The average of each group's cells, by their noisy counts."""
        return self.model._group_means()

    def ends(self) -> tuple[Floats, Floats]:
        """Return the first and the last cell of each group."""
        return self.model.boxes_[:, 0], self.model.boxes_[:, 1]

    @cached_property
    def _sizes_and_rest(self) -> list[int]:
        """Whole numbers that add up to all rows: of each group, and of none."""
        shares = [*self.model.cluster_sizes_, self.model.rows_outside_]
        return whole_shares(shares, self.model.n_rows_)

    @property
    def sizes(self) -> list[int]:
        return self._sizes_and_rest[:-1]

    @property
    def outside(self) -> int:
        """About how many rows belong to no group."""
        return self._sizes_and_rest[-1]

    @cached_property
    def cells(self) -> list[int]:
        """The number of cells of each group."""
        return [int((self.model.cell_labels_ == i).sum()) for i in range(self.k)]

    @cached_property
    def noise(self) -> list[int] | None:
        """The standard deviation of the noise in each size, if it is known.

        It is that of cells chosen beforehand. These cells were chosen by their noisy counts, so
        sizes are also biased upwards, most in small groups.
        """
        variance = self.model._variance_of_cells
        if variance is None:
            return None
        return [math.ceil(math.sqrt(cells * variance)) for cells in self.cells]

    def sides(self, i: int) -> list[str]:
        """Return where the smallest box around a group begins and ends, along each column."""
        low, high = self.model.boxes_[i]
        steps = (self.box.high - self.box.low) / self.model.grid_.shape
        each = zip(low.tolist(), high.tolist(), steps.tolist(), strict=True)
        return [
            " to ".join(format_number(end, count_decimals(step)) for end in (first, last))
            for first, last, step in each
        ]

    def _spread_text(self, i: int) -> str:
        """Return the interval; without intervals the noise of its cells, where that is known."""
        if self.intervals.missing is None or self.noise is None:
            return super()._spread_text(i)
        return f" ± {self.noise[i]:,}"

    @property
    def heading(self) -> str:
        return f"{super().heading} of any shape" if self.is_distinct else super().heading

    @property
    def counted(self) -> str:
        if not self.is_distinct:
            return self.no_groups
        rest = f"; about {self.outside:,} are in none" if self.outside else ""
        missed = self.certain.count(False)
        uncertain = f" {missed} of the groups cannot be distinguished from noise." if missed else ""
        rows = f"About {quantity(sum(self.sizes), self.one, self.unit)}"
        return f"{rows} in {count_text(self.k)}{rest}.{uncertain}"

    def result(self) -> "Result":
        """Return the result without settings that were not given."""
        shown = super().result()
        given = {name: leaf for name, leaf in shown.settings.items() if leaf.value is not None}
        return replace(shown, settings=given)

    def _card_title(self, i: int, title: str) -> str:
        return title if self.is_stable(i) else f"Perhaps {title[:1].lower()}{title[1:]}"

    def facts(self) -> list[Fact]:
        unit = self.unit.capitalize()
        counts = "noisy counts of their cells, added up"
        facts = [
            Fact("Groups", str(self.k), "cells that stand out and touch"),
            Fact(f"{unit} in groups, about", f"{sum(self.sizes):,}", counts),
        ]
        if self.outside:
            thin = "spread too thinly to be distinguished from noise"
            facts.append(Fact(f"{unit} in none, about", f"{self.outside:,}", thin))
        return facts

    def tables(self) -> list[Table]:
        """Return where the groups lie."""
        if not self.k:
            return []
        shown = [column.axis for column in self.columns[:PAGE_COLUMNS]]
        rows = [
            [f"Group {i + 1}", *self.sides(i)[: len(shown)], f"{self.cells[i]:,}",
             self.size_text(i)]
            for i in range(min(self.k, PAGE_GROUPS))
        ]  # fmt: skip
        columns = ["Group", *shown, "Cells", f"{self.unit.capitalize()}, about"]
        note = " ".join(self._notes())
        return [Table("Where the groups lie", columns, rows, marked=True, note=note)]

    def _notes(self) -> list[str]:
        notes = ["The smallest box that holds all cells of a group; a group need not fill it."]
        if self.intervals.missing is None:
            notes += [INTERVALS_NOTE, *([UNSTABLE_NOTE] if self.intervals.unstable.any() else [])]
        elif self.noise is not None:
            notes.append("± is the noise in that many cells, one standard deviation.")
        if not all(self.certain):
            notes.append(UNCERTAIN_NOTE)
        if (more := self.k - PAGE_GROUPS) > 0:
            notes.append(f"{quantity(more, 'more group is', 'more groups are')} in cells.parquet.")
        return notes

    def group_lines(self) -> Sequence[Line | Table]:
        """Return a narrower table, if it fits a terminal and there is a group to show."""
        if not self.is_distinct or len(self.columns) > LINE_COLUMNS:
            return []
        rows = [
            [f"Group {i + 1}", *self.sides(i), self.size_text(i)]
            for i in range(min(self.k, LINE_GROUPS))
        ]
        if self.k > LINE_GROUPS:
            rows.append([f"and {self.k - LINE_GROUPS} more"])
        axes = (each.axis for each in self.columns)
        columns = ["Group", *axes, f"{self.unit.capitalize()}, about"]
        return [Table("Where the groups lie", columns, rows, marked=True)]

    def first_limits(self) -> list[str]:
        return [CHOSEN]

    def own_limits(self) -> list[str]:
        shape = " x ".join(str(cells) for cells in self.model.grid_.shape)
        return [
            f"Nothing finer than a cell of the {shape} grid can be seen, so shapes have steps.",
            "People where few others are may be in no group though they belong to one.",
            "Other people in the table would have moved the borders too.",
        ]

    def values(self) -> dict[str, Any]:
        return self.counted_values() | {
            "rows_outside_about": self.outside,
            "cells_an_axis": list(self.model.grid_.shape),
            "groups": [self._group_values(i) for i in range(self.k)],
        }

    def _group_values(self, i: int) -> dict[str, Any]:
        low, high = self.model.boxes_[i].tolist()
        intervals, unstable = self.intervals, bool(self.intervals.unstable[i])
        ends = [float(intervals.sizes_low[i]), float(intervals.sizes_high[i])]
        return {
            "box": {n: list(ends) for n, *ends in zip(self.box.names, low, high, strict=True)},
            "cells": self.cells[i],
            "rows_about": self.sizes[i],
            "rows_interval": None if unstable else ends,
            "stable": None if intervals.missing is not None else not unstable,
            "noise_deviation": self.noise and self.noise[i],
        } | self.certainty_values(i)

    @property
    def algorithm(self) -> str:
        named: str = self.model.variant
        return named

    def code(self) -> str:
        model = self.model
        own = {
            "variant": None if model.variant == "block" else model.variant,
            "cells": None if isinstance(model.cells, str) else model.cells,
            "level": model.level or None,
            "wavelet": None if model.wavelet == "haar" else model.wavelet,
            "selector": model.selector,
        }
        return estimator_code(model, "", self.files, **own)

    def maps(self) -> "Sequence[Figure]":
        """Draw the groups over the whole width, how many lie where, and over further columns."""
        pairs = [list(pair) for pair in self._pairs()]
        drawn = [self._map(at, with_tree=not i) for i, at in enumerate(pairs)]
        return [*drawn[:1], *(self._density(at) for at in pairs[:1]), *drawn[1:]]

    def _pairs(self) -> list[tuple[int, int]]:
        return column_pairs(self.box, self.model.boxes_.mean(axis=1))[:MAPS]

    def _pair_text(self, at: list[int]) -> str:
        return " and ".join(self.columns[i].within for i in at)

    def _density(self, at: list[int]) -> "CellMap":
        return cell_map(
            self.model._counts_over(at),
            title=f"How many lie where, by {self._pair_text(at)}: noisy counts of the released "
            "cells",
            centers=self.model._densest_cells()[:, at],
            **self.frame(at),
        )

    def _map(self, at: list[int], *, with_tree: bool) -> "ClusterMap":
        some = "" if self.box.d == 2 else "; each place shows its largest group"
        return cluster_map(
            self.model._labels_over(at),
            sizes=self.sizes,
            centers=self.model._densest_cells()[:, at],
            branches=self.model._tree_branches() if with_tree else (),
            title=f"Groups of cells by {self._pair_text(at)}{some}",
            **self.frame(at),
        )
