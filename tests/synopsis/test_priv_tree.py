import pickle

import numpy as np
import pytest

from shoal.domain import Box, View
from shoal.engine import rows_of
from shoal.errors import NotFinite
from shoal.estimator import Spending
from shoal.mechanisms.central._tree_splits import Splits
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness
from shoal.synopsis import PrivTree
from shoal.synopsis._priv_tree import Leaves, NodeCounts, OpenNodes

rng = np.random.default_rng(2)
UNIT = np.array([[0.0, 0.0], [1.0, 1.0]])


def blob(n, d, at=0.3):
    return np.clip(rng.normal(at, 0.05, (n, d)), 0, 1)


def spending_of(X):
    rows = rows_of(X, Box.unit(X.shape[1]))
    page = Ledger().open(PureDP(1), by="test")
    return Spending(rows, page, page.budget, Randomness(1), n_rows=len(X))


def test_counts_read_ahead_are_those_of_the_nodes():
    X = blob(3000, 2)
    spending = spending_of(X)
    passes = []
    spending.rows.on_progress(passes.append)
    counts_of, splits, boxes = NodeCounts(spending, 20), Splits(2), [UNIT]
    for depth in range(13):
        counts = counts_of(splits)
        expected = [
            np.all((a <= X) & ((b > X) | (np.array(b) == 1)), axis=1).sum() for a, b in boxes
        ]
        np.testing.assert_array_equal(counts, expected)
        flags = counts > 20
        splits = splits.grown(flags)
        boxes = [half for box in np.array(boxes)[flags] for half in halves_of(box, depth)]
    assert len(passes) == 2  # depths 0 to 8, and 9 to 17: one block each


def rows_inside(X, low, high):
    return np.all((low <= X) & ((high > X) | (high == 1)), axis=1).sum()


def halves_of(box, depth):
    (low, high), axis = box, depth % 2
    first, second = box.copy(), box.copy()
    first[1, axis] = second[0, axis] = (low[axis] + high[axis]) / 2
    return [first, second]


@pytest.mark.heavy
@pytest.mark.parametrize("d", [1, 2, 6, 12])
def test_weight_lies_where_rows_are(d):
    tree = PrivTree(epsilon=1, domain=Box.unit(d), random_state=1).fit(blob(20_000, d))
    centers, weights = tree.points()
    assert np.average(centers, axis=0, weights=weights) == pytest.approx(np.full(d, 0.3), abs=0.08)


def test_leaves_cover_the_box_once():
    tree = PrivTree(epsilon=5, domain=Box.unit(2), negative="norm-sub", n_public=10**9)
    cells = tree.set_params(random_state=1).fit(blob(2000, 2)).cells_
    assert len(cells) == tree.n_cells_
    assert np.prod(cells.high - cells.low, axis=1).sum() == pytest.approx(1)


def test_rows_all_in_one_place_are_followed_to_the_smallest_cell():
    tree = PrivTree(epsilon=1, domain=Box.unit(3), random_state=1).fit(np.full((5000, 3), 0.7))
    heaviest = np.argmax(tree.cells_.weight)
    np.testing.assert_allclose((tree.cells_.high - tree.cells_.low)[heaviest], 1 / 1024)


@pytest.mark.heavy
def test_a_tree_stops_before_it_has_more_leaves_than_allowed():
    X = rng.random((200_000, 2))
    tree = PrivTree(epsilon=50, domain=Box.unit(2), max_cells=500, random_state=1).fit(X)
    assert 4 < tree.n_cells_ <= 500
    one = PrivTree(epsilon=1, domain=Box.unit(2), max_cells=1, random_state=1).fit(X)
    assert one.n_cells_ <= 2  # the root is tested in any case


def test_a_tree_over_a_view():
    X = blob(5000, 9)
    view = View(Box.unit(9), np.linalg.qr(rng.normal(size=(9, 3))).Q, center=-0.4)
    tree = PrivTree(epsilon=1, domain=Box.unit(9))
    page = Ledger().open(PureDP(1), by="test")
    rows = rows_of(X, Box.unit(9))
    tree.spend(Spending(rows, page, page.budget, Randomness(1), view=view))
    centers, weights = tree.points()
    seen = view.apply(X).mean(axis=0)
    assert np.average(centers, axis=0, weights=weights) == pytest.approx(seen, abs=0.1)


def test_nan_is_met_before_anything_is_paid():
    ledger = Ledger()
    X = np.array([[0.5, np.nan]])
    tree = PrivTree(epsilon=1, domain=Box.unit(2), n_public=5, ledger=ledger)
    with pytest.raises(NotFinite):
        tree.fit(X)
    assert ledger.totals() == []


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
