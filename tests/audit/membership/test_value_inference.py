"""Guessing a column from released points: who keeps rows is caught, who adds noise is not."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal import Box
from shoal.audit import value_inference
from shoal.cluster import PrivateKMeans
from shoal.errors import DimensionMismatch, InvalidSetting, TooFewRows
from shoal.synopsis import UniformGrid

rng = np.random.default_rng(5)
PEOPLE = np.clip(rng.normal(0.5, 0.15, size=(2_000, 3)), 0, 1)
INSIDE, OUTSIDE = PEOPLE[:1_000], PEOPLE[1_000:]


def test_a_model_with_a_centre_for_each_row_gives_every_value_away():
    found = value_inference(INSIDE, INSIDE, OUTSIDE, column=2)
    assert found.members_error == found.member_distance == 0
    assert found.added > 20 * found.standard_error
    assert found.other_distance > 0


def test_centres_of_large_groups_tell_as_much_about_others():
    centers = KMeans(4, n_init=1, random_state=0).fit(INSIDE).cluster_centers_
    found = value_inference(centers, INSIDE, OUTSIDE, column=2)
    assert abs(found.added) < 4 * found.standard_error


@pytest.mark.parametrize("epsilon", [1, 5])
def test_private_releases_tell_hardly_more_about_members(epsilon):
    """Rows that keep themselves are beyond 20 standard errors, above."""
    settings = {"epsilon": epsilon, "domain": Box.unit(3), "random_state": 3}
    model = PrivateKMeans(8, **settings).fit(INSIDE)
    grid = UniformGrid(cells=8, **settings).fit(INSIDE)
    cells, weights = grid.points()
    for points, sizes in ((model.cluster_centers_, None), (cells, np.maximum(weights, 0))):
        found = value_inference(points, INSIDE, OUTSIDE, 2, weights=sizes)
        assert abs(found.added) < 5 * found.standard_error


def test_equally_near_points_are_averaged_by_weight():
    points = [[0.0, 1.0], [0.0, 4.0], [0.0, 99.0]]
    people = [[0.0, 2.0], [0.1, 2.0]]
    found = value_inference(points, people, people, 1, weights=[2, 1, 0])
    assert found.members_error == 0
    assert float(found) == found.added == found.to_dict()["added"] == 0


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(DimensionMismatch):
        value_inference(INSIDE[:, :2], INSIDE, OUTSIDE, 1)
    with pytest.raises(DimensionMismatch):
        value_inference(INSIDE, INSIDE, OUTSIDE, 1, weights=[1.0])
    with pytest.raises(InvalidSetting):
        value_inference(INSIDE, INSIDE, OUTSIDE, 3)
    with pytest.raises(TooFewRows):
        value_inference(INSIDE, INSIDE[:1], OUTSIDE, 1)
    with pytest.raises(TooFewRows):
        value_inference(INSIDE, INSIDE, OUTSIDE, 1, weights=np.zeros(len(INSIDE)))
