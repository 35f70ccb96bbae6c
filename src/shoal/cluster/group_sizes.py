"""Combine noisy counts into one total, with sizes that add up to it, and test which are noise.

A ``NoiseSum`` is the law of the noise in a count: how far noise alone reaches, how seldom.
Only released numbers and the public laws of their noise are read, so all of it is post-processing.
The level of the test and its error rates are in docs/decisions/certain-groups.md.
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats
from shoal.errors import NoGroupsDetected
from shoal.estimator import RowCount
from shoal.synopsis import weights_of

NO_GROUP = "No group can be distinguished from noise"
NO_ROWS_DETECTED = (
    f"{NO_GROUP}: the counts are within what noise alone gives for an "
    "empty table. The budget is spent, and the release stands. Check whether rows were left "
    "out or moved to the edge of the box; otherwise use a larger epsilon, fewer groups or "
    "fewer columns."
)
NO_GROUP_CERTAIN = (
    f"{NO_GROUP}: the table is not empty, but no single group stands "
    "clear of what noise alone gives. The budget is spent, and the release stands. Use "
    "fewer groups, fewer columns or a larger epsilon."
)
NOT_CLEAR = "Not clear at this budget"
"""The title of a group of which nothing can be said."""
CHANCE = 1 / 1000
"""The probability that an empty table passes the test: docs/decisions/certain-groups.md."""
_ALL_BUT_NORMAL = 1e6  # as many Laplace noises add up to a normal one, to six digits
_HALVINGS = 60  # of the bisection: to the last bit of a float
_LEAST_LOG = -25.0  # log probability below which Chernoff's bound is used instead
_NEAR_ZERO = 1e-6  # below it the saddle-point formula divides 0 by 0
_NORMAL = NormalDist()


@dataclass(frozen=True)
class NoiseSum:
    r"""The distribution of a sum of independent symmetric noises.

    Each part has the characteristic function :math:`(1 + s^2 \theta^2)^{-p}`: one Laplace noise of
    scale s for p = 1, n of them for p = n, one coordinate of ``KNorm`` noise on vectors of m
    for p = (m + 1) / 2. Geometric noise is taken for Laplace noise of the same step, whose
    moment-generating function is never smaller.

    Parameters
    ----------
    parts
        Pairs (scale, shape) of the noises: s and p of each.

    Examples
    --------
    >>> one = NoiseSum.geometric(step=0.03)
    >>> round(one.reach(1 / 1000)), round(one.plus(one).reach(1 / 1000))
    (208, 261)
    """

    parts: tuple[tuple[float, float], ...]

    @classmethod
    def geometric(cls, step: float, times: float = 1.0) -> Self:
        """Return the law of the sum of several geometric noises."""
        return cls(((1 / step, times),))

    @classmethod
    def of_variance(cls, variance: float, times: float = 1.0) -> Self:
        """Return the law of the sum of several geometric noises of a given variance.

        Parameters
        ----------
        variance
            Of each noise; 0 for no noise.
        """
        if not variance:
            return cls(())
        return cls.geometric(2 * math.asinh(1 / math.sqrt(2 * variance)), times)

    @classmethod
    def normal(cls, deviation: float) -> Self:
        """Return the law of a normal noise."""
        return cls(((deviation / math.sqrt(2 * _ALL_BUT_NORMAL), _ALL_BUT_NORMAL),))

    @classmethod
    def k_norm(cls, scale: float, m: int) -> Self:
        """Return the law of one coordinate of ``KNorm`` noise."""
        return cls(((scale, (m + 1) / 2),))

    @property
    def variance(self) -> float:
        """The variance of the sum."""
        return sum(2 * shape * scale**2 for scale, shape in self.parts)

    def times(self, factor: float) -> "NoiseSum":
        """Return the law of the sum multiplied by a number."""
        return NoiseSum(tuple((abs(factor) * scale, shape) for scale, shape in self.parts))

    def plus(self, other: "NoiseSum") -> "NoiseSum":
        """Return the law of the sum of this and another, independent noise."""
        return NoiseSum(self.parts + other.parts)

    def reach(self, chance: float) -> float:
        """Return the value that the noise exceeds with this probability (one-sided).

        By the saddle-point approximation of Lugannani and Rice, Adv. Appl. Probab. 1980.
        """
        return _reach(self, math.log(chance))

    def far_reach(self, log_chance: float) -> float:
        """Return the same for a probability that may be too small for a float.

        Parameters
        ----------
        log_chance
            The logarithm of the probability. Below about 1e-11 Chernoff's bound is used.
        """
        return _reach(self, log_chance)

    def _log_tail(self, t: float, log_chance: float) -> float:
        """Return the log probability of exceeding the value of the saddle point ``t``."""
        both = [(s, p, (s * t) ** 2) for s, p in self.parts if p]
        if any(square >= 1 for _, _, square in both):
            return -math.inf
        cumulant = -sum(p * math.log1p(-square) for _, p, square in both)
        exponent = max(t * self._slope(t) - cumulant, 0.0)
        if log_chance < _LEAST_LOG:
            return -exponent
        curve = sum(2 * p * s**2 * (1 + square) / (1 - square) ** 2 for s, p, square in both)
        w, u = math.sqrt(2 * exponent), t * math.sqrt(curve)
        if w < _NEAR_ZERO:
            return math.log(0.5)
        return math.log(max(_NORMAL.cdf(-w) + _NORMAL.pdf(w) * (1 / u - 1 / w), 1e-300))

    def _slope(self, t: float) -> float:
        """Return the derivative of the cumulant-generating function: the value of ``t``."""
        return sum(2 * p * s**2 * t / (1 - (s * t) ** 2) for s, p in self.parts if p)


def noise_of_rows(row_count: RowCount) -> NoiseSum | None:
    """Return the law of the noise in a row count; None if it is public or was combined before."""
    if not row_count.epsilon:
        return None
    return NoiseSum.geometric(row_count.epsilon, row_count.noises)


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Unbiased noisy counts of groups, and the laws of their noise.

    Parameters
    ----------
    noise
        The law of the noise in each; groups counted together may share noise.
    total
        The noisy count of all groups together; None if it was not counted.
    total_noise
        The law of its noise; None if it was not counted.
    log_choices
        The logarithm of how many groups each was chosen from by its own noise, if any.
    are_sizes
        Whether they are the sizes to publish; weights of cells carry less noise, where there are
        any.
    """

    sizes: Floats
    noise: tuple[NoiseSum, ...]
    total: float | None
    total_noise: NoiseSum | None
    log_choices: Floats | None = None
    are_sizes: bool = False

    @classmethod
    def alike(cls, sizes: Floats, noise: NoiseSum) -> "GroupCounts":
        """Return counts that each carry independent noise of one law."""
        k = len(sizes)
        together = NoiseSum(tuple((scale, k * shape) for scale, shape in noise.parts))
        return cls(sizes, (noise,) * k, float(sizes.sum()), together, are_sizes=True)


