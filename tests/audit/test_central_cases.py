import numpy as np

from shoal.audit.central_cases import choices, counts, scored
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP


def test_pairs_lie_apart_by_the_sensitivity_and_no_more():
    for name, case in counts():
        if name.startswith(("geometric", "k-norm", "gaussian")):
            first, second = (np.ravel(x) for x in case.pair)
            moved = np.abs(first - second)
            length = moved.sum() if name.startswith("geometric") else np.linalg.norm(moved)
            assert length == case.mechanism.sensitivity, name


def test_scores_move_by_one_at_most():
    cases = dict(choices())
    first, second = cases["exponential"].pair
    assert np.abs(first.scores - second.scores).max() == 1


def test_a_threshold_s_points_change_their_score_by_one_at_most():
    def point_scores(intervals):
        return np.repeat(intervals.scores, np.diff(intervals.edges))

    first, second = (point_scores(x) for x in dict(choices())["threshold draw"].pair)
    assert first.size == second.size == 16
    assert np.abs(first - second).max() == 1


def test_a_tree_is_told_as_text():
    trees = dict(choices())["tree splits"].mechanism.draw(2, 3, np.random.default_rng(1))
    assert len(trees) == 3
    assert all(set(tree) <= set("01/") and tree[0] in "01" for tree in trees)


def test_a_case_is_held_against_the_mechanism_s_own_guarantee_unless_told():
    count = Geometric(PureDP(2))
    assert scored(count, (5, 6), "").claim == PureDP(2)
    assert scored(count, (5, 6), "", claim=1.0).claim == 1.0
