import numpy as np
import pytest

from shoal.planning._error_curve import curve_of, falling


def errors(levels):
    """Two fits of two centres in one column, all coordinates off by as much."""
    return {epsilon: [np.full((2, 1), level)] * 2 for epsilon, level in levels.items()}


def test_a_band_reaches_from_the_clearest_shape_to_the_least_clear():
    curve = curve_of("central", {"a": errors({1: 0.01}), "b": errors({1: 0.2})}, 1_000, 0.05)
    (band,) = curve.bands
    assert (band.low, band.high) == pytest.approx((0.01 / 1.6, 0.2 * 1.6))
    assert band.by_shape == pytest.approx({"a": 0.01, "b": 0.2})
    assert band.most == pytest.approx((0.01, 0.2))


def test_the_needed_budget_lies_between_two_tried_ones():
    curve = curve_of("central", {"a": errors({0.1: 0.5, 1.0: 0.005})}, 10_000, 0.05)
    assert curve.epsilon == pytest.approx((10**-0.5,) * 2)


def test_a_level_that_is_lost_again_was_not_reached():
    levels = {0.1: 0.01, 1.0: 0.2, 2.0: 0.01}
    assert curve_of("central", {"a": errors(levels)}, 1_000, 0.05).epsilon.low > 1.0


def test_what_no_budget_reaches_is_none():
    curve = curve_of("central", {"a": errors({1: 0.01}), "b": errors({1: 0.2})}, 1_000, 0.05)
    assert curve.epsilon == (1, None)
    assert curve.bands[0].people == (1_000, None)
    nothing = curve_of("central", {"b": errors({1: 0.2})}, 1_000, 0.05)
    assert nothing.epsilon == (None, None)


def test_a_curator_needs_people_in_inverse_proportion_to_epsilon():
    curve = curve_of("central", {"a": errors({1: 0.01, 2: 0.01})}, 10_000, 0.05)
    assert [band.people.low for band in curve.bands] == [10_000, 5_000]


def test_reports_need_people_as_their_noise_does():
    curve = curve_of("local", {"a": errors({1: 0.01, 2: 0.01})}, 10_000, 0.05)
    ratio = (np.sinh(0.5) / np.sinh(1)) ** 2
    assert curve.bands[1].people.low == pytest.approx(10_000 * ratio)


def test_people_are_never_fewer_than_thirty_a_group():
    curve = curve_of("central", {"a": errors({1: 0.01, 10_000: 0.01})}, 1_000, 0.05)
    assert curve.bands[1].people.low == 60


def test_a_band_does_not_rise_with_the_budget():
    levels = {1.0: 0.04, 2.0: 0.01, 4.0: 0.02, 8.0: 0.001}
    bands = curve_of("central", {"a": errors(levels)}, 1_000, 0.05).bands
    assert [band.low for band in bands] == sorted((band.low for band in bands), reverse=True)
    assert [band.high for band in bands] == sorted((band.high for band in bands), reverse=True)
    assert bands[1].high == bands[2].high == pytest.approx(1.6 * np.sqrt(0.01 * 0.02))


def test_errors_that_fall_already_stay_as_they_are():
    levels = {0.5: 0.3, 1.0: 0.2, 2.0: 0.0}
    assert falling(levels) == pytest.approx(levels)


def test_the_typical_error_and_the_bad_case_count_shapes_by_their_weight():
    alike = {"clear": errors({1: 0.01}), "near": errors({1: 0.2})}
    unlike = {"clear": errors({1: 0.01}), "no gaps": errors({1: 0.2})}
    even, uneven = (curve_of("central", each, 1_000, 0.05).bands[0] for each in (alike, unlike))
    assert 0.01 < even.typical < uneven.typical <= uneven.bad
    assert even.bad == uneven.bad == pytest.approx(0.2)


def test_the_needed_budget_is_that_of_the_bad_case_and_people_follow_from_it():
    levels = {0.1: 0.5, 1.0: 0.005}
    curve = curve_of("central", {"a": errors(levels)}, 10_000, 0.05)
    assert curve.needed == pytest.approx(10**-0.5)
    assert curve.bands[1].people_needed == pytest.approx(10_000 * 10**-0.5)
    assert curve_of("central", {"a": errors({1: 0.2})}, 100, 0.05).needed is None


def test_a_group_comes_back_if_it_is_nearer_to_its_place_than_half_way_to_the_next():
    reaches = {"a": [np.array([0.1, 0.5])] * 2}
    curve = curve_of("central", {"a": errors({1: 0.2})}, 1_000, 0.05, reaches)
    assert curve.bands[0].came_back == 0.5


def test_a_curve_of_an_earlier_version_is_read():
    curve = curve_of("central", {"a": errors({1: 0.01})}, 1_000, 0.05)
    values = curve.to_dict()
    for name in ("typical", "bad", "came_back", "people_needed"):
        del values["bands"][0][name]
    del values["needed"]
    (band,) = type(curve).of(values).bands
    assert (band.typical, band.bad) == (pytest.approx(0.01), band.high)
