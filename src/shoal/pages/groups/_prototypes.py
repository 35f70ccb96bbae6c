"""The groups of a table of numbers and categories: what is typical of each, beside everyone."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from shoal.cluster.group_sizes import NO_GROUP
from shoal.errors import quantity
from shoal.figures.text import format_number
from shoal.pages._release_texts import release_settings
from shoal.pages.groups._cards import (
    CARD_ROWS,
    NO_DIFFERENCE,
    RULE_NOTE,
    CardRow,
    ColumnText,
    amount_text,
    column_texts,
    number_row,
    times_text,
)
from shoal.pages.groups._code import mixed_code
from shoal.pages.groups._view import ReleasedView, count_text
from shoal.pages.page import Fact, Line, Table, bounds_origin

WEAK = (
    "There are so few rows that only the sizes of the groups were counted. Shares and means are "
    "estimated from the model of the whole table, and carry no interval."
)
TOO_FEW = (
    "There are so few rows at this epsilon that one group may describe the table better: the "
    "groups may be noise."
)
NO_SIZE_CERTAIN = (
    f"{NO_GROUP}: no group's size is above 0 in all of its 95 % interval. The budget is spent, and "
    "the release stands. Use fewer groups, fewer columns or a larger epsilon."
)
_MODELLED = "from the model"
TABLE_COLUMNS = 4
TABLE_SHARES = 16  # categories side by side, those that differ most between groups


class PrototypeGroups(ReleasedView):
    """Groups of a table with categories, and what is typical of each."""

    method = "Private k-prototypes"
    proofs = (
        "proofs beside the code: shoal/cluster/prototypes/estimator.proof.md and those it names"
    )
    files_apart = ("synopsis_", "profiles_", "intervals_", "prototypes_", "cost_curve_")
    titles_note = RULE_NOTE

    @cached_property
    def profiles(self) -> Any:
        """What is typical of each group, under the publisher's names if there are any."""
        profiles = self.model.profiles_
        return profiles if self.names is None else profiles.with_titles(self.names)

    @cached_property
    def columns(self) -> list[ColumnText]:
        return column_texts(self.model.domain, self.model.columns.names)

    @cached_property
    def sizes(self) -> list[int]:
        return [round(float(size)) for size in self.profiles.sizes]

    @property
    def total(self) -> int:
        """The number of rows that the sizes add up to."""
        return round(float(self.profiles.sizes.sum()))

    @property
    def counted(self) -> str:
        rows = quantity(self.total, self.one, self.unit)
        if not self.is_distinct:
            return f"{self.no_groups} Counted: about {rows}."
        return f"About {rows} in {count_text(self.k)}."

    @property
    def no_groups(self) -> str:
        return NO_SIZE_CERTAIN

    def settings(self, title: str, publisher: str | None) -> dict[str, Any]:
        bounds = f"the schema of {quantity(len(self.columns), 'column')}"
        return release_settings(
            None,
            self.guarantee,
            publisher,
            bounds=f"{bounds_origin(self.model.domain)}: {bounds}",
            title=title,
            method=self.method,
            evidence=self.proofs,
            code=self.code(),
        )

    def code(self) -> str:
        return mixed_code(self.model, self.files)

    def cautions(self) -> list[str]:
        epsilon = float(self.model._promise().per_row().epsilon)
        # Below ten rows a column groups were no better than one: docs/decisions/mixed-tables.md.
        few = self.model.n_rows_ * epsilon < 10 * self.model.columns.d
        return [*([TOO_FEW] if few else []), *([WEAK] if self.model.level_ == "weak" else [])]

    def is_stable(self, i: int) -> bool:
        """Whether refits find a group again: intervals here are by the noise alone."""
        return True

    @property
    def interval_note(self) -> str:
        """What the interval on a card is; nothing where values are modelled."""
        in_100 = round(100 * self.profiles.intervals.rate)
        return f"where the value lies, {in_100} times in 100" if self.profiles.measured else ""

    def titles(self) -> list[str]:
        """Return a title for each group, with columns called as on the rest of the page."""
        return [_readable(title, self._texts) for title in self.profiles.titles]

    @cached_property
    def _texts(self) -> dict[str, ColumnText]:
        return dict(zip(self.model.columns.names, self.columns, strict=True))

    def card_rows(self, i: int) -> list[CardRow]:
        """Return the columns in which a group differs most from everyone."""
        levels = dict(self.profiles.numbers)
        return [
            _row(each, self._texts[each.column], levels.get(each.column, ()))
            for each in self.profiles.differences(i)[:CARD_ROWS]
        ]

    def facts(self) -> list[Fact]:
        basis = ("Measured", "on the rows, with noise")
        if not self.profiles.measured:
            basis = ("Modelled", WEAK)
        intervals = self.profiles.intervals
        widest = float(np.max(intervals.sizes_high - intervals.sizes_low))
        unit = self.unit.capitalize()
        return [
            Fact(f"{unit}, about", f"{self.total:,}", "with noise, unless it was public"),
            Fact("Groups", str(self.k), "largest first"),
            Fact("Size of a group", f"± {math.ceil(widest / 2):,}", "in 95 of 100 releases"),
            Fact("Shares and means", *basis),
        ]

    def tables(self) -> list[Table]:
        """Return all groups side by side: each number and category, here and for everyone."""
        profiles, groups = self.profiles, self.profiles.by_size()
        sizes = [f"{self.sizes[g]:,}" for g in groups]
        rows = [[f"{self.unit.capitalize()}, about", *sizes, f"{self.total:,}"]]
        for i, (name, _) in enumerate(profiles.numbers):
            width = float(profiles.spans[i][1] - profiles.spans[i][0])
            cells = [amount_text(float(profiles.means[g, i]), width) for g in groups]
            everyone = amount_text(float(profiles.everyone_means[i]), width)
            rows.append([self._texts[name].axis, *cells, everyone])
        rows += self._share_rows(groups)
        note = (
            "Averages of numbers, and how many of 100 have a category. Intervals hold the true "
            "value of this table in 95 of 100 releases, by the noise alone; what another table "
            "would show they do not say. All shares, means and intervals are in profiles.csv."
        )
        columns = ["Column", *(f"Group {g + 1}" for g in groups), "Everyone"]
        return [Table("All groups side by side", columns, rows, note=note, left=["Column"])]

    def _share_rows(self, groups: Sequence[int]) -> list[list[str]]:
        """Return lines of the categories that differ most between groups, in their order."""
        profiles = self.profiles
        spread = [
            (float(np.ptp(profiles.shares[i][:, code])), i, code)
            for i, (_, labels) in enumerate(profiles.categories)
            for code in range(len(labels))
        ]
        shown = sorted((i, code) for _, i, code in sorted(spread, reverse=True)[:TABLE_SHARES])
        rows = []
        for i, code in shown:
            shares = [f"{100 * float(profiles.shares[i][g, code]):.0f}" for g in groups]
            everyone = f"{100 * float(profiles.everyone_shares[i][code]):.0f}"
            name, labels = profiles.categories[i]
            label = f"{self._texts[name].label}: {labels[code]}, of 100"
            rows.append([label, *shares, everyone])
        return rows

    def limits(self) -> list[str]:
        why = [] if self.is_distinct else [self.no_groups]
        return [*why, *self.cautions(), *self.own_limits(), *self.row_limits()]

    def own_limits(self) -> list[str]:
        return [
            "A group is what lies nearest to its prototype: there may be no gap between two "
            "groups.",
            "Other people in the table would have changed the groups too.",
            "Everyone's shares are those of the released columns, so groups may not add up to "
            "them exactly.",
        ]

    def values(self) -> dict[str, Any]:
        return {
            "n_clusters": self.k,
            "counted": self.unit,
            "rows_about": self.total,
            "level": self.model.level_,
            "measured": self.profiles.measured,
            "groups": [self._group_values(group) for group in self.profiles.by_size()],
        }

    def _group_values(self, i: int) -> dict[str, Any]:
        low, high = self.size_ends(i) or (None, None)
        return {
            "group": i + 1,
            "title": self.profiles.titles[i],
            "rows_about": self.sizes[i],
            "rows_low": low,
            "rows_high": high,
            "differences": [_difference(each) for each in self.profiles.differences(i)],
        }

    def group_lines(self) -> list[Line | Table]:
        """Return a line or two for each group, if there is one to show."""
        lines: list[Line | Table] = []
        if not self.is_distinct:
            return lines
        for i in self.profiles.by_size():
            low, high = self.size_ends(i) or (0, 0)
            size = f"about {self.sizes[i]:,}, between {low:,} and {high:,}"
            lines.append(Line(f"Group {i + 1}", f"{self.profiles.titles[i]}: {size}."))
            most = self.profiles.differences(i)[:TABLE_COLUMNS]
            lines.append(Line("", f"{'; '.join(map(_short, most))}."))
        return lines


