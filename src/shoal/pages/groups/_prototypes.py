"""The groups of a table of numbers and categories: what is typical of each, beside everyone."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from shoal.cluster.group_sizes import NO_GROUP
from shoal.errors import quantity
from shoal.figures.text import format_number, shorten
from shoal.pages._release_texts import release_settings
from shoal.pages.groups._cards import (
    CARD_ROWS,
    NO_DIFFERENCE,
    RULE_NOTE,
    TOO_WIDE,
    CardRow,
    ColumnText,
    Matrix,
    MatrixCell,
    MatrixColumn,
    MatrixRow,
    amount_text,
    column_texts,
    interval_text,
    level_name,
    level_row,
    number_row,
    shade_of,
    times_text,
)
from shoal.pages.groups._code import mixed_code
from shoal.pages.groups._view import ReleasedView, count_text
from shoal.pages.groups._what_if import noise_table
from shoal.pages.page import Fact, Line, Table, bounds_origin, name_list
from shoal.privacy import PureDP

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
_SHORT = 3  # letters of a word that says nothing alone
_MODELLED = "from the model"
TABLE_COLUMNS = 4
MATRIX_COLUMNS = 20  # columns of the table side by side, those that differ most between groups
MATRIX_VALUES = 4  # of a column of categories, those that differ most
CARRIERS = 3  # columns that are named as carrying the groups
PURE = 0.95  # a share from which a group holds one value alone
MATRIX_NOTE = (
    "Averages of numbers, typical levels by name, and how many of 100 have a category; columns "
    "that tell groups apart most come first. All shares, means and intervals are in profiles.csv."
)


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
        if self.names is not None:
            return list(self.profiles.titles)
        return [_readable(self._with_words(title), self._texts) for title in self.profiles.titles]

    def _with_words(self, title: str) -> str:
        """Return a title in which codes that have a word are called by it."""
        profiles, named = self.profiles, self.model.domain.value_labels
        for i, (column, values) in enumerate(profiles.categories):
            for code in range(len(values)) if column in named else ():
                label = profiles.share(i, 0, code).label
                word = self._value_text(column, values[code])
                # Yes and no say nothing without their column.
                shown = f"{column.replace('_', ' ')} {word}" if len(word) <= _SHORT else word
                pattern = rf"(?i)(?<!\w){re.escape(label)}(?!\w)"
                title = re.sub(pattern, shown.replace("\\", ""), title)
        return title

    @cached_property
    def _texts(self) -> dict[str, ColumnText]:
        return dict(zip(self.model.columns.names, self.columns, strict=True))

    def card_rows(self, i: int) -> list[CardRow]:
        """Return the columns in which a group differs most from everyone."""
        return [
            _row(each, self._texts[each.column], self._levels(i, each.column), self._value_text)
            for each in self.profiles.differences(i)[:CARD_ROWS]
        ]

    def _levels(self, i: int, column: str) -> list[tuple[str, float, float]]:
        """Return the levels of a column with their shares in a group and for everyone."""
        levels = dict(self.profiles.numbers).get(column, ())
        shares = self.profiles.shares_of_levels(column)
        if shares is None:
            return [(self._value_text(column, level), 0.0, 0.0) for level in levels]
        both = zip(levels, shares[i].tolist(), shares[-1].tolist(), strict=True)
        return [(self._value_text(column, level), here, other) for level, here, other in both]

    def _value_text(self, column: str, value: Any) -> str:
        """Return what a value is called: the word of the schema, if it has one."""
        text: str = self.model.domain.value_text(column, value)
        return text

    def facts(self) -> list[Fact]:
        intervals = self.profiles.intervals
        widest = float(np.max(intervals.sizes_high - intervals.sizes_low))
        unit = self.unit.capitalize()
        return [
            Fact(f"{unit}, about", f"{self.total:,}", "with noise, unless it was public"),
            Fact("Groups", str(self.k), "largest first"),
            Fact("Size of a group", f"± {math.ceil(widest / 2):,}", "in 95 of 100 releases"),
        ]

    def tables(self) -> list[Table]:
        """Return nothing: the matrix shows all groups side by side."""
        return []

    def matrix(self) -> Matrix:
        """Return all groups side by side, the columns that tell most first."""
        made = [*map(self._number_rows, range(len(self.profiles.numbers))),
                *map(self._share_rows, range(len(self.profiles.categories)))]  # fmt: skip
        order = sorted(range(len(made)), key=lambda at: -made[at][0])[:MATRIX_COLUMNS]
        left = len(made) - len(order)
        more = f" {quantity(left, 'more column is', 'more columns are')} in profiles.csv."
        return Matrix(
            groups=[g + 1 for g in range(self.k)],
            columns=[made[at][1] for at in order],
            look=self._worth_a_look(),
            note=MATRIX_NOTE + (more if left else ""),
        )

    def _number_rows(self, i: int) -> tuple[float, MatrixColumn]:
        """Return how far a column of numbers or levels tells groups apart, and its line."""
        profiles = self.profiles
        (name, levels), (low, high) = profiles.numbers[i], map(float, profiles.spans[i])
        each = [profiles.number(i, g) for g in range(self.k)]
        cells = [
            MatrixCell(
                self._number_text(one, levels),
                shade_of(math.copysign(one.effect, one.here - one.everyone), one.is_clear),
            )
            for one in each
        ]
        known = {"here": each[0].everyone, "low": math.nan, "high": math.nan}
        everyone = self._number_text(replace(each[0], **known), levels)
        text = self._texts[name]
        row = MatrixRow(text.label, text.unit, cells, everyone)
        apart = float(np.ptp(profiles.means[:, i])) / ((high - low) or 1.0)
        return apart, MatrixColumn("", "", [row])

    def _number_text(self, one: Any, levels: Sequence[Any]) -> str:
        if levels:
            ends = (one.low, one.high) if one.is_wide else (one.here,)
            places = (min(max(round(place), 0), len(levels) - 1) for place in ends)
            texts = [shorten(self._value_text(one.column, levels[place]), 14) for place in places]
            return " to ".join(dict.fromkeys(texts))
        if one.is_wide:
            return interval_text(one.low, one.high, one.span[1] - one.span[0])
        half = None if math.isnan(one.low) else (one.high - one.low) / 2
        return amount_text(one.here, one.span[1] - one.span[0], half)

    def _share_rows(self, i: int) -> tuple[float, MatrixColumn]:
        """Return how far a column of categories tells groups apart, and its lines."""
        profiles = self.profiles
        name, labels = profiles.categories[i]
        spread = np.ptp(profiles.shares[i], axis=0)
        shown = sorted(np.argsort(-spread, kind="stable")[:MATRIX_VALUES].tolist())
        if len(labels) == 2:  # the other share follows
            shown = shown[-1:]
        rows = []
        for code in shown:
            each = [profiles.share(i, g, code) for g in range(self.k)]
            cells = [
                MatrixCell(
                    _in_100((one.low, one.high)) if one.is_wide else f"{100 * one.here:.0f}",
                    shade_of(one.here - one.everyone, one.is_clear),
                )
                for one in each
            ]
            label = self._value_text(name, labels[code])
            rows.append(MatrixRow(label, "", cells, f"{100 * each[0].everyone:.0f}"))
        text = self._texts[name]
        return float(spread.max()), MatrixColumn(text.label, f"of 100 {self.unit}", rows)

    def _worth_a_look(self) -> list[str]:
        """Return what carries the groups, and which of them are hard to tell from everyone."""
        said = self._carriers()
        faint = [
            str(g + 1)
            for g in range(self.k)
            if not any(each.is_clear for each in self.profiles.differences(g))
        ]
        if faint:
            which = quantity(len(faint), "Group", "Groups").split(" ", 1)[1]
            said.append(f"{which} {name_list(faint)} cannot be told from everyone: plan nothing.")
        return said

    def _carriers(self) -> list[str]:
        """Return the columns that differ most between groups, and a hint where two values do."""
        apart = {
            name: float(np.ptp(self.profiles.means[:, i])) / (float(np.ptp(span)) or 1.0)
            for i, ((name, _), span) in enumerate(
                zip(self.profiles.numbers, self.profiles.spans, strict=True)
            )
        }
        apart |= {
            name: float(np.ptp(self.profiles.shares[i], axis=0).max())
            for i, (name, _) in enumerate(self.profiles.categories)
        }
        most = sorted(apart, key=lambda name: -apart[name])[:CARRIERS]
        named = name_list([self._texts[name].within for name in most])
        said = [f"The groups differ most by {named}."] if most else []
        binary = [n for n, labels in self.profiles.categories if len(labels) == 2]
        splits = [n for n in most if n in binary and self._splits(n)]
        if splits:
            said.append(
                f"{self._texts[splits[0]].label} has two values, and most groups hold one of them "
                f"alone. If it should count less, give it a smaller weight in the domain file, "
                f"e.g. weight: 0.5, before the release."
            )
        return said

    def _splits(self, column: str) -> bool:
        """Whether most groups have one of a column's two values alone."""
        at = [name for name, _ in self.profiles.categories].index(column)
        pure = self.profiles.shares[at].max(axis=1) >= PURE
        return self.k > 2 and int(pure.sum()) > self.k / 2

    def limits(self) -> list[str]:
        why = [] if self.is_distinct else [self.no_groups]
        return [*why, *self.cautions(), *self.own_limits(), *self.row_limits()]

    def budgets(self) -> Table | None:
        """Return how wide intervals would be at other budgets; None where nothing was measured."""
        promise = self.guarantee
        if not self.profiles.measured or not isinstance(promise, PureDP):
            return None
        profiles, ends = self.profiles, self.profiles.intervals
        sizes = (ends.sizes_high - ends.sizes_low) / 2
        shares = [high - low for low, high in
                  zip(profiles.shares_low, profiles.shares_high, strict=True)]  # fmt: skip
        means = (ends.centers_high - ends.centers_low) / np.ptp(profiles.spans, axis=1)
        widths = {f"Size, {self.unit}": float(np.median(sizes))}
        if shares:
            points = np.concatenate([each.ravel() for each in shares])
            widths["Share, in 100"] = 50 * float(np.median(points))
        if means.size:
            widths["Mean, % of the range"] = 50 * float(np.median(means))
        return noise_table(Decimal(str(float(promise.epsilon))), widths)

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
            "title": self.titles()[i],
            "rows_about": self.sizes[i],
            "rows_low": low,
            "rows_high": high,
            "differences": [_difference(each) for each in self.profiles.differences(i)],
        }

    def group_lines(self) -> list[Line | Table]:
        """Return a line or two for each group, if there is one to show."""
        lines: list[Line | Table] = []
        titles = self.titles()
        if not self.is_distinct:
            return lines
        for i in self.profiles.by_size():
            low, high = self.size_ends(i) or (0, 0)
            size = f"about {self.sizes[i]:,}, between {low:,} and {high:,}"
            lines.append(Line(f"Group {i + 1}", f"{titles[i]}: {size}."))
            most = self.profiles.differences(i)[:TABLE_COLUMNS]
            lines.append(Line("", f"{'; '.join(map(self._short, most))}."))
        return lines

    def _short(self, each: Any) -> str:
        """Return a difference in a few words, levels and codes by their names."""
        levels = self._levels(0, each.column)
        if each.value is None and levels:
            ends = (each.low, each.high) if each.is_wide else (each.here,)
            here = " to ".join(dict.fromkeys(level_name(levels, place) for place in ends))
            everyone = level_name(levels, each.everyone)
            if here == everyone:
                return f"{each.column} {'higher' if each.here > each.everyone else 'lower'}"
            return f"{each.column} {here}, everyone {everyone}"
        label = each.label
        if each.value is not None and each.column in self.model.domain.value_labels:
            label = f"{each.column} {self._value_text(each.column, each.value)}"
        if each.value is not None and label[-1:].isdigit():
            label += ":"  # a code is no part of the share
        return f"{label} {_amount_here(each)}, everyone {_amount(each, each.everyone)}"


