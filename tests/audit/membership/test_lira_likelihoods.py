import numpy as np
import pytest
from scipy.stats import norm

from shoal.audit.membership._lira import ShadowAnswers, best_threshold

RNG = np.random.default_rng(0)


def shadows(models, records=30, apart=2.0):
    coins = RNG.random((models, records)) < 0.5
    return RNG.normal(apart * coins, 1.0), coins


def test_scores_are_ratios_of_normal_densities():
    said, coins = shadows(80)
    asked = RNG.normal(size=(4, 30))
    scores = ShadowAnswers.of(said, coins).score(asked, online=True)
    inside, outside = said[coins[:, 0], 0], said[~coins[:, 0], 0]
    expected = norm.logpdf(asked[:, 0], inside.mean(), inside.std(ddof=1)) - norm.logpdf(
        asked[:, 0], outside.mean(), outside.std(ddof=1)
    )
    assert scores[:, 0] == pytest.approx(expected)


def test_offline_scores_know_only_models_without_the_record():
    said, coins = shadows(80)
    changed = np.where(coins, said + 100, said)
    asked = RNG.normal(size=(4, 30))
    plain, moved = (ShadowAnswers.of(s, coins).score(asked, online=False) for s in (said, changed))
    assert plain == pytest.approx(moved)


def test_few_models_share_variances():
    said, coins = shadows(40)
    seen = ShadowAnswers.of(said, coins)
    mean = said[coins[:, 3], 3].mean(), said[~coins[:, 3], 3].mean()
    zero = seen.score(np.full((1, 30), sum(mean) / 2), online=False)[0, 3]
    one = seen.score(np.full((1, 30), sum(mean) / 2 + 1), online=False)[0, 3]
    spread = 1 / (one - zero)
    own = [said[~coins[:, i], i].var(ddof=1) for i in range(30)]
    weights = (~coins).sum(axis=0)
    assert spread == pytest.approx(np.sqrt(np.average(own, weights=weights)))


def test_a_model_is_rehearsed_on_without_itself():
    said, coins = shadows(12, records=5)
    scores = ShadowAnswers.of(said, coins).score_shadows(online=False)
    others = np.arange(12) != 4
    mean = said[others & ~coins[:, 2], 2].mean()
    left_out = said.copy()
    left_out[4] = mean  # at the others' mean the score is 0
    rest = ShadowAnswers.of(said[others], coins[others])
    assert np.sign(scores[4, 2]) == np.sign(said[4, 2] - mean)
    assert rest.score(left_out[4:5], online=False)[0, 2] == pytest.approx(0, abs=1e-9)


def test_exact_answers_keep_finite_scores():
    coins = np.tile([[True], [False]], (40, 3))
    said = np.where(coins, 0.0, -1.0)
    scores = ShadowAnswers.of(said, coins).score(np.array([[0.0, -1.0, -0.5]]), online=True)
    assert np.isfinite(scores).all()
    assert scores[0, 0] > 0 > scores[0, 1]


def test_large_answers_do_not_cancel():
    said, coins = shadows(80)
    asked = RNG.normal(size=(4, 30))
    near = ShadowAnswers.of(said, coins).score(asked, online=True)
    far = ShadowAnswers.of(said + 1e8, coins).score(asked + 1e8, online=True)
    assert far == pytest.approx(near, rel=1e-3, abs=1e-3)


def test_a_record_that_was_never_out_is_no_evidence():
    said, coins = shadows(20)
    coins[:, 0] = True
    assert ShadowAnswers.of(said, coins).score(said[:1], online=True)[0, 0] == 0


def test_the_threshold_tells_shadows_apart_best():
    scores = np.array([[1.0, 2.0, 3.0, 4.0]])
    coins = np.array([[False, True, False, True]])
    threshold = best_threshold(scores, coins)
    assert (scores > threshold)[coins].mean() - (scores > threshold)[~coins].mean() == 0.5
