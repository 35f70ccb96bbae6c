from fractions import Fraction

import numpy as np
import pytest

from shoal.cluster.kmeans._location import (
    DEVIATION,
    OverlappingCubes,
    find_part,
    find_rows,
    locate,
    rings_about_middle,
)
from shoal.domain import Box, Grid
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

D = 20
BOX = Box.of([f"x{i}" for i in range(D)], -np.ones(D), np.ones(D))


def located(epsilon, share=Fraction(1)):
    X = np.random.default_rng(1).normal(0.3, 0.1, (20_000, D))
    page = Ledger().open(PureDP(epsilon), by="test")
    spending = Spending(rows_of(X, BOX), page, page.budget, Randomness(1), 20_000)
    rings = rings_about_middle(spending)
    return spending, locate(spending.share(share), rings, 0.4 * D**0.5)[0]


def test_a_large_budget_finds_middle_and_spread():
    spending, location = located(1_000)
    assert np.allclose(location.center, 0.3, atol=0.05)
    true = 0.1 * D**0.5
    assert true / 1.5 < location.spread < true * 1.5
    assert spending.page.total().epsilon == 1_000


def test_its_share_is_spent_and_no_more():
    spending, _ = located(1, Fraction(6, 100))
    assert spending.page.total().epsilon == Fraction(6, 100)


def test_rows_fill_a_view_of_them():
    spending, location = located(1_000)
    view = location.view(spending, 5)
    seen = view.apply(np.random.default_rng(2).normal(0.3, 0.1, (5_000, D)))
    assert seen.shape == (5_000, 5)
    assert 0.5 * DEVIATION < seen.std() < 2 * DEVIATION
    assert location.view(spending, D).axes.tolist() == np.eye(D).tolist()


def found(X, epsilon=1, share=Fraction(6, 100)):
    box = Box.of([f"x{i}" for i in range(X.shape[1])], -np.ones(X.shape[1]), np.ones(X.shape[1]))
    page = Ledger().open(PureDP(epsilon), by="test")
    spending = Spending(rows_of(X, box), page, page.budget, Randomness(2), len(X))
    location, paid = find_rows(spending, share, rings_about_middle(spending))
    assert page.total().epsilon == paid * page.budget.epsilon
    return location, paid


@pytest.mark.heavy
@pytest.mark.parametrize("d", [2, 8, 16])
def test_rows_in_a_corner_are_found(d):
    X = np.random.default_rng(3).normal(0.9, 0.01, (20_000, d))
    location, paid = found(X)
    true = 0.01 * d**0.5
    assert np.linalg.norm(location.center - 0.9) < true / 2
    assert true / 2 < location.spread < 3 * true
    assert location.is_small
    in_columns = Fraction(1, 100) if d == 8 else 0  # where the view has an axis for each column
    assert paid == Fraction(9, 100) + in_columns  # looked at twice


@pytest.mark.parametrize("d", [6, 10])
def test_rows_along_one_column_are_seen_on_turned_axes_that_cut_few_off(d):
    rng = np.random.default_rng(5)
    X = rng.normal(0, 0.01, (20_000, d))
    X[:, 0] = rng.uniform(-0.9, 0.9, 20_000)
    location, _ = found(X)
    assert location.is_stretched
    page = Ledger().open(PureDP(1), by="test")
    box = Box.of([f"x{i}" for i in range(d)], -np.ones(d), np.ones(d))
    view = location.view(Spending(rows_of(X, box), page, page.budget, Randomness(2)), d)
    assert np.mean(np.abs(view.apply(X)).max(axis=1) == 1) < 0.3
    assert np.abs(view.axes).max(axis=0).max() < 1


@pytest.mark.parametrize("d", [6, 10])
def test_rows_that_spread_evenly_keep_their_axes(d):
    location, _ = found(np.random.default_rng(6).normal(0.2, 0.1, (20_000, d)))
    assert location.cut_off is not None
    assert not location.is_stretched


def test_rows_that_fill_their_box_are_looked_at_once():
    location, paid = found(np.random.default_rng(4).uniform(-1, 1, (20_000, 3)))
    assert not location.is_small
    assert paid == Fraction(6, 100)


def part(X, epsilon=1, share=Fraction(1)):
    box = Box.of([f"x{i}" for i in range(X.shape[1])], -np.ones(X.shape[1]), np.ones(X.shape[1]))
    page = Ledger().open(PureDP(epsilon), by="test")
    spending = Spending(rows_of(X, box), page, page.budget, Randomness(2), len(X))
    location = find_part(spending.share(share))
    assert page.total().epsilon == share * epsilon
    return location


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_the_part_of_a_wide_box_that_holds_all_rows_is_drawn(d):
    place = np.array([-0.9, 0.7, 0.1, 0.45, -0.35])[:d]
    location = part(np.random.default_rng(d).normal(place, 0.02, (400, d)), epsilon=8)
    assert location.is_small
    assert np.abs(location.center - place).max() + 0.06 < location.width


@pytest.mark.parametrize("d", [1, 3])
def test_rows_all_over_the_box_leave_it_whole(d):
    location = part(np.random.default_rng(d).uniform(-1, 1, (400, d)), share=Fraction(1, 20))
    assert (location.cube, location.width) == (1, 1)


@pytest.mark.parametrize(("d", "levels"), [(1, (2, 3)), (2, (2, 3)), (3, (2,))])
def test_cubes_hold_the_rows_that_lie_in_them_and_a_row_moves_all_scores_one_way(d, levels):
    cubes, box = OverlappingCubes(d, levels), Box.of(list("abc")[:d], [-1.0] * d, [1.0] * d)
    grid, X = Grid(box, cubes.cells_an_axis), np.random.default_rng(d).uniform(-1, 1, (300, d))

    def rows_in_each(rows):
        return cubes.rows_in_each(np.bincount(grid.keys(rows), minlength=grid.size))

    counts = rows_in_each(X)
    assert len(counts) == sum(cubes.sizes)
    for place in range(0, len(counts), 7):
        middle, half = cubes.middle_and_half(place)
        assert counts[place] == (np.abs(X - middle) <= half).all(axis=1).sum()
    moved = rows_in_each(np.vstack([X, X[:1]])) - counts
    assert set(moved) == {0, 1}
    assert moved[0] == 1
