import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from shoal.errors import InvalidBudget, InvalidSetting, NotNumeric
from shoal.mechanisms import Splits, TreeCounts, TreeSplits
from shoal.mechanisms.central._tree_splits import path_cost
from shoal.privacy import LocalDP, PureDP
from shoal.randomness import Randomness


def down_the_left(rows: int):
    """A tree all of whose rows lie in the first node of every depth."""
    return lambda splits: np.where(np.arange(splits.width) == 0, rows, 0)


def nobody(splits):
    return np.zeros(splits.width, dtype=np.int64)


def grown(counts_of, epsilon=1, seed=1, **settings):
    value = TreeCounts(counts_of, **{"max_depth": 40, **settings})
    return TreeSplits(PureDP(epsilon)).release(value, Randomness(seed).noise)


@pytest.mark.heavy
def test_the_path_of_many_rows_is_split_until_the_depth_has_eaten_them():
    mechanism = TreeSplits(PureDP(1))
    expected = 30 / mechanism.decay  # where the lowered count passes 0
    depths = [grown(down_the_left(30), seed=seed).depth for seed in range(100)]
    assert float(expected) - 4 < np.mean(depths) < float(expected) + 6


def test_the_children_of_split_nodes_are_the_nodes_of_the_next_depth():
    seen = []

    def counting(splits):
        seen.append((splits.depth, splits.width))
        return down_the_left(50)(splits)

    tree = grown(counting, seed=3)
    assert [depth for depth, _ in seen] == list(range(tree.depth))
    assert [flags.size for flags in tree.flags] == [width for _, width in seen]
    assert all(after.size == 2 * before.sum() for before, after in pairwise(tree.flags))
    assert tree.width == 0  # it ended by itself


def test_no_nodes_are_split_at_the_greatest_depth_or_beyond_the_most_nodes():
    everything = lambda splits: np.full(splits.width, 10**6)  # noqa: E731
    assert grown(everything, max_depth=5).depth == 5
    assert grown(everything, max_depth=0).flags == ()
    wide = grown(everything, most_nodes=100)
    assert [flags.size for flags in wide.flags] == [1, 2, 4, 8, 16, 32, 64]
    assert wide.width == 128


@pytest.mark.heavy
def test_empty_nodes_are_tested_and_some_are_split():
    """P[noise > delta] at the root of an empty tree, on the lattice."""
    mechanism, runs = TreeSplits(PureDP(1)), 5_000
    noise = Randomness(2).noise
    trees = [mechanism.release(TreeCounts(nobody, 1), noise) for _ in range(runs)]
    seen = sum(int(tree.flags[0][0]) for tree in trees)
    a = math.exp(-1 / (1024 * mechanism.scale))
    p = a / (1 + a)  # the root's count is 0, not lowered
    assert abs(seen - runs * p) < 5 * math.sqrt(runs * p * (1 - p))


@pytest.mark.parametrize("depth", [1, 7])
def test_below_the_root_an_empty_node_is_split_with_one_in_two_f(depth):
    mechanism = TreeSplits(PureDP(1), fanout=3)
    flags = mechanism._test(np.zeros(60_000, dtype=np.int64), depth, Randomness(4).noise)
    assert abs(flags.sum() - 10_000) < 5 * math.sqrt(10_000 * 5 / 6)


@pytest.mark.parametrize(("fanout", "cost"), [(2, 2.6066951524), (3, 2.2869938259), (8, 2.0756577)])
def test_the_path_cost_is_the_sum_rounded_up(fanout, cost):
    assert cost <= path_cost(fanout) < cost + 2e-6
    assert path_cost(fanout) < Fraction(2 * fanout - 1, fanout - 1)  # the paper's


def log_split(lowered, step):
    """ln P[lowered + noise > 0]."""
    with np.errstate(over="ignore"):
        above = np.log1p(-np.exp(-step * np.maximum(lowered, 1)) / (1 + math.exp(-step)))
    below = -step * (1.0 - lowered) - math.log1p(math.exp(-step))
    return np.where(lowered >= 1, above, below)


def dearest_path(scale, decay, fanout, depth=60):
    """The most one row's path of splits can cost, over all counts: a dynamic programme."""
    step = 1 / (1024 * scale)
    counts = np.arange(1, math.ceil(depth * decay / 1024 + 60 * scale) + 2)
    worst = np.zeros(counts.size)
    for i in reversed(range(depth)):
        lowered = [np.maximum(1024 * c - i * decay, -decay) for c in (counts, counts - 1)]
        cost = log_split(lowered[0], step) - log_split(lowered[1], step)
        worst = np.maximum.accumulate(np.maximum(worst, 0) + cost)  # counts do not grow
    return worst.max()


@pytest.mark.parametrize("fanout", [2, 3, 4])
@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "1", "3", "8"])
def test_the_dearest_path_costs_no_more_than_epsilon(epsilon, fanout):
    mechanism = TreeSplits(PureDP(epsilon), fanout)
    spent = dearest_path(float(mechanism.scale), int(1024 * mechanism.decay), fanout)
    assert 0.6 < spent / float(epsilon) <= 1


