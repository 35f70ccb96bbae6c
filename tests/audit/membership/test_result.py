import numpy as np
import pytest

from shoal.audit.membership._ceiling import ceiling_of
from shoal.audit.membership._result import Setting, combine_games
from shoal.audit.membership._roc import GameScores
from shoal.privacy import LocalDP, PureDP, Unprotected

SETTING = Setting("a test", "swap", alpha=0.05, seed=7, notes=("a note",))


def games(shares, n=100):
    """Games in which so many members, and a tenth of the others, score 1."""
    outside = np.repeat([1.0, 0.0], [n // 10, n - n // 10])
    return [
        GameScores(np.repeat([1.0, 0.0], [round(s * n), n - round(s * n)]), outside, 0.5)
        for s in shares
    ]


def verdict(shares, epsilon):
    promise = LocalDP(epsilon)
    return combine_games(games(shares), ceiling_of(promise, "swap"), SETTING, promise).verdict


def test_a_mean_clearly_above_the_ceiling_is_violated():
    assert verdict([0.8, 0.79, 0.81, 0.8, 0.8], "0.5") == "violated"  # 0.70 over 0.245


def test_a_mean_above_it_by_less_than_its_error_is_not():
    shares = [0.2, 0.5, 0.2, 0.6, 0.4]  # 0.28 +- 0.08
    assert verdict(shares, "0.5") == "consistent"


def test_without_a_ceiling_there_is_no_claim():
    found = combine_games(games([0.5] * 5), ceiling_of(None, "swap"), SETTING, None)
    assert found.verdict == "no claim"
    assert isinstance(found.to_result().guarantee, Unprotected)


def test_rates_are_means_of_games():
    found = combine_games(
        games([0.4, 0.6] * 3), ceiling_of(PureDP(1), "own coin"), SETTING, PureDP(1)
    )
    assert found.tpr.mean == pytest.approx(0.5)
    assert found.fpr.mean == pytest.approx(0.1)
    assert found.advantage.mean == pytest.approx(0.4)
    assert found.tpr_at[0.1].mean == pytest.approx(0.5)
    assert found.tpr_at[0.05].mean == 0  # ten tied others cannot be told apart
    assert (found.members, found.others, found.repeats) == (100, 100, 6)
    assert found.roc.members == 600


def test_words_name_everything_needed_to_judge_it():
    found = combine_games(games([0.5] * 6), ceiling_of(LocalDP(1), "swap"), SETTING, LocalDP(1))
    said = str(found)
    for part in ("6 games (swap)", "alpha 0.05, seed 7", "note: a note", "at most 0.462", "AUC"):
        assert part in said
