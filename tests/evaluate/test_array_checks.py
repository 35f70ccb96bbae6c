import numpy as np
import pytest

from shoal.errors import DimensionMismatch, NotFinite, NotNumeric
from shoal.evaluate.array_checks import (
    check_labels,
    check_points,
    check_two_labellings,
    check_two_point_sets,
)


def test_labels_are_whole_numbers_in_one_line():
    assert check_labels(np.array([[2, -1], [0, 7]], dtype=np.int8)).tolist() == [2, -1, 0, 7]


@pytest.mark.parametrize("labels", [["a", "b"], [0.5, 1.0], [True, False]])
def test_other_labels_are_refused(labels):
    with pytest.raises(NotNumeric):
        check_labels(labels)


def test_labellings_of_different_rows_are_refused():
    with pytest.raises(DimensionMismatch, match="twice"):
        check_two_labellings([0, 1], [0, 1, 1])


@pytest.mark.parametrize("nowhere", [np.nan, np.inf])
def test_points_that_are_nowhere_are_refused_without_quoting_them(nowhere):
    with pytest.raises(NotFinite) as caught:
        check_points([[0.0, nowhere], [12345.0, 1.0]])
    assert "12345" not in str(caught.value)


def test_centres_of_another_width_or_none_are_refused():
    with pytest.raises(DimensionMismatch):
        check_two_point_sets([[0.0, 1.0]], [[0.0]])
    with pytest.raises(DimensionMismatch, match="at least one"):
        check_two_point_sets(np.empty((0, 2)), [[0.0, 1.0]])
