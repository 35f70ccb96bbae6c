import numpy as np
import pytest

from shoal.apps.demo_story import Release, result
from shoal.domain import Box, Grid
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

GRID = Grid(Box(sessions_per_week=(0, 30), minutes_per_session=(0, 120)), 30)


def a_release(epsilon=1, simulation=False):
    counts = np.random.default_rng(2).poisson(11, GRID.shape)
    promise = PureDP(epsilon, simulation=simulation)
    return Release(GRID, Geometric(PureDP(epsilon)), counts, promise, Ledger())


@pytest.mark.parametrize("simulation", [False, True])
@pytest.mark.parametrize("epsilon", [1, "0.25", "1/3"])
def test_the_code_on_the_page_runs_and_keeps_the_promise(epsilon, simulation):
    code = result(a_release(epsilon, simulation)).settings["code"].value
    names = {}
    exec(code, names)
    assert names["noisy_counts"].sum() == pytest.approx(10_000, abs=2_000)
    assert names["page"].total() == PureDP(epsilon, simulation=simulation)


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "1", "3"])
def test_stated_errors_cover_95_of_100_draws(epsilon):
    # 40,000 draws: a share of 0.95 has a standard error of 0.0011; 0.94 is nine of them away.
    release = a_release(epsilon)
    noise = release.noise.release(np.zeros(40_000, dtype=int), Randomness(11).noise)
    assert np.mean(np.abs(noise) <= release.off_in_a_cell()) >= 0.945
    sums = release.noise.release(np.zeros((4_000, 9), dtype=int), Randomness(12).noise).sum(axis=1)
    assert np.mean(np.abs(sums) <= release.off_in_a_sum(9)) >= 0.935


def test_stated_errors_are_not_idle():
    release = a_release(1)
    assert release.off_in_a_cell() == 3
    assert release.off_in_a_sum(9) == 9


def test_a_map_without_people_makes_a_page_too():
    empty = Release(GRID, Geometric(PureDP(1)), np.zeros(GRID.shape, int), PureDP(1), Ledger())
    assert result(empty).released["tables"].value[0]["rows"] == []