@dataclass(frozen=True, eq=False)
class Totals:
    """The published numbers of rows: in all and in each group, and which are more than noise.

    Parameters
    ----------
    within
        The distance within which it lies of the true number in 95 of 100 releases; 0 if public.
    sizes
        The size of each group, at least 0; they add up to ``n_rows``.
    reach
        What the count of each group would exceed by noise alone, if all groups were empty, in one
        of 1,000 releases for all groups together.
    rows_detected
        Whether the count of all rows passes what it would by noise alone in one of 1,000.
    """

    n_rows: int
    within: int
    sizes: Floats
    reach: Floats
    is_certain: NDArray[np.bool_]
    rows_detected: bool


def combine_counts(
    n_rows: int, rows_noise: NoiseSum | None, counted: GroupCounts, weights: Floats | None = None
) -> Totals:
    r"""Combine the count of all rows and the counts of groups into one consistent set.

    The number of rows, :math:`\hat N`, and the sum S of the groups' counts are independent and
    right on average: :math:`N' = (\hat N / v_N + S / v_S) / (1 / v_N + 1 / v_S)`. What that adds
    to S is spread over the groups by their variances, which is the least-squares way.

    Parameters
    ----------
    rows_noise
        The law of its noise; None if it is public or was combined before.
    weights
        The weight of each group, to which sizes are proportional where counts are not published.

    Examples
    --------
    >>> noise = NoiseSum.geometric(step=0.1)
    >>> counted = GroupCounts.alike(np.array([700.0, 280.0]), noise)
    >>> both = combine_counts(1_000, noise, counted)
    >>> both.n_rows, both.sizes.round(1).tolist(), both.is_certain.tolist()
    (993, [706.4, 286.6], [True, True])
    """
    total, noise = _best_total(n_rows, rows_noise, counted)
    in_all = n_rows if rows_noise is None else max(1, round(total))
    within = 0 if rows_noise is None else math.ceil(noise.reach(0.025))
    # The total is combined first; the groups then share what it gained or lost.
    each, laws = _adjust_to_total(counted, rows_noise, total)
    log_chances = math.log(CHANCE / max(len(laws), 1)) - (
        np.zeros(len(laws)) if counted.log_choices is None else counted.log_choices
    )
    both = zip(laws, log_chances.tolist(), strict=True)
    reach = np.array([law.far_reach(log_chance) for law, log_chance in both])
    rows_detected = bool(total > noise.reach(CHANCE))
    sizes = _scale_to_total(in_all, each if counted.are_sizes or weights is None else weights)
    return Totals(in_all, within, sizes, reach, each > reach, rows_detected)


