"""Make profiles of noisy measurements: values drawn to the model, sizes that add up, intervals.

First the sizes of groups beside the number of rows, then intervals of shares and means, from draws
of the noise that was added, then the two ways to a profile. All of it reads releases only, but for
the profiles of plain groups, which add no noise and are for the holder of the rows.
"""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.cluster.group_sizes import CHANCE
from shoal.cluster.prototypes._group_measurements import NoisyMeasurements, group_blocks
from shoal.cluster.prototypes._mixed_rows import MixedRows, Prototypes
from shoal.cluster.prototypes._profiles import RATE, GroupIntervals, JointLimits, Profiles
from shoal.estimator import RowCount
from shoal.synopsis.mixed import MixedColumns, MixedSynopsis, norm_sub

NOISE_SEED = 20_240_601  # of draws that protect nothing: intervals are the same each time
# Draws of the noise behind quantiles: docs/decisions/mixed-tables.md.
DRAWS = 16_000  # of 4,000 a quantile was off by up to 4 %, and intervals held 94 times in 100
_SHARES = np.linspace(0.0, 1.0, 2001)
_MEANS = np.linspace(-1.0, 1.0, 4001)
# Limits of all shares and means of all groups hold together but for so many releases.
JOINT_MISSES = 0.05
_PAIR, _ONE_OF_MANY = 0.5, 0.25  # shares at which the noise of a column is compared with its reach
_GRID = 41  # values at which a quantile of the noise is computed; between them it is interpolated


def geometric_variance(epsilon: float) -> float:
    """Return the variance of two-sided geometric noise."""
    return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


def geometric_noise(epsilon: float, n: Any, rng: np.random.Generator) -> Floats:
    """Draw two-sided geometric noise for intervals: it protects nothing."""
    p = -math.expm1(-epsilon)
    return np.asarray(rng.geometric(p, n) - rng.geometric(p, n), dtype=np.float64)


def weigh_sizes(
    sizes: Floats, variance: float, draws: Floats, row_count: RowCount
) -> tuple[Floats, tuple[Floats, Floats], NDArray[np.bool_]]:
    """Return whole sizes that add up, their limits, and which of them are more than noise.

    Noise alone makes any of the sizes certain in one of 1,000 releases.

    What total and sizes disagree by is divided among them by their variances (least squares), so
    that each size is the middle of its interval; only sizes below 0 are moved further.
    """
    spread = sizes.size * variance + _count_variance(row_count)
    weight = 0.0 if math.isinf(spread) else variance / spread
    rng = np.random.default_rng(NOISE_SEED + 1)
    excess = count_noise(row_count, len(draws), rng) - draws.sum(axis=1)
    noise = draws + weight * excess[:, None]
    reach = float(np.quantile(np.abs(noise), RATE))
    middle = sizes + weight * (row_count.value - sizes.sum())
    limits = np.maximum(middle - reach, 0.0), np.maximum(middle + reach, 0.0)
    is_certain = middle > np.quantile(noise.max(axis=1), 1 - CHANCE)
    return _whole(norm_sub(middle, max(1.0, float(middle.sum())))), limits, is_certain


def count_noise(row_count: RowCount, n: int, rng: np.random.Generator) -> Floats:
    """Draw noise like that of the row count, for intervals: it protects nothing."""
    epsilon, noises = row_count.epsilon, row_count.noises
    if not epsilon:
        return np.zeros(n)
    drawn: Floats = geometric_noise(epsilon, n * noises, rng).reshape(noises, n)
    return np.asarray(drawn.sum(axis=0))


def _count_variance(row_count: RowCount) -> float:
    if row_count.epsilon is None:
        return 0.0
    if row_count.epsilon == 0:
        return math.inf
    return row_count.noises * geometric_variance(row_count.epsilon)


def _whole(sizes: Floats) -> Floats:
    """Round sizes so that they add up to the rounded total: the largest remainders go up."""
    floors = np.floor(sizes)
    left = round(float(sizes.sum())) - int(floors.sum())
    floors[np.argsort(floors - sizes, kind="stable")[:left]] += 1
    return floors


