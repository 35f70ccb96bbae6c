"""The laws a density is learnt through."""

import numpy as np
import pytest

from shoal.cluster.local.methods._report_law import law_of, span_of, step_of
from shoal.domain import Box
from shoal.errors import NotAReport
from shoal.mechanisms import Hybrid, NDLaplace, Piecewise, Reports, SquareWave
from shoal.randomness import Randomness


@pytest.mark.parametrize(
    "mechanism", [Piecewise(1.5, domain=Box(x=(0, 8))), SquareWave(1.5, domain=Box(x=(0, 8)))]
)
def test_reports_fall_as_the_density_says(mechanism):
    released = mechanism.release(np.full((40_000, 1), 2.5), Randomness(0).noise)
    inside = law_of(released).log_density(released.values, np.array([[2.5]]))[:, 0] > 0
    ends = released.values[inside]
    width, whole = np.ptp(ends), np.ptp(released.values)
    chance = np.exp(1.5) * width / (np.exp(1.5) * width + whole - width)
    assert abs(inside.mean() - chance) < 5 * np.sqrt(0.25 / 40_000)


def test_laplace_is_its_own_law():
    noise = NDLaplace(1.0)
    assert law_of(Reports(np.zeros((3, 2)), noise)) is noise


@pytest.mark.parametrize("mechanism", [Hybrid(1.0), Piecewise(1.0), SquareWave(1.0)])
def test_laws_of_several_columns_are_refused(mechanism):
    with pytest.raises(NotAReport, match="2 columns"):
        law_of(Reports(np.zeros((3, 2)), mechanism))


def test_records_may_lie_in_the_box_or_where_reports_do():
    values = np.array([[-3.0], [9.0]])
    spans = [
        span_of(Reports(values, NDLaplace(1.0, domain=Box(x=(0, 5))))),
        span_of(Reports(values, NDLaplace(1.0))),
        span_of(Reports(values, Piecewise(1.0))),
    ]
    assert [(low[0], high[0]) for low, high in spans] == [(0, 5), (-3, 9), (-1, 1)]


def test_a_lattice_is_as_fine_as_half_the_reach_of_the_noise():
    reports = Reports(np.zeros((3, 2)), NDLaplace(5.0, scale=(2, 1)))
    assert step_of(reports, np.array([100.0, 0.24])).tolist() == [0.2, 0.01]
