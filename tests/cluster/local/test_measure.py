"""How distances are measured."""

import numpy as np
import pytest

from shoal.cluster.local.measure import measured
from shoal.domain import Box
from shoal.errors import InvalidDomain
from shoal.mechanisms import NDLaplace, Piecewise, Reports

BOX = Box(x=(0, 10), y=(0, 2))
VALUES = np.random.default_rng(0).normal(size=(500, 2)) * [3.0, 1.0]


@pytest.mark.parametrize(
    ("scale", "mechanism", "units"),
    [
        (None, NDLaplace(1.0), [1, 1]),
        (None, NDLaplace(1.0, scale=(4, 5)), [4, 5]),
        (None, Piecewise(1.0, bounds=BOX), [5, 1]),
        ("box", NDLaplace(1.0, bounds=BOX), [5, 1]),
        ((2, 7), NDLaplace(1.0), [2, 7]),
    ],
)
def test_public_units(scale, mechanism, units):
    assert measured(scale, Reports(VALUES, mechanism)).tolist() == units


def test_the_records_spread_is_learnt_from_the_reports():
    found = measured("spread", Reports(VALUES, NDLaplace(20.0)))
    assert found == pytest.approx([3, 1], rel=0.1)


def test_a_column_without_spread_counts_as_one():
    assert measured("spread", Reports(np.zeros((5, 2)), NDLaplace(1.0))).tolist() == [1, 1]


def test_a_scale_for_another_width_is_refused():
    with pytest.raises(InvalidDomain):
        measured((1, 2, 3), Reports(VALUES, NDLaplace(1.0, bounds=BOX)))
