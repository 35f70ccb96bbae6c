import math

import numpy as np
import pytest

from shoal.cluster import PrivateKMeans
from shoal.cluster.intervals._result import Intervals
from shoal.domain import Box, Schema
from shoal.pages.groups._kmeans import KMeansGroups, _with_interval
from shoal.privacy import PureDP

BOX = Box(age=(0, 110), visits=(0, 20))


HALVES = np.array([[3.81, 0.703], [7.0, 1.0]])


def groups(n_rows=1_000, unstable=False, **people):
    model = PrivateKMeans(2, epsilon=1, domain=Schema.of_box(BOX, **people))
    model.cluster_centers_ = np.array([[30.0, 4.0], [70.0, 14.0]])
    model.expected_error_ = np.array([0.1, 0.2])
    model.cluster_sizes_ = np.array([600.4, n_rows - 600.4])
    model.n_rows_, model.n_rows_within_, model.n_clusters_ = n_rows, 35, 2
    model.is_certain_ = np.array([True, n_rows > 700])
    model.guarantee_ = PureDP(1, rows=people.get("max_rows_per_person") or 1)
    centers, sizes = model.cluster_centers_, model.cluster_sizes_
    halves, of_sizes = HALVES.copy(), np.array([40.2, 30.0])
    if unstable:
        halves[1], of_sizes[1] = np.nan, np.nan
    found = Intervals(
        centers - halves, centers + halves, sizes - of_sizes, sizes + of_sizes, 965.0, 1_035.0
    )
    model._computed = centers, {"intervals": found}
    return KMeansGroups(model)


def test_half_an_interval_stands_beside_each_number_in_its_own_units_rounded_up():
    assert groups().relative[0] == pytest.approx(0.703 / 20)
    np.testing.assert_allclose(groups().reach, HALVES)
    assert groups().center_text(0) == ["30.0 ± 3.9", "4.00 ± 0.71"]


def test_an_unstable_group_is_called_so_instead_of_an_interval():
    shown = groups(unstable=True)
    assert shown.center_text(0) == ["30.0 ± 3.9", "4.00 ± 0.71"]
    assert shown.center_text(1) == ["70 (unstable)", "14 (unstable)"]
    assert shown.size_text(1) == "400 (unstable)"
    assert not shown.reach[1].any()


def test_whole_numbers_of_groups_add_up_to_the_headline():
    assert groups(1_001).sizes == [600, 401]
    assert groups(1_001).rows_within == 35


def test_a_group_that_may_be_nobody_is_marked():
    assert [groups(690).size_text(i) for i in (0, 1)] == [
        "600 (560 to 641)",
        "90 (59 to 120) (uncertain)",
    ]


def test_few_people_a_group_are_called_weak():
    assert not groups(1_000).model._is_weak
    assert groups(20).model._is_weak


def test_people_are_counted_only_where_each_is_known_and_has_one_row():
    assert groups().unit == "rows"
    assert groups(person="id", max_rows_per_person=4).unit == "rows"
    assert groups(person="id", max_rows_per_person=1).unit == "people"


@pytest.mark.parametrize(
    ("value", "noise", "side", "shown"),
    [
        (8.7001, 0.0151, 120, "8.700 ± 0.016"),
        (123_456.7, 2_345.6, 1e6, "123,500 ± 2,400"),
        (-0.5, 0.1, 2, "-0.50 ± 0.10"),
        (8.7001, 0.0156, 120, "8.700 ± 0.016"),
        (0.5, 0.0991, 2, "0.500 ± 0.100"),
        (3.0, 1e-16, 30, "3"),
        (1 / 3, 0.0, 1, "0.3333"),
        (5.0, math.inf, 10, "5"),
    ],
)
def test_numbers_show_the_digits_that_noise_leaves(value, noise, side, shown):
    assert _with_interval(value, noise, side) == shown
