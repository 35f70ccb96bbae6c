"""Where a rising curve of distances leaves the bulk of the points."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rule", "knee"]

Rule = Literal["knee", "bulk"]
Row = NDArray[np.float64]
_DENSEST, _BEYOND = 0.1, 1.5


def knee(distances: Row, weights: Row, by: Rule = "knee") -> float:
    """The bend of the sorted distances, none of them 0.

    Parameters
    ----------
    distances, weights
        One for each point.
    by
        "knee": where the curve lies farthest below the line between its ends. "bulk": beyond the
        median by one and a half times the way from the tenth to it, in logarithms, and no further
        than the longest: up to half of the points may be noise.

    Examples
    --------
    >>> knee(np.array([1.0, 1, 2, 2, 2, 50]), np.ones(6))
    2.0
    >>> round(knee(np.array([1.0, 1, 2, 2, 2, 50]), np.ones(6), by="bulk"), 2)
    5.66
    """
    order = np.argsort(distances)
    rising, shares = distances[order], np.cumsum(weights[order]) / weights.sum()
    if by == "knee":
        return _farthest_below(rising, shares)
    dense, middle = (np.log(rising[np.searchsorted(shares, q)]) for q in (_DENSEST, 0.5))
    return float(min(np.exp(middle + _BEYOND * (middle - dense)), rising[-1]))


def _farthest_below(rising: Row, shares: Row) -> float:
    across = (shares - shares[0]) / max(shares[-1] - shares[0], np.finfo(float).tiny)
    heights = (rising - rising[0]) / max(rising[-1] - rising[0], np.finfo(float).tiny)
    return float(rising[np.argmax(across - heights)])
