"""What is typical of each group compared with everyone, from released numbers only."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats
from shoal.cluster.prototypes._group_sizes import (
    NOISE_SEED,
    RATE,
    geometric_noise,
    geometric_variance,
    weigh_sizes,
)
from shoal.cluster.prototypes._profile_limits import DRAWS, NoiseLaw
from shoal.cluster.prototypes._titles import titles_of, value_label
from shoal.cluster.prototypes.measure import Measured
from shoal.cluster.prototypes.mixed_cost import MixedRows, Prototypes
from shoal.errors import InvalidSetting
from shoal.estimator import RowCount
from shoal.synopsis.mixed import MixedSynopsis
from shoal.synopsis.mixed.tree_model import norm_sub

_MODELLED_DIFFERENCE = 0.1  # a modelled share that differs by less is not in a title


@dataclass(frozen=True, eq=False)
class GroupIntervals:
    """Where the true values of this table lie, by the noise alone, at a stated rate.

    Parameters
    ----------
    centers_low, centers_high
        The mean of each number in each group, in its own units; NaN where it was not measured.
    """

    centers_low: Floats
    centers_high: Floats
    sizes_low: Floats
    sizes_high: Floats
    rate: float = RATE


@dataclass(frozen=True)
class Difference:
    """One column in which a group differs from everyone.

    Parameters
    ----------
    value
        The category that is most above everyone's share; None for a number.
    here, low, high
        The share or mean in the group, and its interval; the limits are NaN if it is modelled.
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
    sizes
        About how many rows each group has; together all rows.
    means
        The mean of each number in each group, in its own units; of levels, their place from 0.
    shares_low, shares_high
        Their intervals; NaN where shares are modelled.
    everyone_means, everyone_shares
        The same of all rows: means are those of the groups together where they were measured.
    spans
        The bounds of each number, in its own units.
    measured
        Whether shares and means were measured on the rows; else the model gives them.
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

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.sizes)

    def by_size(self) -> list[int]:
        """Return the groups' numbers, the largest first."""
        return sorted(range(self.n_groups), key=lambda group: (-self.sizes[group], group))

    def differences(self, group: int) -> list[Difference]:
        """Return how a group differs from everyone, a column once, the strongest first."""
        numbers = [self._number(i, group) for i in range(len(self.numbers))]
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
            one = self._number(i, group)
            made.append((*head, name, "", "mean", *_figures(one)))
        for i, (name, labels) in enumerate(self.categories):
            for code, label in enumerate(labels):
                one = self._share(i, group, code)
                made.append((*head, name, str(label), "share", *_figures(one)))
        return made

    def _number(self, i: int, group: int) -> Difference:
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
        return self._share(i, group, int(above.argmax()))

    def _share(self, i: int, group: int, code: int) -> Difference:
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


def modelled_profiles(
    synopsis: MixedSynopsis,
    rows: MixedRows,
    prototypes: Prototypes,
    sizes: Floats,
    epsilon: float,
    row_count: RowCount,
) -> Profiles:
    """Return profiles whose shares and means come from the model; only sizes were measured."""
    means, shares = _model_values(synopsis, rows, prototypes)
    unknown = np.full(means.shape, np.nan)
    nothing = tuple(np.full(each.shape, np.nan) for each in shares)
    draws = geometric_noise(epsilon, (DRAWS, sizes.size), np.random.default_rng(NOISE_SEED))
    shown, limits = weigh_sizes(sizes, geometric_variance(epsilon), draws, row_count)
    intervals = GroupIntervals(unknown, unknown, *limits)
    return _profiles(synopsis, means, shares, nothing, nothing, shown, intervals, measured=False)


def measured_profiles(
    synopsis: MixedSynopsis,
    rows: MixedRows,
    prototypes: Prototypes,
    measured: Measured,
    row_count: RowCount,
) -> Profiles:
    """Return profiles from measurements, drawn to the model as far as noise makes them
    uncertain.
    """
    model_means, model_shares = _model_values(synopsis, rows, prototypes)
    law = NoiseLaw(measured)
    n, n_deviation = measured.sizes
    safe = np.maximum(n, 2 * n_deviation)[:, None]
    sums, sum_deviations = measured.sums()
    means_low, means_high = law.mean_limits(sums, n)
    noise = np.broadcast_to(sum_deviations / safe, sums.shape)
    means = np.clip(_drawn_to(model_means, sums / safe, noise), means_low, means_high)
    shares, lows, highs = [], [], []
    for i, u in enumerate(model_shares):
        counts, deviation = measured.histogram(i)
        low, high = law.share_limits(i, counts, n)
        noise = np.broadcast_to(deviation / safe, counts.shape)
        here = _drawn_to(u, counts / safe, noise)
        lines = zip(here, low, high, strict=True)
        shares.append(np.array([_shares_within(*line) for line in lines]))
        lows.append(low)
        highs.append(high)
    shown, limits = weigh_sizes(n, n_deviation**2, law.size_noise(n.size), row_count)
    low_units, high_units = (_unscaled(synopsis, each) for each in (means_low, means_high))
    intervals = GroupIntervals(low_units, high_units, *limits)
    return _profiles(
        synopsis, means, tuple(shares), tuple(lows), tuple(highs), shown, intervals, measured=True
    )


