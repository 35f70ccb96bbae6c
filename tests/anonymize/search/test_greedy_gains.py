from dataclasses import replace
from math import log2

import numpy as np
import pytest

from shoal.anonymize.search._greedy_splits import (
    SCORES,
    Candidates,
    NodeGains,
    Nodes,
    best_candidate,
    resolve_score,
    score_candidates,
)
from shoal.anonymize.search_problem import problem_of
from shoal.domain import Taxonomy
from shoal.errors import InvalidSetting

TREE = Taxonomy.nested("*", {"a": ["0", "1"], "b": ["2", "3"]})
CODES = [[0, 0]] * 3 + [[1, 2]] * 2 + [[2, 2]] + [[3, 3]] * 4


def problem(**asked):
    return replace(problem_of({"x": TREE, "y": TREE}, CODES, k=2), **asked)


def test_nodes_are_numbered_qid_after_qid():
    nodes = Nodes(problem())
    assert [nodes.home(node) for node in (0, 6, 7, 13)] == [(0, 0), (0, 6), (1, 0), (1, 6)]
    assert nodes.inner.tolist() == [True, True, False, False, True, False, False] * 2


@pytest.mark.parametrize(("score", "power"), [("ncp", 1), ("sq", 2)])
def test_the_gain_is_what_rows_save_weighted(score, power):
    table = problem(weights=(1.0, 4.0))
    gains, third = NodeGains(table, score).of_nodes, (1 / 3) ** power
    # x: 10 rows from 1 to 1/3; then 5 rows from 1/3 to 0, on either side
    expected_x = [10 * (1 - third), 5 * third, 0, 0, 5 * third, 0, 0]
    # y: only 0, 2, 3 occur: below 'a' one value, below 'b' two of three
    half = 0.5**power
    expected_y = [3 + 7 * (1 - half), 0, 0, 0, 7 * half, 0, 0]
    assert gains[:7].tolist() == pytest.approx([x / 50 for x in expected_x])
    assert gains[7:].tolist() == pytest.approx([4 * y / 50 for y in expected_y])


def test_suppressed_lines_gain_nothing_any_more():
    table = problem()
    gains = NodeGains(table, "ncp")
    before = gains.of_nodes[0]
    gains.suppress(np.flatnonzero(table.codes[:, 0] == 3))
    assert gains.of_nodes[0] == pytest.approx(before * 6 / 10)


def test_label_gain_is_the_information_about_the_class_column():
    labels = np.array([0] * 5 + [1] * 4 + [-1], dtype=np.int32)
    table = problem_of({"x": TREE, "y": TREE}, CODES, k=2, target=labels)
    gains = NodeGains(table, "label-gain").of_nodes

    def entropy(*counts):
        return -sum(n / sum(counts) * log2(n / sum(counts)) for n in counts)

    # the root of x parts the first five rows from the last five
    assert gains[0] == pytest.approx(entropy(5, 4, 1) - (entropy(5) + entropy(4, 1)) / 2)
    assert gains[1] == pytest.approx(0)


def test_label_gain_without_a_class_column_is_refused():
    with pytest.raises(InvalidSetting, match="class column"):
        NodeGains(problem(), "label-gain")


def candidates(gain, bits=(1, 1), lost=(0, 0), before=8, after=(8, 8)):
    parts = (np.array(part) for part in (gain, bits, lost, after))
    gain, bits, lost, after = parts
    return Candidates(gain.astype(float), bits.astype(float), lost, before, after)


@pytest.mark.parametrize("score", ["leteo", "sq", "ncp", "label-gain"])
def test_gain_is_divided_by_one_and_the_anonymity_lost(score):
    two = candidates((6, 6), before=8, after=(2, 7))
    assert score_candidates(score, two, "rows", 2).tolist() == [6 / 7, 3]
    assert score_candidates(score, two, "k", 2).tolist() == [6 / 4, 4]
    assert score_candidates(score, two, "bits", 2).tolist() == pytest.approx(
        [2, 6 / (1 + np.log2(8 / 7))]
    )


def test_a_smallest_class_that_grows_is_no_reward():
    two = candidates((6, 6), before=8, after=(8, 50))
    for unit in ("rows", "k", "bits"):
        assert score_candidates("sq", two, unit, 2).tolist() == [6, 6]


def test_ncp_rows_counts_what_is_suppressed_and_ncp_bits_what_is_told():
    assert score_candidates("ncp-rows", candidates((6, 6), lost=(0, 2)), "rows", 2).tolist() == [
        6,
        2,
    ]
    assert score_candidates("ncp-bits", candidates((6, 6), bits=(3, 2)), "rows", 2).tolist() == [
        2,
        3,
    ]


def test_a_split_that_divides_no_class_comes_first_by_its_gain():
    three = candidates((900, 1, 2), bits=(1, 0, 0), lost=(0, 0, 0), after=(8, 8, 8))
    assert best_candidate(score_candidates("ncp-bits", three, "rows", 2), three.gain) == 2


def test_ties_go_to_the_larger_gain_then_to_the_earlier_candidate():
    same = 0.1 + 0.2  # not 0.3, in the sixteenth digit
    assert best_candidate(np.array([0.3, same, 0.3]), np.array([1.0, 2.0, 2.0])) == 1
    assert best_candidate(np.array([0.3, same]), np.array([1.0, 1.0])) == 0
    assert best_candidate(np.array([0.3, 0.3 + 1e-9]), np.array([9.0, 1.0])) == 1
    assert best_candidate(np.zeros(3), np.array([0.0, 0.0, 0.0])) == 0


def test_negative_scores_are_compared_too():
    assert best_candidate(np.array([-2.0, -1.0, -1.0]), np.array([1.0, 1.0, 2.0])) == 2


def test_auto_depends_on_the_budget_and_an_unknown_score_is_refused():
    assert resolve_score("auto", 0) == "sq"
    assert resolve_score("auto", 0.01) == "ncp-rows"
    assert [resolve_score(name, 0) for name in SCORES] == list(SCORES)
    with pytest.raises(InvalidSetting, match="leteo"):
        resolve_score("entropy", 0)
