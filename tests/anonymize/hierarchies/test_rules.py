from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.hierarchies import build_halves, build_intervals, build_periods, build_prefixes
from shoal.anonymize.hierarchies._rules import PERIODS, HeldNumbers, label_intervals
from shoal.errors import HierarchyInvalid, InvalidPolicy

days = st.dates(date(1900, 1, 1), date(2030, 12, 31))

codes = st.lists(st.text("0123ab", min_size=1, max_size=6), min_size=1, max_size=20)


def labels(tree):
    return [node.label for node in tree.taxonomy.nodes]


def test_intervals_merge_so_many_at_a_time():
    tree = build_intervals((0, 60), whole=False, width=10, fanout=3)
    assert labels(tree) == [
        "*", "<30", "<10", "[10, 20)", "[20, 30)", ">=30", "[30, 40)", "[40, 50)", ">=50",
    ]  # fmt: skip


def test_breaks_outside_the_domain_are_none_of_its_intervals():
    assert labels(build_intervals((0, 99), whole=True, breaks=[0, 18, 65, 200])) == [
        "*", "<65", "<18", "[18, 65)", ">=65",
    ]  # fmt: skip


def test_single_integers_at_the_ends_hold_what_lies_beyond():
    tree = build_halves((0, 3), whole=True, min_width=1)
    assert tree.taxonomy.leaves == ("0", "1", "2", "3")
    assert tree.leaf_of(pa.array([-7, 0, 1, 2, 3, 99])).tolist() == [0, 0, 1, 2, 3, 3]


@pytest.mark.heavy
@given(st.integers(-50, 50), st.integers(1, 200), st.integers(1, 9), st.booleans())
def test_every_number_lies_in_its_leaf(low, width, min_width, whole):
    tree = build_halves((low, low + width), whole=whole, min_width=min_width)
    values = np.arange(low, low + width + 1)
    codes = tree.leaf_of(pa.array(values))
    inside = (tree.edges.low[codes] <= values) & (values < tree.edges.high[codes])
    assert inside[:-1].all()
    assert inside[-1] or (not whole and codes[-1] == tree.taxonomy.size - 1)
    assert (np.diff(codes) >= 0).all()


@pytest.mark.heavy
@given(st.integers(1, 300), st.integers(1, 20))
def test_halving_at_midpoints_gives_nearly_equal_parts_no_narrower_than_asked(width, min_width):
    tree = build_halves((0, width), whole=True, min_width=min_width)
    sizes = tree.edges.high - tree.edges.low
    assert sizes.sum() == width + 1
    if tree.taxonomy.size > 1:
        assert sizes.min() >= min_width
        assert sizes.max() < 2 * min_width + 2


def held(values, n=None, owner=None):
    values = np.asarray(values, dtype=np.float64)
    n = np.ones(len(values), dtype=np.int64) if n is None else np.asarray(n)
    return HeldNumbers(values, n, None if owner is None else np.asarray(owner))


def test_medians_split_the_rows_in_halves_and_are_marked_as_learnt():
    people = held([1, 2, 3, 50], [10, 10, 10, 10])
    tree = build_halves((0, 99), whole=True, min_width=1, people=people, k=2)
    assert tree.learnt
    assert [node.label for node in tree.taxonomy.children("*")] == ["<3", ">=3"]
    assert not build_halves((0, 99), whole=True, min_width=1).learnt


def test_medians_do_not_depend_on_the_order_or_the_spelling_of_values():
    values, counts = np.array([-3.0, 7.0, 7.0, 12.0, 40.0, 50.0]), np.array([5, 9, 1, 2, 8, 1])
    trees = [
        build_halves((0, 20), whole=True, min_width=5, people=held(values[order], counts[order]))
        for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 4, 1, 3])
    ]
    assert len({tuple(labels(tree)) for tree in trees}) == 1


def test_medians_of_one_value_split_nothing():
    tree = build_halves((0, 9), whole=True, min_width=1, people=held([4], [9]))
    assert labels(tree) == ["*"]


