"""Restrict: reports inside the box, a promise of its own, and a refusal where it is hopeless."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from shoal import Box, NDLaplace, Randomness
from shoal.errors import InvalidDomain, InvalidSetting, NotAReport, OutsideDomain, UnknownBounds
from shoal.mechanisms import Piecewise, Restrict, bayes_remap

SQUARE = Box(x=(-1, 1), y=(0, 3))


def noise(seed=7):
    return Randomness(seed).noise


@pytest.mark.heavy
@given(st.floats(0.5, 20), st.floats(-1, 1), st.floats(0, 3))
@settings(max_examples=40, deadline=None)
def test_every_report_lies_in_the_box(epsilon, x, y):
    restricted = Restrict(NDLaplace(epsilon), SQUARE)
    reports = restricted.release(np.tile([x, y], (50, 1)), noise())
    assert SQUARE.contains(reports.values).all()
    assert reports.mechanism is restricted


def test_calibrated_noise_is_drawn_at_half_and_promises_the_whole():
    restricted = Restrict(NDLaplace(2.0), SQUARE)
    assert restricted.guarantee.epsilon == 2
    assert restricted.drawn.guarantee.epsilon == 1
    assert restricted.guarantee.slack == 2 * restricted.drawn.guarantee.slack


def test_uncalibrated_noise_promises_twice_its_epsilon():
    restricted = Restrict(NDLaplace(2.0, domain=SQUARE), calibrate=False)
    assert restricted.guarantee.epsilon == 4
    assert restricted.drawn.guarantee.epsilon == 2


def test_reports_have_the_law_of_the_noise_cut_to_the_box():
    box = Box(x=(0, 4))
    reports = Restrict(NDLaplace(2.0), box).release(np.full((100_000, 1), 1.0), noise())
    law = stats.laplace(1, 1)  # drawn at epsilon 1

    def cut(z):
        return (law.cdf(z) - law.cdf(0)) / (law.cdf(4) - law.cdf(0))

    assert stats.kstest(reports.values[:, 0], cut).pvalue > 1e-6


def test_acceptance_at_the_corner_is_what_draws_show():
    restricted = Restrict(NDLaplace(2.0, domain=SQUARE), calibrate=True)
    plain = restricted.drawn.release(np.tile(SQUARE.low, (200_000, 1)), noise()).values
    seen = SQUARE.contains(plain).mean()
    assert abs(seen - restricted.acceptance) < 6 * math.sqrt(seen / 200_000)


def test_a_box_too_tight_for_the_noise_is_refused():
    with pytest.raises(
        InvalidDomain,
        match="one draw in",
        check=lambda error: error.reason == "restriction too tight",
    ):
        Restrict(NDLaplace(0.01), SQUARE)


def test_ten_columns_are_always_too_many():
    with pytest.raises(
        InvalidDomain, match="1,024", check=lambda error: error.reason == "restriction too tight"
    ):
        Restrict(NDLaplace(1000.0), Box.unit(10))


def test_noise_without_a_lattice_is_refused():
    with pytest.raises(InvalidSetting, match="lattice"):
        Restrict(NDLaplace(2.0, lattice=None), SQUARE)


def test_a_box_is_needed_and_only_one():
    with pytest.raises(UnknownBounds):
        Restrict(NDLaplace(2.0))
    with pytest.raises(InvalidDomain, match="another domain than this one"):
        Restrict(NDLaplace(2.0, domain=Box.unit(2)), SQUARE)


def test_records_outside_are_refused_or_moved_inside():
    with pytest.raises(OutsideDomain):
        Restrict(NDLaplace(2.0), SQUARE).check([[5.0, 5.0]])
    clipping = Restrict(NDLaplace(2.0, domain=SQUARE, clip=True))
    assert SQUARE.contains(clipping.release([[5.0, math.nan]], noise()).values).all()


def test_a_coarse_lattice_keeps_reports_inside_too():
    box = Box(x=(0, 1), y=(0, 1.3))
    coarse = Restrict(NDLaplace(2.0, lattice=0.5), box)
    values = coarse.release(np.tile([1.0, 1.3], (500, 1)), noise()).values
    assert box.contains(values).all()
    assert np.unique(values[:, 1]).tolist() == [0, 0.5, 1.0]


def test_no_rows_give_no_reports():
    assert Restrict(NDLaplace(2.0), SQUARE).release(np.empty((0, 2)), noise()).values.shape == (
        0,
        2,
    )


def test_the_law_of_plain_noise_is_not_read_into_restricted_reports():
    reports = Restrict(NDLaplace(2.0), SQUARE).release([[0.0, 1.0]], noise())
    with pytest.raises(NotAReport, match="Restrict"):
        bayes_remap()(reports)


def test_a_record_at_the_top_edge_stays_in_the_box():
    """The edge lies three quarters of a step past the last lattice point: rounded up, it is out."""
    box = Box(x=(0, 10.75))
    restricted = Restrict(NDLaplace(1.0, lattice=1.0), box)
    values = restricted.release(np.full((2_000, 1), 10.75), Randomness(3).noise).values
    assert set(values[:, 0]) <= set(range(11))
    assert np.mean(values[:, 0] >= 8) > 0.5


def test_another_mechanism_is_refused_by_name():
    with pytest.raises(InvalidSetting, match="Piecewise"):
        Restrict(Piecewise(1.0), Box(x=(-1, 1)))
