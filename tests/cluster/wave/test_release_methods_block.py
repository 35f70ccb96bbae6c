import math

import numpy as np
import pytest

from shoal.cluster.wave._noise import NoiseLaw
from shoal.cluster.wave._release_methods import Block
from shoal.cluster.wave._transform import Transform
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

NOBODY = np.zeros((96, 96), dtype=np.int64)


def released(transform: Transform, counts: np.ndarray = NOBODY, epsilon: float = 1.0):
    page = Ledger.of(None).open(PureDP(epsilon), by="test")
    nobody = rows_of(np.zeros((0, 2)), Box.unit(2))  # the counts are given
    spending = Spending(nobody, page, page.budget, Randomness(4))
    return Block().release(spending, counts, transform), page.total()


@pytest.mark.parametrize("wavelet", ["haar", "db2", "sym4", "bior2.2"])
@pytest.mark.parametrize("level", [1, 2])
def test_the_noise_is_as_large_as_it_says_and_all_is_spent(wavelet, level):
    grid, spent = released(Transform((96, 96), level, wavelet))
    inner = grid.values[4:-4, 4:-4]
    assert inner.var() == pytest.approx(grid.variance, rel=0.35 if wavelet == "bior2.2" else 0.15)
    assert spent.epsilon == 1


def test_blocks_carry_the_noise_of_one_count_at_any_level():
    for level in (0, 1, 3):
        grid, _ = released(Transform((96, 96), level))
        assert grid.law == NoiseLaw(1.0)
        assert grid.values.dtype == np.int64


def test_noise_goes_where_it_is_smaller():
    """On the coefficients for db2, on the cells for bior2.2; standard deviations at epsilon 1."""
    for wavelet, expected in (("haar", 1.36), ("db2", 1.32), ("bior2.2", 1.95)):
        grid, _ = released(Transform((96, 96), 1, wavelet))
        assert math.sqrt(grid.variance) == pytest.approx(expected, abs=0.02)


def test_rows_stay_in_their_blocks():
    counts = NOBODY.copy()
    counts[10, 20] = 5000
    grid, _ = released(Transform((96, 96), 2), counts)
    assert np.unravel_index(grid.values.argmax(), grid.values.shape) == (2, 5)
    assert grid.values.max() == pytest.approx(5000, abs=30)


def test_a_budget_too_small_for_a_long_filters_coefficients_is_spent_on_the_cells():
    transform = Transform((96, 96), level=1, wavelet="sym4")
    assert transform.on_subband
    grid, spent = released(transform, epsilon=1e-7)
    assert spent == PureDP(1e-7).simulated()
    assert grid.values[4:-4, 4:-4].var() == pytest.approx(grid.variance, rel=0.3)