def test_a_hierarchy_of_too_many_leaves_is_refused():
    with pytest.raises(InvalidPolicy, match="leaves"):
        build_halves((0, 1e9), whole=False, min_width=1)
    with pytest.raises(InvalidPolicy, match="leaves"):
        build_intervals((0, 1e9), whole=False, width=1)


def test_a_number_that_equals_a_break_lies_above_it():
    tree = build_intervals((0, 1), whole=False, width=0.1)
    assert [tree.taxonomy.leaves[code] for code in tree.leaf_of(pa.array([0.3, 0.7]))] == [
        "[0.3, 0.4)", "[0.7, 0.8)",
    ]  # fmt: skip


def test_medians_of_numbers_are_nobodys_own():
    tree = build_halves((0, 110), whole=False, min_width=5, people=held([20.125, 39.353653, 51.7]))
    assert [node.label for node in tree.taxonomy.children("*")] == ["<50", ">=50"]


@pytest.mark.heavy
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
    tree = build_halves(domain, whole=whole, min_width=min_width, people=people, k=2)
    inner = tree.edges.low[1:] - domain[0]
    assert len(inner) > 10
    assert np.allclose(inner / step, np.rint(inner / step))
    assert (tree.edges.high - tree.edges.low).min() >= min_width - 1e-12


PEOPLE = st.lists(st.tuples(st.integers(-5, 60), st.integers(0, 9)), min_size=1, max_size=60)


@pytest.mark.heavy
@given(PEOPLE, st.integers(1, 6), st.integers(1, 7), st.booleans())
def test_every_learnt_interval_holds_k_people(rows, k, min_width, by_person):
    values, owners = np.array(rows).T
    people = held(values, owner=owners if by_person else None)
    tree = build_halves((0, 50), whole=True, min_width=min_width, people=people, k=k)
    codes = tree.leaf_of(pa.array(values))
    for node in tree.taxonomy.nodes[1:]:
        inside = (codes >= node.low) & (codes < node.high)
        assert (len(set(owners[inside])) if by_person else inside.sum()) >= k


@pytest.mark.heavy
@given(PEOPLE, st.integers(1, 4), st.randoms(use_true_random=False))
def test_where_in_a_cell_a_number_lies_moves_no_split(rows, k, random):
    values = 7 * np.array(rows)[:, 0]
    moved = values + np.array([random.randrange(7) for _ in rows])
    trees = [
        build_halves((0, 350), whole=True, min_width=7, people=held(found), k=k)
        for found in (values, moved)
    ]
    assert labels(trees[0]) == labels(trees[1])


def test_between_two_people_far_apart_the_split_is_a_round_number():
    for low, high in ((312, 688), (401, 599), (499, 777)):
        tree = build_halves((0, 999), whole=True, min_width=1, people=held([low, high]))
        assert labels(tree) == ["*", "<500", ">=500"]


def test_someone_with_several_rows_counts_once_on_each_side():
    values, owners = [1, 2, 3, 4, 6, 7, 8, 9], [1, 1, 1, 1, 2, 2, 2, 2]
    by_row = build_halves((0, 9), whole=True, min_width=1, people=held(values), k=2)
    by_person = build_halves(
        (0, 9), whole=True, min_width=1, people=held(values, owner=owners), k=2
    )
    assert len(labels(by_row)) > 3
    assert labels(by_person) == ["*"]


def test_intervals_and_the_gaps_between_them_cover_the_domain():
    assert label_intervals([0, 100, 20, 30], whole=True) == ["<20", "[20, 30)", ">=30"]
    assert label_intervals([0, 4, 1, 2], whole=True) == ["0", "1", ">=2"]
    assert label_intervals([0.0, 1.0, 0.5], whole=False) == ["<0.5", ">=0.5"]


