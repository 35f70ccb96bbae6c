from dataclasses import replace

import numpy as np

from shoal.anonymize.equivalence_classes import measure_release, number_classes
from shoal.anonymize.release._writer import release_of
from shoal.anonymize.search._greedy_splits import find_violations
from shoal.anonymize.search_problem import Cut, SearchOutcome, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", ["a", "b", "c"])
PROBLEM = problem_of({"q": TREE}, [[0]] * 5 + [[1]] * 2 + [[2]] * 2, k=3)


def outcome(suppressed):
    labels = PROBLEM.labels(Cut(((1, 2, 3),)))
    gone = np.array(suppressed)
    return SearchOutcome(labels, gone, measure_release(PROBLEM, labels, gone), Cut(((1, 2, 3),)))


def test_classes_below_k_are_found():
    classes = number_classes(outcome([False] * 3).labels)
    assert find_violations(PROBLEM, classes).tolist() == [False, True, True]


def test_suppressed_lines_are_starred_if_they_pass_together():
    starred = release_of(PROBLEM, outcome([False, True, True]), star=True)
    assert starred.labels[:, 0].tolist() == [1, 0, 0]
    assert starred.starred.tolist() == [False, True, True]
    assert not starred.suppressed.any()


def test_suppressed_lines_that_do_not_pass_are_dropped():
    strict = replace(PROBLEM, k=5)
    dropped = release_of(strict, outcome([False, True, True]), star=True)
    assert dropped.suppressed.tolist() == [False, True, True]
    assert not dropped.starred.any()


def test_without_stars_nothing_changes():
    dropped = release_of(PROBLEM, outcome([False, True, True]), star=False)
    assert dropped.suppressed.tolist() == [False, True, True]
