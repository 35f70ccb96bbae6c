import numpy as np

from shoal.anonymize.search._distributed_top_down import CountChildren, MergeLines
from shoal.anonymize.search._greedy_splits import Nodes
from shoal.anonymize.search_problem import Cut, problem_of
from shoal.domain import Taxonomy

AGES = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})  # places 0 1 2 3 4 5 6
SEX = Taxonomy.nested("*", ["F", "M"])


def table():
    codes = [[0, 0], [0, 1], [1, 1], [2, 0], [3, 0], [3, 0]]
    return problem_of({"age": AGES, "sex": SEX}, codes, k=2)


def test_lines_are_merged_at_the_floor_and_no_further():
    problem = table()
    merged = MergeLines.below(Cut(((1, 5, 6), (0,))), problem)(problem.codes, problem.n)
    assert dict(zip(map(tuple, merged.codes.tolist()), merged.n.tolist(), strict=True)) == {
        (0, 0): 3,
        (2, 0): 1,
        (3, 0): 2,
    }


def test_leaves_no_floor_covers_stay_apart():
    problem = table()
    merged = MergeLines.below(Cut(((1,), (0,))), problem)(problem.codes, problem.n)
    assert sorted(merged.codes[:, 0].tolist()) == [0, 2, 3]


def test_merging_parts_and_adding_up_is_merging_the_whole():
    problem = table()
    merge = MergeLines.below(Cut(((1, 4), (0,))), problem)
    parts = [merge(problem.codes[part], problem.n[part]) for part in (slice(0, 2), slice(2, None))]
    codes, n = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    again, whole = merge(codes, n), merge(problem.codes, problem.n)
    assert again.codes.tolist() == whole.codes.tolist()
    assert again.n.tolist() == whole.n.tolist()


def test_classes_divide_by_the_children_of_the_nodes_asked_for():
    problem = table()
    nodes = Nodes(problem)
    asked = np.zeros(nodes.size, dtype=bool)
    asked[[1, 7]] = True  # young, and any sex
    classes = np.array([[1, 0]], dtype=np.int32)
    found = CountChildren(classes, Cut(((1, 4), (0,))), asked, problem)(problem.codes, problem.n)
    rows = dict(zip(found.child.tolist(), found.n.tolist(), strict=True))
    assert rows == {2: 2, 3: 1, 8: 1, 9: 2}
    assert set(found.of.tolist()) == {0}


def test_lines_of_other_classes_are_left_alone():
    problem = table()
    asked = np.ones(Nodes(problem).size, dtype=bool)
    none = np.array([[4, 1]], dtype=np.int32)  # labels of no class of this cut
    found = CountChildren(none, Cut(((1, 4), (0,))), asked, problem)(problem.codes, problem.n)
    assert len(found.n) == 0
