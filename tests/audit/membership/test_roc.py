import numpy as np
import pytest
from scipy.stats import binom, t
from sklearn.metrics import roc_auc_score

from shoal.audit.membership._roc import (
    GameScores,
    MeanOverRepeats,
    mean_roc,
    roc_of_one_game,
    t_quantile,
    threshold_counts,
)

RNG = np.random.default_rng(0)


def scores(ties):
    inside, outside = RNG.normal(0.5, 1, 60), RNG.normal(0, 1, 80)
    return (inside.round(ties), outside.round(ties)) if ties is not None else (inside, outside)


@pytest.mark.parametrize("ties", [None, 1, 0])
def test_the_area_is_scikit_learns(ties):
    inside, outside = scores(ties)
    truth = np.repeat([1, 0], [inside.size, outside.size])
    expected = roc_auc_score(truth, np.concatenate([inside, outside]))
    assert GameScores(inside, outside, 0).auc == pytest.approx(expected)


def test_a_constant_score_has_no_advantage_and_a_diagonal():
    game = GameScores(np.full(30, 0.4), np.full(40, 0.4), threshold=0.5)
    assert game.advantage == 0
    assert game.auc == 0.5
    false, true = threshold_counts(game.inside, game.outside)
    assert (false.tolist(), true.tolist()) == ([0, 40], [0, 30])
    roc = mean_roc([game], alpha=0.05)
    assert roc.tpr == pytest.approx(roc.fpr)


def test_a_rate_finer_than_one_of_the_others_is_unresolved():
    game = GameScores(np.ones(30), np.zeros(99), 0.5)
    assert game.tpr_at(0.01) is None
    assert GameScores(np.ones(30), np.zeros(100), 0.5).tpr_at(0.01) == 1


def test_the_rate_is_reached_without_exceeding_the_false_alarms():
    game = GameScores(np.array([9, 8, 3, 2.0]), np.array([7, 1, 1, 1.0]), 0)
    assert game.tpr_at(0.25) == 1
    assert game.tpr_at(0.24) is None
    tied = GameScores(np.array([9, 5.0]), np.array([5, 5, 1, 1.0]), 0)
    assert tied.tpr_at(0.25) == 0.5  # the tie would cost two of four


def test_between_two_knots_the_curve_is_straight_and_before_a_step_level():
    roc = mean_roc([GameScores(np.array([3.0, 1.0]), np.array([2.0, 0.0]), 0)], alpha=0.05)
    assert roc.tpr[roc.fpr == 0] == [0.5]
    assert roc.tpr[roc.fpr == 0.4] == pytest.approx([0.5])
    assert roc.tpr[roc.fpr == 0.5] == [1]


def test_the_mean_curve_comes_with_counts_and_a_band():
    games = [GameScores(*scores(None), 0) for _ in range(6)]
    roc = mean_roc(games, alpha=0.05)
    assert (roc.members, roc.others) == (360, 480)
    assert roc.true_positives[-1] == 360
    assert (roc.low <= roc.tpr).all()
    assert (roc.tpr <= roc.high).all()
    assert mean_roc(games[:4], alpha=0.05).low is None
    assert len(roc.to_dict()["tpr"]) == len(roc.points()) == roc.fpr.size


def test_limits_of_independent_trials_are_clopper_and_pearsons():
    game = GameScores(RNG.normal(0.5, 1, 200), RNG.normal(0, 1, 200), 0)
    roc = roc_of_one_game(game, alpha=0.05)
    middle = np.argmin(np.abs(roc.fpr - 0.5))
    found, low, high = int(roc.true_positives[middle]), roc.low[middle], roc.high[middle]
    assert binom.sf(found - 1, 200, low) == pytest.approx(0.025)
    assert binom.cdf(found, 200, high) == pytest.approx(0.025)
    assert (roc.low[0], roc.high[-1]) == (pytest.approx(roc.low[0]), 1)


def test_the_standard_error_is_that_of_repeats():
    found = MeanOverRepeats.of([0.0, 1.0, 0.0, 1.0], alpha=0.01)
    assert found.mean == 0.5
    assert found.standard_error == pytest.approx(np.std([0, 1, 0, 1], ddof=1) / 2)


def test_the_interval_is_students():
    values = np.random.default_rng(0).normal(size=10)
    found = MeanOverRepeats.of(values, alpha=0.05)
    low, high = t.interval(0.95, 9, values.mean(), values.std(ddof=1) / np.sqrt(10))
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize("repeats", [2, 3, 4])
def test_fewer_than_five_repeats_print_no_interval(repeats):
    found = MeanOverRepeats.of(np.arange(repeats), alpha=0.05)
    assert found.low is None
    assert found.high is None
    assert found.standard_error is not None
    assert "to" not in str(found)


def test_one_repeat_has_no_standard_error():
    assert MeanOverRepeats.of([0.3], alpha=0.05).standard_error is None


def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(1)
    found = [MeanOverRepeats.of(rng.normal(size=6), alpha=0.1) for _ in range(2_000)]
    held = np.mean([e.low <= 0 <= e.high for e in found])
    assert abs(held - 0.9) < 5 * np.sqrt(0.09 / 2_000)  # 5 sd: false alarms below 1e-6


def test_students_t_is_more_than_two_standard_errors():
    assert t_quantile(10, 0.01) == pytest.approx(2.821, abs=1e-3)


def test_it_becomes_plain_values_and_a_number():
    found = MeanOverRepeats.of([1.0, 2.0, 3.0], alpha=0.05)
    assert float(found) == 2
    assert found.to_dict()["repeats"] == 3
