import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier

from shoal import Box, NDLaplace, PureDP, UniformGrid
from shoal.audit import lira, membership_inference
from shoal.errors import (
    ConflictingSettings,
    DimensionMismatch,
    InvalidSetting,
    NotFinite,
    TooFewRows,
)

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(400, 2))


def planted(rows, rng):
    """A leak: the model answers with the distance to its nearest row."""
    tree = cKDTree(rows)
    return lambda asked: -tree.query(asked)[0]


def beside(rows, far):
    towards = np.random.default_rng(3).normal(size=rows.shape)
    return rows + far * towards / np.linalg.norm(towards, axis=1, keepdims=True)


def test_a_planted_leak_is_found_almost_surely():
    found = lira(planted, ROWS, random_state=1)
    assert found.tpr_at[0.01].mean >= 0.95
    assert found.setting.game == "own coin"


def test_an_overfitted_clustering_without_privacy_is_found():
    found = lira(KMeans(100, n_init=1), ROWS, repeats=5, random_state=1)
    assert found.tpr_at[0.01].mean >= 0.10


def test_the_same_leak_behind_noise_stays_under_the_ceiling_of_a_swap():
    epsilon = 2.0
    found = lira(planted, ROWS, partners=beside(ROWS, 1 / epsilon), mechanism=NDLaplace(epsilon),
                 repeats=20, random_state=1)  # fmt: skip
    assert found.ceiling.advantage == pytest.approx(np.tanh(0.5), abs=1e-4)
    assert found.advantage.high < np.tanh(0.5)
    assert found.verdict == "consistent"


def test_too_little_noise_in_a_swap_is_violated():
    wide = ROWS * 100
    found = lira(planted, wide, partners=beside(wide, 0.5), mechanism=NDLaplace(40),
                 guarantee=NDLaplace(2).guarantee, repeats=5, random_state=1)  # fmt: skip
    assert found.verdict == "violated"
    assert found.ceiling.epsilon == pytest.approx(1, abs=1e-3)


def test_taking_part_is_not_covered_by_reports():
    found = lira(planted, ROWS, mechanism=NDLaplace(1), n_shadow=8, repeats=2, random_state=1)
    assert "taking part" in str(found.ceiling)


def test_counts_of_cells_keep_within_their_promise():
    grid = UniformGrid(epsilon=1, domain=Box.unit(2), cells=20)
    rows = RNG.random((60, 2))
    found = lira(grid, rows, n_shadow=16, repeats=6, random_state=1)
    assert found.ceiling.advantage == pytest.approx(np.tanh(0.5))
    assert found.verdict == "consistent"
    assert found.guarantee.epsilon == PureDP(1).epsilon


def test_the_offline_variant_needs_no_model_with_the_record():
    found = lira(planted, ROWS, variant="offline", random_state=1)
    assert found.tpr_at[0.01].mean > 0.5
    assert "offline" in found.setting.attack


def test_labels_are_seen_and_leave_no_ceiling():
    labels = (RNG.random(80) < 0.5).astype(int)
    found = lira(RandomForestClassifier(5), ROWS[:80], labels=labels, n_shadow=16, repeats=5,
                 random_state=1)  # fmt: skip
    assert str(found.ceiling) == "no ceiling: labels unprotected"
    assert found.advantage.mean > 0.1


def test_only_targets_are_attacked_and_answers_can_be_chosen():
    found = lira(planted, ROWS, target=np.arange(100), n_shadow=8, repeats=3, random_state=1,
                 answers=lambda model, rows: np.zeros(len(rows)))  # fmt: skip
    assert found.members + found.others == 100
    assert found.advantage.mean == 0


def test_a_seed_repeats_it_and_progress_is_told():
    told = []
    seeded = {"n_shadow": 8, "repeats": 2, "random_state": 3}
    first = lira(planted, ROWS[:60], progress=lambda what, share: told.append(share), **seeded)
    again = lira(planted, ROWS[:60], **seeded)
    assert first.to_dict() == again.to_dict()
    assert told[-1] == 1


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"variant": "sideways"}, InvalidSetting),
        ({"n_shadow": 4}, InvalidSetting),
        ({"target": np.arange(10)}, TooFewRows),
        ({"partners": ROWS[:5]}, DimensionMismatch),
        ({"partners": ROWS, "labels": np.zeros(400, dtype=int)}, ConflictingSettings),
    ],
)
def test_settings_that_make_no_game_are_refused(settings, error):
    with pytest.raises(error):
        lira(planted, ROWS, **settings)


@pytest.mark.parametrize(
    ("answers", "error"),
    [(lambda model, rows: rows[:, 0] * np.nan, NotFinite),
     (lambda model, rows: rows, DimensionMismatch), (lambda model, rows: 1.0, DimensionMismatch)],
)  # fmt: skip
def test_answers_that_hide_everything_are_refused(answers, error):
    with pytest.raises(error):
        lira(planted, ROWS, answers=answers, n_shadow=8, repeats=1, random_state=1)


def test_a_model_of_nothing_is_refused_not_consistent():
    class Lost(KMeans):
        def fit(self, X, y=None, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.cluster_centers_ = self.cluster_centers_ * np.nan
            return self

        def transform(self, X):
            return np.full((len(X), 2), np.nan)

    for attack in (lira, membership_inference):
        with pytest.raises(NotFinite):
            attack(Lost(2, n_init=1), ROWS, repeats=1, random_state=1)