def _readable(title: str, texts: Mapping[str, ColumnText]) -> str:
    """Return a title with columns called as on the rest of the page."""
    for name in sorted(texts, key=len, reverse=True):
        title = title.replace(name, texts[name].within)
    return title[:1].upper() + title[1:]


def _row(each: Any, text: ColumnText, levels: Sequence[Any]) -> CardRow:
    ends = None if math.isnan(each.low) else (each.low, each.high)
    if each.value is not None:
        return _share_row(each, text, ends)
    if levels:
        # The unit of levels is from which to which they run.
        text = text._replace(unit=f"of 0 ({levels[0]}) to {len(levels) - 1} ({levels[-1]})")
    return number_row(
        text,
        each.here,
        each.everyone,
        ends,
        each.span,
        is_clear=each.is_clear,
        no_interval=_MODELLED,
    )


def _share_row(each: Any, text: ColumnText, ends: tuple[float, float] | None) -> CardRow:
    """Return the line of a category, with its column where it says nothing alone."""
    shown = each.label if each.label == str(each.value) else f"{text.label}: {each.value}"
    low, high = (None, None) if ends is None else ends
    outwards = "" if ends is None else f"{math.floor(100 * ends[0])} to {math.ceil(100 * ends[1])}"
    often = times_text(each.here, each.everyone, "common")
    return CardRow(
        label=shown[:1].upper() + shown[1:],
        detail=often if each.is_clear else NO_DIFFERENCE,
        here=f"{100 * each.here:.0f}",
        unit="in 100",
        interval=outwards or _MODELLED,
        everyone=f"{100 * each.everyone:.0f}",
        at=each.here,
        low=low,
        high=high,
        other=each.everyone,
        is_share=True,
        is_clear=each.is_clear,
    )


def _amount(each: Any, value: float) -> str:
    if each.value is not None:
        return f"{100 * value:.0f} in 100"
    return format_number(value, 1 if each.span[1] - each.span[0] > 5 else 2)


def _short(each: Any) -> str:
    return f"{each.label} {_amount(each, each.here)}, everyone {_amount(each, each.everyone)}"


def _difference(each: Any) -> dict[str, Any]:
    known = not math.isnan(each.low)
    return {
        "column": each.column,
        "value": None if each.value is None else str(each.value),
        "here": each.here,
        "low": each.low if known else None,
        "high": each.high if known else None,
        "everyone": each.everyone,
        "clear": each.is_clear,
    }
