import numpy as np
import pytest

from shoal.anonymize.scores import SCORES, Candidates, best, resolved, scored
from shoal.errors import InvalidSetting


def candidates(gain, bits=(1, 1), lost=(0, 0), before=8, after=(8, 8)):
    parts = (np.array(part) for part in (gain, bits, lost, after))
    gain, bits, lost, after = parts
    return Candidates(gain.astype(float), bits.astype(float), lost, before, after)


@pytest.mark.parametrize("score", ["leteo", "sq", "ncp", "label-gain"])
def test_gain_is_divided_by_one_and_the_anonymity_lost(score):
    two = candidates((6, 6), before=8, after=(2, 7))
    assert scored(score, two, "rows", 2).tolist() == [6 / 7, 3]
    assert scored(score, two, "k", 2).tolist() == [6 / 4, 4]
    assert scored(score, two, "bits", 2).tolist() == pytest.approx([2, 6 / (1 + np.log2(8 / 7))])


def test_a_smallest_class_that_grows_is_no_reward():
    two = candidates((6, 6), before=8, after=(8, 50))
    for unit in ("rows", "k", "bits"):
        assert scored("sq", two, unit, 2).tolist() == [6, 6]


def test_ncp_rows_counts_what_is_suppressed_and_ncp_bits_what_is_told():
    assert scored("ncp-rows", candidates((6, 6), lost=(0, 2)), "rows", 2).tolist() == [6, 2]
    assert scored("ncp-bits", candidates((6, 6), bits=(3, 2)), "rows", 2).tolist() == [2, 3]


def test_a_split_that_divides_no_class_comes_first_by_its_gain():
    three = candidates((900, 1, 2), bits=(1, 0, 0), lost=(0, 0, 0), after=(8, 8, 8))
    assert best(scored("ncp-bits", three, "rows", 2), three.gain) == 2


def test_ties_go_to_the_larger_gain_then_to_the_earlier_candidate():
    same = 0.1 + 0.2  # not 0.3, in the sixteenth digit
    assert best(np.array([0.3, same, 0.3]), np.array([1.0, 2.0, 2.0])) == 1
    assert best(np.array([0.3, same]), np.array([1.0, 1.0])) == 0
    assert best(np.array([0.3, 0.3 + 1e-9]), np.array([9.0, 1.0])) == 1
    assert best(np.zeros(3), np.array([0.0, 0.0, 0.0])) == 0


def test_negative_scores_are_compared_too():
    assert best(np.array([-2.0, -1.0, -1.0]), np.array([1.0, 1.0, 2.0])) == 2


def test_auto_depends_on_the_budget_and_an_unknown_score_is_refused():
    assert resolved("auto", 0) == "sq"
    assert resolved("auto", 0.01) == "ncp-rows"
    assert [resolved(name, 0) for name in SCORES] == list(SCORES)
    with pytest.raises(InvalidSetting, match="leteo"):
        resolved("entropy", 0)
