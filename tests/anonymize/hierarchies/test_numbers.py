import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.hierarchies import binary, interval
from shoal.errors import InvalidPolicy


def labels(tree):
    return [node.label for node in tree.taxonomy.nodes]


def test_intervals_merge_so_many_at_a_time():
    tree = interval((0, 60), whole=False, width=10, fanout=3)
    assert labels(tree) == [
        "*", "<30", "<10", "[10, 20)", "[20, 30)", ">=30", "[30, 40)", "[40, 50)", ">=50",
    ]  # fmt: skip


def test_breaks_outside_the_domain_are_none_of_its_intervals():
    assert labels(interval((0, 99), whole=True, breaks=[0, 18, 65, 200])) == [
        "*", "<65", "<18", "[18, 65)", ">=65",
    ]  # fmt: skip


def test_single_integers_at_the_ends_hold_what_lies_beyond():
    tree = binary((0, 3), whole=True, min_width=1)
    assert tree.taxonomy.leaves == ("<=0", "1", "2", ">=3")
    assert tree.leaf_of(pa.array([-7, 0, 1, 2, 3, 99])).tolist() == [0, 0, 1, 2, 3, 3]


@given(st.integers(-50, 50), st.integers(1, 200), st.integers(1, 9), st.booleans())
def test_every_number_lies_in_its_leaf(low, width, min_width, whole):
    tree = binary((low, low + width), whole=whole, min_width=min_width)
    values = np.arange(low, low + width + 1)
    codes = tree.leaf_of(pa.array(values))
    inside = (tree.edges.low[codes] <= values) & (values < tree.edges.high[codes])
    assert inside[:-1].all()
    assert inside[-1] or (not whole and codes[-1] == tree.taxonomy.size - 1)
    assert (np.diff(codes) >= 0).all()


@given(st.integers(1, 300), st.integers(1, 20))
def test_halving_at_midpoints_gives_nearly_equal_parts_no_narrower_than_asked(width, min_width):
    tree = binary((0, width), whole=True, min_width=min_width)
    sizes = tree.edges.high - tree.edges.low
    assert sizes.sum() == width + 1
    if tree.taxonomy.size > 1:
        assert sizes.min() >= min_width
        assert sizes.max() < 2 * min_width + 2


def test_medians_split_the_rows_in_halves_and_are_marked_as_learnt():
    values, counts = np.array([1.0, 2.0, 3.0, 50.0]), np.array([10, 10, 10, 10])
    tree = binary((0, 99), whole=True, min_width=1, values=values, counts=counts)
    assert tree.learnt
    assert [node.label for node in tree.taxonomy.children("*")] == ["<3", ">=3"]
    assert not binary((0, 99), whole=True, min_width=1).learnt


def test_medians_do_not_depend_on_the_order_or_the_spelling_of_values():
    values, counts = np.array([-3.0, 7.0, 7.0, 12.0, 40.0, 50.0]), np.array([5, 9, 1, 2, 8, 1])
    trees = [
        binary((0, 20), whole=True, min_width=5, values=values[order], counts=counts[order])
        for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 4, 1, 3])
    ]
    assert len({tuple(labels(tree)) for tree in trees}) == 1


def test_medians_of_one_value_split_nothing():
    tree = binary((0, 9), whole=True, min_width=1, values=np.array([4.0]), counts=np.array([9]))
    assert labels(tree) == ["*"]


def test_a_hierarchy_of_too_many_leaves_is_refused():
    with pytest.raises(InvalidPolicy, match="leaves"):
        binary((0, 1e9), whole=False, min_width=1)
    with pytest.raises(InvalidPolicy, match="leaves"):
        interval((0, 1e9), whole=False, width=1)


def test_a_number_that_equals_a_break_lies_above_it():
    tree = interval((0, 1), whole=False, width=0.1)
    assert [tree.taxonomy.leaves[code] for code in tree.leaf_of(pa.array([0.3, 0.7]))] == [
        "[0.3, 0.4)", "[0.7, 0.8)",
    ]  # fmt: skip


def test_medians_of_numbers_are_nobodys_own():
    values, counts = np.array([20.125, 39.353653, 51.7]), np.array([1, 1, 1])
    tree = binary((0, 110), whole=False, min_width=5, values=values, counts=counts)
    assert [node.label for node in tree.taxonomy.children("*")] == ["<50", ">=50"]
