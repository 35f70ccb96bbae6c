import pytest

from shoal.anonymize.hierarchies.findings import findings_in, refuse
from shoal.errors import (
    AmbiguousLabel,
    DuplicateLeaf,
    HierarchyInvalid,
    LabelDoesNotCover,
)


def errors(rows, **how):
    return [type(finding) for finding in findings_in(rows, **how)]


def test_a_good_hierarchy_has_no_findings():
    assert findings_in([["1", "1-2", "*"], ["2", "1-2", "*"], ["3", "3", "*"]]) == []


def test_ragged_rows_and_no_rows_are_no_hierarchy():
    assert errors([["1", "*"], ["2", "1-2", "*"]]) == [HierarchyInvalid]
    assert errors([]) == [HierarchyInvalid]
    assert errors([[]]) == [HierarchyInvalid]


def test_all_findings_come_at_once():
    rows = [["a", "x", "*"], ["a", "x", "*"], ["b", "", "*"], ["7", "1-2", "*"]]
    assert errors(rows) == [DuplicateLeaf, HierarchyInvalid, LabelDoesNotCover]


def test_what_has_several_roots_is_no_hierarchy_and_nothing_of_it_is_said():
    (finding,) = findings_in([["Ada", "34", "flu"], ["Ada", "35", "cold"]])
    assert finding.came == "it has 2 roots instead of one"


def test_leaves_of_a_file_that_may_be_rows_are_counted_not_quoted():
    rows = [["Ada", "flu", "2025"], ["Bob", "cold", "2025"], ["Ada", "cold", "2025"]]
    for quoted in (True, False):
        said = " ".join(finding.came for finding in findings_in(rows, quoted=quoted))
        assert ("Ada" in said) == quoted
    assert "leaf 1, leaf 3" in said


def test_a_label_under_two_parents_is_ambiguous():
    rows = [["a", "x", "p", "*"], ["b", "x", "q", "*"]]
    found = findings_in(rows)
    assert [type(f) for f in found] == [AmbiguousLabel]
    assert "'x'" in found[0].came


def test_a_label_on_two_levels_for_different_sets_is_ambiguous():
    assert errors([["a", "b", "*"], ["b", "c", "*"], ["d", "c", "*"]]) == [AmbiguousLabel]
    assert errors([["a", "*", "*"], ["b", "x", "*"]]) == [AmbiguousLabel]


def test_a_label_repeated_up_a_path_for_the_same_set_is_fine():
    assert errors([["a", "a", "*"], ["b", "x", "*"], ["c", "x", "*"]]) == []


@pytest.mark.parametrize(
    ("leaf", "label"),
    [
        ("5", "0-4"), ("100", "95-99"), ("30", "[20, 30)"), ("20", "]20, 30]"), ("20", "(20, 30]"),
        ("5", "<5"), ("6", "<=5"), ("5", ">5"), ("4", ">=5"), ("-3", "-2-4"), ("1.5", "2..4"),
    ],
)  # fmt: skip
def test_a_number_outside_its_label_is_found(leaf, label):
    assert errors([[leaf, label, "*"]]) == [LabelDoesNotCover]
    assert errors([[leaf, label, "*"]], opaque=True) == []


@pytest.mark.parametrize(
    ("leaf", "label"),
    [
        ("4", "0-4"), ("20", "[20, 30)"), ("30", "(20, 30]"), ("5", "<=5"), ("5", ">=5"),
        ("-2", "-2-4"), ("5", "five"), ("blue", "0-4"),
    ],
)  # fmt: skip
def test_a_number_inside_its_label_is_not(leaf, label):
    assert errors([[leaf, label, "*"]]) == []


def test_refusing_raises_the_first_error_and_says_all():
    refuse("sex.csv", [])
    found = [DuplicateLeaf("one", "mend"), HierarchyInvalid("two", "mend")]
    with pytest.raises(DuplicateLeaf, match=r"sex\.csv: one; two\."):
        refuse("sex.csv", found)