def _readable(title: str, texts: Mapping[str, ColumnText]) -> str:
    """Return a title with columns called as on the rest of the page."""
    for name in sorted(texts, key=len, reverse=True):
        title = title.replace(name, texts[name].within)
    return title[:1].upper() + title[1:]


def _row(
    each: Any,
    text: ColumnText,
    levels: Sequence[tuple[str, float, float]],
    value_text: Callable[[str, Any], str],
) -> CardRow:
    ends = None if math.isnan(each.low) else (each.low, each.high)
    if each.value is not None:
        return _share_row(each, text, ends, value_text(each.column, each.value))
    if levels:
        return level_row(
            text,
            each.here,
            each.everyone,
            ends,
            levels,
            is_clear=each.is_clear,
            no_interval=_MODELLED,
        )
    return number_row(
        text,
        each.here,
        each.everyone,
        ends,
        each.span,
        is_clear=each.is_clear,
        no_interval=_MODELLED,
    )


def _share_row(each: Any, text: ColumnText, ends: tuple[float, float] | None, word: str) -> CardRow:
    """Return the line of a category, with its column where it says nothing alone."""
    shown = each.label if each.label == word else f"{text.label}: {word}"
    low, high = (None, None) if ends is None else ends
    around = _in_100(ends) if ends else _MODELLED
    value, detail = f"{100 * each.here:.0f}", times_text(each.here, each.everyone, "common")
    if each.is_wide:
        value, around = around, TOO_WIDE
        detail = f"{'more' if each.here > each.everyone else 'less'} common"
    return CardRow(
        label=shown[:1].upper() + shown[1:],
        detail=detail if each.is_clear else NO_DIFFERENCE,
        here=value,
        unit="in 100",
        interval=around,
        everyone=f"{100 * each.everyone:.0f}",
        at=each.here,
        low=low,
        high=high,
        other=each.everyone,
        is_share=True,
        is_clear=each.is_clear,
    )


def _in_100(ends: tuple[float, float]) -> str:
    return f"{math.floor(100 * ends[0])} to {math.ceil(100 * ends[1])}"


def _amount(each: Any, value: float) -> str:
    if each.value is not None:
        return f"{100 * value:.0f} in 100"
    return format_number(value, 1 if each.span[1] - each.span[0] > 5 else 2)


def _amount_here(each: Any) -> str:
    """Return the value in a group; where its interval is wide, the interval alone."""
    if not each.is_wide:
        return _amount(each, each.here)
    if each.value is not None:
        return f"{_in_100((each.low, each.high))} in 100"
    return interval_text(each.low, each.high, each.span[1] - each.span[0])


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
