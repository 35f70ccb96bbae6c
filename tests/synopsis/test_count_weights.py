import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InvalidSetting
from shoal.synopsis import weights_of

counts = st.lists(st.integers(-30, 300), max_size=30)


def test_the_largest_counts_are_kept_until_they_reach_the_number_of_rows():
    assert weights_of([5, 9, 1, -3, 2], 14).tolist() == [5, 9, 0, 0, 0]


def test_cells_tied_with_the_last_one_kept_are_kept():
    assert weights_of([4, 2, 2, 2, 1], 7).tolist() == [4, 2, 2, 2, 0]


def test_all_that_is_positive_is_kept_where_it_is_not_enough():
    assert weights_of([4, -1, 2], 100).tolist() == [4, 0, 2]


@pytest.mark.heavy
@given(counts, st.integers(1, 500))
def test_a_smaller_cut_would_not_reach_the_number_of_rows(noisy, n_rows):
    weights = weights_of(noisy, n_rows)
    kept = weights[weights > 0]
    if kept.sum() > n_rows:
        assert kept[kept > kept.min()].sum() < n_rows
    elif kept.sum() < n_rows:
        np.testing.assert_array_equal(weights, np.maximum(noisy, 0))


@pytest.mark.heavy
@given(counts.filter(len), st.integers(1, 500))
def test_taking_the_same_off_every_count_leaves_the_number_of_rows(noisy, n_rows):
    weights = weights_of(noisy, n_rows, "norm-sub")
    assert weights.sum() == pytest.approx(n_rows)
    taken = (np.array(noisy) - weights)[weights > 0]
    assert np.ptp(taken) == pytest.approx(0, abs=1e-9)
    assert np.all(np.array(noisy)[weights == 0] <= taken[0] + 1e-9)


def test_a_threshold_keeps_what_is_above_it_and_never_the_negative():
    assert weights_of([5, 3, 1, -1], 9, "threshold", 3).tolist() == [5, 0, 0, 0]
    assert weights_of([5, -1], 9, "threshold", -4).tolist() == [5, 0]


def test_zeroing_gives_empty_cells_mass():
    assert weights_of([5, 3, -1], 1, "zero").tolist() == [5, 3, 0]


@pytest.mark.parametrize("negative", ["norm-cut", "norm-sub", "threshold", "zero"])
def test_no_cells_have_no_weights(negative):
    assert weights_of([], 5, negative).tolist() == []


@pytest.mark.parametrize("negative", ["", "cut", None, 3, []])
def test_a_rule_there_is_not_is_refused(negative):
    with pytest.raises(InvalidSetting, match="norm-cut"):
        weights_of([1], 1, negative)
