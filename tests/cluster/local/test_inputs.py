"""What is let in."""

import numpy as np
import pytest

from shoal.cluster.local._inputs import check_reports, records
from shoal.domain import Box
from shoal.errors import DimensionMismatch, NotAReport, NotFinite, UnknownColumn
from shoal.mechanisms import NDLaplace, RandomizedResponse, Reports, clamp
from shoal.mechanisms.local.categories._local_grid import LocalGrid
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(0, 10))
NOISE = NDLaplace(1.0, domain=BOX)


def test_what_is_known_of_reports_stays_with_them():
    seeded = NOISE.release(np.ones((3, 2)), Randomness(1).noise)
    own = check_reports(seeded, NOISE)
    assert own.simulation
    assert np.array_equal(own.values, seeded.values)
    assert check_reports(clamp(BOX)(seeded), NOISE, remapped=True).remap is not None


def test_cells_may_be_left_to_the_number_of_reports():
    grid = LocalGrid(BOX, epsilon=1.0)
    assert len(check_reports(grid.release(np.ones((50, 2)), Randomness(1).noise), grid)) == 50


def test_the_width_may_come_from_the_scale():
    noise = NDLaplace(1.0, scale=(1, 2, 3))
    with pytest.raises(DimensionMismatch):
        check_reports(Reports(np.zeros((4, 2)), noise), noise)


def test_reports_of_categories_have_no_place_here():
    answers = RandomizedResponse(1.0, 3)
    with pytest.raises(DimensionMismatch):
        check_reports(answers.release([0, 1], Randomness(1).noise), answers, remapped=True)


def test_errors_tell_no_value():
    with pytest.raises(NotFinite) as refused:
        check_reports(Reports(np.array([[7.25, np.nan]]), NOISE), NOISE)
    assert "7.25" not in str(refused.value)


def test_another_mechanism_is_named():
    with pytest.raises(NotAReport, match="NDLaplace"):
        check_reports(Reports(np.zeros((4, 2)), NDLaplace(2.0, domain=BOX)), NOISE)


def test_a_table_that_lacks_a_column_is_told():
    with pytest.raises(UnknownColumn, match="y"):
        records({"x": [1.0], "z": [2.0]}, BOX, 2)


def test_a_single_record_is_a_table_of_one_line():
    assert records([3.0, 4.0], BOX, 2).shape == records([3.0, 4.0], None, 2).shape == (1, 2)
