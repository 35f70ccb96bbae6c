import pickle

import numpy as np
import pytest

from shoal.domain import Box
from shoal.mechanisms.tree_splits import Splits
from shoal.synopsis.tree_cells import Leaves, OpenNodes


def grown(seed, depth, chance=0.7):
    """A tree of random splits below the root's."""
    rng, splits = np.random.default_rng(seed), Splits(2, (np.array([True]),))
    for _ in range(depth - 1):
        if splits.width:
            splits = splits.grown(rng.random(splits.width) < chance)
    return splits


def box_of(d):
    return Box.of([f"c{i}" for i in range(d)], np.full(d, -2.0), np.linspace(1, 3, d))


def walked(box, splits, row):
    """The leaf a row lies in, or its node at the last depth, found one halving after the other."""
    low, high, node, leaves = box.low.copy(), box.high.copy(), 0, 0
    for depth, flags in enumerate(splits.flags):
        if not flags[node]:
            return "leaf", leaves + np.count_nonzero(~flags[:node])
        leaves += np.count_nonzero(~flags)
        axis = depth % box.d
        middle = (low[axis] + high[axis]) / 2
        upper = row[axis] >= middle
        (low if upper else high)[axis] = middle
        node = 2 * np.count_nonzero(flags[:node]) + upper
    return "open", node


CASES = [(1, 8, 0.9), (1, 10, 0.8), (2, 13, 0.75), (3, 20, 0.6), (7, 19, 0.65), (30, 25, 0.6)]


@pytest.mark.parametrize(("d", "depth", "chance"), CASES)
def test_rows_are_found_where_halving_after_halving_leads(d, depth, chance):
    splits, box = grown(d, depth, chance), box_of(d)
    X = np.random.default_rng(5).uniform(box.low, box.high, (200, d))
    leaves, open_nodes = Leaves(box, splits), OpenNodes(box, splits, 0)
    first_deepest = sum(np.count_nonzero(~flags) for flags in splits.flags)
    for row, leaf, node in zip(X, leaves.keys(X), open_nodes.keys(X), strict=True):
        kind, place = walked(box, splits, row)
        assert leaf == (place if kind == "leaf" else first_deepest + place)
        assert node == (splits.width if kind == "leaf" else place)


@pytest.mark.parametrize(("d", "depth", "chance"), CASES)
def test_every_leaf_holds_its_own_centre(d, depth, chance):
    leaves = Leaves(box_of(d), grown(d, depth, chance))
    low, high = leaves.bounds(np.arange(leaves.size))
    np.testing.assert_array_equal(leaves.keys((low + high) / 2), np.arange(leaves.size))
    sides = (high - low) / (leaves.box.high - leaves.box.low)
    assert np.prod(sides, axis=1).sum() == pytest.approx(1)


def test_open_nodes_are_told_apart_by_their_next_halvings():
    splits, box = grown(4, 6, 0.9), box_of(2)
    X = np.random.default_rng(5).uniform(box.low, box.high, (500, 2))
    coarse, fine = OpenNodes(box, splits, 0), OpenNodes(box, splits, 3)
    assert fine.size == 8 * splits.width + 1
    inside = coarse.keys(X) < splits.width
    np.testing.assert_array_equal(fine.keys(X)[inside] >> 3, coarse.keys(X)[inside])
    assert np.all(fine.keys(X)[~inside] == fine.size - 1)
    deeper = splits
    for _ in range(3):
        deeper = deeper.grown(np.ones(deeper.width, dtype=bool))
    np.testing.assert_array_equal(OpenNodes(box, deeper, 0).keys(X)[inside], fine.keys(X)[inside])


def test_a_tree_of_one_leaf_holds_all_rows():
    box = box_of(2)
    for splits in (Splits(2), Splits(2, (np.array([False]),))):
        leaves = Leaves(box, splits)
        assert leaves.size == 1
        assert leaves.keys([[0.0, 0.0], [-2.0, 3.0]]).tolist() == [0, 0]
        assert leaves.bounds([0])[1].tolist() == [[1.0, 3.0]]


def test_rows_on_upper_bounds_lie_in_the_last_half():
    box = Box.unit(1)
    leaves = Leaves(box, Splits(2, (np.array([True]), np.array([False, True]))))
    assert leaves.keys([[1.0], [0.5], [0.0]]).tolist() == [2, 1, 0]


def test_cells_of_a_tree_travel():
    leaves = Leaves(box_of(2), grown(4, 9))
    X = np.random.default_rng(5).uniform(-2, 1, (50, 2))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(leaves)).keys(X), leaves.keys(X))
