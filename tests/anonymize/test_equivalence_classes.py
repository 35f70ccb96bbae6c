from collections import Counter
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.equivalence_classes import (
    Classes,
    RowLookup,
    count_people,
    count_rows,
    measure_release,
    number_classes,
)
from shoal.anonymize.search_problem import Cut, problem_of
from shoal.domain import Taxonomy

RNG = np.random.default_rng(5)
TREE = Taxonomy.nested("*", {"a": ["0", "1"], "b": ["2", "3"]})


def problem(**asked):
    codes = [[0, 0], [0, 1], [1, 1], [2, 3], [3, 3], [3, 3]]
    return problem_of({"x": TREE, "y": TREE}, codes, k=2, **asked)


@pytest.mark.parametrize("columns", [1, 3, 40])
def test_lines_are_in_one_class_just_if_all_labels_agree(columns):
    # 40 columns of 30 nodes do not fit in 64 bits: they are packed in several goes.
    labels = RNG.integers(0, 30, (50, columns)).astype(np.int32)[RNG.integers(0, 50, 300)]
    classes = number_classes(labels)
    same = (labels[:, None] == labels[None]).all(axis=2)
    assert np.array_equal(classes.ids[:, None] == classes.ids[None], same)
    assert classes.size == len(set(map(tuple, labels.tolist())))


def test_suppressed_lines_are_in_no_class():
    labels = np.array([[1], [2], [1]], dtype=np.int32)
    assert number_classes(labels, np.array([False, True, False])).ids.tolist() == [0, -1, 0]


def test_people_in_a_class_are_counted_once():
    table = problem(people=np.array([1, 1, 2, 3, 3, 4]))
    classes = Classes(np.array([0, 0, 0, 1, 1, -1]), 2)
    assert count_people(table, classes).tolist() == [2, 1]
    assert count_rows(table, classes).tolist() == [3, 2]


def test_metrics_are_those_of_the_definition():
    table = replace(problem(), weights=(1.0, 3.0), lost=2)
    labels = table.labels(Cut(((1, 4), (0,))))
    suppressed = table.codes[:, 0] == 2
    metrics = measure_release(table, labels, suppressed)
    sizes = Counter({"a": 3, "b": 2})  # of 8 rows 2 were lost before, 1 is suppressed now
    assert metrics.suppressed == 3
    assert metrics.classes == metrics.smallest == 2
    assert metrics.dm == sum(n * n for n in sizes.values()) + 3 * 8
    assert metrics.aecs == pytest.approx(5 / 4)
    assert metrics.entropy == pytest.approx(sum(n / 8 * log2(8 / n) for n in sizes.values()))
    assert metrics.ncp_by_qid == pytest.approx(((5 / 3 + 3) / 8, 1.0))
    assert metrics.ncp == pytest.approx(((5 / 3 + 3) / 8 + 3) / 4)


def test_a_table_at_its_leaves_has_no_loss_and_one_at_the_root_all_of_it():
    table = problem()
    live = np.zeros(len(table.n), dtype=bool)
    leaves = Cut(((2, 3, 5, 6),) * 2)
    assert measure_release(table, table.labels(leaves), live).ncp == 0
    assert measure_release(table, table.labels(Cut.top(2)), live).ncp == 1


@pytest.mark.heavy
@given(st.data(), st.integers(1, 4), st.sampled_from([3, 1000, 2**30]))
def test_known_rows_are_found_and_others_are_not(data, columns, top):
    row = st.tuples(*[st.integers(0, top)] * columns)
    known = data.draw(st.lists(row, min_size=1, max_size=20, unique=True))
    asked = data.draw(st.lists(st.sampled_from(known) | row, min_size=1, max_size=20))
    found = RowLookup(np.array(known)).find(list(np.array(asked).T))
    assert found.tolist() == [known.index(r) if r in known else -1 for r in asked]


def test_thirty_wide_columns_do_not_overflow():
    rng = np.random.default_rng(1)
    known = rng.integers(0, 1000, size=(500, 30))
    other = known.copy()
    other[:, 29] = (other[:, 29] + 1) % 1000
    lookup = RowLookup(known)
    assert lookup.find(list(known.T)).tolist() == list(range(500))
    assert (lookup.find(list(other.T)) == -1).all()


def test_negative_numbers_are_unknown():
    lookup = RowLookup(np.array([[0, 0], [1, 1]]))
    assert lookup.find([np.array([-1, 1, 1]), np.array([0, -2, 1])]).tolist() == [-1, -1, 1]
