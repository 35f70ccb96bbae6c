import numpy as np
import pytest

from shoal.cluster.kmeans._kernels import LATTICE, Cube, Nearest
from shoal.cluster.kmeans._published_methods import (
    ClusterSums,
    count_weight,
    lloyd,
    lloyd_step,
    pack_centers,
)
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

rng = np.random.default_rng(7)
BOX = Box.of(["x", "y"], [-1, -1], [1, 1])
X = np.r_[rng.normal([-0.5, 0.5], 0.05, (3_000, 2)), rng.normal([0.5, -0.5], 0.05, (3_000, 2))]


def spending_of(epsilon, n_rows=6_000):
    page = Ledger().open(PureDP(epsilon), by="test")
    return Spending(rows_of(X, BOX), page, page.budget, Randomness(1), n_rows)


def test_sums_are_exact_and_bounded_by_a_row():
    counts, sums = rows_of(X, BOX).sum(ClusterSums(Cube(BOX), Nearest([[-0.5, 0.5], [0.5, -0.5]])))
    assert counts.tolist() == [3_000, 3_000]
    assert np.allclose(sums[0] / LATTICE, X[:3_000].sum(axis=0), atol=0.1)


def test_a_large_budget_is_plain_lloyd():
    clusters = lloyd_step(spending_of(900), np.array([[-0.4, 0.4], [0.4, -0.4]]), of="step")
    assert np.allclose(clusters.centers, [[-0.5, 0.5], [0.5, -0.5]], atol=0.01)
    assert clusters.sizes.round().tolist() == [3_000, 3_000]


@pytest.mark.parametrize(("epsilon", "steps"), [(0.1, 2), (100, 7)])
def test_as_many_steps_as_the_budget_bears(epsilon, steps):
    spending = spending_of(epsilon)
    names, release = [], spending.page.release
    spending.page.release = lambda *args, of: names.append(of) or release(*args, of=of)
    lloyd(spending, 2)
    assert len(names) == 2 * steps
    assert spending.page.total().epsilon == PureDP(epsilon).epsilon


def test_a_cluster_of_no_rows_stays_where_it_is():
    clusters = lloyd_step(spending_of(900), np.array([[0.0, 0.0], [0.9, 0.9]]), of="step")
    assert clusters.centers[1].tolist() == [0.9, 0.9]


@pytest.mark.parametrize(("k", "d"), [(1, 1), (3, 1), (10, 2), (20, 8), (50, 3)])
def test_spheres_do_not_touch(k, d):
    centers = pack_centers(k, d, np.random.default_rng(2))
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2) + 9 * np.eye(k)
    walls = 1 - np.abs(centers).max()
    assert gaps.min() > 0
    assert walls > 0


def test_counts_weigh_as_means_of_half_the_box_need():
    assert count_weight(2) == pytest.approx((8 * 0.225**2) ** (1 / 3))
