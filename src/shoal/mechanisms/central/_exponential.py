"""The exponential mechanism: draw a candidate, or a lattice point, by its score; drawn exactly."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.errors import DimensionMismatch, InvalidSetting, NotNumeric
from shoal.mechanisms.exact._inversion import decimal_precision, exp_minus
from shoal.privacy import PureDP, whole_number

Weight = int | float | Fraction
_GUARD_BITS = 64  # beyond those that decide: products of rounded factors lose a few


@dataclass(frozen=True, init=False, eq=False)
class Choices:
    """Candidates with whole-number scores (higher is better) and public positive weights.

    Parameters
    ----------
    scores
        A whole number for each candidate.
    weights
        A positive number for each, in proportion; None weighs all alike.
    """

    scores: Integers
    weights: tuple[int, ...]  # in proportion

    def __init__(self, scores: ArrayLike, weights: Sequence[Weight] | None = None) -> None:
        whole = _whole_numbers(scores, "scores")
        shares = (1,) * whole.size if weights is None else _in_proportion(weights)
        if whole.size == 0 or len(shares) != whole.size:
            raise DimensionMismatch(
                f"There are {whole.size} scores and {len(shares)} weights.",
                "Give at least one candidate, and one weight for each.",
            )
        object.__setattr__(self, "scores", whole)
        object.__setattr__(self, "weights", shares)


@dataclass(frozen=True, init=False, eq=False)
class ScoredIntervals:
    """Lattice points in (edges[i], edges[i+1]], all of one score; empty intervals are fine.

    Parameters
    ----------
    edges
        Rising whole numbers, one more than scores.
    scores
        A whole number for each interval.
    """

    edges: Integers
    scores: Integers

    def __init__(self, edges: ArrayLike, scores: ArrayLike) -> None:
        ends, whole = _whole_numbers(edges, "edges"), _whole_numbers(scores, "scores")
        rising = ends.size > 1 and bool(np.all(np.diff(ends) >= 0)) and ends[0] < ends[-1]
        if ends.size != whole.size + 1 or not rising:
            raise DimensionMismatch(
                f"There are {ends.size} edges and {whole.size} scores.",
                "Give rising edges, one more than scores, with a lattice point between.",
            )
        object.__setattr__(self, "edges", ends)
        object.__setattr__(self, "scores", whole)


@dataclass(frozen=True)
class Exponential:
    r"""Draw a candidate with probability :math:`\propto w\,e^{\varepsilon u / (2 \Delta)}`.

    Guarantee
    ---------
    :math:`\varepsilon`-DP if one row moves every score u by at most ``sensitivity`` and the
    weights w, or the range of the intervals, do not depend on the rows. Drawn exactly: the
    probabilities are computed to as many digits as the draw needs. See
    ``exponential.proof.md``.

    Parameters
    ----------
    guarantee
        The promise of one ``release``.
    sensitivity
        The most one row can move any score; a fraction such as ``Fraction(1, 2)`` may do.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> pick = Exponential(PureDP(4))
    >>> pick.release(Choices([0, 9, 1]), Randomness(7).noise)
    1
    >>> pick.release(ScoredIntervals([0, 10, 20], [0, 30]), Randomness(7).noise) > 10
    True

    References
    ----------
    McSherry, Talwar, Mechanism design via differential privacy, FOCS 2007.
    """

    guarantee: PureDP
    sensitivity: Fraction | int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, PureDP):
            raise InvalidSetting(
                "Exponential needs a PureDP promise.",
                "Give e.g. Exponential(page.budget) on a page of PureDP.",
            )
        whole = whole_number(self.sensitivity)
        exact = self.sensitivity if isinstance(self.sensitivity, Fraction) else whole
        if exact is None or exact <= 0:
            raise InvalidSetting.of(
                "sensitivity",
                "must be a positive whole number or Fraction",
                1,
                self.sensitivity,
            )
        object.__setattr__(self, "sensitivity", Fraction(exact))

    def check(self, value: object) -> None:
        """Refuse a value without scores.

        Parameters
        ----------
        value
            ``Choices`` or ``ScoredIntervals``.
        """
        if not isinstance(value, Choices | ScoredIntervals):
            raise NotNumeric(
                f"Expected scores; got a {type(value).__name__}.",
                "Wrap them: Choices(scores, weights) or Intervals(edges, scores).",
            )

    def release(self, value: Choices | ScoredIntervals, rng: np.random.Generator) -> int:
        """Return the index of the drawn candidate, or the drawn lattice point.

        Parameters
        ----------
        value
            The candidates or intervals, with scores computed from the rows.
        rng
            The noise stream.
        """
        self.check(value)
        if isinstance(value, Choices):
            return self._pick(value.scores, value.weights, rng)
        # The interval is drawn first, then a point of it: both together are one draw over points.
        lengths = np.diff(value.edges)
        chosen = np.flatnonzero(lengths)
        weights = lengths[chosen].tolist()  # [P2] an interval counts once for each of its points
        place = chosen[self._pick(value.scores[chosen], weights, rng)]
        return int(rng.integers(value.edges[place] + 1, value.edges[place + 1], endpoint=True))

    def log_ratio(
        self, output: int, value: Choices | ScoredIntervals, other: Choices | ScoredIntervals
    ) -> float:
        """Return by how much, in logarithms, an output is likelier on one value than on another.

        Parameters
        ----------
        output
            What ``release`` returned.
        value
            The value that the output is held to be likelier on.
        other
            The value it is compared with: as many candidates, or intervals of the same range.
        """
        return float(self._log_ratios(np.array([output]), value, other)[0])

    def worst_ratio(
        self, value: Choices | ScoredIntervals, other: Choices | ScoredIntervals
    ) -> float:
        """Return the largest ``log_ratio`` over all outputs.

        Parameters
        ----------
        value
            The value that an output is held to be likelier on.
        other
            The value it is compared with: as many candidates, or intervals of the same range.
        """
        if isinstance(value, Choices):
            outputs = np.arange(value.scores.size)
        else:  # both scores are constant between two edges of either: the right one stands for all
            outputs = np.union1d(value.edges, other.edges)[1:]  # type: ignore[union-attr]
        return float(self._log_ratios(outputs, value, other).max())

    def _log_ratios(
        self, outputs: Integers, value: Choices | ScoredIntervals, other: Choices | ScoredIntervals
    ) -> Floats:
        return self._log_probabilities(outputs, value) - self._log_probabilities(outputs, other)

    def _log_probabilities(self, outputs: Integers, value: Choices | ScoredIntervals) -> Floats:
        """Return ln of each output's probability."""
        gains = float(self.guarantee.epsilon / (2 * self.sensitivity)) * (
            value.scores - value.scores.max()
        )
        if isinstance(value, Choices):
            masses = gains + [math.log(weight) for weight in value.weights]
            return np.asarray(masses[outputs] - _log_sum(masses))
        lengths = np.diff(value.edges)
        filled = lengths > 0
        places = np.searchsorted(value.edges, outputs, side="left") - 1
        return np.asarray(gains[places] - _log_sum(gains[filled] + np.log(lengths[filled])))

    def _pick(self, scores: Integers, weights: Sequence[int], rng: np.random.Generator) -> int:
        """Draw the index of a candidate."""
        rate = self.guarantee.epsilon / (2 * self.sensitivity)  # [P1]
        bits, uniform = 0, 0
        while True:  # [P3] more bits of one uniform number, until they decide
            bits += 128
            uniform = (uniform << 128) | int.from_bytes(rng.bytes(16), "little")
            ends = [0, *accumulate(_masses(scores, weights, rate, bits))]
            place = _decided(uniform, bits, ends)
            if place is not None:
                return place


