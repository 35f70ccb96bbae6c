import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize import Policy, count_combinations
from shoal.anonymize.release._writer import Release
from shoal.anonymize.risk._reidentification import (
    Population,
    Risk,
    leaf_class_sizes,
    leaf_entropy,
    population_of,
    suppressed_values,
)
from shoal.anonymize.search._run_search import run_search
from shoal.anonymize.search_problem import SearchOutcome

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}


def frequency_of(rows, **privacy):
    content = {
        "version": 1,
        "attributes": {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}},
        "privacy": {"k": 2, "suppression": 0.5, **privacy},
    }
    return count_combinations(Policy.of(content), {"q": list(rows)})


def release_of(frequency, labels, suppressed=()):
    tree = frequency.problem.taxonomies[0]
    place = {node.label: at for at, node in enumerate(tree.nodes)}
    places = np.array([[place[label]] for label in labels], dtype=np.int32)
    gone = np.array([i in suppressed for i in range(len(labels))])
    return Release(places, gone, np.zeros_like(gone), None)


@pytest.mark.heavy
@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(2, 6))
def test_the_figures_are_those_of_their_definitions(classes, k):
    sizes = np.stack(np.unique(classes, return_counts=True), axis=1)
    risk = Risk.of(sizes, k)
    chances = [1 / n for n in classes for _ in range(n)]  # one for each record
    assert risk.prosecutor == max(chances)
    assert risk.prosecutor_mean == pytest.approx(sum(chances) / len(chances))
    assert risk.exposed == pytest.approx(np.mean([n < k for n in classes for _ in range(n)]))
    assert (risk.journalist, risk.marketer) == (risk.prosecutor, risk.prosecutor_mean)
    assert (risk.members, risk.classes) == (sum(classes), len(classes))


def test_a_population_lowers_what_journalist_and_marketer_can_do():
    people = Population(np.array([2, 4]), np.array([20, 8]))
    risk = Risk.of([[2, 1], [4, 1]], 2, people)
    assert risk.prosecutor == 1 / 2
    assert risk.journalist == 1 / 8
    assert risk.marketer == pytest.approx((2 / 20 + 4 / 8) / 6)


def test_a_population_that_lacks_people_never_raises_a_chance_above_the_prosecutors():
    people = Population(np.array([2, 4]), np.array([1, 8]))
    assert people.short == 1
    risk = Risk.of([[2, 1], [4, 1]], 2, people)
    assert risk.journalist == risk.prosecutor == 1 / 2


@pytest.mark.heavy
def test_people_of_the_population_are_counted_under_each_label():
    frequency = frequency_of("aabccd")
    release = release_of(frequency, ["x", "x", "c", "*"])  # lines a, b, c, d
    found = population_of(frequency, release, {"q": [*"aaabbcccd", "strange", None]})
    shown = dict(zip(found.members.tolist(), found.people.tolist(), strict=True))
    assert shown == {3: 5, 2: 3, 1: 9}  # x holds a, b; c itself; * everyone with a leaf


def test_risk_before_is_that_of_the_leaves():
    assert leaf_class_sizes(frequency_of("aabccd").problem).tolist() == [[1, 2], [2, 2]]


def test_nothing_is_kept_of_more_bits_than_rows_told():
    problem = frequency_of("aabbccdd").problem
    assert leaf_entropy(problem) == pytest.approx(2.0)
    outcome: SearchOutcome = run_search(Policy.of({**_plain(), "privacy": {"k": 4}}), problem)
    assert outcome.metrics.entropy <= leaf_entropy(problem)


def _plain():
    return {
        "version": 1,
        "attributes": {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}},
        "search": {"restarts": 0},
    }


def test_whom_suppression_hit_is_counted_by_value():
    frequency = frequency_of("aabccd")
    release = release_of(frequency, ["x", "x", "y", "y"], suppressed={1, 3})
    found = suppressed_values(frequency, release)["q"]
    assert [tuple(each) for each in found] == [
        ("b", 1, 1), ("d", 1, 1), ("a", 2, 0), ("c", 2, 0),
    ]  # fmt: skip
