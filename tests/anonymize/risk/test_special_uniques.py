"""Special combinations against the definition: by loops over people and columns."""

from itertools import combinations

import numpy as np
import pytest

from shoal.anonymize.risk._special_uniques import find_special_uniques
from shoal.anonymize.search_problem import problem_of
from shoal.domain import Taxonomy


def by_definition(rows, most):
    d, found = len(rows[0]), {}
    for person, row in enumerate(rows):
        unique = []
        for size in range(1, most + 1):
            for columns in combinations(range(d), size):
                values = [row[c] for c in columns]
                others = sum([other[c] for c in columns] == values for other in rows)
                if others == 1 and not any(set(part) <= set(columns) for part in unique):
                    unique.append(columns)
                    found.setdefault(columns, set()).add(person)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_minimal_uniques_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (25, 4))
    tree = Taxonomy.nested("*", {str(i): [str(i)] for i in range(4)})
    names = ("a", "b", "c", "d")
    found = find_special_uniques(problem_of(dict.fromkeys(names, tree), rows, k=2))
    truth = by_definition(rows.tolist(), 3)
    expected = {tuple(names[c] for c in columns): len(p) for columns, p in truth.items()}
    assert {each.columns: each.people for each in found.combinations} == expected
    assert found.people == len(set().union(*truth.values()) if truth else set())
    assert sum(found.by_column.values()) == pytest.approx(1.0 if truth else 0.0)


def test_a_person_with_two_equal_rows_is_one_person():
    tree = Taxonomy.nested("*", {"a": ["a"], "b": ["b"]})
    rows, people = [[0], [0], [1], [1]], np.array([1, 1, 2, 3])
    found = find_special_uniques(problem_of({"x": tree}, rows, k=2, people=people))
    assert [(each.columns, each.people) for each in found.combinations] == [(("x",), 1)]
    assert found.members == 3


def test_nobody_is_special_in_a_release():
    tree = Taxonomy.nested("*", {"a": ["a"], "b": ["b"]})
    problem = problem_of({"x": tree}, [[0], [1]], k=2)
    assert not find_special_uniques(problem, np.zeros((2, 1), dtype=np.int32)).combinations


@pytest.mark.heavy
def test_large_tables_are_searched_for_fewer_columns():
    tree = Taxonomy.nested("*", {str(i): [str(i)] for i in range(9)})
    rows = np.random.default_rng(1).integers(0, 9, (20_000, 12))
    problem = problem_of({f"c{i}": tree for i in range(12)}, rows, k=2)
    assert find_special_uniques(problem, most_columns=6).most_columns == 3
