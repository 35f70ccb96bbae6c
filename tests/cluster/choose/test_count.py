import numpy as np
import pytest
from sklearn.cluster import KMeans

import shoal
from shoal.cluster import choose
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.figures import Figure
from shoal.privacy import PureDP, Unprotected

rng = np.random.default_rng(8)
PLACES = np.array([[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8], [0.5, 0.5]])
X = np.clip(rng.normal(0, 0.03, (5_000, 2)) + np.repeat(PLACES, 1_000, axis=0), 0, 1)
rules = pytest.mark.parametrize("by", ["simulation", "elbow", "silhouette", "gap"])


@pytest.mark.heavy
@rules
def test_five_clusters_are_found_on_rows_which_protects_nothing(by):
    choice = choose.k(X[::5], by=by, among=range(2, 9))
    assert choice.value == 5
    assert list(choice.curve) == list(range(2, 9))
    assert isinstance(choice.guarantee, Unprotected)


@pytest.mark.heavy
@rules
def test_five_clusters_are_found_on_a_synopsis_at_no_cost(by):
    ledger = shoal.Ledger()
    settings = {"domain": shoal.Box.unit(2), "ledger": ledger, "random_state": 1}
    synopsis = shoal.AdaptiveGrid(epsilon=1, **settings).fit(X)
    choice = choose.k(synopsis, by=by, among=range(2, 9))
    assert choice.value == 5
    assert choice.guarantee == synopsis.guarantee_
    assert ledger.totals() == [PureDP(1).simulated()]


@pytest.mark.heavy
def test_many_points_are_sampled():
    assert choose.k(np.tile(X, (2, 1)), by="silhouette", among=[4, 5]).value == 5


def test_the_curve_can_be_seen():
    choice = choose.k(X[::50], among=range(2, 6))
    figure = choice.plot()
    assert isinstance(figure, Figure)
    assert dict(figure.data["points"]) == choice.curve
    assert figure.data["chosen"] == choice.value


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(InvalidSetting):
        choose.k(X, by="eye")
    with pytest.raises(DimensionMismatch):
        choose.k(X, weights=[1.0, 2.0])
    with pytest.raises(DimensionMismatch):
        choose.k(np.empty((0, 2)))


@pytest.mark.heavy
def test_scikit_learns_k_means_takes_the_choice():
    choice = choose.k(X[::5], among=range(2, 9))
    found = KMeans(**choice.settings, n_init=5, random_state=0).fit(X[::5])
    gaps = np.sqrt(((PLACES[:, None] - found.cluster_centers_) ** 2).sum(axis=2))
    assert gaps.min(axis=1).max() < 0.02


@pytest.mark.heavy
@pytest.mark.parametrize("last", [8, 12, 20])
def test_the_elbow_does_not_hang_on_how_far_one_looks(last):
    assert choose.k(X[::5], among=range(1, last + 1)).value == 5


@pytest.mark.heavy
@rules
def test_equal_points_take_the_smallest_number(by):
    choice = choose.k(np.full((30, 2), 500.0), by=by, among=range(2, 6))
    assert choice.value == 2
    assert np.isfinite(list(choice.curve.values())).all()


@pytest.mark.heavy
def test_points_in_three_places_are_three_clusters():
    places = np.repeat([[0.0, 0], [900, 0], [0, 900]], 40, axis=0)
    for by in ("elbow", "silhouette", "gap"):
        assert choose.k(places, by=by, among=range(2, 6)).value == 3


@pytest.mark.heavy
@rules
def test_one_column_and_few_points_do_not_crash(by):
    few = choose.k([[0.0], [1.0], [7.0]], by=by, among=range(2, 9))
    assert 2 <= few.value <= 8
    column = np.concatenate([rng.normal(place, 0.1, 30) for place in (0, 5, 9)])
    assert choose.k(column[:, None], by=by, among=range(2, 7)).value == 3


@pytest.mark.heavy
def test_shares_choose_as_counts_do():
    weights = rng.integers(1, 5, 500).astype(float)
    for by in ("elbow", "silhouette"):
        many = choose.k(X[::10], weights * 10, by=by, among=range(2, 9))
        shares = choose.k(X[::10], weights / weights.sum(), by=by, among=range(2, 9))
        assert many.value == shares.value == 5


@pytest.mark.heavy
@rules
def test_what_was_learnt_from_reports_costs_nothing_more(by):
    noise = shoal.mechanisms.PlanarLaplace(20.0, domain=shoal.Box.unit(2))
    reports = noise.release(X[::5], shoal.Randomness(7).noise)
    model = shoal.cluster.LocalClusterer(2, mechanism=noise, method="em", random_state=7)
    choice = choose.k(model.fit(reports), by=by, among=range(2, 9))
    assert choice.value == 5
    assert choice.guarantee == reports.guarantee
