import numpy as np
import pytest

import shoal
from shoal.cluster._without_data import without_data
from shoal.errors import UnknownBounds
from shoal.privacy import PureDP

rng = np.random.default_rng(2)
BOX = shoal.Box(x=(0, 10), y=(0, 100))
X = np.column_stack([rng.uniform(0, 2, 800), rng.uniform(0, 20, 800)])


def test_it_never_sees_the_rows_and_charges_nobody():
    ledger = shoal.Ledger()
    settings = {"epsilon": 2, "domain": BOX, "ledger": ledger, "random_state": 1}
    model = shoal.PrivateKMeans(3, **settings).fit(X)
    nothing = without_data(model, random_state=4)
    assert nothing.cluster_centers_.shape == (3, 2)
    heaviest = nothing.cluster_centers_[np.argmax(nothing.cluster_sizes_)]
    assert BOX.scale(heaviest[None], -1, 1) == pytest.approx(0, abs=0.2)
    assert ledger.totals() == [PureDP(2).simulated()]
    assert nothing.ledger is None


@pytest.mark.heavy
def test_a_seed_repeats_it():
    model = shoal.PrivateKMeans(3, epsilon=1, domain=BOX, random_state=1).fit(X)
    one, same, other = (without_data(model, random_state=seed) for seed in (5, 5, 6))
    assert np.array_equal(one.cluster_centers_, same.cluster_centers_)
    assert not np.array_equal(one.cluster_centers_, other.cluster_centers_)


@pytest.mark.heavy
def test_the_number_of_clusters_is_the_one_that_was_chosen():
    model = shoal.PrivateKMeans(range(2, 6), epsilon=2, domain=BOX, random_state=1).fit(X)
    assert without_data(model).n_clusters_ == model.n_clusters_


@pytest.mark.heavy
def test_a_model_from_a_folder_will_do(tmp_path):
    model = shoal.PrivateKMeans(3, epsilon=1, domain=BOX, random_state=1).fit(X)
    again = shoal.load_model(model.save(tmp_path / "model"))
    assert np.array_equal(
        without_data(again).cluster_centers_, without_data(model).cluster_centers_
    )


@pytest.mark.heavy
def test_people_with_several_rows_are_people_of_their_own():
    rows = {"x": X[:, 0], "y": X[:, 1], "rider": np.arange(800) % 200}
    domain = shoal.Schema.of_box(BOX, person="rider", max_rows_per_person=4)
    model = shoal.PrivateKMeans(2, epsilon=2, domain=domain, random_state=1).fit(rows)
    assert without_data(model).guarantee_ == model.guarantee_


def test_shapes_without_data_are_one_at_most():
    model = shoal.WaveCluster(domain=BOX, epsilon=2, random_state=1).fit(X)
    nothing = without_data(model)
    labels = nothing.predict(np.array([[5.001, 50.001], [0.1, 1.0]]))
    assert labels[1] == -1


def test_a_learner_from_reports_runs_its_own_control():
    noise = shoal.mechanisms.PlanarLaplace(2.0, domain=BOX)
    reports = noise.release(X, shoal.Randomness(7).noise)
    model = shoal.cluster.LocalClusterer(2, mechanism=noise, method="plain", random_state=1)
    nothing = without_data(model.fit(reports), random_state=3)
    assert nothing.cluster_centers_.mean(axis=0) == pytest.approx([5, 50], rel=0.1)


def test_a_model_without_a_box_has_no_middle():
    model = shoal.PrivateKMeans(2, epsilon=1, domain=BOX, random_state=1).fit(X)
    model.domain = None
    with pytest.raises(UnknownBounds):
        without_data(model)
