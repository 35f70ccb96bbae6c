from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize.search._distributed_top_down import CountChildren, MergeLines
from shoal.anonymize.search._greedy_splits import SCORES
from shoal.anonymize.search._large_table_top_down import specialise_remotely
from shoal.anonymize.search._top_down import specialise
from shoal.anonymize.search_problem import problem_of
from shoal.domain import Taxonomy
from shoal.errors import ShoalError

KEPT = [score for score in SCORES if score != "label-gain"]


class Held:
    """Lines that stay, in memory; how often they were read."""

    def __init__(self, problem):
        self.problem, self.merges, self.divisions = problem, 0, 0

    def merged(self, floor, most=None):
        self.merges += 1
        merged = MergeLines.below(floor, self.problem)(self.problem.codes, self.problem.n)
        return None if most is not None and len(merged.n) > most else merged

    def children(self, classes, cut, nodes):
        self.divisions += 1
        return CountChildren(classes, cut, nodes, self.problem)(self.problem.codes, self.problem.n)


def without_lines(problem):
    none = np.empty((0, problem.d), dtype=np.int32)
    return replace(problem, codes=none, n=np.empty(0, dtype=np.int64))


def agree(problem, most, **asked):
    lines = Held(problem)
    found, outcome = specialise_remotely(without_lines(problem), lines, most=most, **asked)
    plain = specialise(problem, **asked)
    assert outcome.cut == plain.cut
    assert outcome.metrics == plain.metrics
    assert int(found.n.sum()) == int(problem.n.sum())
    classes = {tuple(row) for row in outcome.labels[~outcome.suppressed].tolist()}
    assert classes == {tuple(row) for row in plain.labels[~plain.suppressed].tolist()}
    return lines


@pytest.mark.heavy
@pytest.mark.parametrize("k", [5, 10, 50])
@pytest.mark.parametrize("suppression", [0, 0.02])
def test_adults_have_the_same_cut_merged_far_away_and_all_at_once(made_adult, k, suppression):
    problem = made_adult(k=k, suppression=suppression)
    near = agree(problem, most=10**9)
    assert near.divisions == 0
    far = agree(problem, most=1)
    assert far.divisions > 3


@pytest.mark.heavy
@pytest.mark.parametrize("score", KEPT)
def test_every_score_agrees(made_adult, score):
    for most in (3000, 100):
        agree(made_adult(k=20, suppression=0.05), most=most, score=score, loss_unit="k")


@pytest.mark.heavy
def test_what_the_frontier_grows_beyond_goes_on_far_away(made_adult):
    lines = agree(made_adult(k=5, suppression=0.02), most=2000)
    assert lines.merges > 3
    assert lines.divisions > 0


@pytest.mark.heavy
def test_few_lines_come_at_a_time(made_adult):
    problem = made_adult(k=50)
    lines = agree(problem, most=4000)
    assert lines.divisions == 0


@pytest.mark.heavy
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 7]), st.sampled_from([0, 0.1, 0.4]))
@settings(max_examples=60, deadline=None)
def test_random_tables_agree(seed, k, suppression):
    rng = np.random.default_rng(seed)
    trees = {name: tree(rng, name) for name in "xyz"}
    codes = np.stack([rng.integers(0, t.size, 120) ** 2 // t.size for t in trees.values()], axis=1)
    problem = problem_of(trees, codes, k=k, suppression=suppression)
    for most in (1, 20, 10**6):
        score = KEPT[int(rng.integers(len(KEPT)))]
        try:
            specialise(problem, score=score)
        except ShoalError as error:
            with pytest.raises(type(error)):
                specialise_remotely(without_lines(problem), Held(problem), most=most, score=score)
        else:
            agree(problem, most, score=score)


def tree(rng, name):
    """Two to four levels of random width."""
    groups = {}
    for group in range(int(rng.integers(2, 5))):
        leaves = [f"{name}{group}.{leaf}" for leaf in range(int(rng.integers(1, 5)))]
        groups[f"{name}{group}"] = leaves
    return Taxonomy.nested("*", groups)


def test_a_start_that_must_lose_too_much_is_refused_far_away_too():
    ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    problem = problem_of({"age": ages}, [[0]] * 5, k=6)
    for most in (1, 10**6):
        with pytest.raises(ShoalError, match=r"has 5.*; a class needs k = 6"):
            specialise_remotely(without_lines(problem), Held(problem), most=most)
