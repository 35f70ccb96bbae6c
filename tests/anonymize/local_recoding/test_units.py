"""Lines gathered by combination are counted as their lines would be."""

import numpy as np
import pytest

from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import Closeness, Cut, Diversity, SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"low": ["1", "2"], "high": ["3", "4"]})  # * low 1 2 high 3 4


def units(codes, k=2, **asked):
    return Units(problem_of({"q": TREE, "r": TREE}, codes, k=k, **asked))


def test_lines_of_one_combination_are_one_unit():
    found = units([[2, 0], [0, 1], [2, 0]], people=np.array([7, 8, 9]))
    assert found.codes.tolist() == [[0, 1], [2, 0]]
    assert found.of_line.tolist() == [1, 0, 1]
    assert found.rows.tolist() == found.people.tolist() == [1, 2]


def test_a_person_in_two_units_of_a_group_is_one():
    found = units([[0, 0], [1, 0], [1, 0]], people=np.array([5, 5, 6]))
    assert not found.adds_up
    groups = np.zeros(2, dtype=np.int64)
    assert found.people.tolist() == [1, 2]
    assert found.people_of(np.arange(2), groups, 1).tolist() == [2]
    assert found.full(np.arange(2), groups, 1).tolist() == [True]
    assert found.full(np.array([0]), groups[:1], 1).tolist() == [False]


def test_a_group_is_full_only_if_its_values_differ_enough():
    column = SensitiveColumn(
        "s", np.array([0, 0, 1, 1], dtype=np.int32), 2, Diversity("distinct", 2)
    )
    found = units([[0, 0], [1, 0], [2, 0], [3, 0]], sensitive=(column,))
    assert found.full(np.arange(4), np.array([0, 0, 1, 1]), 2).tolist() == [False, False]
    assert found.full(np.arange(4), np.array([0, 1, 0, 1]), 2).tolist() == [True, True]


def test_closeness_is_measured_against_what_is_published():
    column = SensitiveColumn(
        "s", np.array([0, 0, 1, 1], dtype=np.int32), 2, t=Closeness("equal", 0.1)
    )
    found = units([[0, 0], [1, 0], [2, 0], [3, 0]], sensitive=(column,))
    pair, groups = np.array([0, 1]), np.array([0, 0])
    assert not found.obeying(pair, groups, 1)[0]
    found.publish_only(pair)
    assert found.obeying(pair, groups, 1)[0]


def test_labels_are_the_lowest_nodes_that_cover_a_group():
    found = units([[0, 0], [1, 2], [3, 3]])
    labels = found.tightest(np.arange(3), np.array([0, 0, 1]), 2)
    assert labels.tolist() == [[1, 0], [6, 6]]


def test_nodes_above_the_most_general_ones_are_infinitely_dear():
    found = units([[0, 0], [1, 2], [3, 3]], start=Cut(((1, 4), (0,))))
    assert np.isinf(found.penalties[0]).tolist() == [True] + [False] * 6
    assert np.isfinite(found.penalties[1]).all()
    assert found.tops[0].tolist() == [1, 1, 4, 4]


def test_penalties_are_weighted():
    found = units([[0, 0], [1, 2], [3, 3]], weights=(2.0, 1.0))
    assert found.penalty(np.array([[0, 0], [0, 2]])).tolist() == [3.0, 2.0]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_units_do_not_depend_on_the_order_of_lines(order):
    codes = np.array([[3, 0], [0, 1], [0, 0], [3, 0]])[order]
    found = units(codes, people=np.arange(4)[order])
    assert found.codes.tolist() == [[0, 0], [0, 1], [3, 0]]
    assert found.rows.tolist() == [1, 1, 2]
