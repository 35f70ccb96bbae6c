import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shoal.errors import DimensionMismatch, InvalidSetting, NotNumeric
from shoal.mechanisms import Choices, Exponential, Geometric, ScoredIntervals
from shoal.mechanisms.central._exponential import _decided, _masses
from shoal.privacy import LocalDP, PureDP
from shoal.randomness import Randomness

ALARM = 1e-6


def draws(mechanism, value, n, seed):
    noise = Randomness(seed).noise
    return np.array([mechanism.release(value, noise) for _ in range(n)])


@pytest.mark.heavy
def test_candidates_are_drawn_with_their_exact_probabilities():
    scores, weights = np.array([0, 1, 2, 5, 5]), [1, 2, 0.5, Fraction(1, 8), 1]
    drawn = np.bincount(
        draws(Exponential(PureDP(1)), Choices(scores, weights), 8_000, 1), minlength=5
    )
    mass = np.array([float(w) for w in weights]) * np.exp(scores / 2)
    assert stats.chisquare(drawn, mass / mass.sum() * 8_000).pvalue > ALARM


@pytest.mark.heavy
def test_half_the_sensitivity_doubles_the_rate():
    drawn = draws(Exponential(PureDP(1), Fraction(1, 2)), Choices([0, 1]), 8_000, 2)
    assert stats.binomtest(int(drawn.sum()), 8_000, np.e / (1 + np.e)).pvalue > ALARM


@pytest.mark.heavy
def test_an_interval_counts_by_its_length():
    value = ScoredIntervals([0, 10, 10, 13, 20], [0, 99, 2, 1])
    drawn = draws(Exponential(PureDP(2)), value, 8_000, 3)
    assert drawn.min() >= 1
    assert drawn.max() <= 20
    mass = np.exp(np.repeat([0, 2, 1], [10, 3, 7]))
    assert (
        stats.chisquare(np.bincount(drawn, minlength=21)[1:], mass / mass.sum() * 8_000).pvalue
        > ALARM
    )


def test_scores_far_apart_do_not_overflow():
    value = Choices([-(2**62), 0, 2**62])
    assert Exponential(PureDP(1)).release(value, Randomness(4).noise) == 2


@pytest.mark.heavy
def test_weights_far_apart_are_not_rounded_away():
    """A score e^690 times better against a weight of 1e-300: the odds are near even, and exact."""
    value = Choices([0, 1000], [1.0, 1e-300])
    drawn = draws(Exponential(PureDP("1.3815510557964274")), value, 1_000, 5)
    odds = np.exp(1000 * 1.3815510557964274 / 2 + np.log(1e-300))
    assert 0.1 < odds < 10
    assert stats.binomtest(int(drawn.sum()), 1_000, odds / (1 + odds)).pvalue > ALARM


def test_a_number_on_the_edge_is_left_undecided():
    """Two equal candidates, u = 1/2 - 2**-128 (one bit pattern before the edge)."""
    ends = [0, 2**128 - 1, 2 * (2**128 - 1)]
    assert _decided(2**127, 128, ends) is None
    assert _decided(2**127 + 2**120, 128, ends) == 1
    assert _decided(2**127 - 2**120, 128, ends) == 0