def _decided(uniform: int, bits: int, ends: Sequence[int]) -> int | None:
    """Return the candidate that a uniform number falls in, or None if its bits leave several.

    Each mass is known from below, to less than 2; so the true end i lies in
    [ends[i], ends[i] + 2 i], and the true total in [ends[-1], ends[-1] + 2 n].
    """
    n = len(ends) - 1
    lowest = uniform * ends[-1] >> bits
    highest = ((uniform + 1) * (ends[-1] + 2 * n) >> bits) + 1
    place = bisect_right(ends, lowest) - 1
    certain = place < n and ends[place] + 2 * place <= lowest and highest <= ends[place + 1]
    return place if certain else None


def _masses(scores: Integers, weights: Sequence[int], rate: Fraction, bits: int) -> Iterator[int]:
    """Yield 2**bits times each candidate's mass, rounded down; the largest factors are 1."""
    # Losses instead of scores: every exponent is then at most 0 and nothing overflows.
    best = int(scores.max())
    losses = [best - score for score in scores.tolist()]
    decays = _decays(sorted(set(losses)), rate, bits + _GUARD_BITS)
    largest = max(weights)
    for loss, weight in zip(losses, weights, strict=True):
        yield (decays[loss] * weight // largest) >> _GUARD_BITS


def _decays(losses: Sequence[int], rate: Fraction, bits: int) -> dict[int, int]:
    """Return 2**bits times e^(-rate loss) for rising losses, rounded down."""
    # Gaps repeat, as scores of neighbours do: each exponential is computed once.
    power = lru_cache(lambda gap: _decay(rate * gap, bits))
    decays, mass, before = {}, 1 << bits, 0
    for loss in losses:
        mass = mass * power(loss - before) >> bits
        decays[loss], before = mass, loss
    return decays


def _decay(exponent: Fraction, bits: int) -> int:
    """Return 2**bits times e^-exponent, rounded down."""
    if exponent == 0:
        return 1 << bits
    # Below 2**-bits: rounded down that is 0.
    if exponent > bits:
        return 0
    with localcontext(decimal_precision(bits // 3 + 20)):
        return max(0, int(exp_minus(exponent) * 2**bits) - 1)


def _log_sum(logarithms: Floats) -> float:
    """Return ln of the sum of e^x."""
    top = float(logarithms.max())
    return top + math.log(float(np.exp(logarithms - top).sum()))


def _whole_numbers(values: ArrayLike, name: str) -> Integers:
    """Return a flat array of whole numbers as int64."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray("ragged")
    if array.ndim == 1 and (not array.size or np.can_cast(array.dtype, np.int64)):
        return array.astype(np.int64)
    raise NotNumeric(
        f"{name} must be a flat list of whole numbers; got {array.dtype} of shape {array.shape}.",
        "Use 64-bit whole numbers; double a score that changes in halves.",
    )


def _in_proportion(weights: Sequence[Weight]) -> tuple[int, ...]:
    """Return whole numbers in exactly these proportions."""
    try:
        shares = [Fraction(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        shares = [Fraction(0)]
    if not all(share > 0 for share in shares):
        raise InvalidSetting(
            "Weights must be positive, finite numbers.", "Leave out candidates of weight 0."
        )
    common = math.lcm(*(share.denominator for share in shares))
    return tuple(int(share * common) for share in shares)
