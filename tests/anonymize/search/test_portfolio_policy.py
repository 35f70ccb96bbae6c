import pytest

from shoal.anonymize import Policy, count_combinations
from shoal.anonymize.search._run_search import apply_cut, run_search
from shoal.anonymize.search_problem import Cut
from shoal.errors import StartFails

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}
ROWS = {"q": ["a"] * 9 + ["b"] * 9 + ["c"] * 9 + ["d"]}


def policy(suppression=0.0, **how):
    return Policy.of({
        "version": 1, "attributes": {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}},
        "privacy": {"k": 3, "suppression": suppression}, "search": {"restarts": 0, **how},
    })  # fmt: skip


def labels(problem, cut):
    return [problem.taxonomies[0].nodes[place].label for place in cut.nodes[0]]


def test_a_global_search_finds_a_cut_and_a_local_one_labels():
    problem = count_combinations(policy(), ROWS).problem
    assert labels(problem, run_search(policy(), problem).cut) == ["a", "b", "y"]
    assert run_search(policy(recoding="local"), problem).cut is None


def test_progress_is_told():
    told = []
    problem = count_combinations(policy(), ROWS).problem
    run_search(policy(restarts=3), problem, lambda what, share: told.append(share))
    assert told[-1] == 1.0
    assert told == sorted(told)


@pytest.mark.heavy
def test_a_kept_cut_suppresses_within_the_budget():
    problem = count_combinations(policy(0.1), ROWS).problem
    leaves = Cut((tuple(problem.trees[0].leaf.tolist()),))
    outcome = apply_cut(problem, leaves)
    assert outcome.metrics.suppressed == 1
    assert outcome.method == "kept cut"
    with pytest.raises(StartFails, match="1 row"):
        apply_cut(count_combinations(policy(0.0), ROWS).problem, leaves)


def test_values_outside_a_kept_cut_are_suppressed():
    problem = count_combinations(policy(0.4), ROWS).problem
    part = Cut(((problem.taxonomies[0]._place("x"),),))
    assert apply_cut(problem, part).metrics.suppressed == 10
