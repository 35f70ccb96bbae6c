"""What is typical of each group compared with everyone, and titles that say so.

Everything here is made of released numbers; how they become sizes, shares, means and intervals is
in ``_profile_estimates``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.errors import InvalidSetting

RATE = 0.95  # of intervals

_PARTS = 3
_MOST_PARTS = 5  # where fewer do not tell two groups apart
_LEAST_EFFECT = 0.1  # of a share or of half a number's bounds: less is not worth a title
_MAJORITY = 0.5  # a title is read as what most of a group are
_ALIKE = "Like everyone"
_MODELLED_DIFFERENCE = 0.1  # a modelled share that differs by less is not in a title


@dataclass(frozen=True, eq=False)
class GroupIntervals:
    """Where the true values of this table lie, by the noise alone, at a stated rate.

    Parameters
    ----------
    centers_low, centers_high
        The mean of each number in each group, in its own units; NaN where it was not measured.
    is_certain
        Whether each size is more than noise alone makes of no rows, at 1 in 1,000 for all groups
        together.
    """

    centers_low: Floats
    centers_high: Floats
    sizes_low: Floats
    sizes_high: Floats
    is_certain: NDArray[np.bool_]
    rate: float = RATE


@dataclass(frozen=True)
class Difference:
    """One column in which a group differs from everyone.

    Parameters
    ----------
    column
        The column.
    value
        The category that is most above everyone's share; None for a number.
    here, low, high
        The share or mean in the group, and its interval; the limits are NaN if it is modelled.
    everyone
        That of everyone.
    strength
        The difference over half the width of the interval.
    span
        The range that a picture shows: 0 to 1, or the bounds of a number.
    """

    column: str
    value: Any
    here: float
    low: float
    high: float
    everyone: float
    strength: float
    span: tuple[float, float]

    @property
    def label(self) -> str:
        """The category, with its column where it says nothing alone; or the number's column."""
        return self.column if self.value is None else value_label(self.column, self.value)

    @property
    def effect(self) -> float:
        """How far it is from everyone's value: in shares, or in halves of a number's bounds."""
        whole = 1.0 if self.value is not None else (self.span[1] - self.span[0]) / 2
        return abs(self.here - self.everyone) / whole

    @property
    def lift(self) -> float:
        """How many times as common, or as large, it is as for everyone."""
        return self.here / self.everyone if self.everyone else math.inf

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out everyone's value."""
        return self.strength > 1


