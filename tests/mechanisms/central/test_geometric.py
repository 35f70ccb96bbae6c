import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shoal.domain import SparseCounts
from shoal.errors import InvalidBudget, InvalidSetting, NotNumeric, TooLarge
from shoal.mechanisms import Geometric
from shoal.privacy import LocalDP, PureDP
from shoal.randomness import Randomness

ALARM = 1e-6


def test_it_adds_whole_numbers_and_keeps_the_shape():
    counts = np.arange(12).reshape(3, 4)
    noisy = Geometric(PureDP(1)).release(counts, Randomness(1).noise)
    assert noisy.shape == (3, 4)
    assert noisy.dtype == np.int64
    assert np.any(noisy != counts)


def test_a_number_stays_a_number_and_no_cells_stay_none():
    assert isinstance(Geometric(PureDP(1)).release(5, Randomness(1).noise), int)
    assert Geometric(PureDP(1)).release(np.zeros(0, int), Randomness(1).noise).shape == (0,)


def test_a_seed_repeats_the_noise():
    one, two = (Geometric(PureDP(1)).release(np.zeros(100, int), Randomness(4).noise) for _ in "ab")
    assert np.array_equal(one, two)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1, 1), (0.5, 3), (2, 1000)])
def test_the_variance_is_the_one_stated(epsilon, sensitivity):
    mechanism = Geometric(PureDP(epsilon), sensitivity)
    drawn = mechanism.release(np.zeros(200_000, int), Randomness(2).noise).astype(float)
    spread = np.std(drawn**2) / math.sqrt(drawn.size)
    assert abs(drawn.var() - mechanism.variance) < stats.norm.isf(ALARM / 2) * spread


@pytest.mark.heavy
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8))
def test_counts_of_any_size_pass_without_wrapping_round(counts):
    values = np.array(counts, dtype=np.int64)
    noisy = Geometric(PureDP(1)).release(values, Randomness(3).noise)
    assert np.all(np.abs(noisy - np.clip(values, -(2**62), 2**62)) < 1000)


def test_it_pickles():
    mechanism = Geometric(PureDP(1), 2, at_least=3)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@pytest.mark.parametrize(
    "value",
    [
        np.array([0.5]),
        np.array(["a"]),
        np.array([True]),
        np.ma.masked_array([1]),
        [[1], [1, 2]],
        "x",
        None,
    ],
)
def test_values_that_are_no_whole_numbers_are_refused(value):
    with pytest.raises(NotNumeric):
        Geometric(PureDP(1)).release(value, Randomness(1).noise)


@pytest.mark.parametrize("settings", [{"sensitivity": 0}, {"sensitivity": 0.5}, {"at_least": 0}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(InvalidSetting):
        Geometric(PureDP(1), **settings)


def test_another_kind_of_promise_is_refused():
    with pytest.raises(InvalidSetting, match="PureDP"):
        Geometric(LocalDP(1))


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(1, 2**41), ("1e-13", 1), (1001, 1), ("1e400", 1)]
)
def test_noise_too_wide_for_integers_or_none_at_all_is_refused(epsilon, sensitivity):
    with pytest.raises(InvalidBudget, match="2\\*\\*-40 and 1000"):
        Geometric(PureDP(epsilon), sensitivity)


@pytest.mark.heavy
def test_the_largest_epsilon_leaves_counts_as_they_are():
    mechanism = Geometric(PureDP(1000))
    assert mechanism.release(np.arange(9), Randomness(1).noise).tolist() == list(range(9))
    assert mechanism.variance == 0


def test_a_threshold_no_empty_cell_could_reach_is_refused():
    with pytest.raises(InvalidSetting, match="lower at_least"):
        Geometric(PureDP(1), at_least=1001)


