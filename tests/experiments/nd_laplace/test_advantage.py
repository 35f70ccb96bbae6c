import numpy as np
import pytest

from shoal.experiments.nd_laplace._advantage import best_advantage
from shoal.mechanisms import NDLaplace
from shoal.randomness import Randomness


@pytest.mark.parametrize("d", [1, 2, 3, 7, 30])
def test_the_integral_is_what_the_nearer_record_wins_in_a_simulation(d):
    first, second = np.zeros(d), np.zeros(d)
    second[0] = 1.5
    draws = 40_000
    noise = NDLaplace(1.0).release(np.zeros((draws, d)), Randomness(d).noise).values
    is_nearer = [
        np.linalg.norm(record + noise - first, axis=1)
        < np.linalg.norm(record + noise - second, axis=1)
        for record in (first, second)
    ]
    simulated = is_nearer[0].mean() - is_nearer[1].mean()
    assert best_advantage(1.0, 1.5, d) == pytest.approx(simulated, abs=0.015)


def test_more_columns_tell_less_at_one_distance_and_as_much_where_the_distance_grows():
    columns = (1, 2, 3, 7, 10, 30)
    fixed = [best_advantage(1.0, 1.0, d) for d in columns]
    assert fixed == sorted(fixed, reverse=True)
    growing = [best_advantage(1.0, d**0.5, d) for d in columns]
    assert max(growing) - min(growing) < 0.02


def test_only_epsilon_times_the_distance_counts():
    assert best_advantage(2.0, 0.5, 4) == pytest.approx(best_advantage(0.5, 2.0, 4))
    assert best_advantage(1.0, 0.0, 4) == pytest.approx(0.0, abs=1e-9)