def warn_if_no_group_is_certain(is_certain: NDArray[np.bool_], rows_detected: bool) -> None:
    """Warn the caller of ``fit`` if no group holds more than noise alone would count."""
    if not is_certain.any():
        message = NO_GROUP_CERTAIN if rows_detected else NO_ROWS_DETECTED
        warnings.warn(message, NoGroupsDetected, stacklevel=3)


@contextmanager
def ignore_no_groups_warning() -> Iterator[None]:
    """Suppress the warning that no group holds more than noise, where it is reported otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoGroupsDetected)
        yield


def whole_shares(parts: ArrayLike, total: int) -> list[int]:
    """Round parts to whole numbers that add up to the total, by largest remainder.

    Parameters
    ----------
    parts
        Numbers of at least 0, which add up to about the total.
    Examples
    --------
    >>> whole_shares([3.4, 3.4, 3.2], 10)
    [4, 3, 3]
    """
    exact = np.asarray(parts, dtype=np.float64)
    whole = np.floor(exact + 1e-9).astype(np.int64)
    missing = max(int(total - whole.sum()), 0)
    order = np.argsort(whole - exact, kind="stable")
    whole[order[:missing]] += 1
    return [int(each) for each in whole]


def _best_total(
    n_rows: int, rows_noise: NoiseSum | None, counted: GroupCounts
) -> tuple[float, NoiseSum]:
    """Return the best noisy count of all rows; of a public number, the sum of the groups."""
    if counted.total is None or counted.total_noise is None:
        largest = float(counted.sizes.max(initial=0))
        return (largest, _widest(counted.noise)) if rows_noise is None else (n_rows, rows_noise)
    if rows_noise is None:
        return counted.total, counted.total_noise
    both = rows_noise.variance + counted.total_noise.variance
    of_rows, of_groups = counted.total_noise.variance / both, rows_noise.variance / both
    noise = rows_noise.times(of_rows).plus(counted.total_noise.times(of_groups))
    return of_rows * n_rows + of_groups * counted.total, noise


def _adjust_to_total(
    counted: GroupCounts, rows_noise: NoiseSum | None, total: float
) -> tuple[Floats, Sequence[NoiseSum]]:
    """Spread the change of the total over the groups; return their counts and the laws of noise."""
    if counted.total is None or counted.total_noise is None or rows_noise is None:
        return counted.sizes, counted.noise
    variances = np.array([noise.variance for noise in counted.noise])
    both = rows_noise.variance + counted.total_noise.variance
    shares = variances / max(float(variances.sum()), np.finfo(float).tiny)
    moved = shares * counted.total_noise.variance / both  # per row of the count of all rows
    laws = [
        noise.times(1 - part)
        .plus(_without_one(counted.total_noise, noise).times(part))
        .plus(rows_noise.times(part))
        for noise, part in zip(counted.noise, moved, strict=True)
    ]
    return counted.sizes + shares * (total - counted.total), laws


def _without_one(total: NoiseSum, one: NoiseSum) -> NoiseSum:
    """Return the noise of all groups but one, all of them of the same scale."""
    removed = sum(shape for _, shape in one.parts)
    return NoiseSum(tuple((scale, max(shape - removed, 0.0)) for scale, shape in total.parts))


def _widest(noise: Sequence[NoiseSum]) -> NoiseSum:
    return max(noise, key=lambda law: law.variance, default=NoiseSum(()))


def _scale_to_total(total: int, sizes: Floats) -> Floats:
    """Return non-negative sizes that add up to the total."""
    if not sizes.size:
        return sizes
    if (sizes < 0).any():
        sizes = weights_of(sizes, total, "norm-sub")
    whole = float(sizes.sum())
    return sizes * (total / whole) if whole > 0 else np.full(sizes.size, total / sizes.size)


@lru_cache(maxsize=4096)
def _reach(noise: NoiseSum, log_chance: float) -> float:
    widest = max((scale for scale, shape in noise.parts if shape), default=0.0)
    if widest == 0:
        return 0.0
    low, high = 0.0, 1 / widest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_below = noise._log_tail(middle, log_chance) > log_chance
        low, high = (middle, high) if is_below else (low, middle)
    return noise._slope(low)
