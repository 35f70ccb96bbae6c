from collections import defaultdict

import numpy as np
import pytest

from shoal.anonymize._diversity import LineCounter
from shoal.anonymize.search_problem import SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": ["0", "1"], "b": ["2", "3"]})
LINES = np.arange(60)


def problem(people, codes, values):
    column = SensitiveColumn("ill", values.astype(np.int32), 3)
    return problem_of({"x": TREE}, codes, k=2, sensitive=(column,), people=people)


@pytest.mark.parametrize("one_combination", [True, False])
def test_people_and_their_values_are_counted_once_a_group(one_combination):
    rng = np.random.default_rng(1)
    people = rng.integers(0, 20, 60)
    codes = (people % 4 if one_combination else rng.integers(0, 4, 60))[:, None]
    values = rng.integers(-1, 3, 60)
    groups = codes[:, 0] // 2
    counting = LineCounter(problem(people, codes, values))
    assert counting.adds_up == one_combination

    members, pairs = defaultdict(set), defaultdict(set)
    for group, value, person in zip(groups, values, people, strict=True):
        members[group].add(person)
        pairs[group, value].add(person)
    assert counting.people(LINES, groups, 3).tolist() == [len(members[g]) for g in range(3)]
    expected = [[len(pairs[g, v]) for v in (0, 1, 2, -1)] for g in range(3)]
    column = counting.problem.sensitive[0]
    assert counting.values(column, LINES, groups, 3).tolist() == expected


def test_without_people_rows_are_counted():
    table = problem_of({"x": TREE}, [[0]] * 3 + [[2]] * 2 + [[3]], k=2)
    counting, groups = LineCounter(table), np.array([0, 1, 1])
    assert counting.rows(np.arange(3), groups, 2).tolist() == [3, 3]
    assert counting.people(np.arange(3), groups, 2).tolist() == [3, 3]
    assert not counting.by_person
