import numpy as np
import pytest

from shoal.cluster.intervals._half_widths import (
    Deviations,
    distance_to_next,
    half_widths,
    match_centers,
    pooled_half_width,
)

CENTERS = np.array([[-0.5, 0.0], [0.5, 0.0]])


def deviations(refits=12, spread=0.02, flips=0, bias=0.0):
    rng = np.random.default_rng(1)
    at = bias + rng.normal(0, spread, (refits, 2, 2))
    at[:flips, 1] = 0.9
    return Deviations(at, rng.normal(0, 10, (refits, 2)))


def test_width_follows_the_spread_of_refits():
    narrow, _ = half_widths(deviations(), CENTERS, 0.9)
    wide, _ = half_widths(deviations(spread=0.04), CENTERS, 0.9)
    np.testing.assert_allclose(wide, 2 * narrow)
    assert 0.02 < narrow.mean() < 0.06


def test_a_bias_counts_at_least_as_much_as_noise():
    narrow, _ = half_widths(deviations(), CENTERS, 0.9)
    biased, _ = half_widths(deviations(bias=0.08), CENTERS, 0.9)
    assert (biased > 0.08).all()
    assert (biased > 2 * narrow).all()


def test_a_group_that_flips_too_often_has_no_interval():
    at, sizes = half_widths(deviations(flips=4), CENTERS, 0.9)
    assert np.isnan(at[1]).all()
    assert np.isnan(sizes[1])
    assert np.isfinite(at[0]).all()


def test_a_rare_flip_is_left_out_and_the_rate_raised_for_it():
    without, _ = half_widths(deviations(), CENTERS, 0.9)
    once, _ = half_widths(deviations(flips=1), CENTERS, 0.9)
    assert np.isfinite(once[1]).all()
    assert once[1].max() < 0.2  # not as wide as the flip is far
    assert once[1].mean() > without[1].mean()


def test_an_interval_that_reaches_another_group_is_none():
    at, _ = half_widths(deviations(spread=0.3), CENTERS, 0.9)
    assert np.isnan(at).all()


def test_a_single_group_is_never_next_to_another():
    assert distance_to_next(CENTERS[:1]).tolist() == [np.inf]
    alone = Deviations(np.full((8, 1, 2), 0.4), np.zeros((8, 1)))
    at, sizes = half_widths(alone, CENTERS[:1], 0.9)
    assert np.isfinite(at).all()
    assert sizes.tolist() == [0.0]


def test_pooling_draws_a_width_to_that_of_its_like():
    own = pooled_half_width(np.array([1.0, 9.0]), 5.0, 8, 0.9)
    assert own[1] / own[0] == pytest.approx(np.sqrt((8 * 9 + 4 * 5) / (8 * 1 + 4 * 5)))


def test_centres_are_matched_by_least_squares_in_all():
    swapped = CENTERS[::-1] + 0.1
    assert match_centers(CENTERS, swapped).tolist() == [1, 0]
