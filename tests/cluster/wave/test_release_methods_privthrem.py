"""The corrected threshold: its exact density on neighbouring tables."""

from fractions import Fraction

import numpy as np
import pytest

from shoal.cluster.wave._release_methods import STEPS, PrivTHREM, threshold_scores
from shoal.cluster.wave._transform import Transform
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

EPSILON = 0.7


def log_density(intervals, epsilon: float, sensitivity: int, top: int) -> np.ndarray:
    """Of every lattice point 1 .. top, straight from the definition."""
    lengths = np.diff(intervals.edges)
    scores = np.repeat(intervals.scores, lengths).astype(float)
    assert scores.size == top
    rate = epsilon * scores / (2 * sensitivity)
    return rate - np.logaddexp.reduce(rate)


def neighbours(rng: np.random.Generator, transform: Transform):
    counts = rng.poisson(rng.choice([0.05, 0.4, 2.0]), transform.shape)
    one_more = counts.copy()
    one_more[tuple(rng.integers(0, n) for n in transform.shape)] += 1
    return counts, one_more


def on_lattice(counts: np.ndarray, transform: Transform) -> np.ndarray:
    from shoal.cluster.wave._release_methods import _on_lattice

    return _on_lattice(transform(counts), transform.unit)


@pytest.mark.heavy
@pytest.mark.parametrize("wavelet", ["haar", "db2", "bior2.2"])
def test_the_density_ratio_on_random_neighbours_stays_within_the_promise(wavelet):
    rng = np.random.default_rng(9)
    transform = Transform((8, 6), 1, wavelet)
    worst = 0.0
    for _ in range(600):
        p, top = Fraction(int(rng.integers(1, 10)), 10), int(rng.integers(1, 6 * STEPS))
        first, second = (
            log_density(
                threshold_scores(on_lattice(counts, transform), p, top),
                EPSILON, transform.touched, top,
            )
            for counts in neighbours(rng, transform)
        )  # fmt: skip
        worst = max(worst, float(np.abs(first - second).max()))
    assert worst <= EPSILON + 1e-9
    assert worst > 0.3 * EPSILON / transform.touched  # and the pairs were not trivial ones


def test_scores_are_distances_of_ranks():
    coefficients = np.array([0, 3, 3, 8])
    scores = threshold_scores(coefficients, Fraction(1, 3), top=12)
    by_hand = [-abs(int((coefficients >= x).sum()) - 2) for x in range(1, 13)]
    assert np.repeat(scores.scores, np.diff(scores.edges)).tolist() == by_hand


def test_coefficients_above_the_range_are_ranked_at_its_end():
    scores = threshold_scores(np.array([5, 50]), Fraction(1, 2), top=10)
    assert scores.edges.tolist() == [0, 5, 10]
    assert scores.scores.tolist() == [-1, 0]


def test_without_rows_every_threshold_is_equally_likely():
    scores = threshold_scores(np.zeros(9, dtype=np.int64), Fraction(1, 2), top=7)
    assert (scores.edges.tolist(), scores.scores.tolist()) == ([0, 7], [0])


def test_small_positive_coefficients_stay_positive_on_the_lattice():
    transform = Transform((8, 6), 1, "db2")
    counts = np.random.default_rng(1).poisson(0.3, transform.shape)
    assert ((on_lattice(counts, transform) > 0) == (transform(counts) > 0)).all()


def test_the_threshold_comes_near_the_quantile_when_the_budget_allows():
    counts = np.random.default_rng(2).poisson(50, (16, 16))
    page = Ledger.of(None).open(PureDP(200), by="test")
    nobody = rows_of(np.zeros((0, 2)), Box.unit(2))  # the counts are given
    spending = Spending(nobody, page, page.budget, Randomness(3))
    method, transform = PrivTHREM(alpha=Fraction(1, 2)), Transform((16, 16), 1)
    noisy = method.release(spending, counts, transform)
    level = method.release_threshold(spending, counts, transform, noisy, Fraction(1, 2))
    assert level == pytest.approx(np.quantile(noisy.values, 0.5), rel=0.03)
    assert page.total().epsilon == 200
