import numpy as np

from shoal.anonymize.search_problem import problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": ["0", "1"], "b": ["2", "3"]})


def test_equal_rows_become_one_line_with_their_number():
    table = problem_of({"x": TREE, "y": TREE}, [[0, 3], [1, 1], [0, 3]], k=2)
    assert table.codes.tolist() == [[0, 3], [1, 1]]
    assert table.n.tolist() == [2, 1]
    assert table.costs[0].tolist() == [1, 1, 0, 0, 0, 0, 0]  # only '0' and '1' occur


def test_rows_stay_apart_where_something_else_is_known_of_each():
    table = problem_of({"x": TREE}, [[0], [0]], k=2, people=np.array([7, 8]))
    assert table.n.tolist() == [1, 1]
