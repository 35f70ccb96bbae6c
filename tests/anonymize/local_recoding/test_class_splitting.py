"""Peeling splits classes one by one and leaves none too small."""

import numpy as np
import pytest

from shoal.anonymize.local_recoding._class_splitting import split_classes
from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import Closeness, Cut, SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"low": ["1", "2"], "mid": ["3", "4"], "high": ["5", "6", "7"]})


def peeled(codes, k=2, **asked):
    d = len(codes[0])
    units = Units(problem_of({f"q{i}": TREE for i in range(d)}, codes, k=k, **asked))
    return Grouping(units, split_classes(units))


def test_large_children_part_down_to_their_leaves():
    found = peeled([[0], [0], [1], [1], [4], [4]])
    assert found.labels.ravel().tolist() == [2, 3, 8]


def test_small_children_stay_together_if_they_are_k():
    found = peeled([[0], [0], [0], [2], [5]])
    assert found.labels.ravel().tolist() == [0, 2]


def test_the_child_with_least_to_lose_stays_with_those_too_few():
    found = peeled([[0], [0], [0], [4], [4], [2]])  # 'mid' has one row alone
    assert found.classes.tolist() == [1, 0, 0]


def test_a_class_below_2k_does_not_split():
    found = peeled([[0], [1], [4]], k=2)
    assert found.size == 1


def test_classes_start_at_the_most_general_labels():
    found = peeled([[0], [1], [4]], start=Cut(((1, 4, 7),)))
    assert found.labels.tolist() == [[1]]
    assert found.left.tolist() == [2]


@pytest.mark.parametrize(("values", "classes"), [([0, 1, 0, 1, 0, 1], 3), ([0, 0, 1, 1, 0, 1], 1)])
def test_a_class_splits_only_if_all_its_parts_obey_the_rules(values, classes):
    column = SensitiveColumn("s", np.array(values, dtype=np.int32), 2, t=Closeness("equal", 0.2))
    found = peeled([[0], [0], [2], [2], [4], [4]], sensitive=(column,))
    assert found.size == classes


@pytest.mark.parametrize("people", [None, 60])
def test_every_unit_has_a_full_class(people):
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 7, (300, 3))
    asked = {} if people is None else {"people": rng.integers(0, people, 300)}
    found = peeled(codes.tolist(), k=4, **asked)
    assert found.people().min() >= 4
    assert not len(found.left)
    assert found.size > 5
