"""Groups looked for from many starts, and put elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.cluster.local.methods._gaussian_groups import (
    CellCounts,
    GaussianGroups,
    fit_from_many_starts,
    fit_groups,
    move_groups,
    unexplained_places,
)

EDGES = (np.linspace(-1, 1, 11), np.linspace(-1, 1, 11))
CENTERS = np.array([[-0.55, -0.5], [0.55, 0.45], [0.5, -0.6]])
TRUE = GaussianGroups(CENTERS, np.log([0.1, 0.1, 0.1]), np.array([4_000.0, 3_000.0, 3_000.0]), 0.0)


@pytest.fixture(scope="module")
def cells() -> CellCounts:
    empty = CellCounts(EDGES, np.zeros(100), 60.0, 10_000)
    noise = 60 * np.random.default_rng(0).normal(size=100)
    return replace(empty, counts=TRUE.masses(empty) + noise)


def farthest(centers: np.ndarray) -> float:
    return float(np.linalg.norm(CENTERS[:, None] - centers, axis=2).min(axis=1).max())


def test_a_group_that_shares_a_cluster_is_put_on_the_missed_one(cells):
    stuck = replace(TRUE, centers=CENTERS[[0, 0, 1]], sizes=np.array([2e3, 2e3, 3e3]))
    moved = move_groups(cells, stuck, np.random.default_rng(0))
    assert len(moved) == 3
    assert farthest(min(moved, key=lambda fit: fit.cost).centers) < 0.05


def test_a_spare_place_is_where_the_fit_explains_least(cells):
    place = unexplained_places(cells, TRUE.without(2), 1, np.random.default_rng(0))
    assert np.linalg.norm(place - CENTERS[2]) < 0.2


def test_one_group_alone_may_be_placed_anew(cells):
    alone = fit_groups(cells, CENTERS[:1])
    (moved,) = move_groups(cells, alone, np.random.default_rng(0))
    assert np.all(np.isfinite(moved.centers))


@pytest.mark.heavy
def test_many_starts_and_moves_find_the_groups(cells):
    fits = fit_from_many_starts(cells, 3, np.random.default_rng(0))
    assert farthest(min(fits, key=lambda fit: fit.cost).centers) < 0.05


@pytest.mark.heavy
def test_progress_is_heard_before_the_end(cells):
    heard = []
    fit_from_many_starts(cells, 1, np.random.default_rng(0), heard.append)
    assert heard == sorted(heard)
    assert 0 < heard[0] < heard[-1] < 1
