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

from shoal.arrays import Floats, Integers
from shoal.cluster.group_sizes import NOT_CLEAR
from shoal.errors import InvalidSetting

RATE = 0.95  # of intervals

_PARTS = 3
_MOST_PARTS = 5  # where fewer do not tell two groups apart
# Of a share or of half a number's bounds. What is sure to be less, or is less and not the largest,
# is not worth a title: docs/decisions/mixed-tables.md.
_LEAST_NEAR, _LEAST_EFFECT = 0.02, 0.1
_MAJORITY = 0.5  # a title is read as what most of a group are
# Differences and shares that the model alone gives are named from here on.
_MODELLED_DIFFERENCE, _MODELLED_MAJORITY = 0.5, 0.6
_WIDE = 0.3  # of its range: of a value with a wider interval the interval alone is shown
_ALIKE = "Like everyone"


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


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of all shares and means that hold together, whatever is picked among them.

    In 95 of 100 releases all of them hold the true values. Titles and marks of differences go by
    them: those of one value each would name some differences that are noise.
    """

    means_low: Floats
    means_high: Floats
    shares_low: tuple[Floats, ...]
    shares_high: tuple[Floats, ...]

    @classmethod
    def unknown(cls, means: Floats, shares: tuple[Floats, ...]) -> "JointLimits":
        """Return those of values that the model gives, of which nothing is known."""
        no_means = np.full(means.shape, np.nan)
        no_shares = tuple(np.full(each.shape, np.nan) for each in shares)
        return cls(no_means, no_means, no_shares, no_shares)

    def reordered(self, order: Integers) -> "JointLimits":
        """Return those of the same groups in another order."""
        return JointLimits(
            self.means_low[order],
            self.means_high[order],
            tuple(each[order] for each in self.shares_low),
            tuple(each[order] for each in self.shares_high),
        )


@dataclass(frozen=True)
class Difference:
    """One column in which a group differs from everyone.

    Parameters
    ----------
    column
        The column.
    value
        The category that stands out most above everyone's share; None for a number.
    here, low, high
        The share or mean in the group, and its interval; the limits are NaN if it is modelled.
    everyone
        That of everyone.
    span
        The range that a picture shows: 0 to 1, or the bounds of a number.
    joint
        The limits that hold together with those of all other values.
    """

    column: str
    value: Any
    here: float
    low: float
    high: float
    everyone: float
    span: tuple[float, float]
    joint: tuple[float, float]

    @property
    def label(self) -> str:
        """The category, with its column where it says nothing alone; or the number's column."""
        return self.column if self.value is None else value_label(self.column, self.value)

    @property
    def effect(self) -> float:
        """How far it is from everyone's value: in shares, or in halves of a number's bounds."""
        return abs(self.here - self.everyone) / self._unit

    @property
    def lift(self) -> float:
        """How many times as common, or as large, it is as for everyone."""
        return self.here / self.everyone if self.everyone else math.inf

    @property
    def is_wide(self) -> bool:
        """Whether its interval is too wide for one number to stand for it."""
        return self.high - self.low > _WIDE * (self.span[1] - self.span[0])

    @property
    def near(self) -> float:
        """How far the near end of its interval is from everyone's value; below 0 if it holds it."""
        return self.effect if math.isnan(self.low) else self._beyond(self.low, self.high)

    @property
    def joint_near(self) -> float:
        """How far it is from everyone's value at least, in limits that hold together."""
        if not math.isnan(self.joint[0]):
            return self._beyond(*self.joint)
        is_named = self._is_modelled and self.effect >= _MODELLED_DIFFERENCE
        return self.effect if is_named else -1.0

    @property
    def is_clear(self) -> bool:
        """Whether it differs from everyone in all limits that hold together."""
        return self.joint_near > 0

    @property
    def is_most(self) -> bool:
        """Whether a number differs, or a category is what most of the group have for certain."""
        if self.value is None:
            return True
        if self._is_modelled:
            return self.here >= _MODELLED_MAJORITY
        return self.joint[0] >= _MAJORITY

    @property
    def _is_modelled(self) -> bool:
        return math.isnan(self.low) and math.isnan(self.joint[0])

    @property
    def _unit(self) -> float:
        return 1.0 if self.value is not None else ((self.span[1] - self.span[0]) / 2 or 1.0)

    def _beyond(self, low: float, high: float) -> float:
        return max(low - self.everyone, self.everyone - high) / self._unit


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
    joint
        Limits of shares and means that hold together. None where the model gives them, and in
        older folders, whose differences are not clear.
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
    joint: JointLimits | None = None

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
            joint=None if self.joint is None else self.joint.reordered(at),
        ).with_titles()

    def shares_of_levels(self, column: str) -> Floats | None:
        """Return the shares of a column's levels, everyone's last; None if they are not known."""
        with_levels = [name for name, levels in self.numbers if levels]
        if column not in with_levels or not self.level_shares:
            return None
        return self.level_shares[with_levels.index(column)]

    def differences(self, group: int) -> list[Difference]:
        """Return how a group differs from everyone, a column once.

        First comes what differs most for certain, by the near end of its interval.
        """
        numbers = [self.number(i, group) for i in range(len(self.numbers))]
        categories = [self._category(i, group) for i in range(len(self.categories))]
        return sorted([*numbers, *categories], key=lambda each: -each.near)

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
        ends, joint = self.intervals, self._joint
        return Difference(
            name,
            None,
            float(self.means[group, i]),
            float(ends.centers_low[group, i]),
            float(ends.centers_high[group, i]),
            float(self.everyone_means[i]),
            (low, high),
            (float(joint.means_low[group, i]), float(joint.means_high[group, i])),
        )

    def _category(self, i: int, group: int) -> Difference:
        """Return the category of a column that is most above everyone's share for certain."""
        low = self.shares_low[i][group]
        least = self.shares[i][group] if np.isnan(low).any() else low
        return self.share(i, group, int((least - self.everyone_shares[i]).argmax()))

    def share(self, i: int, group: int, code: int) -> Difference:
        """Return the share of a category in a group, beside everyone's."""
        name, labels = self.categories[i]
        joint = self._joint
        return Difference(
            name,
            labels[code],
            float(self.shares[i][group, code]),
            float(self.shares_low[i][group, code]),
            float(self.shares_high[i][group, code]),
            float(self.everyone_shares[i][code]),
            (0.0, 1.0),
            (float(joint.shares_low[i][group, code]), float(joint.shares_high[i][group, code])),
        )

    @property
    def _joint(self) -> JointLimits:
        return JointLimits.unknown(self.means, self.shares) if self.joint is None else self.joint


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
    named = sorted(named_differences(group, parts), key=lambda each: order.index(each.column))
    if not named:
        return _ALIKE if all(each.joint[0] == each.joint[1] for each in group) else NOT_CLEAR
    text = ", ".join(_part(each) for each in named)
    text = text if measured else f"perhaps {text}"
    return text[0].upper() + text[1:]


def named_differences(group: Sequence[Difference], most: int = _PARTS) -> list[Difference]:
    """Return the differences that a title names: those that are largest for certain.

    A category that most of the group have comes before one that is more common than elsewhere, of
    which one is named, and only if there is nothing better.
    """
    clear = [each for each in group if each.joint_near >= _LEAST_NEAR]
    largest = sorted(clear, key=lambda each: (not each.is_most, -each.joint_near))
    named = [each for each in largest if each.is_most] or largest[:1]
    worth = [each for each in named if each.effect >= _LEAST_EFFECT] or named[:1]
    return worth[:most]


def _part(each: Difference) -> str:
    if each.value is None:
        name = each.column.replace("_", " ")
        return f"{'high' if each.here > each.everyone else 'low'} {name}"
    return each.label if each.is_most else f"more often {each.label}"


def _distinct(titles: Sequence[str]) -> tuple[str, ...]:
    """Return titles of which no two are the same, but for groups without one."""
    made: list[str] = []
    for title in titles:
        if title == NOT_CLEAR:
            made.append(title)
            continue
        times = sum(each == title or each.startswith(f"{title} (") for each in made)
        made.append(f"{title} ({times + 1})" if times else title)
    return tuple(made)