@dataclass(frozen=True, eq=False)
class Profiles:
    """Sizes, shares and means of each group, with intervals, beside those of everyone.

    Parameters
    ----------
    numbers
        The names of the numbers, and the levels of those that have any.
    categories
        The name and labels of each column of categories.
    sizes
        About how many rows each group has; together all rows.
    means
        The mean of each number in each group, in its own units; of levels, their place from 0.
    shares
        For each column of categories, the share of each category in each group.
    shares_low, shares_high
        Their intervals; NaN where shares are modelled.
    everyone_means, everyone_shares
        The same of all rows: means are those of the groups together where they were measured.
    spans
        The bounds of each number, in its own units.
    intervals
        Of sizes and means.
    measured
        Whether shares and means were measured on the rows; else the model gives them.
    titles
        What stands out in each group, in words.
    level_shares
        For each number with levels, the share of each level: a line for each group, and everyone's
        last. The model gives them, tilted to the mean of the group. Empty in older folders.
    """

    numbers: tuple[tuple[str, tuple[Any, ...]], ...]
    categories: tuple[tuple[str, tuple[Any, ...]], ...]
    sizes: Floats
    means: Floats
    shares: tuple[Floats, ...]
    shares_low: tuple[Floats, ...]
    shares_high: tuple[Floats, ...]
    everyone_means: Floats
    everyone_shares: tuple[Floats, ...]
    spans: Floats
    intervals: GroupIntervals
    measured: bool
    titles: tuple[str, ...] = ()
    level_shares: tuple[Floats, ...] = ()

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.sizes)

    def by_size(self) -> list[int]:
        """Return the groups' numbers, the largest first."""
        return sorted(range(self.n_groups), key=lambda group: (-self.sizes[group], group))

    def reordered(self, order: Sequence[int]) -> "Profiles":
        """Return the same groups in another order, with titles made anew."""
        at, own = np.asarray(order, dtype=np.int64), self.intervals
        ends = replace(
            own,
            centers_low=own.centers_low[at],
            centers_high=own.centers_high[at],
            sizes_low=own.sizes_low[at],
            sizes_high=own.sizes_high[at],
            is_certain=own.is_certain[at],
        )
        return replace(
            self,
            sizes=self.sizes[at],
            means=self.means[at],
            shares=tuple(each[at] for each in self.shares),
            shares_low=tuple(each[at] for each in self.shares_low),
            shares_high=tuple(each[at] for each in self.shares_high),
            intervals=ends,
            level_shares=tuple(each[[*at, len(each) - 1]] for each in self.level_shares),
        ).with_titles()

    def shares_of_levels(self, column: str) -> Floats | None:
        """Return the shares of a column's levels, everyone's last; None if they are not known."""
        with_levels = [name for name, levels in self.numbers if levels]
        if column not in with_levels or not self.level_shares:
            return None
        return self.level_shares[with_levels.index(column)]

    def differences(self, group: int) -> list[Difference]:
        """Return how a group differs from everyone, a column once, the strongest first."""
        numbers = [self.number(i, group) for i in range(len(self.numbers))]
        categories = [self._category(i, group) for i in range(len(self.categories))]
        return sorted([*numbers, *categories], key=lambda each: -each.strength)

    def with_titles(self, names: Sequence[str] | None = None) -> "Profiles":
        """Return the same with titles made of what stands out, or given by the publisher.

        Parameters
        ----------
        names
            A title for each group, in the order of their numbers; None makes them.
        """
        if names is None:
            return replace(self, titles=self._made_titles())
        if len(names) != self.n_groups or not all(isinstance(n, str) and n.strip() for n in names):
            raise InvalidSetting(
                f"There are {self.n_groups} groups and {len(names)} names, or a name is empty.",
                "Give a name for each group, in the order of their numbers.",
            )
        return replace(self, titles=tuple(name.strip() for name in names))

    def _made_titles(self) -> tuple[str, ...]:
        order = [name for name, _ in (*self.numbers, *self.categories)]
        groups = [self.differences(group) for group in range(self.n_groups)]
        return titles_of(groups, order, measured=self.measured)

    def to_arrow(self) -> pa.Table:
        """Return a line for each group and value: shares, means, intervals, everyone, lift."""
        lines = [line for group in self.by_size() for line in self._lines(group)]
        names = ("group", "title", "rows", "rows_low", "rows_high", "column", "value", "kind",
                 "here", "low", "high", "everyone", "lift")  # fmt: skip
        return pa.table(
            {name: pa.array([line[i] for line in lines]) for i, name in enumerate(names)}
        )

    def _lines(self, group: int) -> list[tuple[Any, ...]]:
        low, high = self.intervals.sizes_low[group], self.intervals.sizes_high[group]
        size = round(float(self.sizes[group]))
        head = (group + 1, self.titles[group], size, math.floor(low), math.ceil(high))
        made = []
        for i, (name, _) in enumerate(self.numbers):
            one = self.number(i, group)
            made.append((*head, name, "", "mean", *_figures(one)))
        for i, (name, labels) in enumerate(self.categories):
            for code, label in enumerate(labels):
                one = self.share(i, group, code)
                made.append((*head, name, str(label), "share", *_figures(one)))
        return made

    def number(self, i: int, group: int) -> Difference:
        """Return the mean of a column of numbers in a group, beside everyone's."""
        name, (low, high) = self.numbers[i][0], map(float, self.spans[i])
        here, everyone = float(self.means[group, i]), float(self.everyone_means[i])
        ends = (
            float(self.intervals.centers_low[group, i]),
            float(self.intervals.centers_high[group, i]),
        )
        strength = _strength(here, everyone, ends, (high - low) / 2)
        return Difference(name, None, here, *ends, everyone, strength, (low, high))

    def _category(self, i: int, group: int) -> Difference:
        """Return the category of a column that is most above everyone's share."""
        above = self.shares[i][group] - self.everyone_shares[i]
        return self.share(i, group, int(above.argmax()))

    def share(self, i: int, group: int, code: int) -> Difference:
        """Return the share of a category in a group, beside everyone's."""
        name, labels = self.categories[i]
        here, everyone = float(self.shares[i][group, code]), float(self.everyone_shares[i][code])
        ends = float(self.shares_low[i][group, code]), float(self.shares_high[i][group, code])
        strength = _strength(here, everyone, ends, 1.0)
        return Difference(name, labels[code], here, *ends, everyone, strength, (0.0, 1.0))


