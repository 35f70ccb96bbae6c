import numpy as np
import pytest

from shoal.cluster.wave._noise import NoiseLaw, NoisyGrid
from shoal.cluster.wave._scale import cells_an_axis, suggested_sigma


def test_sparser_grids_are_smoothed_more():
    full, thin = np.full((20, 20), 20.0), np.full((20, 20), 0.3)
    assert suggested_sigma(NoisyGrid(full, 2.0)) == 0.7
    assert suggested_sigma(NoisyGrid(thin, 2.0)) > 1.5
    assert suggested_sigma(NoisyGrid(-thin, 2.0)) == 5.6
    assert suggested_sigma(NoisyGrid(full)) == 0.7


def test_without_noise_the_filter_is_as_wide_as_sampling_asks():
    """1,000 rows in 100 x 100 cells: the filter's cells hold 1.7 squared rows in the mean."""
    sigma = suggested_sigma(NoisyGrid(np.full((100, 100), 0.1)))
    assert 4 * np.pi * sigma**2 * 0.1 == pytest.approx(1.7**2)


def test_less_noise_never_makes_the_filter_wider():
    rows = np.full((30, 30), 1.0)
    widths = [suggested_sigma(NoisyGrid(rows, variance)) for variance in (8.0, 2.0, 0.4, 0.0)]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(("epsilon", "sigma"), [(0.7, 0.7), (6, 1.1)])
def test_the_filter_is_as_wide_as_a_grid_was_made_for(d, epsilon, sigma):
    """Where noise is small, cells are finer than the filter."""
    n = 2_000
    cells = round(cells_an_axis(n, epsilon, d))
    grid = NoisyGrid(np.full((cells,) * d, n / cells**d), NoiseLaw(epsilon).variance)
    assert suggested_sigma(grid) == pytest.approx(sigma, rel=0.1)


def test_a_larger_budget_makes_finer_cells_up_to_those_of_sampling():
    fine = [cells_an_axis(3_000, epsilon, 2) for epsilon in (0.25, 0.5, 1, 2, 4, 8, 16)]
    assert fine == sorted(fine)
    assert fine[-1] / fine[-2] < 1.01


def test_in_four_columns_the_filter_holds_a_row_whatever_the_budget():
    thin = np.full((10, 10, 10, 10), 1 / 16)
    assert suggested_sigma(NoisyGrid(thin, 0.01)) == suggested_sigma(NoisyGrid(thin)) == 2.0


def test_the_largest_budget_has_cells_too():
    assert 20 < cells_an_axis(1_000, 1_000, 2) < 1_000
