import numpy as np
import pytest

from shoal.domain import Box, View
from shoal.engine import rows_of
from shoal.errors import NotFinite
from shoal.mechanisms.tree_splits import Splits
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness
from shoal.synopsis import PrivTree
from shoal.synopsis.counter import Counter
from shoal.synopsis.priv_tree import CountsAhead

rng = np.random.default_rng(2)
UNIT = np.array([[0.0, 0.0], [1.0, 1.0]])


def blob(n, d, at=0.3):
    return np.clip(rng.normal(at, 0.05, (n, d)), 0, 1)


def counter_of(X):
    rows = rows_of(X, Box.unit(X.shape[1]))
    page = Ledger().open(PureDP(1), by="test")
    return Counter(rows, page, Randomness(1), n_rows=len(X))


def test_counts_read_ahead_are_those_of_the_nodes():
    X = blob(3000, 2)
    counter = counter_of(X)
    passes = []
    counter.rows.on_progress(passes.append)
    counts_of, splits, boxes = CountsAhead(counter, 20), Splits(2), [UNIT]
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
    tree.spend(rows_of(X, Box.unit(9)), page, page.budget, Randomness(1), view=view)
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