def _strength(here: float, everyone: float, ends: tuple[float, float], width: float) -> float:
    if math.isnan(ends[0]):
        return abs(here - everyone) / (_MODELLED_DIFFERENCE * width)
    if ends[0] <= everyone <= ends[1]:
        return min(1.0, abs(here - everyone) / max((ends[1] - ends[0]) / 2, 1e-12))
    return max(1.000001, abs(here - everyone) / max((ends[1] - ends[0]) / 2, 1e-3 * width))


def _figures(one: Difference) -> tuple[float | None, ...]:
    values = (one.here, one.low, one.high, one.everyone, one.lift)
    return tuple(float(f"{v:.6g}") if math.isfinite(v) else None for v in values)


def value_label(column: str, value: Any) -> str:
    """Return a category as people read it, with its column where it says nothing alone.

    Examples
    --------
    >>> value_label("region", "coast"), value_label("enrolled", "yes"), value_label("sex", "F")
    ('coast', 'enrolled yes', 'sex F')
    """
    text = str(value)
    plain = text.lower() in ("yes", "no", "true", "false", "other", "<other>", "none", "unknown")
    if plain or len(text) <= 3 or any(letter.isdigit() for letter in text):
        return f"{column.replace('_', ' ')} {text}"
    return text


def titles_of(
    groups: Sequence[Sequence[Difference]], order: Sequence[str], *, measured: bool
) -> tuple[str, ...]:
    """Return a title for each group, of which no two are the same.

    Parameters
    ----------
    measured
        Whether differences were measured; else titles say "perhaps".
    """
    titles = [_title(each, order, _PARTS, measured) for each in groups]
    for parts in range(_PARTS + 1, _MOST_PARTS + 1):
        titles = [
            _title(each, order, parts, measured) if titles.count(title) > 1 else title
            for each, title in zip(groups, titles, strict=True)
        ]
    return _distinct(titles)


def _title(group: Sequence[Difference], order: Sequence[str], parts: int, measured: bool) -> str:
    """Return the largest clear differences in words, in the order of the columns."""
    clear = [each for each in group if each.is_clear and each.effect >= _LEAST_EFFECT]
    largest = sorted(clear, key=lambda each: (not _is_most(each), -each.effect))
    named = [each for each in largest if _is_most(each)] or largest[:1]
    if not named:
        return _ALIKE
    shown = sorted(named[:parts], key=lambda each: order.index(each.column))
    text = ", ".join(_part(each) for each in shown)
    text = text if measured else f"perhaps {text}"
    return text[0].upper() + text[1:]


def _is_most(each: Difference) -> bool:
    """Whether a number differs, or a category is what most of the group have."""
    return each.value is None or each.here >= _MAJORITY


def _part(each: Difference) -> str:
    if each.value is None:
        name = each.column.replace("_", " ")
        return f"{'high' if each.here > each.everyone else 'low'} {name}"
    return each.label if _is_most(each) else f"more often {each.label}"


def _distinct(titles: Sequence[str]) -> tuple[str, ...]:
    """Return titles of which no two are the same: the second of a kind gets a number."""
    made: list[str] = []
    for title in titles:
        times = sum(each == title or each.startswith(f"{title} (") for each in made)
        made.append(f"{title} ({times + 1})" if times else title)
    return tuple(made)
