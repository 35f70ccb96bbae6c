import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.hierarchies import binary, interval
from shoal.anonymize.hierarchies.numbers import People, covering
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


def held(values, n=None, owner=None):
    values = np.asarray(values, dtype=np.float64)
    n = np.ones(len(values), dtype=np.int64) if n is None else np.asarray(n)
    return People(values, n, None if owner is None else np.asarray(owner))


def test_medians_split_the_rows_in_halves_and_are_marked_as_learnt():
    people = held([1, 2, 3, 50], [10, 10, 10, 10])
    tree = binary((0, 99), whole=True, min_width=1, people=people, k=2)
    assert tree.learnt
    assert [node.label for node in tree.taxonomy.children("*")] == ["<3", ">=3"]
    assert not binary((0, 99), whole=True, min_width=1).learnt


def test_medians_do_not_depend_on_the_order_or_the_spelling_of_values():
    values, counts = np.array([-3.0, 7.0, 7.0, 12.0, 40.0, 50.0]), np.array([5, 9, 1, 2, 8, 1])
    trees = [
        binary((0, 20), whole=True, min_width=5, people=held(values[order], counts[order]))
        for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 4, 1, 3])
    ]
    assert len({tuple(labels(tree)) for tree in trees}) == 1


def test_medians_of_one_value_split_nothing():
    tree = binary((0, 9), whole=True, min_width=1, people=held([4], [9]))
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
    tree = binary((0, 110), whole=False, min_width=5, people=held([20.125, 39.353653, 51.7]))
    assert [node.label for node in tree.taxonomy.children("*")] == ["<50", ">=50"]


@pytest.mark.parametrize(
    ("domain", "whole", "min_width", "step"),
    [
        ((0, 110), True, 1, 1),
        ((0, 999), True, 1, 1),
        ((0, 1_999), True, 1, 2),
        ((0, 199_999), True, 1, 200),
        ((0, 199_999), True, 400, 400),
        ((0, 199_999), True, 0.5, 200),
        ((18, 65), True, 2.5, 3),
        ((0, 200_000), False, 1, 200),
        ((0, 1), False, 0.05, 0.05),
        ((0, 10**9), True, 1, 10**6),
    ],
)
def test_learnt_splits_are_multiples_of_a_public_step(domain, whole, min_width, step):
    values = np.random.default_rng(1).uniform(*domain, 5_000)
    people = held(np.floor(values) if whole else values)
    tree = binary(domain, whole=whole, min_width=min_width, people=people, k=2)
    inner = tree.edges.low[1:] - domain[0]
    assert len(inner) > 10
    assert np.allclose(inner / step, np.rint(inner / step))
    assert (tree.edges.high - tree.edges.low).min() >= min_width - 1e-12


PEOPLE = st.lists(st.tuples(st.integers(-5, 60), st.integers(0, 9)), min_size=1, max_size=60)


@given(PEOPLE, st.integers(1, 6), st.integers(1, 7), st.booleans())
def test_every_learnt_interval_holds_k_people(rows, k, min_width, by_person):
    values, owners = np.array(rows).T
    people = held(values, owner=owners if by_person else None)
    tree = binary((0, 50), whole=True, min_width=min_width, people=people, k=k)
    codes = tree.leaf_of(pa.array(values))
    for node in tree.taxonomy.nodes[1:]:
        inside = (codes >= node.low) & (codes < node.high)
        assert (len(set(owners[inside])) if by_person else inside.sum()) >= k


@given(PEOPLE, st.integers(1, 4), st.randoms(use_true_random=False))
def test_where_in_a_cell_a_number_lies_moves_no_split(rows, k, random):
    values = 7 * np.array(rows)[:, 0]
    moved = values + np.array([random.randrange(7) for _ in rows])
    trees = [
        binary((0, 350), whole=True, min_width=7, people=held(found), k=k)
        for found in (values, moved)
    ]
    assert labels(trees[0]) == labels(trees[1])


def test_between_two_people_far_apart_the_split_is_a_round_number():
    for low, high in ((312, 688), (401, 599), (499, 777)):
        tree = binary((0, 999), whole=True, min_width=1, people=held([low, high]))
        assert labels(tree) == ["*", "<500", ">=500"]


def test_someone_with_several_rows_counts_once_on_each_side():
    values, owners = [1, 2, 3, 4, 6, 7, 8, 9], [1, 1, 1, 1, 2, 2, 2, 2]
    by_row = binary((0, 9), whole=True, min_width=1, people=held(values), k=2)
    by_person = binary((0, 9), whole=True, min_width=1, people=held(values, owner=owners), k=2)
    assert len(labels(by_row)) > 3
    assert labels(by_person) == ["*"]


def test_intervals_and_the_gaps_between_them_cover_the_domain():
    assert covering([0, 100, 20, 30], whole=True) == ["<20", "[20, 30)", ">=30"]
    assert covering([0, 4, 1, 2], whole=True) == ["<=0", "1", ">=2"]
    assert covering([0.0, 1.0, 0.5], whole=False) == ["<0.5", ">=0.5"]
