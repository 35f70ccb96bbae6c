import numpy as np
import pytest
from sklearn.cluster import AffinityPropagation
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import euclidean_distances

import shoal
from shoal import choose
from shoal.privacy import Unprotected

X, TRUTH = make_blobs(200, centers=[[0, 0], [20, 0], [0, 20], [20, 20]], random_state=3)


@pytest.mark.heavy
def test_the_preference_is_the_median_similarity():
    likeness = -(euclidean_distances(X) ** 2)[~np.eye(200, dtype=bool)]
    assert choose.preference(X).value == pytest.approx(np.median(likeness), rel=0.02)


@pytest.mark.heavy
def test_affinity_propagation_converges_and_finds_known_groups():
    found = AffinityPropagation(**choose.preference(X).settings, random_state=0).fit(X)
    assert adjusted_rand_score(TRUTH, found.labels_) > 0.95  # warnings are errors: it settled


@pytest.mark.heavy
def test_a_weight_is_as_many_points():
    weights = np.where(TRUTH == 0, 5.0, 1.0)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    ours, theirs = choose.preference(X, weights).value, choose.preference(repeated).value
    assert ours == pytest.approx(theirs, rel=0.1)


@pytest.mark.heavy
def test_damping_grows_until_messages_settle(monkeypatch):
    from shoal.cluster.choose import _similarity as similarity

    monkeypatch.setattr(similarity, "_converges", lambda X, value, damping, seed: damping >= 0.8)
    assert choose.preference(X).settings["damping"] == 0.8
    monkeypatch.setattr(similarity, "_converges", lambda X, value, damping, seed: False)
    assert choose.preference(X).settings["damping"] == 0.95


@pytest.mark.heavy
def test_messages_that_swing_are_noticed():
    from shoal.cluster.choose._similarity import _converges

    value = choose.preference(X).value
    assert not all(_converges(X, value, 0.5, seed) for seed in range(8))
    assert all(_converges(X, value, 0.9, seed) for seed in range(3))


@pytest.mark.heavy
def test_the_curve_is_that_of_similarities():
    choice = choose.preference(X)
    assert choice.curve[0.5] == choice.value
    assert list(choice.curve.values()) == sorted(choice.curve.values())
    assert "Similarity of two points" in choice.plot().alt
    assert isinstance(choice.guarantee, Unprotected)


def test_a_synopsis_costs_nothing():
    box = shoal.Box(x=(-5, 25), y=(-5, 25))
    synopsis = shoal.UniformGrid(epsilon=1, domain=box, cells=6, random_state=1).fit(X)
    choice = choose.preference(synopsis)
    assert choice.guarantee == synopsis.guarantee_
    points, _ = synopsis.points()
    AffinityPropagation(**choice.settings, random_state=0).fit(points)


@pytest.mark.parametrize(
    "points", [np.zeros((10, 2)), np.zeros((1, 1)), np.array([[0.0], [3.0]])],
    ids=["all equal", "one", "two"],
)  # fmt: skip
def test_degenerate_points_get_a_preference(points):
    choice = choose.preference(points)
    assert choice.value <= 0
    assert 0.5 <= choice.settings["damping"] < 1
    choice.plot().svg()
