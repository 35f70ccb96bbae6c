from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from shoal.anonymize import _diversity as diversity
from shoal.anonymize._diversity import (
    ClassRules,
    LineCounter,
    is_diverse,
    measure_closeness,
    measure_diversity,
)
from shoal.anonymize.search_problem import Closeness, Diversity, SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": {"b": ["0", "1"], "c": ["2", "3"]}, "d": ["4", "5"]})
COUNTS = st.lists(st.integers(0, 5), min_size=7, max_size=7)


def earth_mover(p, q, ground):
    """The linear programme of the definition."""
    m = len(p)
    rows = np.kron(np.eye(m), np.ones(m))
    columns = np.kron(np.ones(m), np.eye(m))
    found = linprog(ground.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.append(p, q))
    return found.fun


def between_leaves():
    """Height of the lowest node above both over the root's; nulls hang under the root."""
    ground = 1.0 - np.eye(7)
    height = {"b": 1, "c": 1, "d": 1, "a": 2, "*": 3}
    for i in range(6):
        for j in range(6):
            above = [x for x in TREE.nodes if x.low <= min(i, j) and max(i, j) < x.high]
            lowest = min(above, key=lambda x: x.high - x.low)
            ground[i, j] = 0 if i == j else height[lowest.label] / 3
    return ground


GROUNDS = {
    "equal": 1.0 - np.eye(7),
    "ordered": np.abs(np.subtract.outer(np.arange(7), np.arange(7))) / 6,
    "hierarchical": between_leaves(),
}


@pytest.mark.heavy
@pytest.mark.parametrize("kind", GROUNDS)
@given(one=COUNTS, other=COUNTS)
def test_the_distance_is_the_optimum_of_the_linear_programme(kind, one, other):
    group = np.array(one) + np.array([1, 0, 0, 0, 0, 0, 0])
    table = group + np.array(other) + 1  # every value occurs
    expected = earth_mover(group / group.sum(), table / table.sum(), GROUNDS[kind])
    found = measure_closeness(Closeness(kind, 0.1), group[None], table, TREE)
    assert found[0] == pytest.approx(expected, abs=1e-9)


def test_steps_count_only_values_that_occur():
    counts, table = np.array([[2, 0, 0, 0]]), np.array([2, 0, 2, 0])
    assert measure_closeness(Closeness("ordered", 0.1), counts, table)[0] == 0.5


def test_the_whole_table_is_at_distance_zero_and_so_is_a_column_of_one_value():
    table = np.array([3, 0, 1, 2, 0, 0, 4])
    for kind in GROUNDS:
        assert measure_closeness(Closeness(kind, 0.1), table[None], table, TREE)[0] == 0
        alone = np.array([5, 0, 0, 0, 0, 0, 0])
        assert measure_closeness(Closeness(kind, 0.1), alone[None], alone, TREE)[0] == 0


def test_without_a_branching_tree_values_are_equally_far():
    only = Taxonomy.paths([["x"]])
    counts, table = np.array([[1, 0]]), np.array([1, 1])
    assert measure_closeness(Closeness("hierarchical", 0.1), counts, table, only)[0] == 0.5


def test_l_rules_are_those_of_the_definitions():
    counts = np.array([[4, 4, 4, 0], [10, 1, 1, 0], [6, 6, 0, 50], [0, 0, 0, 9]])
    assert is_diverse(Diversity("distinct", 3), counts).tolist() == [True, True, False, False]
    assert is_diverse(Diversity("entropy", 3), counts).tolist() == [True, False, False, False]
    assert is_diverse(Diversity("entropy", 2), counts).tolist() == [True, False, True, False]
    # 10 < c (1 + 1) from c above 5 on
    assert is_diverse(Diversity("recursive", 2, c=5), counts).tolist() == [True, False, True, False]
    assert is_diverse(Diversity("recursive", 2, c=6), counts).tolist() == [True, True, True, False]


def test_the_l_that_is_reached_agrees_with_the_rule():
    counts = np.random.default_rng(3).integers(0, 6, (200, 5))
    for kind in ("distinct", "entropy", "recursive"):
        reached = measure_diversity(Diversity(kind, 2, c=2), counts)
        for value in (2, 3, 4):
            rule = Diversity(kind, value, c=2)
            assert np.array_equal(reached >= value - 1e-9, is_diverse(rule, counts))
    shares = counts[0, :4] / counts[0, :4].sum()
    entropy = -sum(p * log(p) for p in shares if p)
    assert measure_diversity(Diversity("entropy", 2), counts)[0] == pytest.approx(exp(entropy))


def test_many_groups_are_counted_in_parts_with_the_same_answer(monkeypatch):
    rng = np.random.default_rng(4)
    column = SensitiveColumn(
        "ill",
        rng.integers(-1, 6, 400).astype(np.int32),
        6,
        Diversity("distinct", 3),
        Closeness("hierarchical", 0.6),
        TREE,
    )
    leaves = Taxonomy.nested("*", ["0", "1"])
    table = problem_of({"x": leaves}, [[0]] * 400, k=2, sensitive=(column,))
    rules, lines, groups = ClassRules(LineCounter(table)), np.arange(400), rng.integers(0, 90, 400)
    references = rules.references(lines)
    at_once = rules.hold(lines, groups, 90, references)
    assert 0 < at_once.sum() < 90
    monkeypatch.setattr(diversity, "_CHUNK_CELLS", 50)
    assert np.array_equal(rules.hold(lines, groups, 90, references), at_once)


def test_rules_say_whether_a_bad_class_may_have_good_parts():
    def recovers(**rules):
        column = SensitiveColumn("ill", np.zeros(2, dtype=np.int32), 1, **rules)
        tree = Taxonomy.nested("*", ["0", "1"])
        table = problem_of({"x": tree}, [[0]] * 2, k=2, sensitive=(column,))
        return ClassRules(LineCounter(table)).may_recover

    assert not recovers()
    assert not recovers(l=Diversity("distinct", 2))
    assert recovers(l=Diversity("entropy", 2))
    assert recovers(t=Closeness("equal", 0.2))
