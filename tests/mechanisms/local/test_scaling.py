"""Scaled units: where distances mean what epsilon says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal import Box
from shoal.mechanisms.local._scaling import Scaling

BOX = Box(age=(18, 98), visits=(0, 20))
CITY = Box.geo(latitude=(52.3, 52.7), longitude=(13.1, 13.8))


@pytest.mark.heavy
@pytest.mark.parametrize("scale", [None, "box", (3, 0.25), np.array([1, 7])])
@pytest.mark.parametrize("box", [BOX, CITY])
@given(U=arrays(np.float64, (4, 2), elements=st.floats(0, 1)))
def test_scaling_goes_there_and_back(scale, box, U):
    space, rows = Scaling.of(scale, box), box.unscale(U)
    assert np.allclose(space.unscaled(space.scaled(rows)), rows, rtol=1e-12, atol=1e-12)


def test_distances_of_a_geographic_box_are_those_of_its_plane():
    ends = np.array([[52.35, 13.2], [52.6, 13.7]])
    ours, plane = (
        np.diff(Scaling.of(None, CITY).scaled(ends), axis=0),
        np.diff(CITY.to_plane(ends), axis=0),
    )
    assert np.allclose(ours, plane, rtol=1e-12)
    assert Scaling.of(None, CITY).unit == "km"


def test_numbers_scale_kilometres_too():
    assert np.allclose(Scaling.of((2, 2), CITY).units(2), 2 * Scaling.of(None, CITY).units(2))


def test_the_width_comes_from_bounds_or_numbers_or_is_not_known():
    assert Scaling.of(None, BOX).d == Scaling.of((1, 2), None).d == 2
    assert Scaling.of(None, None).d is None