class NoiseQuantiles:
    """Quantiles of the noise of measurements, from draws: they depend on public things alone.

    For the true share s of a count h in a group of n rows, h - s n has mean 0 and a law that no row
    changes. The interval holds every s at which it is not too far from 0 (Fieller).
    """

    def __init__(self, measured: NoisyMeasurements) -> None:
        self._measured = measured
        rng = np.random.default_rng(NOISE_SEED)
        blocks = group_blocks(measured.columns)
        self._noise = blocks.draw(measured.epsilon, DRAWS, rng, measured.gaussian)
        self._size_noise = self._noise @ measured.size_weights
        self._mean_reach = [
            self._reach(_MEANS, self._noise[:, 1 + i]) for i in range(len(measured.columns.numbers))
        ]
        # The first category stands for all: noise treats them alike.
        self._share_reach = [
            self._reach(_SHARES, self._count_noise(i)[:, 0])
            for i in range(len(measured.columns.categories))
        ]

    def size_noise(self, groups: int) -> Floats:
        """Return draws of the noise of all sizes, each group's apart from the others'."""
        rng = np.random.default_rng(NOISE_SEED)
        return np.column_stack([rng.permutation(self._size_noise) for _ in range(groups)])

    def mean_limits(self, sums: Floats, n: Floats, times: float = 1.0) -> tuple[Floats, Floats]:
        """Return the limits of each mean, in [-1, 1], so many times as far as noise reaches."""
        limits = [
            _limits(_MEANS, times * self._mean_reach[i], sums[:, i], n)
            for i in range(sums.shape[1])
        ]
        low, high = ([each[end] for each in limits] for end in (0, 1))
        return (np.column_stack(low), np.column_stack(high)) if limits else (sums, sums)

    def share_limits(
        self, i: int, counts: Floats, n: Floats, times: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Return the limits of each share of a column, so many times as far as noise reaches."""
        repeated = np.repeat(n, counts.shape[1])
        low, high = _limits(_SHARES, times * self._share_reach[i], counts.ravel(), repeated)
        return low.reshape(counts.shape), high.reshape(counts.shape)

    def joint_times(self, groups: int) -> float:
        """Return how many times as far limits must lie to hold together, in all groups."""
        farthest = np.zeros(DRAWS)
        for i, reach in enumerate(self._mean_reach):
            beside = np.abs(self._noise[:, 1 + i]) / np.interp(0.0, _MEANS, reach)
            farthest = np.maximum(farthest, beside)
        for i, reach in enumerate(self._share_reach):
            share = _PAIR if self._measured.columns.categories[i].size == 2 else _ONE_OF_MANY
            apart = np.abs(self._count_noise(i) - share * self._size_noise[:, None])
            farthest = np.maximum(farthest, apart.max(axis=1) / np.interp(share, _SHARES, reach))
        return max(1.0, float(np.quantile(farthest, 1 - JOINT_MISSES / groups)))

    def _count_noise(self, i: int) -> Floats:
        """Return draws of the noise in the counts of a column's categories."""
        drawn, size = self._noise[:, self._measured.places[i]], self._size_noise[:, None]
        categories = self._measured.columns.categories[i].size
        if categories == 2:  # the second minus the first was measured
            return np.asarray(np.hstack([size - drawn, size + drawn]) / 2)
        return np.asarray(drawn + (size - drawn.sum(axis=1)[:, None]) / categories)

    def _reach(self, candidates: Floats, noise: Floats) -> Floats:
        """Return how far noise takes a sum from what a candidate says, at the rate."""
        coarse = np.linspace(candidates[0], candidates[-1], _GRID)
        reach = np.quantile(np.abs(noise - coarse[:, None] * self._size_noise), RATE, axis=1)
        return np.asarray(np.interp(candidates, coarse, reach))


def _limits(candidates: Floats, reach: Floats, counts: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest candidate that the noise does not rule out."""
    within = np.abs(counts[:, None] - n[:, None] * candidates) <= reach
    step = candidates[1] - candidates[0]
    low = candidates[within.argmax(axis=1)] - step
    high = candidates[candidates.size - 1 - within[:, ::-1].argmax(axis=1)] + step
    nothing = ~within.any(axis=1)  # no candidate fits, as with a size far below 0: nothing is known
    low, high = (
        np.where(nothing, end, x) for end, x in ((candidates[0], low), (candidates[-1], high))
    )
    return np.maximum(low, candidates[0]), np.minimum(high, candidates[-1])


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
    shown, limits, is_certain = weigh_sizes(sizes, geometric_variance(epsilon), draws, row_count)
    intervals = GroupIntervals(unknown, unknown, *limits, is_certain)
    made = _profiles(synopsis, means, shares, nothing, nothing, shown, intervals, measured=False)
    shares_of_levels = _level_shares(synopsis, rows, prototypes, made)
    return replace(made, level_shares=shares_of_levels).with_titles()


def measured_profiles(
    synopsis: MixedSynopsis,
    rows: MixedRows,
    prototypes: Prototypes,
    measured: NoisyMeasurements,
    row_count: RowCount,
) -> Profiles:
    """Return profiles from measurements, drawn to the model as far as noise makes them
    uncertain.
    """
    model_means, model_shares = _model_values(synopsis, rows, prototypes)
    law = NoiseQuantiles(measured)
    n, n_deviation = measured.sizes
    safe = np.maximum(n, 2 * n_deviation)[:, None]
    sums, sum_deviations = measured.sums()
    means_low, means_high = law.mean_limits(sums, n)
    noise = np.broadcast_to(sum_deviations / safe, sums.shape)
    means = np.clip(_drawn_to(model_means, sums / safe, noise), means_low, means_high)
    shares, lows, highs, joint_shares = [], [], [], []
    times = law.joint_times(n.size)
    for i, u in enumerate(model_shares):
        counts, deviation = measured.histogram(i)
        joint_shares.append(law.share_limits(i, counts, n, times))
        low, high = law.share_limits(i, counts, n)
        noise = np.broadcast_to(deviation / safe, counts.shape)
        here = _drawn_to(u, counts / safe, noise)
        lines = zip(here, low, high, strict=True)
        shares.append(np.array([_shares_within(*line) for line in lines]))
        lows.append(low)
        highs.append(high)
    size_noise = law.size_noise(n.size)
    shown, limits, is_certain = weigh_sizes(n, n_deviation**2, size_noise, row_count)
    low_units, high_units = (_unscaled(synopsis.columns, each) for each in (means_low, means_high))
    intervals = GroupIntervals(low_units, high_units, *limits, is_certain)
    made = _profiles(
        synopsis, means, tuple(shares), tuple(lows), tuple(highs), shown, intervals, measured=True
    )
    low, high = (_unscaled(synopsis.columns, each) for each in law.mean_limits(sums, n, times))
    joint = JointLimits(low, high, *(tuple(each[end] for each in joint_shares) for end in (0, 1)))
    shares_of_levels = _level_shares(synopsis, rows, prototypes, made)
    return replace(made, joint=joint, level_shares=shares_of_levels).with_titles()


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
    """Put values beside those of everyone in the released columns."""
    columns, p = synopsis.columns, len(synopsis.columns.numbers)
    # Middles of bins are off where rows crowd at an edge; measured groups are not.
    everyone = sizes @ means / max(sizes.sum(), 1.0) if measured else _everyone_means(synopsis)
    floor = 1 / max(synopsis.model_.total, 1.0)  # so that a lift is never by nothing
    everyone_shares = tuple(
        np.maximum(synopsis.model_.shares(p + i), floor) for i in range(len(columns.categories))
    )
    given = (shares, lows, highs)
    return _in_own_units(
        columns, sizes, means, everyone, given, everyone_shares, intervals, measured=measured
    )


def plain_profiles(rows: MixedRows, labels: Integers, prototypes: Prototypes) -> Profiles:
    """Return profiles of the rows as they are, without noise: for the holder of the rows.

    A group without rows has the values of its prototype.
    """
    columns, k = rows.columns, len(prototypes)
    sizes, means = rows.means(np.eye(k)[labels])
    alone = MixedRows(columns, prototypes.numbers, prototypes.codes).means(np.eye(k))[1]
    flat = np.vstack([rows.means(np.ones((len(rows), 1)))[1],
                      np.where(sizes[:, None] > 0, means, alone)])  # fmt: skip
    p, counts = len(columns.numbers), [column.size for column in columns.categories]
    numbers, *shares = np.split(flat, np.cumsum([p, *counts])[:-1], axis=1)
    unknown = np.full((k, p), np.nan)
    nothing = tuple(np.full((k, count), np.nan) for count in counts)
    given = (tuple(each[1:] for each in shares), nothing, nothing)
    everyone_shares = tuple(each[0] for each in shares)
    intervals = GroupIntervals(unknown, unknown, sizes, sizes, sizes > 0)
    made = _in_own_units(
        columns, sizes, numbers[1:], numbers[0], given, everyone_shares, intervals, measured=True
    )
    # Without noise each value is its own limit.
    exact = JointLimits(made.means, made.means, made.shares, made.shares)
    return replace(made, joint=exact).with_titles()


def _in_own_units(
    columns: MixedColumns,
    sizes: Floats,
    means: Floats,
    everyone: Floats,
    shares: tuple[tuple[Floats, ...], tuple[Floats, ...], tuple[Floats, ...]],
    everyone_shares: tuple[Floats, ...],
    intervals: GroupIntervals,
    *,
    measured: bool,
) -> Profiles:
    """Put means in the columns' own units.

    Parameters
    ----------
    shares
        Those of the groups, and the low and high ends of their intervals.
    """
    return Profiles(
        tuple((c.name, c.levels) for c in columns.numbers),
        tuple((c.name, c.labels) for c in columns.categories),
        sizes,
        _unscaled(columns, means),
        *shares,
        _unscaled(columns, everyone[None])[0],
        everyone_shares,
        np.array([[c.unscaled(-1), c.unscaled(1)] for c in columns.numbers]).reshape(-1, 2),
        intervals,
        measured,
    )


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


def _level_shares(
    synopsis: MixedSynopsis, rows: MixedRows, prototypes: Prototypes, made: Profiles
) -> tuple[Floats, ...]:
    """Return the share of each level by group and, last, for everyone: synthetic rows give them."""
    member = np.eye(len(prototypes))[rows.labels(prototypes)]
    found = []
    for i, column in enumerate(rows.columns.numbers):
        if not column.levels:
            continue
        top = len(column.levels) - 1
        code = np.clip(np.rint((rows.numbers[:, i] + 1) / 2 * top), 0, top).astype(np.int64)
        everyone = np.asarray(synopsis.model_.shares(i), dtype=np.float64)
        # A tenth of a row of everyone's shares: a level that no synthetic row has is not ruled out.
        counts = member.T @ np.eye(top + 1)[code] + 0.1 * everyone
        lines = zip([*counts, everyone], [*made.means[:, i], made.everyone_means[i]], strict=True)
        found.append(np.array([_tilted(line, float(mean)) for line, mean in lines]))
    return tuple(found)


def _tilted(shares: Floats, mean: float) -> Floats:
    """Return the shares nearest to these (in relative entropy) whose mean level is as given."""
    levels = np.arange(len(shares))
    logs = np.log(np.maximum(shares, 1e-9) / max(float(shares.sum()), 1e-9))
    low, high = -50.0, 50.0
    for _ in range(60):
        slope = (low + high) / 2
        weights = np.exp(logs + slope * levels - np.max(logs + slope * levels))
        weights /= weights.sum()
        low, high = (slope, high) if weights @ levels < mean else (low, slope)
    return np.asarray(weights)


def _everyone_means(synopsis: MixedSynopsis) -> Floats:
    """Return the mean of each number over the bins of its one-way counts, in [-1, 1]."""
    means = []
    for i, column in enumerate(synopsis.columns.numbers):
        size = column.size(synopsis.bins_)
        middles = (np.arange(size) + 0.5) / size if not column.levels else np.linspace(0, 1, size)
        means.append(float(synopsis.model_.shares(i) @ (2 * middles - 1)))
    return np.array(means)


def _unscaled(columns: MixedColumns, means: Floats) -> Floats:
    made = [column.unscaled(means[:, i]) for i, column in enumerate(columns.numbers)]
    return np.column_stack(made) if made else np.empty((len(means), 0))


def _drawn_to(model: Floats, direct: Floats, noise: Floats) -> Floats:
    """James-Stein: keep of the difference from the model what is not noise in it."""
    apart = direct - model
    if not apart.shape[1]:
        return apart
    squares = np.maximum(np.square(apart).sum(axis=1), 1e-300)
    factor = np.maximum(0.0, 1 - np.square(noise).sum(axis=1) / squares)
    return np.asarray(model + factor[:, None] * apart)
