import numpy as np
import pytest

from shoal.cluster.local._number_of_clusters import choose_number
from shoal.domain import Box
from shoal.errors import InvalidSetting
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.randomness import Randomness

BOX = Box.unit(2)
PLACES = np.array([[0.2, 0.25], [0.75, 0.2], [0.5, 0.8], [0.15, 0.7]])


def rows(k, n=20_000):
    return BOX.clip(np.random.default_rng(k).normal(PLACES[np.arange(n) % k], 0.04))


@pytest.mark.heavy
@pytest.mark.parametrize("k", [3, 4])
def test_groups_behind_cells_are_counted(k):
    grid = LocalGrid(BOX, epsilon=2, n_expected=20_000)
    reports = grid.release(rows(k), Randomness(1).noise)
    choice = choose_number(reports, range(2, 7), random_state=1)
    assert choice.value == k
    assert choice.guarantee.epsilon == 2


@pytest.mark.heavy
@pytest.mark.parametrize("k", [3, 4])
def test_groups_behind_noisy_places_are_counted(k):
    noise = NDLaplace(15, domain=BOX)
    reports = noise.release(rows(k, 3_000), Randomness(1).noise)
    assert choose_number(reports, range(2, 7), random_state=1).value == k


def test_an_unknown_rule_is_refused():
    reports = NDLaplace(15, domain=BOX).release(rows(3, 300), Randomness(1).noise)
    with pytest.raises(InvalidSetting):
        choose_number(reports, range(2, 6), "eye", random_state=1)
