import numpy as np
import pytest

import shoal
from shoal.cluster import choose
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.figures import Figure
from shoal.privacy import PureDP, Unprotected

rng = np.random.default_rng(8)
PLACES = np.array([[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8], [0.5, 0.5]])
X = np.clip(rng.normal(0, 0.03, (5_000, 2)) + np.repeat(PLACES, 1_000, axis=0), 0, 1)
rules = pytest.mark.parametrize("by", ["elbow", "silhouette", "gap"])


@rules
def test_five_clusters_are_found_on_rows_which_protects_nothing(by):
    choice = choose.k(X[::5], by=by, among=range(2, 9))
    assert choice.value == 5
    assert list(choice.curve) == list(range(2, 9))
    assert isinstance(choice.guarantee, Unprotected)


@rules
def test_five_clusters_are_found_on_a_synopsis_at_no_cost(by):
    ledger = shoal.Ledger()
    settings = {"domain": shoal.Box.unit(2), "ledger": ledger, "random_state": 1}
    synopsis = shoal.AdaptiveGrid(epsilon=1, **settings).fit(X)
    choice = choose.k(synopsis, by=by, among=range(2, 9))
    assert choice.value == 5
    assert choice.guarantee == synopsis.guarantee_
    assert ledger.totals() == [PureDP(1).simulated()]


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
