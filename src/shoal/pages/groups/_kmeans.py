"""The groups of a private k-means model: centres with intervals, and about how many rows each."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.cluster.figures import column_pairs
from shoal.errors import quantity
from shoal.figures import cell_map
from shoal.figures.text import count_decimals, format_number, shorten
from shoal.pages.groups._code import estimator_code
from shoal.pages.groups._view import (
    UNCERTAIN_NOTE,
    UNSTABLE,
    GroupAtEdge,
    ReleasedView,
    centers_at_bounds,
    count_text,
)
from shoal.pages.groups._what_if import budgets_table, what_if_values
from shoal.pages.page import Fact, Line, Table, name_list

if TYPE_CHECKING:
    from shoal.figures import CellMap
    from shoal.planning import Plan


WEAK = (
    "There are so few rows in a group that noise decides much at this epsilon: centres may "
    "lie far from their rows. Use fewer groups, fewer columns or a larger epsilon."
)
UNSTABLE_NOTE = (
    "Between simulated fits an unstable group moves to another place: its centre and size are "
    "given no interval."
)
RIVALS = "Other groupings of these rows are nearly as good. The intervals hold only for this one."
UNREACHED = (
    "Where groups have long tails, no gaps between them or few rows, fewer intervals held when "
    "this was measured."
)
LINE_COLUMNS = 8  # columns that fit a line of a terminal
PAGE_COLUMNS = 12  # columns that fit a page
_NAMED = 4  # groups named in a map's description


class KMeansGroups(ReleasedView):
    """Centres and about how many rows belong to each, with their intervals."""

    method = "Private k-means"
    proofs = "proofs beside the code: shoal/cluster/kmeans/estimator.proof.md and those it names"
    files_apart = ("synopsis_", "cost_curve_")
    noisy = "Each centre"

    @property
    def box(self) -> Any:
        return self.model.box

    @property
    def rows_within(self) -> int:
        """How far the number of rows is off at most, in 95 of 100 releases; 0 if it is public."""
        return int(self.model.n_rows_within_)

    @cached_property
    def stable(self) -> list[bool]:
        """Whether each group has intervals."""
        return [self.is_stable(i) for i in range(self.k)]

    @cached_property
    def reach(self) -> Any:
        """Half of each interval, in the column's units; none for a group that is unstable."""
        return np.nan_to_num(self.intervals.half_widths)

    @cached_property
    def relative(self) -> list[float]:
        """The widest of each group, as a share of its column's range."""
        widest: list[float] = (self.reach / (self.box.high - self.box.low)).max(axis=1).tolist()
        return widest

    def center_text(self, i: int) -> list[str]:
        """Return each number of a centre with half its interval, to the digits that this leaves."""
        sides = self.box.high - self.box.low
        each = zip(self.centers[i], self.reach[i], sides, strict=True)
        if not self.stable[i]:
            return [f"{format_number(float(value), count_decimals(float(side)) + 1)} ({UNSTABLE})"
                    for value, _, side in each]  # fmt: skip
        return [
            _with_interval(float(value), float(half), float(side)) for value, half, side in each
        ]

    @property
    def counted(self) -> str:
        about = "About " if self.rows_within else ""
        within = f", give or take {self.rows_within:,}" if self.rows_within else ""
        rows = f"{quantity(int(self.model.n_rows_), self.one, self.unit)}{within}"
        if not self.is_distinct:
            return f"{self.no_groups} Counted: {about.lower()}{rows}."
        return f"{about}{rows}{',' if within else ''} in {count_text(self.k)}."

    def at_bounds(self) -> Iterator[GroupAtEdge]:
        names = [column.within for column in self.columns]
        return centers_at_bounds(self.centers, self.box, names)

    def cautions(self) -> list[str]:
        missed = self.certain.count(False)
        if missed == self.k:
            return []
        uncertain = (
            f"{missed} of the {self.k} groups cannot be distinguished from noise: noise alone "
            "counts as many in one of 1,000 releases."
        )
        return [
            *([uncertain] if missed else []),
            *([WEAK] if self.model._is_weak else []),
            *([self._unstable_text()] if not all(self.stable) else []),
            *([RIVALS] if self.intervals.has_rivals else []),
        ]

    def _unstable_text(self) -> str:
        """Return which groups are unstable, or that they are too many for the budget."""
        unstable = [i + 1 for i, stable in enumerate(self.stable) if not stable]
        if len(unstable) > self.k / 2:
            return (
                f"{len(unstable)} of the {self.k} groups are unstable: so many groups are more "
                f"than this budget can tell apart. {UNSTABLE_NOTE}"
            )
        which = "Group" if len(unstable) == 1 else "Groups"
        verb = "is" if len(unstable) == 1 else "are"
        return f"{which} {name_list([str(i) for i in unstable])} {verb} unstable. {UNSTABLE_NOTE}"

    def facts(self) -> list[Fact]:
        off = f"off by at most {self.rows_within:,} in 95 of 100 releases"
        worst = 100 * max(self.relative, default=0.0)
        which = "of a column's range: the widest interval of a stable group"
        value = f"± {format_number(float(f'{worst:.2g}'))} %" if any(self.stable) else UNSTABLE
        return [
            Fact(
                f"{self.unit.capitalize()}, about",
                f"{int(self.model.n_rows_):,}",
                off if self.rows_within else "known without the rows",
            ),
            Fact("Groups", str(self.k), "centres, numbered on the map"),
            Fact("Centres", value, which if any(self.stable) else "no interval can be given"),
        ]

    def tables(self) -> list[Table]:
        """Return the centres, the largest group first."""
        return [self._table]

    @cached_property
    def _table(self) -> Table:
        shown = [column.axis for column in self.columns[:PAGE_COLUMNS]]
        rows = [
            [f"Group {i + 1}", *self.center_text(i)[: len(shown)], self.size_text(i)]
            for i in self.by_size
        ]
        note = self._rate_text() + ("" if all(self.certain) else f" {UNCERTAIN_NOTE}")
        note += self.columns_left_out(PAGE_COLUMNS)
        columns = ["Group", *shown, f"{self.unit.capitalize()}, about"]
        return Table("Centres of the groups", columns, rows, marked=True, note=note)

    def _rate_text(self) -> str:
        """Return the sentence that says what an interval is."""
        in_ten = round(10 * self.intervals.rate)
        number = {9: "Nine"}.get(in_ten, str(in_ten))
        return (
            f"{number} in ten of the intervals (±, or from and to) hold what plain k-means of the "
            "rows would find, as far as fits of made-up rows like the released ones tell."
        )

    def counts(self) -> list[str]:
        """Return how many rows lie where cells are wide, if cells are fine in a part of the box."""
        about, within = self.model.n_rows_beyond_view_, self.model.n_rows_beyond_view_within_
        if about is None:
            return []
        one = "person" if self.unit == "people" else "row"
        return [
            f"About {quantity(about, one, self.unit)}, give or take {within:,}, "
            f"{'lies' if about == 1 else 'lie'} beyond the part of the box where most are. Cells "
            "are wide there, and a small group may be missed."
        ]

    def own_limits(self) -> list[str]:
        worst = max(range(self.k), key=lambda i: (not self.stable[i], self.relative[i]))
        names = [column.within for column in self.columns[:4]]
        where = zip(names, self.center_text(worst), strict=False)
        limits = [
            *self.counts(),
            *self._hardly_counted(),
            f"Least certain is group {worst + 1}: {', '.join(f'{n} {v}' for n, v in where)}.",
            UNREACHED,
            "Other people in the table would have moved the centres too.",
            "A pale cell that stands alone may hold nobody: empty cells carry noise as well.",
        ]
        if isinstance(self.model.n_clusters, Sequence):
            low, high = self.model.n_clusters[0], self.model.n_clusters[-1]
            limits.append(
                f"The number of groups, {self.k}, was chosen among {low} to {high} from released "
                f"numbers ({self.model.choose}), which spends no budget."
            )
        return limits

    def _hardly_counted(self) -> list[str]:
        """Return in which columns all centres, with their intervals, are close to one another."""
        if self.k < 2 or not all(self.stable):
            return []
        spread = (self.centers + self.reach).max(axis=0) - (self.centers - self.reach).min(axis=0)
        sides = self.box.high - self.box.low
        return [
            f"All centres differ by less than 2 % of the range of {column.within}: it hardly "
            "counted. If its values are not spread over its bounds, state narrower ones."
            for column, is_close in zip(self.columns, spread < 0.02 * sides, strict=True)
            if is_close
        ]

    def group_lines(self) -> Sequence[Line | Table]:
        """Return the table, if it fits a terminal and there is a group to show."""
        return [self._table] if self.is_distinct and len(self.columns) <= LINE_COLUMNS else []

    def budgets(self) -> Table | None:
        return None if self._what_if is None else budgets_table(self._what_if)

    @cached_property
    def _what_if(self) -> "Plan | None":
        from shoal.planning import describe

        return describe(self.model).what_if

    def values(self) -> dict[str, Any]:
        groups = {"groups": [self._group_values(i) for i in range(self.k)]}
        tried = {} if self._what_if is None else {"what_if": what_if_values(self._what_if)}
        beyond = {
            "rows_beyond_view": self.model.n_rows_beyond_view_,
            "rows_beyond_view_within_95_in_100": self.model.n_rows_beyond_view_within_,
        }
        return self.counted_values() | beyond | groups | tried

    def _group_values(self, i: int) -> dict[str, Any]:
        """Return what ``--json`` prints of a group; no interval of one that is unstable."""
        intervals, names, stable = self.intervals, self.box.names, self.stable[i]
        last_step = self.model.expected_error_[i] / math.sqrt(self.box.d) / 2
        noise = last_step * (self.box.high - self.box.low)
        ends = np.column_stack([intervals.centers_low[i], intervals.centers_high[i]]).tolist()
        sizes = [float(intervals.sizes_low[i]), float(intervals.sizes_high[i])]
        return {
            "center": dict(zip(names, self.centers[i].tolist(), strict=True)),
            "interval": dict(zip(names, ends, strict=True)) if stable else None,
            "expected_error": dict(zip(names, noise.tolist(), strict=True)),
            "rows_about": self.sizes[i],
            "rows_interval": sizes if stable else None,
            "stable": stable,
        } | self.certainty_values(i)

    def code(self) -> str:
        method = None if self.model.method == "auto" else self.model.method
        return estimator_code(self.model, f"{self.k}, ", self.files, method=method)

    def maps(self) -> "list[CellMap]":
        """Draw a map of each pair of columns, those with the most distant centres first."""
        return [self._map(list(pair)) for pair in column_pairs(self.box, self.centers)]

    def _map(self, at: list[int]) -> "CellMap":
        across, upwards = (self.columns[i].within for i in at)
        title = "Groups" if self.is_distinct else "No clear groups"
        return cell_map(
            self.model._counts_over(at),
            title=f"{title} by {across} and {upwards}: centres numbered, noisy counts of the "
            "released cells spread over an even grid",
            finding=self._description(at),
            centers=self.centers[:, at],
            reach=self.reach[:, at],
            **self.frame(at),
        )

    def _description(self, at: list[int]) -> str:
        names = [shorten(self.columns[i].label, 80) for i in at]
        each = []
        for i in self.by_size[:_NAMED]:
            texts = self.center_text(i)
            place = ", ".join(f"{n} {texts[j]}" for n, j in zip(names, at, strict=True))
            each.append(f"{place} (group {i + 1})")
        which = "Centres" if self.k <= _NAMED else f"The {_NAMED} largest groups' centres"
        return f"{which}: {'; '.join(each)}. Rings show the intervals."


def _with_interval(value: float, half: float, side: float) -> str:
    """Format ``12.30 ± 0.42``: two digits of half a width, and the value to the same place.

    The half is rounded up, so that what is shown is no narrower than the interval.
    """
    if not side * 1e-6 < half < math.inf:
        return format_number(value, count_decimals(side) + 4)
    decimals = 1 - math.floor(math.log10(half))
    step = 10.0**-decimals
    outwards = math.ceil(half / step - 1e-9) * step
    shown = [f"{round(each, decimals):,.{max(decimals, 0)}f}" for each in (value, outwards)]
    return " ± ".join(shown)
