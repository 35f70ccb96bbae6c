"""Check the arrays of scores: labels are whole numbers, points are finite."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.domain.box import as_matrix
from shoal.errors import DimensionMismatch, NotFinite, NotNumeric


def check_labels(labels: ArrayLike) -> Integers:
    """Return labels as a flat array of whole numbers.

    Raises
    ------
    NotNumeric
        If one is no whole number.

    Examples
    --------
    >>> check_labels([[0, 1], [1, -1]])
    array([ 0,  1,  1, -1])
    """
    values = np.asarray(labels)
    if values.dtype.kind not in "iu" and values.size:
        raise NotNumeric("Labels must be whole numbers.", "Number the clusters from 0.")
    return values.ravel().astype(np.int64)


def check_two_labellings(true: ArrayLike, predicted: ArrayLike) -> tuple[Integers, Integers]:
    """Return two labellings, checked to have the same length."""
    if np.shape(true) != np.shape(predicted):
        raise DimensionMismatch(
            f"The labels have different shapes: {np.shape(true)} and {np.shape(predicted)}.",
            "Label the same rows or cells twice.",
        )
    return check_labels(true), check_labels(predicted)


def check_points(points: ArrayLike, d: int | None = None) -> Floats:
    """Return points as a matrix of finite numbers.

    Parameters
    ----------
    d
        The number of columns, if it is known.
    """
    matrix = as_matrix(points, d)
    if not np.isfinite(matrix).all():
        raise NotFinite("Some points hold NaN or infinity.", "Leave those rows out.")
    return matrix


def check_two_point_sets(true: ArrayLike, estimated: ArrayLike) -> tuple[Floats, Floats]:
    """Return two non-empty sets of points, checked to have the same number of columns."""
    A = check_points(true)
    B = check_points(estimated, A.shape[1])
    if not len(A) or not len(B):
        raise DimensionMismatch(
            f"There are {len(A)} and {len(B)} centres.", "Give at least one centre on each side."
        )
    return A, B


def check_same_length(points: Floats, others: NDArray[np.generic], of: str) -> None:
    """Refuse arrays of different lengths."""
    if len(points) != len(others):
        raise DimensionMismatch(
            f"There are {len(points)} rows and {len(others)} {of}.", "Give one for each row."
        )
