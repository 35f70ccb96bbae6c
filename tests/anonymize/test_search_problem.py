import re
from dataclasses import replace

import numpy as np
import pytest

from shoal.anonymize.search._top_down import specialise
from shoal.anonymize.search_problem import Cut, SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": ["0", "1"], "b": ["2", "3"]})


@pytest.mark.parametrize(
    ("share", "rows", "budget"), [(0.02, 50, 1), (0.29, 100, 29), (0.0, 9, 0), (0.1, 19, 1)]
)
def test_the_budget_is_the_share_as_it_was_written_rounded_down(share, rows, budget):
    # As floats, 0.29 * 100 is a little less than 29.
    assert problem_of({"x": TREE}, [[0]] * rows, k=2, suppression=share).budget == budget


def test_rows_lost_before_the_search_count_against_the_budget_and_in_n():
    table = replace(problem_of({"x": TREE}, [[0]] * 96, k=2, suppression=0.05), lost=4)
    assert (table.N, table.budget) == (100, 1)


def test_labels_are_the_nodes_of_the_cut_over_each_code():
    table = problem_of({"x": TREE, "y": TREE}, [[0, 3], [2, 1]], k=2)
    assert table.labels(Cut(((1, 4), (0,)))).tolist() == [[1, 0], [4, 0]]
    assert table.labels(Cut(((1, 5, 6), (2, 3, 4)))).tolist() == [[1, 4], [5, 3]]


def test_weights_are_one_unless_given_and_the_search_begins_at_the_roots():
    table = problem_of({"x": TREE, "y": TREE}, [[0, 3]], k=2)
    assert table.weights == (1.0, 1.0)
    assert table.top == Cut(((0,), (0,)))


def test_what_is_known_of_people_is_not_printed():
    people = np.array([987_654, 987_655])
    column = SensitiveColumn("ill", np.array([41, 42], dtype=np.int32), 43)
    table = problem_of(
        {"x": TREE}, [[0], [3]], k=2, people=people, sensitive=(column,), target=people
    )
    outcome = specialise(replace(table, sensitive=()))
    for thing in (table, column, outcome):
        assert not re.search(r"987|\b41\b|array\(\[\[", repr(thing))
