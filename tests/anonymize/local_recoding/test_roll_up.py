"""Rolling up publishes cells as soon as they are full."""

import numpy as np
import pytest

from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.anonymize.local_recoding._roll_up import roll_up
from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import Cut, Diversity, SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"low": ["1", "2"], "mid": ["3", "4"], "high": ["5", "6", "7"]})


def rolled(codes, k=2, **asked):
    d = len(codes[0])
    units = Units(problem_of({f"q{i}": TREE for i in range(d)}, codes, k=k, **asked))
    return units, roll_up(units, np.random.default_rng(1))


def test_what_is_full_at_the_leaves_stays_there():
    units, classes = rolled([[0], [0], [1], [1], [4]])
    assert Grouping(units, classes).penalty.tolist() == [0, 0]
    assert classes.tolist()[2] == -1


def test_rare_values_meet_at_the_lowest_node():
    units, classes = rolled([[0], [1], [4], [5], [6]])
    assert Grouping(units, classes).labels.ravel().tolist() == [1, 7]


def test_nothing_rises_above_the_most_general_labels():
    _, classes = rolled([[0], [2], [4], [4]], start=Cut(((1, 4, 7),)))
    assert classes.tolist() == [-1, -1, 0]


def test_cells_that_break_a_rule_go_on_rising():
    column = SensitiveColumn("s", np.array([0, 0, 1], dtype=np.int32), 2, Diversity("distinct", 2))
    units, classes = rolled([[0], [0], [4]], sensitive=(column,))
    assert classes.tolist() == [0, 0]
    assert Grouping(units, classes).labels.tolist() == [[0]]


@pytest.mark.parametrize("people", [None, np.arange(300) // 3])
def test_classes_are_full_and_fewer_than_k_people_are_left(people):
    codes = np.random.default_rng(4).integers(0, 7, (300, 3))
    asked = {} if people is None else {"people": people}
    units, classes = rolled(codes.tolist(), k=4, **asked)
    inside = np.flatnonzero(classes >= 0)
    assert units.full(inside, classes[inside], classes.max() + 1).all()
    left = np.flatnonzero(classes < 0)
    assert units.people_of(left, np.zeros_like(left), 1)[0] < 4
