import numpy as np
import pytest

from shoal.cluster.group_sizes import (
    GroupCounts,
    NoiseSum,
    combine_counts,
    warn_if_no_group_is_certain,
    whole_shares,
)
from shoal.errors import NoGroupsDetected

NOISE = NoiseSum.geometric(step=0.1)


def counted(*sizes):
    return GroupCounts.alike(np.array(sizes, dtype=float), NOISE)


def test_the_total_is_the_inverse_variance_mean_of_both_counts():
    """Rows carry one noise and the sum of three groups three: weights 3 to 1."""
    found = combine_counts(1_000, NOISE, counted(500, 300, 160))
    assert found.n_rows == 990
    assert found.sizes.sum() == pytest.approx(990)
    np.testing.assert_allclose(found.sizes, [510, 310, 170])


def test_a_public_number_of_rows_stays():
    found = combine_counts(1_000, None, counted(500, 300, 160))
    assert (found.n_rows, found.within) == (1_000, 0)
    assert found.sizes.sum() == pytest.approx(1_000)


def test_weights_of_cells_are_kept_in_proportion():
    cells = GroupCounts(np.array([500.0, 460.0]), (NOISE, NOISE), 960.0, NOISE)
    found = combine_counts(1_000, NOISE, cells, np.array([300.0, 100.0]))
    assert found.n_rows == 980
    np.testing.assert_allclose(found.sizes, [735, 245])


def test_no_group_holds_fewer_than_nobody_and_the_sum_stays():
    found = combine_counts(1_000, NOISE, counted(1_020, -40))
    assert (found.sizes >= 0).all()
    assert found.sizes.sum() == pytest.approx(found.n_rows)


def test_groups_within_the_noise_are_not_told():
    found = combine_counts(1_000, NOISE, counted(950, 40))
    assert found.is_certain.tolist() == [True, False]
    assert found.rows_detected
    assert 45 < found.reach[1] < 100


def test_a_table_of_nobody_is_told_neither_whole_nor_in_parts():
    found = combine_counts(40, NOISE, counted(12, -9))
    assert not found.rows_detected
    assert not found.is_certain.any()


def test_more_groups_to_choose_from_reach_further():
    few = combine_counts(1_000, NOISE, counted(*[100] * 2)).reach.max()
    many = combine_counts(1_000, NOISE, counted(*[100] * 50)).reach.max()
    assert many > few


@pytest.mark.parametrize("seed", range(5))
def test_whole_numbers_add_up_and_are_never_one_off(seed):
    rng = np.random.default_rng(seed)
    total = int(rng.integers(1, 10_000))
    parts = rng.dirichlet(np.ones(7)) * total
    whole = whole_shares(parts, total)
    assert sum(whole) == total
    assert np.abs(np.array(whole) - parts).max() < 1


def test_the_warning_says_whether_anybody_is_there():
    with pytest.warns(NoGroupsDetected, match="an empty table"):
        warn_if_no_group_is_certain(np.array([False]), rows_detected=False)
    with pytest.warns(NoGroupsDetected, match="not empty"):
        warn_if_no_group_is_certain(np.zeros(0, dtype=bool), rows_detected=True)
    warn_if_no_group_is_certain(np.array([False, True]), rows_detected=True)
