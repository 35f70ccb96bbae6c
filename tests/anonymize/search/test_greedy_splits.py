import numpy as np

from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.search._greedy_splits import SharedCounts
from shoal.anonymize.search_problem import Closeness, Cut, Diversity, SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": ["0", "1"], "b": ["2", "3"]})
CODES = [[0]] * 4 + [[2]] * 4
VALUES = np.array([0, 0, 1, 1, 0, 0, 0, 0], dtype=np.int32)


def hold(suppressed=None, **asked):
    rules = {name: asked.pop(name) for name in ("l", "t") if name in asked}
    column = SensitiveColumn("ill", VALUES, 2, **rules)
    table = problem_of({"x": TREE}, CODES, sensitive=(column,), **{"k": 2, **asked})
    return (
        SharedCounts(table).hold(number_classes(table.labels(Cut(((1, 4),))), suppressed)).tolist()
    )


def test_a_class_holds_if_k_and_every_rule_do():
    assert hold() == [True, True]
    assert hold(k=5) == [False, False]
    assert hold(people=np.array([1, 1, 1, 1, 2, 3, 4, 5])) == [False, True]
    assert hold(l=Diversity("distinct", 2)) == [True, False]
    assert hold(t=Closeness("equal", 0.25)) == [True, True]
    assert hold(t=Closeness("equal", 0.24)) == [False, False]


def test_t_is_held_against_what_is_left():
    gone = np.array([False] * 2 + [True] * 2 + [False] * 4)
    assert hold(gone, t=Closeness("equal", 0.01)) == [True, True]
