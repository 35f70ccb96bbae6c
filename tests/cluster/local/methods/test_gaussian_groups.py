"""Round groups behind noisy counts."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.cluster.local.methods._gaussian_groups import (
    CellCounts,
    GaussianGroups,
    _factors,
    _outer,
    _Problem,
    fit_groups,
    greedy_start,
)

EDGES = (np.linspace(-1, 1, 13), np.linspace(-1, 1, 9))
CENTERS = np.array([[-0.5, -0.4], [0.5, 0.3]])
TRUE = GaussianGroups(CENTERS, np.log([0.1, 0.15]), np.array([6_000.0, 4_000.0]), 0.0)


def cells(noise: float = 0.0, seed: int = 0) -> CellCounts:
    empty = CellCounts(EDGES, np.zeros(96), 1.0, 10_000)
    counts = TRUE.masses(empty) + noise * np.random.default_rng(seed).normal(size=96)
    return CellCounts(EDGES, counts, max(noise, 5.0), 10_000)


def test_masses_sum_to_the_sizes_whatever_lies_beyond_the_walls():
    near = GaussianGroups(np.array([[0.99, 0.99]]), np.log([0.3]), np.array([100.0]), 0.0)
    assert np.isclose(near.masses(cells()).sum(), 100)


def test_masses_are_those_of_drawn_points():
    rng = np.random.default_rng(0)
    points = CENTERS[0] + 0.1 * rng.normal(size=(200_000, 2))
    drawn = np.histogram2d(*np.clip(points, -1, 1).T, bins=EDGES)[0].ravel()
    one = GaussianGroups(CENTERS[:1], np.log([0.1]), np.array([200_000.0]), 0.0)
    assert np.abs(one.masses(cells()) - drawn).max() < 5.5 * np.sqrt(drawn.max())


def test_moments_over_masses_are_means_inside_the_cells():
    means = TRUE.moments(cells()) / TRUE.masses(cells())[:, None]
    low = cells().middles - cells().sides / 2
    assert np.all((means >= low - 1e-9) & (means <= low + cells().sides + 1e-9))
    overall = TRUE.moments(cells()).sum(axis=0) / 10_000
    np.testing.assert_allclose(overall, 0.6 * CENTERS[0] + 0.4 * CENTERS[1], atol=2e-3)


@pytest.mark.parametrize("axis", [0, 1])
def test_derivatives_are_those_of_differences(axis):
    step = np.zeros((2, 2))
    step[:, axis] = 1e-6
    masses, by_center, by_width = _factors(CENTERS, TRUE.widths, cells())
    moved = _factors(CENTERS + step, TRUE.widths, cells())[0]
    np.testing.assert_allclose((moved[axis] - masses[axis]) / 1e-6, by_center[axis], atol=1e-4)
    wider = _factors(CENTERS, TRUE.widths + 1e-6, cells())[0]
    np.testing.assert_allclose((wider[axis] - masses[axis]) / 1e-6, by_width[axis], atol=1e-4)


def test_the_expansion_is_the_slope_of_the_cost():
    problem = _Problem(cells(noise=50.0), 2)
    at = problem.at(CENTERS + 0.05, TRUE.widths)
    _, slope = problem._expansion(at)
    for place in range(4):
        step = np.zeros(4)
        step[place] = 1e-5
        there = problem.at(at.centers + step.reshape(2, 2).T, at.widths)
        back = problem.at(at.centers - step.reshape(2, 2).T, at.widths)
        # half the cost falls along the slope; sizes are at their best, so they add nothing
        assert np.isclose((back.cost - there.cost) / 4e-5, slope[place], rtol=1e-3, atol=1e-2)


def test_a_fit_finds_groups_behind_noise():
    noisy = cells(noise=60.0)
    starts = [greedy_start(noisy, 2, 0.1, 1.0, np.random.default_rng(s)) for s in range(3)]
    best = min((fit_groups(noisy, start) for start in starts), key=lambda fit: fit.cost)
    order = np.argsort(best.centers[:, 0])
    np.testing.assert_allclose(best.centers[order], CENTERS, atol=0.04)
    np.testing.assert_allclose(best.sizes[order], TRUE.sizes, rtol=0.2)


def test_a_fit_never_gets_worse():
    noisy = cells(noise=200.0)
    start = np.random.default_rng(1).uniform(-1, 1, (4, 2))
    problem = _Problem(noisy, 4)
    assert fit_groups(noisy, start).cost <= problem.at(start, np.full(4, problem.usual)).cost


def test_a_group_on_a_corner_of_cells_is_started_there():
    corner = GaussianGroups(np.array([[0.0, 0.25]]), np.log([0.05]), np.array([10_000.0]), 0.0)
    shared = replace(cells(), counts=corner.masses(cells()))
    start = greedy_start(shared, 1, 0.05, 1e-3, np.random.default_rng(0))
    assert np.all(np.abs(start - corner.centers) < 0.3 * shared.sides)
    assert np.all(np.abs(start - corner.centers) < 0.12)


def test_a_group_is_left_out():
    left = TRUE.without(0)
    np.testing.assert_array_equal(left.centers, CENTERS[1:])
    assert (left.widths.tolist(), left.sizes.tolist()) == ([np.log(0.15)], [4_000.0])


def test_a_greedy_start_takes_the_peaks():
    start = greedy_start(cells(noise=5.0), 4, 0.1, 1.0, np.random.default_rng(0))
    gaps = np.linalg.norm(start[:, None] - CENTERS, axis=2)
    assert gaps.min(axis=0).max() < 0.2
    assert gaps[0, 0] < 0.2  # the highest first


@pytest.mark.parametrize("counts", [np.zeros(96), np.full(96, -5.0), np.eye(96)[7] * 10_000])
@pytest.mark.parametrize("k", [1, 3])
def test_counts_of_any_kind_are_fitted(counts, k):
    some = CellCounts(EDGES, counts, 100.0, 10_000)
    fit = fit_groups(some, greedy_start(some, k, 0.1, 1.0, np.random.default_rng(0)))
    assert np.all(np.isfinite(fit.centers))
    assert np.all(fit.sizes >= 0)


def test_products_run_over_the_last_axis_fastest():
    parts = [np.array([[1.0, 2.0]]), np.array([[3.0, 5.0, 7.0]])]
    assert _outer(parts).tolist() == [[3, 5, 7, 6, 10, 14]]
