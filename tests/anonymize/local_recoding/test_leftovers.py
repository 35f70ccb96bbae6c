"""Left-over units join a class, gather one about them, or are suppressed."""

import numpy as np
import pytest

from shoal.anonymize.local_recoding._leftovers import most_general_classes, place_leftovers
from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import Closeness, Cut, Diversity, SensitiveColumn, problem_of
from shoal.domain import Taxonomy
from shoal.errors import StartFails

TREE = Taxonomy.nested("*", {"low": ["1", "2"], "mid": ["3", "4"], "high": ["5", "6", "7"]})
LOW, MID, HIGH = 1, 4, 7


def units(codes, k=2, **asked):
    return Units(problem_of({"q": TREE}, [[code] for code in codes], k=k, **asked))


def column(values, size, *rules):
    return (SensitiveColumn("s", np.array(values, dtype=np.int32), size, *rules),)


def test_a_unit_left_over_joins_the_class_that_loses_least():
    found = place_leftovers(units([0, 1, 1, 4, 4, 5]), np.array([-1, 0, 1, 2]))
    assert found.labels[found.classes].ravel().tolist() == [LOW, LOW, 8, 9]


def test_a_unit_joins_no_class_whose_rules_it_would_break():
    # Two of three in the nearest class would have value 0: less than 2 by entropy.
    rules = column([0, 0, 1, 0, 1, 1, 2], 3, Diversity("entropy", 2))
    found = place_leftovers(units([0, 1, 1, 4, 4, 5, 5], sensitive=rules), np.array([-1, 0, 1, 1]))
    assert found.size == 1 or found.classes[0] != found.classes[1]
    assert found.obeying().all()
    assert not len(found.left)


def test_units_that_none_accepts_are_suppressed_within_the_budget():
    below = Cut(((LOW, MID, HIGH),))
    found = place_leftovers(
        units([0, 0, 2, 4, 4], start=below, suppression=0.2), np.array([0, -1, 1])
    )
    assert found.left.tolist() == [1]


def test_units_that_none_accepts_are_refused_over_the_budget():
    below = Cut(((LOW, MID, HIGH),))
    with pytest.raises(StartFails, match=r"1 row fits into no class.*; 0 rows may"):
        place_leftovers(units([0, 0, 2, 4, 4], start=below), np.array([0, -1, 1]))


def test_without_suppression_units_gather_classes_until_the_rules_hold():
    rules = column([0, 1, 0, 1, 0, 0], 2, None, Closeness("equal", 0.1))
    found = place_leftovers(units([0, 0, 2, 2, 5, 6], sensitive=rules), np.array([0, 1, -1, -1]))
    assert found.obeying().all()
    assert not len(found.left)


def test_closeness_is_held_against_the_rows_that_stay():
    # With the two of HIGH suppressed the table is half and half, as are the classes.
    rules = column([0, 1, 0, 1, 0, 0], 2, None, Closeness("equal", 0.05))
    below = Cut(((LOW, MID, HIGH),))
    asked = units([0, 0, 2, 2, 5, 5], sensitive=rules, start=below, suppression=0.4)
    found = place_leftovers(asked, np.array([0, 1, -1]))
    assert found.left.tolist() == [2]
    assert found.size == 2


def test_if_all_else_fails_the_whole_table_is_one_class():
    found = place_leftovers(units([0, 2, 4]), np.array([-1, -1, -1]))
    assert found.labels.tolist() == [[0]]


def test_the_most_general_classes_are_those_that_are_full():
    below = Cut(((LOW, MID, HIGH),))
    assert most_general_classes(units([0, 1, 4], start=below)).tolist() == [0, 0, -1]