def test_masses_are_known_from_below_to_within_two_units():
    scores, rate, bits = np.arange(0, -400, -1), Fraction(1, 7), 128
    coarse = list(_masses(scores, [3, 1] * 200, rate, bits))
    fine = list(_masses(scores, [3, 1] * 200, rate, bits + 512))
    gaps = [Fraction(f, 2**512) - c for c, f in zip(coarse, fine, strict=True)]
    assert all(0 <= gap < 2 for gap in gaps)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Choices([]), DimensionMismatch),
        (lambda: Choices([1, 2], [1]), DimensionMismatch),
        (lambda: Choices([0.5]), NotNumeric),
        (lambda: Choices([1], [0]), InvalidSetting),
        (lambda: Choices([1], [float("nan")]), InvalidSetting),
        (lambda: Choices([1], [float("inf")]), InvalidSetting),
        (lambda: ScoredIntervals([0, 1], []), DimensionMismatch),
        (lambda: ScoredIntervals([0, 0], [1]), DimensionMismatch),
        (lambda: ScoredIntervals([0, 5, 3], [1, 1]), DimensionMismatch),
        (lambda: Exponential(LocalDP(1)), InvalidSetting),
        (lambda: Exponential(PureDP(1), 0), InvalidSetting),
        (lambda: Exponential(PureDP(1), 0.5), InvalidSetting),
        (lambda: Exponential(PureDP(1), np.float32(1)), InvalidSetting),
        (lambda: Exponential(PureDP(1), "1"), InvalidSetting),
        (lambda: Exponential(PureDP(1), None), InvalidSetting),
        (lambda: Exponential(PureDP(1), True), InvalidSetting),
        (lambda: Choices([2**63 + 5, 1]), NotNumeric),
        (lambda: Choices([[1], [1, 2]]), NotNumeric),
        (lambda: Choices([1], ["1/0"]), InvalidSetting),
        (lambda: Exponential(PureDP(1)).release([1, 2], Randomness(1).noise), NotNumeric),
    ],
)
def test_bad_input_gets_a_named_error(make, error):
    with pytest.raises(error):
        make()


def test_a_sensitivity_of_numpy_does_not_wrap_around():
    mechanism = Exponential(PureDP("1/3"), np.int64(46117))
    assert mechanism == Exponential(PureDP("1/3"), 46117)
    drawn = draws(mechanism, Choices([0, 1]), 400, 6)
    assert 100 < drawn.sum() < 300  # near even; the wrapped rate would always pick the best


def test_the_callers_decimal_context_does_not_matter():
    with decimal.localcontext() as context:
        context.traps[decimal.Inexact] = True
        context.Emax, context.prec = 30, 3
        drawn = Exponential(PureDP(1)).release(Choices([0, 900]), Randomness(4).noise)
        noisy = Geometric(PureDP("0.123")).release(np.zeros(9, int), Randomness(4).noise)
    assert drawn == 1
    assert noisy.shape == (9,)


def test_the_uncertain_total_is_allowed_for():
    """Two candidates of mass near 1; only the two units in doubt on the total leave it open."""
    ends = [0, 2**128 - 1, 2 * (2**128 - 1)]
    u = 2**128 - 1
    assert _decided(u, 128, ends) is None


def test_the_worst_ratio_is_the_largest_of_all_candidates():
    pick, value, other = (
        Exponential(PureDP(2)),
        Choices([3, 1, 0], [1, 2, 3]),
        Choices([2, 2, 0], [1, 2, 3]),
    )
    masses = [
        [w * math.exp(u) for u, w in zip(v.scores, v.weights, strict=True)] for v in (value, other)
    ]
    true = [
        math.log(a / sum(masses[0])) - math.log(b / sum(masses[1]))
        for a, b in zip(*masses, strict=True)
    ]
    assert [pick.log_ratio(i, value, other) for i in range(3)] == pytest.approx(true)
    assert pick.worst_ratio(value, other) == pytest.approx(max(true))


def test_the_worst_ratio_of_intervals_is_the_largest_of_all_points():
    pick = Exponential(PureDP(2))
    value, other = ScoredIntervals([0, 3, 3, 10], [4, 9, 6]), ScoredIntervals([0, 2, 10], [5, 6])
    ratios = [pick.log_ratio(point, value, other) for point in range(1, 11)]
    assert pick.worst_ratio(value, other) == pytest.approx(max(ratios))
    for one in (value, other):
        scores = np.repeat(one.scores, np.diff(one.edges))
        masses = np.exp(scores - scores.max())
        points = ScoredIntervals(range(11), scores)
        same = [pick.log_ratio(point, one, points) for point in range(1, 11)]
        assert same == pytest.approx([0] * 10, abs=1e-12)
        assert masses.size == 10