def test_numbers_of_numpy_do_not_wrap_around():
    mechanism = Geometric(PureDP("1/3"), sensitivity=np.int64(46117), at_least=np.int32(5))
    assert mechanism == Geometric(PureDP("1/3"), 46117, 5)
    assert type(mechanism.sensitivity) is int


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint64, np.int64])
def test_counts_of_any_integer_kind_are_taken(dtype):
    top = np.array([np.iinfo(dtype).max], dtype=dtype)
    noisy = Geometric(PureDP(1)).release(top, Randomness(3).noise)
    assert abs(int(noisy[0]) - min(int(top[0]), 2**62)) < 100


@pytest.mark.heavy
def test_the_very_last_of_two_to_the_62_empty_cells_can_be_passed():
    """Two gaps of almost 2**62 wrap around 2**63: past the end, not back to the start."""
    empty = SparseCounts(np.zeros(0, int), np.zeros(0, int), 2**62)
    for seed in range(20):
        out = Geometric(PureDP(1), at_least=43).release(empty, Randomness(seed).noise)
        assert np.all(np.diff(out.keys) > 0)
        assert out.keys.size < 10


SPARSE = SparseCounts(np.array([2, 5, 17, 39]), np.array([1, 4, 10, 2]), 40)


def test_sparse_counts_need_a_threshold_and_plain_ones_must_not_have_one():
    with pytest.raises(InvalidSetting, match="which they are"):
        Geometric(PureDP(1)).release(SPARSE, Randomness(1).noise)
    with pytest.raises(InvalidSetting, match="sparse counts only"):
        Geometric(PureDP(1), at_least=2).release(np.zeros(3, int), Randomness(1).noise)


def test_a_threshold_that_would_fill_the_memory_is_refused():
    with pytest.raises(
        TooLarge, match="Raise at_least", check=lambda error: error.reason == "cells"
    ):
        Geometric(PureDP(1), at_least=2).release(
            SparseCounts(np.array([1]), np.array([1]), 2**40), Randomness(1).noise
        )


def test_sparse_output_is_sorted_and_reaches_the_threshold():
    noise = Randomness(5).noise
    for _ in range(50):
        out = Geometric(PureDP(0.5), at_least=2).release(SPARSE, noise)
        assert np.all(np.diff(out.keys) > 0)
        assert np.all(out.counts >= 2)
        assert out.size == 40


@pytest.mark.heavy
def test_sparse_noise_equals_dense_noise_that_is_filtered_in_law():
    """Every cell's kept counts against the exact law, chi-square; each of 40 cells at 1e-6 / 40."""
    runs, tau, a = 20_000, 2, math.exp(-1)
    mechanism, noise = Geometric(PureDP(1), at_least=tau), Randomness(6).noise
    top = tau + 6
    seen = np.zeros((40, top + 1))
    for _ in range(runs):
        out = mechanism.release(SPARSE, noise)
        seen[out.keys, np.minimum(out.counts, top)] += 1
    seen[:, 0] = runs - seen.sum(axis=1)  # left out
    true = SPARSE.dense()
    z = np.arange(tau, top) - true[:, None]
    kept = (1 - a) / (1 + a) * a ** np.abs(z)
    reach = np.where(true < top, a ** np.maximum(top - true, 0) / (1 + a), np.nan)
    above = top - true  # P[noise >= above], also for negative ones
    reach = np.where(above >= 0, reach, 1 - a ** (1 - np.minimum(above, 0)) / (1 + a))
    law = np.column_stack([1 - kept.sum(axis=1) - reach, kept, reach])
    observed = seen[:, [0, *range(tau, top + 1)]]
    for cell in range(40):
        expected = law[cell] * runs
        pooled = expected > 5
        counts = [*observed[cell][pooled], observed[cell][~pooled].sum()]
        means = [*expected[pooled], expected[~pooled].sum()]
        if means[-1] < 1e-9:
            counts, means = counts[:-1], means[:-1]
        assert stats.chisquare(counts, means, sum_check=False).pvalue > ALARM / 40


