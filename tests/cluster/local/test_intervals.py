from dataclasses import replace

import numpy as np
import pytest

from shoal.cluster import LocalClusterer, load_model
from shoal.cluster.local._intervals import local_intervals, sizes_by_density
from shoal.domain import Box
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(-1, 1))


def rows(n=6_000):
    rng = np.random.default_rng(0)
    return BOX.unscale(np.where(rng.random((n, 1)) < 0.4, 0.3, 0.7) + rng.normal(0, 0.04, (n, 2)))


def fitted(mechanism=None):
    mechanism = mechanism or LocalGrid(BOX, epsilon=4.0, n_expected=6_000, n_clusters=2)
    reports = mechanism.release(rows(), Randomness(1).noise)
    return LocalClusterer(2, mechanism=mechanism, random_state=1).fit(reports)


@pytest.mark.heavy
def test_centres_and_sizes_have_intervals_inside_the_box():
    model = fitted()
    found = model.intervals_
    assert (found.centers_low < model.cluster_centers_).all()
    assert (model.cluster_centers_ < found.centers_high).all()
    assert (found.centers_low >= BOX.low).all()
    assert (found.centers_high <= BOX.high).all()
    sizes = sizes_by_density(model, 6_000)
    assert sizes.sum() == pytest.approx(6_000)
    assert ((found.sizes_low <= sizes) & (sizes <= found.sizes_high)).all()
    assert found.total_low == found.total_high == 6_000


@pytest.mark.heavy
def test_they_follow_from_the_density_alone_and_survive_a_folder(tmp_path):
    model = fitted()
    found = model.intervals_
    assert model.intervals_ is found
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model").intervals_
    np.testing.assert_allclose(again.centers_low, found.centers_low)


@pytest.mark.heavy
def test_other_mechanisms_have_them():
    found = fitted(NDLaplace(2.0, domain=BOX)).intervals_
    assert found.rate == 0.9
    assert found.centers_low.shape == (2, 2)


def test_people_of_a_density_that_reaches_beyond_the_box_are_moved_into_it():
    model = fitted(NDLaplace(20.0, domain=BOX))
    model.density_ = replace(model.density_, atoms=model.density_.atoms - [4.0, 0.0])
    assert (model.density_.atoms < BOX.low).any()
    assert local_intervals(model).centers_low.shape == (2, 2)
