"""What is typical of groups of numbers: averages beside everyone's, and titles made of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import t as student

from shoal.arrays import Floats
from shoal.cluster.group_sizes import NOT_CLEAR
from shoal.pages.groups._cards import (
    CARD_ROWS,
    CardRow,
    ColumnText,
    amount_text,
    distinct_titles,
    number_row,
)

TITLE_PARTS = 3
_DIFFERENT = 0.05  # of a column's range: a smaller difference names no group
_DIFFERENT_UNSTABLE = 0.25  # the same where nothing says how far off a mean is
# Intervals hold nine times in ten, one by one. To hold together, whatever is picked among them,
# in 95 of 100 releases they are so much wider (Bonferroni, by Student's t of so few refits).
_EACH, _TOGETHER, _REFITS = 0.9, 0.95, 8


@dataclass(frozen=True, eq=False)
class NumericProfiles:
    """What is typical of groups of numbers: means beside everyone's, by strength of difference.

    Parameters
    ----------
    within
        The lowest and highest value of each column, in two lines.
    low, high
        Where each mean lies, or how far the group reaches; NaN where nothing is known.
    reaches
        Whether ``low`` and ``high`` are the ends of the group itself, not of an interval.
    """

    columns: Sequence[ColumnText]
    within: Floats
    means: Floats
    low: Floats
    high: Floats
    everyone: Floats
    reaches: bool = False

    def rows(self, group: int, most: int = CARD_ROWS) -> list[CardRow]:
        """Return the lines of a group's card, the strongest difference first."""
        return [self._row(group, i) for i in self._by_strength(group)[:most]]

    def title(self, group: int) -> str:
        """Return the strongest clear differences in words, in the order of the columns."""
        order = self._by_strength(group)
        if np.isnan(self.low[group]).all():
            far = [i for i in order if self._apart(group, i) >= _DIFFERENT_UNSTABLE]
            return (
                f"Perhaps {self._title_part(group, far[0])}; the rest is unclear"
                if far
                else NOT_CLEAR
            )
        different = [i for i in order if self._apart(group, i) >= _DIFFERENT]
        clear = sorted([i for i in different if self._is_clear(group, i)][:TITLE_PARTS])
        if not clear:
            return NOT_CLEAR if self._may_differ(group) else "Like everyone"
        text = ", ".join(self._title_part(group, i) for i in clear)
        return text[:1].upper() + text[1:]

    def titles(self) -> list[str]:
        """Return a title for each group, no two of them the same."""
        titles = [self.title(group) for group in range(len(self.means))]
        for group, title in enumerate(list(titles)):
            if titles.count(title) > 1:
                titles[group] = self._superlative(group, title)
        shared = [g for g, t in enumerate(titles) if t != NOT_CLEAR and titles.count(t) > 1]
        where = {g: self._where(g, shared) for g in shared if not np.isnan(self.low[g]).all()}
        return distinct_titles([f"{t}{where.get(g, '')}" for g, t in enumerate(titles)])

    def _where(self, group: int, shared: Sequence[int]) -> str:
        """Return the value of the column that tells groups of one title apart best."""
        i = int(np.argmax(np.ptp(self.means[list(shared)], axis=0) / self._width))
        half = float(self.high[group, i] - self.low[group, i]) / 2
        here = amount_text(float(self.means[group, i]), float(self._width[i]), half)
        return f", {self.columns[i].within} {here}"

    def _superlative(self, group: int, title: str) -> str:
        """Return a title that others have too, with "highest" or "lowest" where that is true."""
        for i in self._by_strength(group):
            here, others = self.means[group, i], np.delete(self.means[:, i], group)
            word = "high" if here > others.max() else "low" if here < others.min() else None
            part = f"{word} {self.columns[i].within}"
            for start in (part, part[:1].upper() + part[1:]):
                if word is not None and start in title:
                    return title.replace(start, f"{start[: len(word)]}est{start[len(word) :]}", 1)
        return title

    @property
    def _width(self) -> Floats:
        return np.asarray(self.within[1] - self.within[0])

    def _by_strength(self, group: int) -> list[int]:
        """Return the columns, those first whose difference is largest beside its interval."""
        apart = np.abs(self.means[group] - self.everyone) / self._width
        half = np.nan_to_num((self.high[group] - self.low[group]) / 2 / self._width, nan=1.0)
        strength = apart if self.reaches else apart / np.maximum(half, 1e-3)
        return [int(i) for i in np.argsort(-strength, kind="stable")]

    def _apart(self, group: int, i: int) -> float:
        return float(abs(self.means[group, i] - self.everyone[i]) / self._width[i])

    def _is_clear(self, group: int, i: int) -> bool:
        """Whether a mean differs from everyone's in limits that hold together with all others."""
        if self.reaches:
            return self._apart(group, i) >= _DIFFERENT
        half = (self.high[group, i] - self.low[group, i]) / 2
        middle = (self.high[group, i] + self.low[group, i]) / 2
        return bool(abs(self.everyone[i] - middle) > self._joint_times * half)

    def _may_differ(self, group: int) -> bool:
        """Whether a mean may lie further from everyone's than is worth a title."""
        far = np.maximum(self.high[group] - self.everyone, self.everyone - self.low[group])
        return len(self.means) > 1 and bool((far >= _DIFFERENT * self._width).any())

    @cached_property
    def _joint_times(self) -> float:
        """How many times as far limits lie to hold together."""
        one, all_ = (1 + _EACH) / 2, 1 - (1 - _TOGETHER) / (2 * self.means.size)
        return float(student.ppf(max(all_, one), _REFITS) / student.ppf(one, _REFITS))

    def _title_part(self, group: int, i: int) -> str:
        side = "high" if self.means[group, i] > self.everyone[i] else "low"
        return f"{side} {self.columns[i].within}"

    def _row(self, group: int, i: int) -> CardRow:
        low, high = float(self.low[group, i]), float(self.high[group, i])
        return number_row(
            self.columns[i],
            float(self.means[group, i]),
            float(self.everyone[i]),
            None if math.isnan(low) else (low, high),
            (float(self.within[0, i]), float(self.within[1, i])),
            is_clear=self._is_clear(group, i) and not math.isnan(low),
        )
