"""Far groups of few rows: none is cut off by a look at where most rows lie, and none in silence."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal import load_model
from shoal.cluster import PrivateKMeans
from shoal.domain import Box, FarGrid
from shoal.pages.groups import page


def far_rows(d, n=8_000, share=0.03, seed=0):
    """Most rows in a small part of the box, and three far groups."""
    rng = np.random.default_rng([d, seed])
    near, far = rng.uniform(0.25, 0.45, (4, d)), rng.choice([-0.85, -0.3, 0.85], (3, d))
    shares = [*[(1 - 3 * share) / 4] * 4, *[share] * 3]
    labels = rng.choice(7, n, p=shares)
    return np.clip(np.vstack([near, far])[labels] + 0.01 * rng.standard_normal((n, d)), -1, 1)


def cube(d):
    return Box.of([f"x{i}" for i in range(d)], [-1.0] * d, [1.0] * d)


def fitted(X, seed=1, epsilon=0.5):
    return PrivateKMeans(7, epsilon=epsilon, domain=cube(X.shape[1]), random_state=seed).fit(X)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_far_groups_are_found(d):
    ratios = []
    for seed in range(3):
        X = far_rows(d, seed=seed)
        best = KMeans(7, n_init=10, random_state=0).fit(X).inertia_
        ratios.append(-fitted(X, seed).score(X) / best)
    assert np.median(ratios) < 2


@pytest.mark.parametrize("d", [6, 8])
def test_far_groups_in_many_columns_are_found(d):
    ratios = []
    for seed in range(3):
        X = far_rows(d, n=30_000, seed=seed)
        best = KMeans(7, n_init=5, random_state=0).fit(X).inertia_
        ratios.append(-fitted(X, seed, epsilon=1).score(X) / best)
    assert np.median(ratios) < 2


def test_far_rows_of_many_columns_are_told_and_saved(tmp_path):
    X = far_rows(8, n=30_000)
    model = fitted(X, epsilon=1)
    seen = np.abs(model.synopsis_.view_.coordinates(X)).max(axis=0)
    beyond = np.sum(seen > FarGrid.BEYOND)
    assert beyond > 1_000
    assert abs(model.n_rows_beyond_view_ - beyond) <= model.n_rows_beyond_view_within_
    model.save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    assert back.n_rows_beyond_view_ == model.n_rows_beyond_view_
    np.testing.assert_array_equal(back.synopsis_.cells_.high, model.synopsis_.cells_.high)
    assert model.synopsis_.cells_.high.max() > 1
    model.plot()


def test_several_numbers_of_groups_are_tried_with_far_cells():
    X = far_rows(7, n=30_000)
    model = PrivateKMeans(range(2, 9), epsilon=2, domain=cube(7), random_state=3).fit(X)
    assert model.n_rows_beyond_view_ > 0
    assert 2 <= model.n_clusters_ <= 8


@pytest.mark.parametrize("d", [2, 4])
def test_rows_beyond_the_view_are_told_with_their_noise(d):
    X = far_rows(d)
    model = fitted(X)
    zoom = model.synopsis_._estimates.zoom
    beyond = np.sum(np.abs(zoom.view.coordinates(X)).max(axis=0) > 1)
    assert beyond > 300
    assert abs(model.n_rows_beyond_view_ - beyond) <= model.n_rows_beyond_view_within_
    released = model.to_result().released
    assert released["n_rows_beyond_view_"].value == model.n_rows_beyond_view_


def test_the_count_of_rows_beyond_is_saved_with_the_model(tmp_path):
    model = fitted(far_rows(2))
    model.save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    assert back.n_rows_beyond_view_ == model.n_rows_beyond_view_
    assert back.n_rows_beyond_view_within_ == model.n_rows_beyond_view_within_
    np.testing.assert_array_equal(back.synopsis_.cells_.low, model.synopsis_.cells_.low)


def test_a_page_and_its_values_say_how_many_rows_lie_beyond():
    model = fitted(far_rows(2))
    shown = page(model)
    text = f"About {model.n_rows_beyond_view_:,} rows, give or take"
    assert any(limit.startswith(text) for limit in shown.limits)
    assert any(getattr(line, "text", "").startswith(text) for line in shown.lines)
    assert shown.values["rows_beyond_view"] == model.n_rows_beyond_view_


def test_without_a_small_view_nothing_is_said():
    X = np.random.default_rng(1).uniform(-1, 1, (5_000, 2))
    model = fitted(X)
    assert model.n_rows_beyond_view_ is None
    assert "n_rows_beyond_view_" not in model.to_result().released
    assert page(model).values["rows_beyond_view"] is None


def test_a_range_beyond_the_view_is_counted():
    X = far_rows(2)
    found = fitted(X, epsilon=2).synopsis_.range_count({"x0": (-1, 0)})
    assert found.low <= np.sum(X[:, 0] <= 0) <= found.high
