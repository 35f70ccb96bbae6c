import numpy as np
import pytest

from shoal.cluster import PrivateKMeans
from shoal.domain import Box
from shoal.pages.groups import KMeansGroups


def fitted(d, n=3_000, k=3, box=None, **settings):
    rng = np.random.default_rng(d)
    middles = rng.uniform(-0.6, 0.6, (k, d)) * np.linspace(0.2, 1, d)  # last columns differ most
    X = middles[np.arange(n) % k] + rng.normal(0, 0.05, (n, d))
    cube = Box.of([f"c{i}" for i in range(d)], [-1] * d, [1] * d)
    model = PrivateKMeans(k, epsilon=1, domain=box or cube, random_state=1, **settings)
    return KMeansGroups(model.fit(X if box is None else box.unscale(X, -1, 1)))


@pytest.mark.heavy
def test_two_columns_make_one_map_of_the_released_cells():
    groups = fitted(2)
    (figure,) = groups.maps()
    people = np.array(figure.data["noisy_counts"]).sum()
    assert people == pytest.approx(groups.model.synopsis_.cells_.weight.sum(), rel=0.05)
    np.testing.assert_allclose(figure.data["centers"], groups.centers)
    np.testing.assert_allclose(figure.data["reach"], groups.reach)
    assert "(group 1)" in figure.alt
    assert len(figure.svg()) < 120_000


@pytest.mark.heavy
def test_more_columns_make_up_to_four_maps_those_that_differ_most_first():
    groups = fitted(4)
    figures = groups.maps()
    assert len(figures) == 4
    spread = groups.centers.std(axis=0)
    best = sorted(np.argsort(-spread)[:2])
    assert figures[0].data["names"] == [f"C{i}" for i in best]


@pytest.mark.heavy
def test_cells_seen_through_a_view_are_drawn_where_they_stand_for():
    groups = fitted(8, n=6_000)
    assert groups.model.synopsis_.view_ is not None
    for figure in groups.maps():
        assert np.array(figure.data["noisy_counts"]).sum() > 3_000


@pytest.mark.heavy
def test_without_cells_only_the_centres_are_drawn():
    (figure,) = fitted(2, method="lloyd").maps()
    assert not np.any(figure.data["noisy_counts"])
    assert len(figure.data["centers"]) == 3


@pytest.mark.heavy
def test_one_column_makes_no_map():
    assert fitted(1).maps() == []


@pytest.mark.heavy
def test_maps_of_places_have_the_longitude_across():
    city = Box.geo(lat=(40.4, 41.0), lon=(-74.3, -73.6))
    (figure,) = fitted(2, box=city).maps()
    assert figure.data["names"] == ["Lon", "Lat"]
    assert figure.data["low"] == [-74.3, 40.4]
