"""Our audit turned on WaveCluster, with broken twins it must catch. alpha = 1e-6, seeds fixed."""

from fractions import Fraction

import numpy as np
import pytest
import pywt

from shoal.audit import lower_bound_of
from shoal.cluster import WaveCluster
from shoal.cluster.wave.privthrem import threshold_scores
from shoal.cluster.wave.purse import Purse
from shoal.cluster.wave.sparse import sparse_noise
from shoal.cluster.wave.transform import Transform
from shoal.domain import Box, SparseCounts
from shoal.mechanisms import Exponential, Geometric
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

ALPHA = 1e-6
HALF = Fraction(1, 2)


def audited(release, first, second, claim=1.0, draws=2_000):
    """Bound from one release a draw."""
    noise = Randomness(41).noise
    A, B = ([release(value, noise) for _ in range(draws)] for value in (first, second))
    return lower_bound_of(A, B, claim=claim, alpha=ALPHA)


# The whole fit, on a table and the table with one row more.

ONE_BOX = Box.unit(1)
WITHOUT = np.full((2, 1), 0.1)
WITH = np.array([[0.1], [0.1], [0.9]])


def fitted(method, look):
    def release(rows, noise):
        model = WaveCluster(
            domain=ONE_BOX, epsilon=1, method=method, cells=2, random_state=noise, n_public=3
        )
        return look(model.fit(rows))

    return release


@pytest.mark.slow
@pytest.mark.parametrize("method", ["block", "privqt", "privthr", "privthrem"])
def test_counts_of_a_whole_fit_certify_no_more_than_epsilon(method):
    look = fitted(method, lambda model: int(np.clip(model.noisy_counts_[1], -6, 7)))
    found = audited(look, WITHOUT, WITH, draws=2_500)
    assert found.verdict == "consistent"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["privthr", "privthrem"])
def test_thresholds_of_a_whole_fit_certify_no_more_than_epsilon(method):
    look = fitted(method, lambda model: int(np.clip((model.threshold_ or 0) * 2, 0, 12)))
    assert audited(look, WITHOUT, WITH, draws=2_500).verdict == "consistent"


# PrivTHREM's threshold. Coefficients are in lattice steps; the range is public here.

TOP = 64


def corrected(values, rng):
    scores = threshold_scores(np.array(values), HALF, TOP)
    return Exponential(PureDP(1)).release(scores, rng)


def range_ends_at_the_data_maximum(values, rng):
    scores = threshold_scores(np.array(values), HALF, max(values))
    return Exponential(PureDP(1)).release(scores, rng)


def without_interval_lengths(values, n, rng):
    """``n`` times an interval by its score alone, then a point of it."""
    scores = threshold_scores(np.array(values), HALF, TOP)
    mass = np.exp(scores.scores / 2)
    place = rng.choice(mass.size, size=n, p=mass / mass.sum())
    return rng.integers(scores.edges[place] + 1, scores.edges[place + 1], endpoint=True)


def ten_draws_averaged(values, n, rng):
    """``n`` times, each the mean of ten draws from the corrected law."""
    scores = threshold_scores(np.array(values), HALF, TOP)
    mass = np.exp(np.repeat(scores.scores, np.diff(scores.edges)) / 2)
    return rng.choice(TOP, size=(n, 10), p=mass / mass.sum()).mean(axis=1).round()


# One row moves one coefficient; on the lattice by many steps at once.
PAIRS = [([9, 5, 4], [10, 5, 4]), ([9, 5, 4], [60, 5, 4]), ([0, 30, 29], [62, 30, 29])]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_corrected_threshold_certifies_no_more_than_epsilon(pair):
    assert audited(corrected, *pair).verdict == "consistent"


def test_a_range_that_ends_at_the_data_maximum_is_caught():
    found = audited(range_ends_at_the_data_maximum, [60, 5, 4], [9, 5, 4])
    assert found.verdict == "violated"
    assert found.epsilon > 3


def test_intervals_without_their_lengths_are_caught():
    rng = np.random.default_rng(43)
    A, B = (without_interval_lengths(v, 50_000, rng) for v in ([30, 29, 29], [30, 29, 62]))
    found = lower_bound_of(A, B, claim=1.0, alpha=ALPHA)
    assert found.verdict == "violated"
    assert found.epsilon > 1.5


def test_ten_draws_averaged_at_the_price_of_one_are_caught():
    rng = np.random.default_rng(42)
    A, B = (ten_draws_averaged(values, 50_000, rng) for values in ([32, 64], [32, 0]))
    assert lower_bound_of(A, B, claim=1.0, alpha=ALPHA).verdict == "violated"


# PrivTHR's number of empty coefficients.


def empty_coefficients(transform, sensitivity):
    def release(counts, rng):
        empty = np.array([np.count_nonzero(transform(counts) <= 0)])
        return int(Geometric(PureDP(1), sensitivity=sensitivity).release(empty, rng)[0])

    return release


def test_one_coefficient_charged_for_a_long_filter_is_caught():
    transform = Transform((16, 16), 1, "sym4")
    nobody = np.zeros((16, 16), dtype=np.int64)
    one = nobody.copy()
    one[8, 8] = 1
    moved = np.count_nonzero(transform(one) > 0)
    assert 1 < moved <= transform.touched
    assert audited(empty_coefficients(transform, 1), nobody, one).verdict == "violated"
    honest = audited(empty_coefficients(transform, transform.touched), nobody, one)
    assert honest.verdict == "consistent"


# Mirrored edges: the last cell of an odd axis is counted twice.


def test_mirrored_edges_sold_as_zero_edges_are_caught():
    def mirrored(count, rng):
        column = np.zeros(5)
        column[-1] = count
        moved = pywt.dwt(column, "haar", mode="symmetric")[0] * 2**0.5  # in rows
        return int(Geometric(PureDP(1)).release(np.rint(moved).astype(int), rng)[-1])

    def zero_edges(count, rng):
        column = np.zeros(5, dtype=np.int64)
        column[-1] = count
        return int(Geometric(PureDP(1)).release(Transform((5,), 1)(column), rng)[-1])

    assert audited(mirrored, 3, 4).epsilon > 1.4
    assert audited(zero_edges, 3, 4).verdict == "consistent"


# Sparse cells.

HERE = SparseCounts(np.array([15]), np.array([1]), 16)
NOBODY = SparseCounts(np.zeros(0, int), np.zeros(0, int), 16)


def first_key(out: SparseCounts) -> int:
    return int(out.keys[0]) if out.keys.size else -1


def sparse(counts, rng):
    page = Ledger.of(None).open(PureDP(1), by="test")
    return sparse_noise(counts, 16, Purse(page, page.budget, rng))


def test_sparse_cells_in_key_order_certify_no_more_than_epsilon():
    assert audited(lambda c, rng: first_key(sparse(c, rng)), HERE, NOBODY).verdict == "consistent"


def test_sparse_cells_in_the_order_drawn_are_caught():
    def in_draw_order(counts, rng):
        out = sparse(counts, rng)
        order = np.argsort(~np.isin(out.keys, counts.keys), kind="stable")
        return int(out.keys[order][0]) if out.keys.size else -1

    assert audited(in_draw_order, HERE, NOBODY).epsilon > 2


# Bounds read off the rows.


def test_bounds_read_off_the_rows_are_caught():
    def own_bounds(rows, rng):
        return float(Box(x=(0, rows.max())).high[0])  # published with every fit: grid_

    assert audited(own_bounds, WITHOUT, WITH, draws=1_000).verdict == "violated"
