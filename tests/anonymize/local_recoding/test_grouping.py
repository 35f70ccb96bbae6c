"""Classes of units: labels, losses, and what it costs to join."""

import numpy as np
import pytest

from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"low": ["1", "2"], "mid": ["3", "4"], "high": ["5", "6", "7"]})


def grouping(codes, classes, k=2):
    units = Units(problem_of({"q": TREE, "r": TREE}, codes, k=k))
    return Grouping(units, np.array(classes))


def random_grouping(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 7, (60, 2))
    units = Units(problem_of({"q": TREE, "r": TREE}, codes, k=2))
    return Grouping(units, rng.integers(-1, 8, units.size))


def test_classes_of_equal_labels_become_one():
    codes = [[0, 0], [1, 0], [0, 1], [1, 1]]
    found = grouping(codes, [4, 9, 9, 4])  # both cover low, low
    assert found.size == 1
    assert found.classes.tolist() == [0, 0, 0, 0]


def test_numbers_of_classes_do_not_depend_on_how_they_came():
    codes = [[0, 0], [1, 0], [4, 4], [5, 4]]
    one, two = grouping(codes, [3, 3, 1, 1]), grouping(codes, [0, 0, 7, 7])
    assert one.classes.tolist() == two.classes.tolist()
    assert one.labels.tolist() == two.labels.tolist()


def test_units_in_no_class_lose_everything():
    found = grouping([[0, 0], [0, 1], [4, 4]], [0, 0, -1])
    assert found.left.tolist() == [2]
    assert found.loss == pytest.approx(2 * found.penalty[0] + 2)


@pytest.mark.parametrize("seed", range(5))
def test_the_cost_of_joining_is_the_difference_it_makes(seed):
    found = random_grouping(seed)
    assert len(found.left)
    costs = found.join_costs(found.left)
    for at, unit in enumerate(found.left):
        for c in range(found.size):
            both = np.append(found.members(c), unit)
            labels = found.units.tightest(both, np.zeros_like(both), 1)[0]
            after = found.units.rows[both].sum() * found.units.penalty(labels)
            before = found.rows[c] * found.penalty[c]
            assert costs[at, c] == pytest.approx(after - before, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_class_is_never_a_units_own(seed):
    found = random_grouping(seed)
    everyone = np.arange(found.units.size)
    targets, costs = found.cheapest_joins(everyone)
    assert (targets != found.classes).all()
    expected = found.join_costs(everyone)
    inside = found.classes >= 0
    expected[everyone[inside], found.classes[inside]] = np.inf
    assert costs.tolist() == expected.min(axis=1).tolist()


def test_a_unit_that_joins_widens_the_labels():
    found = grouping([[0, 0], [1, 0], [2, 0]], [0, 0, -1])
    found.take_in(2, 0)
    assert found.members(0).tolist() == [0, 1, 2]
    assert found.labels[0].tolist() == [0, 2]
    assert found.rows[0] == 3
    again = Grouping(found.units, found.classes)
    assert again.penalty.tolist() == found.penalty.tolist()


def test_each_class_is_known_by_one_of_its_units():
    found = random_grouping(1)
    assert found.classes[found.firsts].tolist() == list(range(found.size))


def test_nobody_grouped_is_no_class():
    found = grouping([[0, 0], [1, 0]], [-1, -1])
    assert found.size == 0
    assert found.loss == 4