@pytest.mark.heavy
def test_a_scale_or_decay_a_little_smaller_would_be_too_dear():
    """So the constant cannot be lowered for small epsilon, and the test above can fail."""
    mechanism = TreeSplits(PureDP("0.01"))
    scale, decay = float(mechanism.scale), int(1024 * mechanism.decay)
    assert dearest_path(scale, decay, 2) > 0.0099
    assert dearest_path(scale * 0.97, decay, 2) > 0.01
    assert dearest_path(scale, int(decay * 0.9), 2) > 0.01


def test_one_step_of_a_test_costs_what_the_proof_says():
    """ln p(v)/p(v-1) <= t y / (2 - y), y = a**(v-1), for steps long and short."""
    for step in (1e-3, 0.1, 1.0, 5.0):
        v = np.arange(1, 200)
        y = np.exp(-step * (v - 1.0))
        cost = log_split(v, step) - log_split(v - 1, step)
        assert np.all(cost <= step * y / (2 - y) + 1e-12)


def test_the_decay_is_rounded_up_to_the_lattice():
    mechanism = TreeSplits(PureDP(1))
    least = float(mechanism.scale) * math.log(2)
    assert least <= mechanism.decay < least + 1 / 1024
    assert (1024 * mechanism.decay).denominator == 1


@pytest.mark.parametrize("bad", [lambda s: np.zeros(s.width), lambda s: np.zeros(s.width + 1, int)])
def test_counts_of_another_kind_or_number_are_refused(bad):
    with pytest.raises(NotNumeric, match="counts_of gave"):
        grown(bad)


@pytest.mark.parametrize("settings", [{"max_depth": -1}, {"max_depth": 2.5}, {"most_nodes": 0}])
def test_limits_that_are_none_are_refused(settings):
    with pytest.raises(InvalidSetting):
        TreeCounts(nobody, **{"max_depth": 3, **settings})


@pytest.mark.parametrize("fanout", [1, 2.0, None])
def test_a_fanout_that_is_none_is_refused(fanout):
    with pytest.raises(InvalidSetting, match="fanout"):
        TreeSplits(PureDP(1), fanout)


def test_another_kind_of_promise_and_a_hopeless_budget_are_refused():
    with pytest.raises(InvalidSetting, match="PureDP"):
        TreeSplits(LocalDP(1))
    with pytest.raises(InvalidBudget):
        TreeSplits(PureDP("1e-12"))


def test_the_smallest_budget_and_the_deepest_tree_do_not_wrap_around():
    tree = TreeSplits(PureDP("1e-8")).release(
        TreeCounts(down_the_left(2**62), 2**20, most_nodes=1), Randomness(1).noise
    )
    assert tree.depth <= 2


def test_splits_count_what_comes_next():
    assert (Splits(3).depth, Splits(3).width) == (0, 1)
    tree = Splits(3).grown(np.array([True])).grown(np.array([True, False, True]))
    assert (tree.depth, tree.width) == (2, 6)


def counts_in_halves(rows):
    """Counts in halves of [0, 1), and in halves of those, to depth 3."""
    places = np.sort(np.asarray(rows, dtype=float))

    def counts_of(splits):
        low, side = np.zeros(1), 1.0
        for flags in splits.flags:
            side /= 2
            low = np.add.outer(low[flags], [0, side]).ravel()
        return np.searchsorted(places, low + side) - np.searchsorted(places, low)

    return TreeCounts(counts_of, max_depth=3)


def every_tree(depth):
    """All trees of this fanout, as far as they are decided at this depth."""
    trees = [Splits(2)]
    for _ in range(depth):
        trees = [
            tree.grown(np.array(flags, dtype=bool))
            for tree in trees
            for flags in product([False, True], repeat=tree.width)
        ]
    return trees


@pytest.mark.parametrize(
    ("rows", "others"),
    [
        ([0.1] * 3, [0.1] * 4),
        ([0.1] * 30, [0.1] * 31),
        ([0.1, 0.9], [0.1]),
        ([0.1, 0.2], [0.1, 0.9]),
        ([0.1] * 9 + [0.9] * 9, [0.1] * 8 + [0.9] * 10),
        ([0.1] * 9, [0.1] * 5 + [0.6] * 2),
    ],
)
def test_the_worst_ratio_is_the_largest_of_all_trees(rows, others):
    grow, value, other = TreeSplits(PureDP(3)), counts_in_halves(rows), counts_in_halves(others)
    ratios = [grow.log_ratio(tree, value, other) for tree in every_tree(3)]
    assert grow.worst_ratio(value, other) == pytest.approx(max(ratios), abs=1e-12)
    assert grow.worst_ratio(other, value) == pytest.approx(-min(ratios), abs=1e-12)


@pytest.mark.parametrize("rows", [[], [0.3], [0.3] * 40])
def test_one_row_more_loses_no_more_than_epsilon_over_all_trees(rows):
    grow = TreeSplits(PureDP(2))
    value, other = counts_in_halves(rows), counts_in_halves([*rows, 0.3])
    assert 0 < grow.worst_ratio(value, other) <= 2
    assert 0 < grow.worst_ratio(other, value) <= 2
