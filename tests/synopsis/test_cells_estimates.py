import numpy as np
import pytest

from shoal.domain import Box
from shoal.synopsis import AdaptiveGrid, PrivTree, Synopsis, UniformGrid

rng = np.random.default_rng(3)
X = rng.normal(0.5, 0.1, (3_000, 2))


@pytest.mark.parametrize("kind", [AdaptiveGrid, UniformGrid, PrivTree])
def test_all_cells_add_up_to_the_rows_within_their_noise(kind):
    """Six deviations of geometric noise in hundreds of cells: below 1e-8."""
    synopsis = kind(epsilon=1, domain=Box.unit(2), random_state=1).fit(X)
    total, noises, step = synopsis._all_cells
    assert abs(total - 3_000) < 6 * np.sqrt(2 * noises) / step


@pytest.mark.heavy
def test_regions_of_settled_cells_carry_the_noise_that_is_said():
    """300 releases of an empty table: the variance of a region's sum within 5 deviations."""
    sums, noises = [], []
    for seed in range(300):
        grid = AdaptiveGrid(epsilon=1, domain=Box.unit(2), n_public=5_000, random_state=seed)
        estimates = grid.fit(np.zeros((0, 2)))._estimates
        low, high = estimates.corners()
        labels = ((low + high)[:, 0] / 2 > 0.3).astype(np.int64)
        found = estimates.added(labels, 2)
        sums.append(found.sums[0] * estimates.step)
        noises.append(found.noises[0])
    expected = 2 * np.mean(noises)
    assert np.var(sums) == pytest.approx(expected, rel=5 * np.sqrt(2 / 300))


def test_what_all_cells_added_up_to_is_kept_with_a_synopsis(tmp_path):
    synopsis = AdaptiveGrid(epsilon=1, domain=Box.unit(2), random_state=1).fit(X)
    synopsis.save(tmp_path / "kept")
    assert Synopsis.load(tmp_path / "kept")._all_cells == synopsis._all_cells


def test_cells_that_were_never_made_are_in_no_sum():
    sparse = UniformGrid(epsilon=1, domain=Box.unit(2), sparse=True, random_state=1).fit(X)
    assert sparse._estimates is None
    assert sparse._all_cells is None


def test_a_second_fit_forgets_what_the_first_one_paid_for():
    rng = np.random.default_rng(1)
    grid = UniformGrid(epsilon=1, domain=Box.unit(2), cells=8, random_state=1)
    grid.fit(rng.random((500, 2)))
    assert grid._all_cells is not None
    grid.set_params(sparse=True).fit(rng.random((50, 2)))
    assert grid._all_cells is None
    assert grid._estimates is None
