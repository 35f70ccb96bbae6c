"""A population coded like the table, and its people in the lines of a problem."""

import numpy as np
import pytest

from shoal.anonymize._frequency_table import count_combinations
from shoal.anonymize._policy import Policy
from shoal.anonymize._population import (
    Models,
    code_population,
    count_all_people,
    count_covered,
    with_population,
    without_population,
)
from shoal.anonymize._privacy_models import KMap
from shoal.anonymize.search._greedy_splits import SharedCounts
from shoal.anonymize.table import table_of
from shoal.errors import InvalidPolicy

TREE = {"*": {"low": ["1", "2"], "high": ["3", "4"]}}


@pytest.fixture
def counted():
    policy = Policy.of({"version": 1, "privacy": {"k": 2}, "attributes":
        {"x": {"role": "quasi", "hierarchy": {"tree": TREE}}}})  # fmt: skip
    return count_combinations(policy, {"x": list("1123")})


@pytest.mark.heavy
def test_people_under_each_label_are_counted_and_strangers_under_none(counted):
    lines = code_population(counted.codec, table_of({"x": ["1", "1", "2", "4", "9"]}))
    labels = np.arange(7, dtype=np.int32)[:, None]
    assert count_covered(counted.problem.trees, labels, lines).tolist() == [4, 3, 2, 1, 1, 0, 1]


@pytest.mark.heavy
def test_classes_of_the_population_alone_have_no_members(counted):
    lines = code_population(counted.codec, table_of({"x": ["4"] * 5}))
    problem = with_population(counted.problem, Models((KMap(3),), (), lines, 2))
    assert count_all_people(problem) == count_all_people(counted.problem) == 4
    groups = np.array([0, 0, 1, 1])  # low, high; the population's line is in high
    hold, people = SharedCounts(problem).passes(np.arange(4), groups, 2, [])
    assert people.tolist() == [3, 1]
    assert hold.tolist() == [False, False]


@pytest.mark.heavy
def test_what_is_added_can_be_taken_away_again(counted):
    lines = code_population(counted.codec, table_of({"x": ["4"] * 5}))
    problem = with_population(counted.problem, Models((KMap(3),), (), lines, 2))
    back = without_population(problem)
    assert back.codes.tolist() == counted.problem.codes.tolist()
    assert back.n.tolist() == counted.problem.n.tolist()
    assert back.population is None


def test_a_population_without_a_column_is_refused(counted):
    with pytest.raises(InvalidPolicy, match="'x'"):
        code_population(counted.codec, table_of({"y": ["1"]}))
