import numpy as np
import pytest

from shoal.cluster.kmeans._published_methods import hybrid, lloyd_step_pays
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

BOX = Box.of(["x", "y"], [-1, -1], [1, 1])


@pytest.mark.parametrize(("epsilon", "releases"), [(2, 3), (0.01, 1)])
def test_the_step_is_taken_where_it_pays(epsilon, releases):
    X = np.random.default_rng(1).normal(0, 0.2, (10_000, 2))
    page = Ledger().open(PureDP(epsilon), by="test")
    names, release = [], page.release
    page.release = lambda *args, of: names.append(of) or release(*args, of=of)
    spending = Spending(rows_of(X, BOX), page, page.budget, Randomness(1), 10_000)
    grid, clusters = hybrid(spending, 5)
    assert len(names) == releases
    assert page.total().epsilon == PureDP(epsilon).epsilon
    assert clusters.centers.shape == (5, 2)
    assert len(grid.cells_)


def test_steps_pay_with_many_rows_and_few_clusters():
    assert lloyd_step_pays(10_000, 2, 3)
    assert not lloyd_step_pays(100, 2, 3)
    assert not lloyd_step_pays(10_000, 2, 500)


def test_a_step_is_held_against_the_cells_there_will_be():
    """Not against 25^8 of them, which the limit of two million forbids."""
    assert not lloyd_step_pays(1e8, 8, 2_000)
    assert lloyd_step_pays(1e8, 8, 500)
