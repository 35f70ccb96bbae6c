"""Reports know what made them and what was done to them; rows are not reports."""

import numpy as np
import pytest

from shoal import Box, Randomness, Reports
from shoal.errors import NotAReport
from shoal.mechanisms import PlanarLaplace, RandomizedResponse, clamp
from shoal.mechanisms.local._reports import as_raw_reports, as_reports

VALUES = np.array([[0.5, 2.0], [1.0, -1.5]])
REPORTS = Reports(VALUES, PlanarLaplace(1.0))


def test_reports_are_an_array_to_numpy():
    assert np.array_equal(np.asarray(REPORTS), VALUES)
    assert np.asarray(REPORTS, dtype=np.float32).dtype == np.float32
    assert len(REPORTS) == 2


def test_reports_cannot_be_written_to_and_leave_the_array_that_came_alone():
    with pytest.raises(ValueError, match="read-only"):
        REPORTS.values[0, 0] = 3
    assert VALUES.flags.writeable


@pytest.mark.parametrize("rows", [VALUES, VALUES.tolist(), None, "reports"])
def test_rows_are_refused_where_reports_belong(rows):
    with pytest.raises(NotAReport) as refused:
        as_reports(rows)
    assert "2.0" not in str(refused.value)


def test_remapped_reports_are_refused_where_the_law_is_needed():
    assert as_raw_reports(REPORTS) is REPORTS
    with pytest.raises(NotAReport, match="Clamp"):
        as_raw_reports(clamp(Box.unit(2))(REPORTS))


@pytest.mark.parametrize(
    ("noise", "marked"),
    [(Randomness(7).noise, True), (Randomness().noise, False), (np.random.default_rng(), True)],
)
def test_reports_of_noise_that_can_be_repeated_are_marked_a_simulation(noise, marked):
    for mechanism, rows in ((PlanarLaplace(1.0), VALUES), (RandomizedResponse(1.0, 3), [0, 2])):
        assert mechanism.release(rows, noise).guarantee == mechanism.guarantee.simulated(marked)


def test_the_mark_outlives_a_remap_and_is_left_to_whoever_wraps_values():
    seeded = PlanarLaplace(1.0).release(VALUES, Randomness(7).noise)
    assert clamp(Box.unit(2))(seeded).simulation
    assert not REPORTS.simulation
