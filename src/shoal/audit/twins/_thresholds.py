"""Twins of thresholds and choices: the exponential mechanism and wavelets with gaps in proofs."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import BrokenMechanism, Stream, declare_broken, pure_claim
from shoal.cluster.wave import Transform, threshold_scores
from shoal.mechanisms import Geometric, ScoredIntervals

LATTICE = 256  # points of PrivTHREM's lattice to a block sum
BESIDE = (np.array([10, 5, 4]), np.array([9, 5, 4]))  # block sums with and without a row
TIED = (np.array([25, 24, 1]), np.array([25, 25, 1]))
SYM4 = Transform((16, 16), 1, "sym4")


def _threshold_scores(sums: Any, top: int) -> ScoredIntervals:
    """PrivTHREM's intervals of the lattice and their ranks, for the median of the block sums."""
    return threshold_scores(np.asarray(sums) * LATTICE, Fraction(1, 2), top * LATTICE)


def _draw_thresholds(scores: ScoredIntervals, weights: Floats, n: int, rng: Stream) -> Any:
    """Draw an interval by its weight, and a lattice point in it."""
    place = rng.choice(weights.size, size=n, p=weights / weights.sum())
    return rng.integers(scores.edges[place] + 1, scores.edges[place + 1], endpoint=True)


def _draw_by_rank_alone(scores: ScoredIntervals, epsilon: float) -> Floats:
    """Return the weight of each interval by its score alone, whatever its length."""
    return np.exp(scores.scores * epsilon / 2)


def _draw_up_to_true_maximum(epsilon: float) -> BrokenMechanism:
    """Draw PrivTHREM's threshold from a range that ends at the largest true coefficient."""

    @declare_broken("the range of the threshold ends at the largest true coefficient")
    def draw(sums: Any, n: int, rng: Stream) -> Any:
        scores = _threshold_scores(sums, max(sums))
        by_length = _draw_by_rank_alone(scores, epsilon) * np.diff(scores.edges)
        return _draw_thresholds(scores, by_length, n, rng)

    return draw


def _largest_log_ratio(first: Any, second: Any, epsilon: float, top: int = 30) -> float:
    """Over all lattice points, of their chances if intervals are drawn without their lengths."""
    chances = []
    for sums in (first, second):
        scores = _threshold_scores(sums, top)
        mass = _draw_by_rank_alone(scores, epsilon)
        lengths = np.diff(scores.edges)
        chances.append(np.repeat(mass / mass.sum() / lengths, lengths))
    return float(np.max(np.abs(np.log(chances[0] / chances[1]))))


def _maximum(epsilon: str, at_least: float) -> Twin:
    return Twin(
        _draw_up_to_true_maximum(float(epsilon)),
        BESIDE,
        pure_claim(epsilon),
        at_least,
        draws=40_000,
        event=lambda z: z[:, 0] > 9 * LATTICE,
        about="Code of private WaveCluster (after Chen, Yu, Chirkova 2015) draws the threshold by "
        "the exponential mechanism from 0 up to the largest true coefficient. A threshold beyond "
        "the old maximum has a chance of 0.1 with one row more, and none without.",
    )


# Counts of coefficients, and sensitivities of transforms.


def draw_empty_coefficients(sensitivity: int) -> BrokenMechanism:
    """Return draws of the number of non-positive coefficients of a long filter."""

    @declare_broken(
        "one row moves many coefficients of a long filter across zero, and one is charged"
    )
    def draw(counts: Any, n: int, rng: Stream) -> Any:
        empty = np.count_nonzero(SYM4(counts) <= 0)
        return Geometric(pure_claim(1), sensitivity=sensitivity).release(np.full(n, empty), rng)

    return draw


def counts_with_one_row() -> tuple[Any, Any]:
    """Return cell counts of an empty table, and of one row."""
    nobody = np.zeros((16, 16), dtype=np.int64)
    one = nobody.copy()
    one[8, 8] = 1
    return one, nobody


def mirrored_sensitivity(draws: int, rng: Stream, *, cells: int = 5) -> float:
    """Return the most that one row, in any cell of an odd axis, adds to mirrored coefficients."""
    import pywt

    impulses = np.eye(cells)
    moved = pywt.dwt(impulses, "haar", mode="symmetric", axis=0)[0]
    return float(np.abs(moved).sum(axis=0).max())


# Choices.


@declare_broken("the rate is for the numerator alone: the normaliser moves, too")
def _draw_without_halving(scores: Any, n: int, rng: Stream) -> Any:
    """Draw a candidate by e^(epsilon score), not e^(epsilon score / 2)."""
    mass = np.exp(np.asarray(scores, dtype=float))
    return rng.choice(mass.size, size=n, p=mass / mass.sum())


@declare_broken("scores are noised for an eighth of what one row moves them by")
def _draw_with_small_sensitivity(scores: Any, n: int, rng: Stream) -> Any:
    """Draw a candidate by e^(4 epsilon score)."""
    mass = np.exp(4 * (np.asarray(scores, dtype=float) - max(scores)))
    return rng.choice(mass.size, size=n, p=mass / mass.sum())


twins = {
    "PrivTHREM up to the true maximum, epsilon 0.3": _maximum("0.3", 5.73),
    "PrivTHREM up to the true maximum, epsilon 1": _maximum("1", 5.69),
    "PrivTHREM without interval lengths": Twin(
        lambda draws, rng: _largest_log_ratio(*TIED, epsilon=0.3),
        TIED,
        pure_claim("0.3"),
        at_least=2.74,
        instrument="brute force",
        about="An interval between sorted coefficients is drawn by its score, not by its score "
        "times its length. Two that nearly tie leave a short interval with as much weight as a "
        "long one: the density there is 15 times that on a neighbour, exactly, where 1.35 is "
        "allowed.",
    ),
    "empty coefficients charged as one": Twin(
        draw_empty_coefficients(1),
        counts_with_one_row(),
        pure_claim(1),
        at_least=7.2,
        about="PrivTHR pays for the number of empty coefficients as if one row moved one of them. "
        "With a long filter it moves many at once. The figure is measured.",
    ),
    "Haar with mirrored edges": Twin(
        mirrored_sensitivity,
        None,
        math.sqrt(0.5),
        at_least=1.414,
        instrument="brute force",
        about="PyWavelets' default mode mirrors the edges, so the last cell of an odd axis is "
        "counted twice: one row moves the average coefficients by 1.414, not by 0.707.",
    ),
    "exponential mechanism, normaliser forgotten": Twin(
        _draw_without_halving,
        ((1, *[0] * 40), (0, *[1] * 40)),
        pure_claim(1),
        at_least=1.75,
        about="The exponential mechanism at rate epsilon / sensitivity, with a proof that compares "
        "numerators. If other candidates' scores move the other way, the normaliser adds as much "
        "again. True loss 1.94 with forty-one candidates; the figure is measured.",
    ),
    "exponential mechanism, sensitivity too small": Twin(
        _draw_with_small_sensitivity,
        ((3, 3, 3), (4, 2, 2)),
        pure_claim(1),
        at_least=6.6,
        about="A radius chosen by counts that one row moves by 1, with noise for an eighth. True "
        "loss 6.9; the figure is measured.",
    ),
}
