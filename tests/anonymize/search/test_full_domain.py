from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.search._full_domain import affordable_counts, level_maps, search_full_domain
from shoal.anonymize.search._greedy_splits import SharedCounts
from shoal.anonymize.search._run_search import search_portfolio
from shoal.anonymize.search_problem import Cut, Diversity, SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": {"b": ["0", "1"], "c": ["2", "3"]}, "d": {"e": ["4", "5"]}})


def table(seed=0, rows=200, **asked):
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.integers(0, 6, (rows, 3)), rng.integers(0, 6, (rows, 3)))
    asked = {"k": 4, "suppression": 0.05, **asked}
    return problem_of(dict.fromkeys("xyz", TREE), codes, **asked)


def with_values(seed):
    values = np.random.default_rng(seed + 100).integers(0, 3, 200).astype(np.int32)
    column = SensitiveColumn("ill", values, 3, l=Diversity("distinct", 2))
    return table(seed, sensitive=(column,))


def with_people(seed):
    return table(seed, people=np.random.default_rng(seed + 200).integers(0, 150, 200))


def count_people_of(problem, lines):
    return len(set(problem.people[lines])) if problem.people is not None else problem.n[lines].sum()


def loss_by_definition(problem, maps):
    """The mean cost of all rows under one map a QID; None if too many are suppressed."""
    labels = np.stack([m[problem.codes[:, q]] for q, m in enumerate(maps)], axis=1)
    classes, loss, gone = number_classes(labels), 0.0, 0
    for c in range(classes.size):
        lines = np.flatnonzero(classes.ids == c)
        good = count_people_of(problem, lines) >= problem.k
        good &= all(len(set(s.codes[lines])) >= s.l.value for s in problem.sensitive)
        if not good:
            gone += problem.n[lines].sum()
            continue
        costs = [cost[labels[lines[0], q]] for q, cost in enumerate(problem.costs)]
        loss += problem.n[lines].sum() * np.mean(costs)
    return None if gone > problem.budget else (loss + gone) / problem.N


def maps_of(problem, cut):
    return [tree.partition(nodes) for tree, nodes in zip(problem.trees, cut.nodes, strict=True)]


@pytest.mark.parametrize("make", [table, with_values, with_people])
@pytest.mark.parametrize("seed", range(4))
def test_no_full_domain_cut_loses_less(make, seed):
    problem = make(seed)
    every = product(*(level_maps(problem, q) for q in range(problem.d)))
    losses = [loss_by_definition(problem, maps) for maps in every]
    best = min(loss for loss in losses if loss is not None)
    cut = search_full_domain(SharedCounts(problem), 2.0)
    assert loss_by_definition(problem, maps_of(problem, cut)) == pytest.approx(best, abs=1e-12)


def test_a_cut_that_is_no_better_than_what_is_known_is_not_returned():
    assert search_full_domain(SharedCounts(table()), 0.01) is None


def test_nothing_above_the_start_is_tried():
    start = Cut(((1, 8), (0,), (0,)))
    problem = table(suppression=0.5, start=start)
    assert len(level_maps(problem, 0)) < len(level_maps(problem, 1))
    assert all((m > 0).all() for m in level_maps(problem, 0))


def test_levels_as_written_come_before_steps_below_the_root():
    problem = table()
    leaves, root = np.asarray(problem.trees[0].leaf), np.zeros(6, dtype=np.int32)
    problem = replace(problem, levels=(np.stack([leaves, leaves, root]),) * 3)
    assert [m.tolist() for m in level_maps(problem, 1)] == [leaves.tolist(), root.tolist()]


def test_large_tables_and_many_levels_are_not_searched(monkeypatch):
    assert affordable_counts(table()) > 100
    monkeypatch.setattr("shoal.anonymize.search._full_domain._WORK", 99 * table().codes.size)
    assert affordable_counts(table()) == 0
    monkeypatch.undo()
    monkeypatch.setattr("shoal.anonymize.search._full_domain._MOST_CUTS", 10)
    assert affordable_counts(table()) == 0


def test_a_table_of_forty_columns_is_left_to_the_other_searches():
    codes = np.random.default_rng(0).integers(0, 6, (50, 40))
    wide = problem_of({f"q{i}": TREE for i in range(40)}, codes, k=2)
    assert search_full_domain(SharedCounts(wide), 2.0) is None


@pytest.mark.heavy
def test_a_portfolio_is_never_behind_the_best_full_domain_cut():
    wide = Taxonomy.nested("*", {"a": list("0123"), "b": list("4567"), "c": list("89AB")})
    won = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        codes = np.minimum(rng.integers(0, 12, (400, 4)), rng.integers(0, 12, (400, 4)))
        problem = problem_of(dict.fromkeys("wxyz", wide), codes, k=4, suppression=0.05)
        outcome = search_portfolio(problem, restarts=1)
        cut = search_full_domain(SharedCounts(problem), 2.0)
        best = loss_by_definition(problem, maps_of(problem, cut))
        assert outcome.metrics.ncp <= best + 1e-12
        assert outcome.metrics.smallest >= problem.k
        assert outcome.metrics.suppressed <= problem.budget
        won += outcome.method.startswith("full-domain")
    assert won


@pytest.mark.heavy
def test_adult_at_five_reaches_the_optimum_of_full_domain_cuts(adult):
    outcome = search_portfolio(adult(k=5, suppression=0.05))
    assert outcome.metrics.ncp <= 0.28112
    assert outcome.metrics.smallest >= 5
