import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.domain import Box, Grid, Schema, View
from shoal.engine import rows_of
from shoal.estimator import Spending, box_of, false_cell_level
from shoal.privacy import ApproxDP, Ledger, PureDP
from shoal.randomness import Randomness

BOX = Box.unit(2)
X = np.random.default_rng(0).random((400, 2))


def spending_of(fraction=Fraction(1), **settings):
    page = Ledger().open(PureDP(1), by="test")
    rows = rows_of(X, BOX)
    return Spending(rows, page, page.budget, Randomness(1), 400, **settings).share(fraction)


@pytest.mark.parametrize("cells", [10, 10**6, 2**62])
@pytest.mark.parametrize("epsilon", [0.01, 1, 30])
def test_the_level_is_the_least_that_lets_so_few_empty_cells_through(cells, epsilon):
    level = false_cell_level(cells, PureDP(epsilon), most_false=50)
    through = [
        cells * math.exp(-epsilon * t) / (1 + math.exp(-epsilon)) for t in (level, level - 1)
    ]
    assert through[0] <= 50 * (1 + 1e-9)
    assert level == 1 or through[1] > 50 * (1 - 1e-9)


@pytest.mark.heavy
def test_about_as_many_false_cells_come_through_as_allowed_and_never_over_four_a_row():
    for most_false, about in ((500, 500), (10**6, 1600)):
        spending = spending_of(Fraction(1, 20))
        cells = spending.count_sparse(Grid(BOX, 2**30), of="cells", most_false=most_false)
        assert 0.9 * about < cells.keys.size < 1.02 * about + 6 * math.sqrt(about) + 400


def test_every_cell_is_noised_on_a_page_charged_once():
    spending = spending_of()
    noisy = spending.count(Grid(BOX, 50), of="cells")
    assert noisy.shape == (2500,)
    empty = spending.exact_counts(Grid(BOX, 50)) == 0
    assert np.count_nonzero(noisy[empty]) > 0.4 * np.count_nonzero(empty)
    assert spending.page.total().epsilon == 1


def test_cells_are_cells_of_the_view_if_there_is_one():
    view = View(BOX, [[1.0], [0.0]])
    spending = spending_of(view=view)
    assert spending.box == view.box
    np.testing.assert_array_equal(
        spending.exact_counts(Grid(view.box, 4)),
        np.bincount((X[:, 0] * 4).astype(int), minlength=4),
    )


def test_the_box_of_a_schema_is_that_of_its_numbers():
    columns = {"age": {"low": 0, "high": 110}, "sex": {"values": ["F", "M"]}}
    schema = Schema.of({"version": 1, "columns": columns})
    assert box_of(rows_of({"age": [3], "sex": ["F"]}, schema), None) == Box(age=(0, 110))


def with_budget(promise):
    page = Ledger().open(promise, by="test")
    return Spending(rows_of([[0.5]], Box.unit(1)), page, page.budget, Randomness(1))


def test_shares_of_a_pure_budget_are_pure():
    one = with_budget(PureDP(2))
    assert one.share(Fraction(1, 4)).budget == PureDP(Fraction(1, 2))
    assert one.share(Fraction(1, 4), delta=Fraction(1, 2)).budget == PureDP(Fraction(1, 2))


def test_shares_divide_the_whole_delta_between_those_that_ask_for_it():
    one = with_budget(ApproxDP(2, 1e-6))
    assert one.share(Fraction(1, 4)).budget == PureDP(Fraction(1, 2))
    first = one.share(Fraction(1, 8), delta=Fraction(1, 4)).budget
    second = one.share(Fraction(3, 8), delta=Fraction(3, 4)).budget
    assert first + second == ApproxDP(1, 1e-6)
