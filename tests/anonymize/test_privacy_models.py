"""Each model against its definition, counted person by person on small tables."""

import itertools
from math import comb

import numpy as np
import pytest

from shoal.anonymize._privacy_models import (
    AverageRisk,
    DeltaPresence,
    KMap,
    Uniqueness,
    least_sample_size,
)


def test_k_map_counts_the_population_and_not_the_table():
    assert KMap(3).holds([1, 9], [3, 2]).tolist() == [True, False]


@pytest.mark.parametrize(("least", "most"), [(0.0, 0.5), (0.2, 0.5), (0.5, 1.0)])
def test_presence_is_the_share_of_each_person_s_likes(least, most):
    for members, people in itertools.product(range(6), range(1, 6)):
        by_definition = least <= members / people <= most
        assert bool(DeltaPresence(most, least).holds([members], [people])[0]) == by_definition


def test_members_without_a_population_break_presence():
    assert not DeltaPresence(1.0).holds([1], [0])[0]


def test_average_risk_is_the_mean_over_people_of_one_in_their_class():
    sizes = [1, 1, 2, 5, 5]
    people = np.repeat(sizes, sizes)
    table = np.stack(np.unique(sizes, return_counts=True), axis=1)
    assert AverageRisk.measure(table) == pytest.approx((1 / people).mean())
    assert AverageRisk(0.36).holds(table)
    assert not AverageRisk(0.35).holds(table)


def test_uniqueness_in_the_table_counts_people_alone_in_their_class():
    assert Uniqueness(0.3).holds([[1, 3], [7, 1]])
    assert not Uniqueness(0.29).holds([[1, 3], [7, 1]])


@pytest.mark.heavy
def test_uniqueness_in_the_population_is_never_above_that_of_the_table():
    sizes = [[1, 30], [2, 20], [3, 10]]
    inside, outside = Uniqueness(0.1), Uniqueness(0.1, "population", 2_000)
    assert outside.measure(sizes) <= inside.measure(sizes)


@pytest.mark.parametrize(("k", "fraction", "significance"), [(5, 0.1, 0.05), (20, 0.3, 0.01)])
def test_the_least_sample_size_errs_seldom_for_a_class_too_small(k, fraction, significance):
    small = k - 1
    chance = [comb(small, i) * fraction**i * (1 - fraction) ** (small - i) for i in range(k)]

    def error(least):
        return sum(chance[least:]) / (1 - chance[0])

    least = least_sample_size(k, fraction, significance)
    assert error(least) <= significance < error(least - 1)


def test_a_table_that_is_its_population_needs_k_members():
    assert least_sample_size(7, 1.0, 0.01) == 7