@pytest.mark.heavy
def test_false_cells_are_independent_of_each_other():
    """Their number is binomial: mean and variance over many runs."""
    runs, size, tau, a = 4_000, 10_000, 3, math.exp(-1)
    p = a**tau / (1 + a)
    mechanism, noise = Geometric(PureDP(1), at_least=tau), Randomness(7).noise
    empty = SparseCounts(np.zeros(0, int), np.zeros(0, int), size)
    numbers = np.array([mechanism.release(empty, noise).keys.size for _ in range(runs)])
    z = stats.norm.isf(ALARM / 2)
    assert abs(numbers.mean() - size * p) < z * math.sqrt(size * p * (1 - p) / runs)
    assert abs(numbers.var() / (size * p * (1 - p)) - 1) < z * math.sqrt(2 / runs)


@pytest.mark.heavy
def test_a_space_of_two_to_the_62_cells_is_no_trouble():
    occupied = SparseCounts(np.arange(10) * 10**15, np.full(10, 1000), 2**62)
    out = Geometric(PureDP(1), at_least=35).release(occupied, Randomness(8).noise)
    false = ~np.isin(out.keys, occupied.keys)
    assert np.isin(occupied.keys, out.keys).all()
    expected = 2**62 * math.exp(-35) / (1 + math.exp(-1))
    assert abs(false.sum() - expected) < stats.norm.isf(ALARM / 2) * math.sqrt(expected)
    assert stats.kstest(out.keys[false] / 2**62, "uniform").pvalue > ALARM


@pytest.mark.heavy
@pytest.mark.parametrize("occupied", [[0, 1, 2, 3], [0], [3], [], [1, 2]])
def test_cells_that_are_all_or_mostly_occupied_work(occupied):
    counts = SparseCounts(np.array(occupied, dtype=int), np.full(len(occupied), 5), 4)
    noise = Randomness(9).noise
    seen = np.zeros(4)
    for _ in range(300):
        seen[Geometric(PureDP(0.3), at_least=1).release(counts, noise).keys] += 1
    assert np.all(seen > 50)


def test_log_ratios_are_exact_and_the_worst_is_the_largest_of_all():
    noise, value, other = Geometric(PureDP("1/3")), np.array([5, 2, 9]), np.array([5, 3, 7])
    outputs = [np.array([0, a, b]) for a in range(-20, 30) for b in range(-20, 30)]
    ratios = [noise.log_ratio(output, value, other) for output in outputs]
    assert noise.log_ratio(np.array([1, 2, 9]), value, other) == Fraction(1, 3) * (1 + 2)
    assert max(ratios) == noise.worst_ratio(value, other) == 1
    assert noise.log_ratio(outputs[7], other, value) == -ratios[7]
    assert noise.log_ratio(4, 5, 5) == 0


@pytest.mark.parametrize("pair", [(4, 5), (5, 4), (0, 3), (9, 8), (3, 0)])
def test_the_worst_ratio_of_a_sparse_cell_is_the_largest_of_all(pair):
    noise = Geometric(PureDP(1), at_least=6)
    value, other = (SparseCounts([2], [count], 10) for count in pair)
    outputs = [SparseCounts([], [], 10), *(SparseCounts([2], [n], 10) for n in range(6, 60))]
    ratios = [noise.log_ratio(output, value, other) for output in outputs]
    assert noise.worst_ratio(value, other) == pytest.approx(max(ratios), rel=1e-12)
    assert noise.worst_ratio(value, other) <= abs(pair[0] - pair[1])


def test_probabilities_of_cells_that_are_left_out_add_up_with_those_that_are_kept():
    """P[left out] from the log-ratio to an empty cell, and from the sum over kept counts."""
    noise, empty = Geometric(PureDP("0.5"), at_least=4), SparseCounts([], [], 10)
    a = math.exp(-0.5)
    for count in (1, 3, 4, 7):
        cell = SparseCounts([2], [count], 10)
        kept = sum((1 - a) / (1 + a) * a ** abs(n - count) for n in range(4, 200))
        left_out = (1 - a**4 / (1 + a)) * math.exp(noise.log_ratio(empty, cell, empty))
        assert kept + left_out == pytest.approx(1, rel=1e-12)
