"""Settings of DBSCAN, OPTICS and HDBSCAN, with which scikit-learn finds known groups."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, OPTICS
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import shoal
from shoal import choose
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.figures import Figure
from shoal.privacy import PureDP, Unprotected

rng = np.random.default_rng(6)
CORNERS = [[0, 0], [8, 0], [0, 8], [8, 8]]


def noisy_blobs():
    X, y = make_blobs(600, centers=CORNERS[:3], cluster_std=0.6, random_state=1)
    return np.vstack([X, rng.uniform(-6, 14, (60, 2))]), np.append(y, np.full(60, -1))


SETS = {
    "moons": make_moons(600, noise=0.06, random_state=0),
    "rings": make_circles(300, noise=0.04, factor=0.5, random_state=0),
    "blobs": make_blobs(400, centers=CORNERS, cluster_std=0.6, random_state=1),
    "blobs in four columns": make_blobs(600, 4, centers=5, cluster_std=0.8, random_state=3),
    "blobs in noise": noisy_blobs(),
}


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("moons", None),
        ("rings", None),
        ("blobs", None),
        ("blobs", "knee"),
        ("blobs in four columns", "knee"),
        ("blobs in noise", None),
        ("blobs in noise", "knee"),
    ],
)
def test_dbscan_finds_known_groups(name, by):
    X, truth = SETS[name]
    settings = choose.radius(X, by=by).settings | choose.min_points(X).settings
    found = DBSCAN(**settings).fit_predict(X)
    assert adjusted_rand_score(truth, found) > 0.85


@pytest.mark.heavy
@pytest.mark.parametrize("method", [OPTICS, HDBSCAN])
def test_optics_and_hdbscan_run_with_the_number_of_points(method):
    X, truth = SETS["blobs"]
    extra = {"copy": True} if method is HDBSCAN else {"cluster_method": "dbscan"}
    if method is OPTICS:
        extra |= choose.radius(X).settings
    found = method(**choose.min_points(X).settings, **extra).fit_predict(X)
    assert adjusted_rand_score(truth, found) > 0.6


def test_twice_the_columns_make_a_place_dense():
    for d in (1, 2, 7):
        choice = choose.min_points(rng.normal(size=(60, d)))
        assert choice.value == choice.settings["min_samples"] == 2 * d
        assert choice.value in choice.curve
        assert isinstance(choice.plot(), Figure)


def test_a_core_point_is_one_that_need_not_reach_further():
    X, _ = SETS["blobs in noise"]
    choice = choose.radius(X)
    core = DBSCAN(**choice.settings, min_samples=4).fit(X).core_sample_indices_
    assert len(core) / len(X) == pytest.approx(choice.at, abs=1 / 150)


def test_the_curve_rises_and_is_drawn():
    choice = choose.radius(SETS["blobs"][0])
    assert list(choice.curve.values()) == sorted(choice.curve.values())
    assert len(choice.curve) <= 200
    assert "Distance to neighbour 3" in choice.plot().alt


def test_points_that_weigh_the_same_have_a_bulk_and_others_a_knee():
    X, _ = SETS["blobs"]
    assert choose.radius(X).by == choose.radius(X, np.full(400, 3.0)).by == "bulk"
    assert choose.radius(X, rng.uniform(1, 2, 400)).by == "knee"


def test_another_rule_is_refused():
    with pytest.raises(InvalidSetting, match="knee"):
        choose.radius(SETS["blobs"][0], by="eye")


@pytest.mark.parametrize("choosing", [choose.radius, choose.min_points])
def test_rows_protect_nothing_and_a_synopsis_costs_nothing(choosing):
    assert isinstance(choosing(SETS["moons"][0]).guarantee, Unprotected)
    ledger = shoal.Ledger()
    box = shoal.Box(x=(-6, 14), y=(-6, 14))
    synopsis = shoal.UniformGrid(epsilon=1, domain=box, ledger=ledger, random_state=1)
    choice = choosing(synopsis.fit(SETS["blobs in noise"][0]))
    assert choice.guarantee == synopsis.guarantee_
    assert ledger.totals() == [PureDP(1).simulated()]


@pytest.mark.heavy
@pytest.mark.parametrize("kind", [shoal.UniformGrid, shoal.AdaptiveGrid, shoal.PrivTree])
def test_dbscan_finds_groups_among_the_cells_of_a_synopsis(kind):
    X = np.clip(make_blobs(4_000, centers=CORNERS, cluster_std=0.6, random_state=1)[0], -6, 14)
    box = shoal.Box(x=(-6, 14), y=(-6, 14))
    synopsis = kind(epsilon=2, domain=box, random_state=1).fit(X)
    points, weights = synopsis.points()
    settings = choose.radius(synopsis).settings | choose.min_points(synopsis).settings
    found = DBSCAN(**settings).fit(points, sample_weight=weights / weights.mean()).labels_
    nearest = ((np.array(CORNERS)[:, None] - points) ** 2).sum(axis=2).argmin(axis=1)
    assert len(set(found[nearest])) == 4
    assert (found[nearest] >= 0).all()


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((50, 2)),
        np.zeros((1, 3)),
        np.array([[0.0], [1.0]]),
        np.arange(3.0).reshape(1, 3),
        np.repeat(np.arange(4.0), 25).reshape(-1, 1),
        rng.normal(size=(80, 1)),
    ],
    ids=["all equal", "one", "two", "fewer than neighbours", "duplicates", "one column"],
)
def test_degenerate_points_get_settings_that_scikit_learn_takes(points):
    settings = choose.radius(points).settings | choose.min_points(points).settings
    assert settings["eps"] > 0
    DBSCAN(**settings).fit(points)
    choose.radius(points).plot().svg()
    choose.min_points(points).plot().svg()


def test_equal_points_are_one_cluster():
    X = np.zeros((50, 2))
    assert set(DBSCAN(**choose.radius(X).settings, min_samples=4).fit_predict(X)) == {0}


def test_no_points_have_no_radius():
    with pytest.raises(DimensionMismatch):
        choose.radius(np.empty((0, 2)))