@pytest.mark.heavy
@given(st.lists(days, min_size=1, max_size=30), st.sets(st.sampled_from(list(PERIODS)), min_size=1))
def test_days_share_a_leaf_if_they_share_the_finest_period(values, chosen):
    levels = [name for name in PERIODS if name in chosen]
    tree = build_periods(levels, values=pa.array(values))
    codes = tree.leaf_of(pa.array([str(day) for day in values]))
    finest = PERIODS[levels[0]].number
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            assert (codes[i] == codes[j]) == (finest(a) == finest(b))


def test_periods_are_named_as_people_write_them():
    tree = build_periods(list(PERIODS), values=pa.array([date(2001, 3, 5), date(2001, 3, 6)]))
    assert tree.paths()[0] == ["2001-03-05", "*", "*", "*", "*", "*"]
    names = [PERIODS[n].name(PERIODS[n].number(date(2001, 3, 5))) for n in PERIODS]
    assert names == ["2001-03-05", "2001-03", "2001-Q1", "2001", "2000s"]


@given(days)
def test_a_period_begins_in_itself(day):
    for period in PERIODS.values():
        number = period.number(day)
        assert period.number(period.first(number)) == number
        assert period.first(number) <= day


def test_a_declared_domain_learns_nothing_and_its_ends_hold_what_lies_beyond():
    tree = build_periods(["year"], domain=(date(2000, 1, 1), date(2002, 12, 31)))
    assert not tree.learnt
    assert tree.taxonomy.leaves == ("<=2000", "2001", ">=2002")
    far = pa.array([date(1950, 1, 1), date(2001, 1, 1), date(2050, 1, 1)])
    assert tree.leaf_of(far).tolist() == [0, 1, 2]


def test_learnt_leaves_are_the_periods_that_occur():
    first = date(2001, 1, 1)
    values = pa.array([first, first + timedelta(days=400)])
    tree = build_periods(["month", "year"], values=values)
    assert tree.learnt
    assert tree.taxonomy.leaves == ("2001-01", "2002-02")


def test_levels_keep_fewer_characters():
    tree = build_prefixes(pa.array(["70173", "70174", "70565", "01219", "01220"]), [5, 3, 1])
    assert [n.label for n in tree.taxonomy.children("*")] == ["0*", "7*"]
    assert [n.label for n in tree.taxonomy.children("7*")] == ["701*", "70565"]
    assert tree.learnt


def test_what_is_longer_than_the_first_level_is_cut_at_once():
    tree = build_prefixes(pa.array(["12345678", "12399999", "12"]), [3, 2])
    assert set(tree.taxonomy.leaves) == {"123*", "12"}
    assert tree.leaf_of(pa.array(["123000", " 12 ", "9"])).tolist() == [
        tree.taxonomy.leaves.index("123*"), tree.taxonomy.leaves.index("12"), -1,
    ]  # fmt: skip


@pytest.mark.heavy
@given(codes, st.sets(st.integers(1, 6), min_size=1, max_size=3))
def test_every_value_has_a_leaf_and_its_labels_are_its_own_beginnings(values, keep):
    tree = build_prefixes(pa.array(values), sorted(keep, reverse=True))
    found = tree.leaf_of(pa.array(values))
    assert (found >= 0).all()
    for value, code in zip(values, found, strict=True):
        for place in tree.levels[:-1, code]:
            label = tree.taxonomy.nodes[place].label
            assert label == value or value.startswith(label.removesuffix("*"))


def test_values_that_look_like_labels_are_refused_and_not_quoted():
    with pytest.raises(
        HierarchyInvalid, check=lambda error: error.reason == "ambiguous label"
    ) as caught:
        build_prefixes(pa.array(["123*", "12345"]), [5, 3])
    assert "123" not in str(caught.value)


def test_the_ends_of_a_domain_of_single_numbers_are_printed_plain():
    levels = build_intervals((1, 6), whole=True, width=1)
    assert levels.taxonomy.leaves == ("1", "2", "3", "4", "5", "6")
