"""Centres from the reports of a local grid."""

import numpy as np
import pytest

from shoal.cluster.local.methods import _grid as grid
from shoal.cluster.local.methods._gaussian_groups import CellCounts, fit_from_many_starts
from shoal.domain import Box
from shoal.errors import NotAReport
from shoal.mechanisms import LocalGrid, PlanarLaplace, Reports, clamp
from shoal.randomness import Randomness

BOX = Box(age=(0, 100), visits=(0, 20))
HALF = np.array([50.0, 10.0])


def people(n: int = 20_000, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    means = np.array([[25.0, 4.0], [70.0, 6.0], [50.0, 15.0]])
    return means[rng.integers(0, 3, n)] + rng.normal(size=(n, 2)) * [4.0, 0.8]


def learnt(rows, k, *, epsilon=2.0, box=BOX, cells="auto", seed=7):
    mechanism = LocalGrid(box, epsilon=epsilon, cells=cells, n_expected=max(1, len(rows)))
    reports = mechanism.release(rows, Randomness(seed).noise)
    half = (box.high - box.low) / 2
    return grid.learn(reports, k, Randomness(seed), half), reports


@pytest.mark.heavy
def test_centres_are_found():
    found, _ = learnt(people(), 3)
    by_age = found.centers[np.argsort(found.centers[:, 0])]
    assert np.abs((by_age - [[25, 4], [50, 15], [70, 6]]) / HALF).max() < 0.05


@pytest.mark.heavy
def test_far_fewer_people_do_than_plain_counts_need():
    """6,000 reports at epsilon 1: cells stand out of the noise by hardly two deviations."""
    found, _ = learnt(people(6_000), 3, epsilon=1.0)
    by_age = found.centers[np.argsort(found.centers[:, 0])]
    assert np.abs((by_age - [[25, 4], [50, 15], [70, 6]]) / HALF).max() < 0.15


@pytest.mark.heavy
def test_the_density_is_where_people_are():
    found, _ = learnt(people(), 3)
    assert np.isclose(found.weights.sum(), 1)
    assert np.all(found.weights > 0)
    near = np.abs((found.points - [25, 4]) / HALF).max(axis=1) < 0.35
    assert abs(found.weights[near].sum() - 1 / 3) < 0.05
    assert np.all(BOX.contains(found.points))


@pytest.mark.heavy
def test_reports_are_labelled_by_the_likeliest_cluster():
    rows = people()
    found, reports = learnt(rows, 3, epsilon=6.0, cells=10)
    gaps = (((rows[:, None] - found.centers) / HALF) ** 2).sum(axis=2)
    assert np.mean(found.labels == gaps.argmin(axis=1)) > 0.8
    assert len(found.labels) == len(reports)


@pytest.mark.heavy
def test_a_seed_repeats_it():
    first, second = learnt(people(3_000), 3)[0], learnt(people(3_000), 3)[0]
    np.testing.assert_array_equal(first.centers, second.centers)


@pytest.mark.heavy
def test_units_say_which_distances_count():
    """With visits counting nearly nothing, groups are told apart by age."""
    mechanism = LocalGrid(BOX, epsilon=4.0, cells=8)
    rows = people()
    reports = mechanism.release(rows, Randomness(1).noise)
    found = grid.learn(reports, 3, Randomness(1), np.array([50.0, 1000.0]))
    np.testing.assert_allclose(np.sort(found.centers[:, 0]), [25, 50, 70], atol=4)


@pytest.mark.heavy
def test_shapes_that_are_no_round_groups_are_seen_too():
    """Many people in a frame: what Gaussians cannot say is taken from the counts."""
    rng = np.random.default_rng(0)
    side = rng.uniform(-0.9, 0.9, 400_000)
    rows = np.where(rng.random(400_000)[:, None] < 0.5, np.c_[side, np.full(400_000, 0.9)],
                    np.c_[np.full(400_000, -0.9), side])  # fmt: skip
    box = Box(x=(-1, 1), y=(-1, 1))
    mechanism = LocalGrid(box, epsilon=8.0, cells=16)
    cells = grid.cells_of(mechanism.release(rows, Randomness(1).noise), np.ones(2))
    _, weights = grid.density_of(cells, fit_from_many_starts(cells, 2, np.random.default_rng(1)))
    true = np.bincount(mechanism.grid.keys(rows), minlength=256)
    assert np.abs(weights - true).sum() / 400_000 < 0.1


def test_noise_alone_adds_nothing_to_the_groups():
    rng = np.random.default_rng(0)
    edges = (np.linspace(-1, 1, 13),) * 2
    cells = CellCounts(edges, rng.normal(size=144) * 50, 50.0, 1_000)
    assert not grid._surplus(cells, np.zeros(144)).any()


@pytest.mark.heavy
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("n", [1, 500])
def test_all_in_one_cell_and_few_reports_give_centres_in_the_box(k, n):
    found, _ = learnt(np.full((n, 2), [30.0, 5.0]), k, cells=5)
    assert found.centers.shape == (k, 2)
    assert np.all(BOX.contains(found.centers))
    assert found.labels.shape == (n,)
    assert found.labels.max() < k


@pytest.mark.heavy
def test_one_column_and_one_cluster():
    rows = np.random.default_rng(0).normal(30, 2, (5_000, 1))
    found, _ = learnt(rows, 1, box=Box(age=(0, 100)))
    assert abs(found.centers[0, 0] - 30) < 3


@pytest.mark.heavy
def test_four_columns():
    rng = np.random.default_rng(0)
    means = np.array([[-0.5, -0.5, 0.5, 0.0], [0.5, 0.4, -0.4, 0.2]])
    rows = means[rng.integers(0, 2, 40_000)] + 0.1 * rng.normal(size=(40_000, 4))
    box = Box.of(list("abcd"), [-1.0] * 4, [1.0] * 4)
    found, _ = learnt(rows, 2, box=box, cells=5)
    assert np.abs(found.centers[np.argsort(found.centers[:, 0])] - means).max() < 0.15


@pytest.mark.heavy
def test_progress_is_heard():
    heard = []
    mechanism = LocalGrid(BOX, epsilon=1.0, cells=4)
    reports = mechanism.release(people(500), Randomness(1).noise)
    grid.learn(reports, 2, Randomness(1), HALF, heard.append)
    assert heard == sorted(heard)
    assert 0 < heard[0] < heard[-1] <= 1


def test_other_reports_are_refused():
    laplace = PlanarLaplace(1.0).release([[0.0, 0.0]], Randomness(1).noise)
    with pytest.raises(NotAReport, match="LocalGrid"):
        grid.learn(laplace, 2, Randomness(1), HALF)
    touched = Reports(np.array([1, 2]), LocalGrid(BOX, epsilon=1, cells=4), clamp(BOX))
    with pytest.raises(NotAReport):
        grid.learn(touched, 2, Randomness(1), HALF)
