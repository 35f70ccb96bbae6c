from fractions import Fraction

import numpy as np
import pytest

from shoal.cluster.kmeans.lloyd import ClusterSums, count_weight, lloyd, lloyd_step, spread_out
from shoal.cluster.kmeans.nearest import Cube, Nearest
from shoal.cluster.kmeans.rings import LATTICE
from shoal.cluster.kmeans.work import Work
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

rng = np.random.default_rng(7)
BOX = Box.of(["x", "y"], [-1, -1], [1, 1])
X = np.r_[rng.normal([-0.5, 0.5], 0.05, (3_000, 2)), rng.normal([0.5, -0.5], 0.05, (3_000, 2))]


def work(epsilon, n_rows=6_000):
    page = Ledger().open(PureDP(epsilon), by="test")
    return Work(rows_of(X, BOX), page, Randomness(1), page.budget, n_rows, Fraction(1))


def test_sums_are_exact_and_bounded_by_a_row():
    counts, sums = rows_of(X, BOX).sum(ClusterSums(Cube(BOX), Nearest([[-0.5, 0.5], [0.5, -0.5]])))
    assert counts.tolist() == [3_000, 3_000]
    assert np.allclose(sums[0] / LATTICE, X[:3_000].sum(axis=0), atol=0.1)


def test_a_large_budget_is_plain_lloyd():
    found = lloyd_step(work(900), np.array([[-0.4, 0.4], [0.4, -0.4]]), Fraction(1), of="step")
    assert np.allclose(found.centers, [[-0.5, 0.5], [0.5, -0.5]], atol=0.01)
    assert found.sizes.round().tolist() == [3_000, 3_000]


@pytest.mark.parametrize(("epsilon", "steps"), [(0.1, 2), (100, 7)])
def test_as_many_steps_as_the_budget_bears(epsilon, steps):
    ledger_page = work(epsilon)
    seen = []
    release = ledger_page.page.release
    ledger_page.page.release = lambda *args, of: seen.append(of) or release(*args, of=of)
    lloyd(ledger_page, 2)
    assert len(seen) == 2 * steps
    assert ledger_page.page.total().epsilon == PureDP(epsilon).epsilon


def test_a_cluster_of_no_rows_stays_where_it_is():
    found = lloyd_step(work(900), np.array([[0.0, 0.0], [0.9, 0.9]]), Fraction(1), of="step")
    assert found.centers[1].tolist() == [0.9, 0.9]


@pytest.mark.parametrize(("k", "d"), [(1, 1), (3, 1), (10, 2), (20, 8), (50, 3)])
def test_spheres_do_not_touch(k, d):
    centers = spread_out(k, d, np.random.default_rng(2))
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2) + 9 * np.eye(k)
    walls = 1 - np.abs(centers).max()
    assert gaps.min() > 0
    assert walls > 0


def test_counts_weigh_as_means_of_half_the_box_need():
    assert count_weight(2) == pytest.approx((8 * 0.225**2) ** (1 / 3))