def _profiles(
    synopsis: MixedSynopsis,
    means: Floats,
    shares: tuple[Floats, ...],
    lows: tuple[Floats, ...],
    highs: tuple[Floats, ...],
    sizes: Floats,
    intervals: GroupIntervals,
    *,
    measured: bool,
) -> Profiles:
    """Put values in the columns' own units beside those of everyone."""
    columns, total = synopsis.columns, synopsis.model_.total
    # Middles of bins are off where rows crowd at an edge; measured groups are not.
    everyone = sizes @ means / max(sizes.sum(), 1.0) if measured else _everyone_means(synopsis)
    p = len(columns.numbers)
    floor = 1 / max(total, 1.0)  # so that a lift is never by nothing
    return Profiles(
        tuple((c.name, c.levels) for c in columns.numbers),
        tuple((c.name, c.labels) for c in columns.categories),
        sizes,
        _unscaled(synopsis, means),
        shares,
        lows,
        highs,
        _unscaled(synopsis, everyone[None])[0],
        tuple(
            np.maximum(synopsis.model_.shares(p + i), floor) for i in range(len(columns.categories))
        ),
        np.array([[c.unscaled(-1), c.unscaled(1)] for c in columns.numbers]).reshape(p, 2),
        intervals,
        measured,
    ).with_titles()


def _shares_within(here: Floats, low: Floats, high: Floats) -> Floats:
    """Return the nearest shares in their intervals that add up to 1; without limits if none do."""
    if not low.sum() <= 1 <= high.sum():
        return norm_sub(here, 1.0)
    least, most = float((here - high).min()), float((here - low).max())
    for _ in range(60):
        middle = (least + most) / 2
        if np.clip(here - middle, low, high).sum() > 1:
            least = middle
        else:
            most = middle
    return np.asarray(np.clip(here - most, low, high))


def _model_values(
    synopsis: MixedSynopsis, rows: MixedRows, prototypes: Prototypes
) -> tuple[Floats, tuple[Floats, ...]]:
    """Return what synthetic rows say of each group; of one without any, what they say of all."""
    sizes, means = rows.means(np.eye(len(prototypes))[rows.labels(prototypes)])
    whole = rows.means(np.ones((len(rows), 1)))[1]
    means = np.where((sizes == 0)[:, None], whole, means)
    p = len(rows.columns.numbers)
    ends = np.cumsum([p, *(column.size for column in rows.columns.categories)])
    shares = tuple(means[:, a:b] for a, b in itertools.pairwise(ends))
    return means[:, :p], shares


def _everyone_means(synopsis: MixedSynopsis) -> Floats:
    """Return the mean of each number over the bins of its one-way counts, in [-1, 1]."""
    means = []
    for i, column in enumerate(synopsis.columns.numbers):
        size = column.size(synopsis.bins_)
        middles = (np.arange(size) + 0.5) / size if not column.levels else np.linspace(0, 1, size)
        means.append(float(synopsis.model_.shares(i) @ (2 * middles - 1)))
    return np.array(means)


def _unscaled(synopsis: MixedSynopsis, means: Floats) -> Floats:
    columns = synopsis.columns.numbers
    made = [column.unscaled(means[:, i]) for i, column in enumerate(columns)]
    return np.column_stack(made) if made else np.empty((len(means), 0))


def _drawn_to(model: Floats, direct: Floats, noise: Floats) -> Floats:
    """James-Stein: keep of the difference from the model what is not noise in it."""
    apart = direct - model
    if not apart.shape[1]:
        return apart
    squares = np.maximum(np.square(apart).sum(axis=1), 1e-300)
    factor = np.maximum(0.0, 1 - np.square(noise).sum(axis=1) / squares)
    return np.asarray(model + factor[:, None] * apart)
