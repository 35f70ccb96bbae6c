import numpy as np
import pytest

from shoal.cluster import PrivateKMeans
from shoal.cluster.kmeans._estimator import public_centers
from shoal.cluster.model_folder import load_model
from shoal.domain import Box
from shoal.errors import ConflictingSettings, InvalidSetting
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

# Some tables here are small, and budgets too: it is right that no group of them is certain.
pytestmark = pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
rng = np.random.default_rng(7)
BOX = Box(x=(0, 10), y=(0, 10))
MIDDLES = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])
PUBLIC = np.vstack([rng.normal(middle + 0.3, 0.4, (40, 2)) for middle in MIDDLES])


def rows(n):
    return np.clip(MIDDLES[rng.integers(3, size=n)] + rng.normal(0, 0.4, (n, 2)), 0, 10)


def fitted(X, epsilon=1.0, **settings):
    options = {"domain": BOX, "random_state": 3, "init": PUBLIC, **settings}
    return PrivateKMeans(3, epsilon=epsilon, **options).fit(X)


def sorted_centers(model):
    return model.cluster_centers_[np.argsort(model.cluster_centers_[:, 0])]


def test_centres_move_from_the_public_ones_to_those_of_the_rows():
    centers = sorted_centers(fitted(rows(3_000)))
    assert np.allclose(centers, MIDDLES[[0, 2, 1]], atol=0.1)


@pytest.mark.heavy
def test_the_whole_budget_is_spent_and_there_are_no_cells():
    for n, epsilon in ((50, 0.1), (3_000, 1), (40_000, 1)):
        ledger = Ledger()
        model = fitted(rows(n), epsilon, ledger=ledger)
        assert ledger.totals() == [PureDP(epsilon).simulated()]
        assert model.synopsis_ is None


def test_a_table_of_nobody_leaves_the_public_centres_near_where_they_were():
    model = fitted(np.empty((0, 2)), 0.5)
    start, _ = public_centers(PUBLIC, BOX, 3, Randomness(1))
    public = BOX.unscale(start, -1, 1)
    away = np.linalg.norm(model.cluster_centers_[:, None] - public, axis=2).min(axis=1)
    assert away.max() < 1.5


def test_as_many_rows_as_clusters_are_the_centres_themselves():
    centers, radius = public_centers(MIDDLES, BOX, 3, Randomness(1))
    assert np.allclose(BOX.unscale(centers, -1, 1), MIDDLES)
    assert radius > 0


@pytest.mark.heavy
def test_on_few_rows_a_public_start_is_better_than_none():
    few = rows(60)
    with_start = [fitted(few, 0.5, random_state=seed).score(few) for seed in range(10)]
    without = [fitted(few, 0.5, random_state=seed, init=None).score(few) for seed in range(10)]
    assert np.mean(with_start) > np.mean(without)


def test_it_is_saved_and_loaded_and_models_without_it_are_saved_as_before(tmp_path):
    model = fitted(rows(500))
    model.save(tmp_path / "one")
    again = load_model(tmp_path / "one")
    assert np.allclose(again.init, PUBLIC)
    assert np.allclose(again.cluster_centers_, model.cluster_centers_)
    assert "init" not in fitted(rows(500), init=None)._settings()


@pytest.mark.parametrize("wrong", [PUBLIC[:2], PUBLIC[:, :1], PUBLIC * np.nan, "last year"])
def test_what_cannot_be_a_start_is_refused_before_anything_is_paid(wrong):
    ledger = Ledger()
    with pytest.raises(InvalidSetting, match="public rows"):
        fitted(rows(50), init=wrong, ledger=ledger)
    assert ledger.totals() == []


@pytest.mark.parametrize(
    "settings", [{"method": "lloyd"}, {"refine": False}, {"n_clusters": range(2, 4)}]
)
def test_settings_that_would_not_use_it_are_refused(settings):
    model = PrivateKMeans(3, epsilon=1, domain=BOX, init=PUBLIC).set_params(**settings)
    with pytest.raises(ConflictingSettings, match="init"):
        model.fit(rows(50))
