import numpy as np
import pandas as pd
import pytest

from shoal.cluster import PrivateKMeans
from shoal.cluster.model_folder import load_model
from shoal.domain import Box
from shoal.errors import NotFinite
from shoal.privacy import Public, Released
from shoal.synopsis import Synopsis

rng = np.random.default_rng(11)
BOX = Box(age=(0, 100), income=(0, 1_000_000))
X = np.r_[rng.normal([20, 2e5], [3, 2e4], (2_000, 2)), rng.normal([70, 8e5], [3, 2e4], (2_000, 2))]
MODEL = PrivateKMeans(2, epsilon=1, domain=BOX, random_state=1).fit(X)


def test_columns_count_by_the_width_of_their_bounds():
    labels = MODEL.predict([[20, 8e5], [21, 1e5], [80, 9e5]])
    first, second = (MODEL.predict([center])[0] for center in MODEL.cluster_centers_)
    assert {first, second} == {0, 1}
    assert labels[1] != labels[2]


def test_distances_are_those_of_the_scaled_box():
    (distances,) = MODEL.transform(MODEL.cluster_centers_[:1])
    scaled = BOX.scale(MODEL.cluster_centers_, -1, 1)
    assert distances == pytest.approx([0, np.linalg.norm(scaled[1] - scaled[0])], abs=1e-5)


def test_the_score_is_minus_the_inertia():
    nearest = MODEL.transform(X).min(axis=1)
    assert MODEL.score(X) == pytest.approx(-(nearest**2).sum())


def test_labels_come_in_the_order_of_rows_and_from_frames_too():
    labels = MODEL.predict(X)
    assert labels.shape == (4_000,)
    assert len(set(labels[:2_000])) == len(set(labels[2_000:])) == 1
    frame = pd.DataFrame({"income": X[:, 1], "name": "x", "age": X[:, 0]})
    assert np.array_equal(MODEL.predict(frame), labels)
    assert MODEL.predict(np.empty((0, 2))).shape == (0,)
    assert MODEL.transform(np.empty((0, 2))).shape == (0, 2)


def test_rows_that_cannot_be_labelled_are_refused():
    with pytest.raises(NotFinite):
        MODEL.predict([[np.nan, 1]])


def test_a_result_says_what_is_public_and_what_was_released():
    result = MODEL.to_result()
    assert result.guarantee == MODEL.guarantee_
    assert all(isinstance(leaf, Public) for leaf in result.settings.values())
    assert all(isinstance(leaf, Released) for leaf in result.released.values())
    assert not result.protected
    assert result.settings["epsilon"].value == "1"
    assert isinstance(result.released["synopsis_"].value, Synopsis)


@pytest.mark.heavy
@pytest.mark.parametrize("method", ["auto", "lloyd", "hybrid", "privtree"])
@pytest.mark.parametrize("n_clusters", [2, range(2, 4)])
def test_a_saved_model_comes_back(tmp_path, method, n_clusters):
    if method in ("lloyd", "hybrid"):
        n_clusters = 2
    model = PrivateKMeans(n_clusters, epsilon=1, domain=BOX, method=method, random_state=1).fit(X)
    model.save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    assert np.array_equal(back.cluster_centers_, model.cluster_centers_)
    assert np.array_equal(back.predict(X), model.predict(X))
    assert back.guarantee_ == model.guarantee_
    assert (back.n_rows_, back.n_clusters_) == (model.n_rows_, model.n_clusters_)
    assert (back.synopsis_ is None) == (model.synopsis_ is None)
    assert back.get_params()["method"] == method
    if back.synopsis_ is not None:
        again = PrivateKMeans.from_synopsis(back.synopsis_, 3, random_state=1)
        assert again.cluster_centers_.shape == (3, 2)


@pytest.mark.heavy
def test_a_view_is_kept_with_the_model(tmp_path):
    wide = np.clip(rng.normal(0.5, 0.1, (2_000, 14)), 0, 1)
    model = PrivateKMeans(2, epsilon=4, domain=Box.unit(14), random_state=1).fit(wide)
    model.save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    assert np.array_equal(back.synopsis_.view_.axes, model.synopsis_.view_.axes)
    assert PrivateKMeans.from_synopsis(back.synopsis_, 3).cluster_centers_.shape == (3, 14)
