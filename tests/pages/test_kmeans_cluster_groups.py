import math

import numpy as np
import pytest

from shoal.cluster import PrivateKMeans
from shoal.domain import Box, Schema
from shoal.pages.kmeans import KMeansGroups, _with_noise
from shoal.privacy import PureDP

BOX = Box(age=(0, 110), visits=(0, 20))


def groups(n_rows=1_000, **people):
    model = PrivateKMeans(2, epsilon=1, domain=Schema.of_box(BOX, **people))
    model.cluster_centers_ = np.array([[30.0, 4.0], [70.0, 14.0]])
    model.expected_error_ = np.array([0.1, 0.2])
    model.cluster_weights_ = np.array([600.4, n_rows - 600.4])
    model.n_rows_, model.n_rows_within_ = n_rows, 35
    model.groups_told_ = np.array([True, n_rows > 700])
    model.guarantee_ = PureDP(1, rows=people.get("max_rows_per_person") or 1)
    return KMeansGroups(model)


def test_noise_is_told_in_each_columns_own_units():
    """An error of e half sides in all is e / sqrt(d) a column, and a side is two halves."""
    share = 0.1 / math.sqrt(2) / 2
    assert groups().relative[0] == pytest.approx(share)
    np.testing.assert_allclose(groups().reach[0], [110 * share, 20 * share])
    assert groups().center_text(0) == ["30.0 ± 3.9", "4.00 ± 0.71"]


def test_whole_numbers_of_groups_add_up_to_the_headline():
    assert groups(1_001).sizes == [600, 401]
    assert groups(1_001).rows_within == 35


def test_a_group_that_may_be_nobody_is_marked():
    assert [groups(690).size_text(i) for i in (0, 1)] == ["600", "90 (uncertain)"]


def test_few_people_a_group_are_called_weak():
    assert not groups(1_000).is_weak
    assert groups(20).is_weak


def test_people_are_counted_only_where_each_is_known_and_has_one_row():
    assert groups().unit == "rows"
    assert groups(entity="id", max_rows_per_person=4).unit == "rows"
    assert groups(entity="id", max_rows_per_person=1).unit == "people"


@pytest.mark.parametrize(
    ("value", "noise", "side", "shown"),
    [
        (8.7001, 0.0151, 120, "8.700 ± 0.015"),
        (123_456.7, 2_345.6, 1e6, "123,500 ± 2,300"),
        (-0.5, 0.1, 2, "-0.50 ± 0.10"),
        (3.0, 1e-16, 30, "3"),
        (1 / 3, 0.0, 1, "0.3333"),
        (5.0, math.inf, 10, "5"),
    ],
)
def test_numbers_show_the_digits_that_noise_leaves(value, noise, side, shown):
    assert _with_noise(value, noise, side) == shown
