import numpy as np
import pytest

from shoal.mechanisms.central import _noisy_best
from shoal.mechanisms.central._noisy_best import NoisyBest, _geometric_nodes
from shoal.privacy import PureDP
from shoal.randomness import Randomness

rng = np.random.default_rng(8)


def probabilities(best, scores):
    return np.exp(best.log_probabilities(scores))


def test_it_is_the_best_at_a_large_budget_and_any_at_a_small_one():
    scores = np.array([[0, 5, 3], [9, 1, 2]])
    noise = Randomness(1).noise
    assert NoisyBest(PureDP(1_000), 1).release(scores, noise).tolist() == [1, 0]
    any_of = [NoisyBest(PureDP(0.001), 1).release(scores, noise)[0] for _ in range(200)]
    assert set(any_of) == {0, 1, 2}


@pytest.mark.parametrize("one_way", [False, True])
def test_places_are_drawn_as_often_as_their_probabilities_say(one_way):
    best, scores = NoisyBest(PureDP(1), 1, one_way), np.array([3, 5, 5, 1, -9])
    expected = probabilities(best, scores)
    assert expected.sum() == pytest.approx(1, abs=1e-12)
    drawn = best.release(np.tile(scores, (50_000, 1)), Randomness(2).noise)
    observed = np.bincount(drawn, minlength=5) / 50_000
    assert np.all(np.abs(observed - expected) < 5 * np.sqrt(expected / 50_000) + 1e-4)


def test_probabilities_add_up_to_one_for_scores_far_apart_and_noise_of_thousands():
    best, scores = NoisyBest(PureDP("0.01"), 31), -rng.integers(0, 100_000, 48)
    assert probabilities(best, scores).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("sensitivity", [1, 5])
def test_the_worst_loss_is_within_the_promise_whichever_way_scores_move(sensitivity):
    two_ways = NoisyBest(PureDP(1), sensitivity)
    one_way = NoisyBest(PureDP(1), sensitivity, one_way=True)
    for _ in range(20):
        scores = rng.integers(-9, 9, (1, 6))
        any_move = scores + rng.integers(-sensitivity, sensitivity + 1, scores.shape)
        assert two_ways.worst_ratio(scores, any_move) <= 1 + 1e-9
        lower = scores - rng.integers(0, sensitivity + 1, scores.shape)
        assert max(one_way.worst_ratio(*pair) for pair in ((scores, lower), (lower, scores))) <= 1


def test_the_promise_is_used_up_by_a_score_that_falls_alone_among_many_high_ones():
    best = NoisyBest(PureDP(1), 1, one_way=True)
    scores = np.array([[0, 40, 40]])
    lower = scores - [[1, 0, 0]]
    assert best.worst_ratio(scores, lower) == pytest.approx(1)
    assert best.log_ratio(np.array([0]), scores, lower) == pytest.approx(1)
    assert abs(best.log_ratio(np.array([1]), scores, lower)) < 1e-9


def test_lines_that_are_equal_on_both_sides_lose_nothing():
    best, scores = NoisyBest(PureDP(1), 1), np.array([[1, 2, 3], [4, 5, 6]])
    assert best.log_ratio(np.array([0, 1]), scores, scores) == 0
    assert best.worst_ratio(scores, scores) == 0


@pytest.mark.parametrize("step", [2.0, 0.3, 1e-4])
def test_sums_of_powers_over_geometric_noise_are_exact(step):
    nodes, weights = _geometric_nodes(step, 24)
    powers = np.arange(48)
    expected = np.expm1(-step) / np.expm1(-step * (powers + 1))
    assert np.allclose((nodes[:, None] ** powers * weights[:, None]).sum(axis=0), expected, 1e-10)


@pytest.mark.parametrize("epsilon", ["0.05", "2"])
def test_many_scores_have_the_probabilities_that_few_have(epsilon, monkeypatch):
    best, scores = NoisyBest(PureDP(epsilon), 1, one_way=True), rng.integers(0, 20, 60)
    few = best.log_probabilities(scores)
    monkeypatch.setattr(_noisy_best, "_MANY", 10)
    assert np.allclose(few, best.log_probabilities(scores), rtol=0, atol=1e-9)
