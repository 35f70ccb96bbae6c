"""How distances are measured."""

import numpy as np
import pytest

from shoal.cluster.local._estimator import distance_units
from shoal.domain import Box
from shoal.errors import InvalidDomain
from shoal.mechanisms import NDLaplace, Piecewise, Reports
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(0, 2))
VALUES = np.random.default_rng(0).normal(size=(500, 2)) * [3.0, 1.0]


@pytest.mark.parametrize(
    ("scale", "mechanism", "units"),
    [
        (None, NDLaplace(1.0), [1, 1]),
        (None, NDLaplace(1.0, scale=(4, 5)), [4, 5]),
        (None, Piecewise(1.0, domain=BOX), [5, 1]),
        ("box", NDLaplace(1.0, domain=BOX), [5, 1]),
        ((2, 7), NDLaplace(1.0), [2, 7]),
    ],
)
def test_public_units(scale, mechanism, units):
    assert distance_units(scale, Reports(VALUES, mechanism)).tolist() == units


def test_the_records_spread_is_learnt_from_the_reports():
    found = distance_units("spread", Reports(VALUES, NDLaplace(20.0)))
    assert found == pytest.approx([3, 1], rel=0.1)


def test_a_column_without_spread_counts_by_what_its_noise_might_hide():
    noise = NDLaplace(1.0, scale=(10, 1))
    reports = noise.release(np.zeros((800, 2)), Randomness(1).noise)
    least = np.sqrt(3 * np.sqrt(2 * 6 / (3 * 800)))  # of a coordinate's variance, which is 3
    assert np.all(distance_units("spread", reports) >= 0.999 * least * np.array([10, 1]))
    assert np.all(distance_units("spread", reports) < 4 * least * np.array([10, 1]))


def test_a_scale_for_another_width_is_refused():
    with pytest.raises(InvalidDomain):
        distance_units((1, 2, 3), Reports(VALUES, NDLaplace(1.0, domain=BOX)))
