"""How much two labellings of the same cells differ: by cells, and by clusters."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from shoal.errors import InvalidSetting
from shoal.evaluate.checks import Labels, two_labellings

__all__ = ["cell_dissimilarity", "cluster_dissimilarity"]

Normalise = Literal["true", "both"]


def cell_dissimilarity(true: ArrayLike, found: ArrayLike, normalise: Normalise = "true") -> float:
    """Cells in a cluster on one side only, over the cells of true clusters.

    Neither symmetric nor bounded by 1, unless divided by the cells of both sides. It reads the
    true labels: for the holder of the rows.

    Parameters
    ----------
    true, found
        A label for each cell; -1 is none.
    normalise
        Divide by the cells of "true" clusters, or of "both" sides' clusters.

    Examples
    --------
    >>> cell_dissimilarity([0, 0, 1, -1], [0, 0, -1, 1])
    0.6666666666666666
    """
    A, B = _labels(true, found)
    apart = int(np.count_nonzero((A >= 0) != (B >= 0)))
    return _over(apart, A, B, normalise)


def cluster_dissimilarity(
    true: ArrayLike, found: ArrayLike, normalise: Normalise = "true"
) -> float:
    """Cells by which matched clusters differ, over the cells of true clusters.

    Clusters are matched one to one at the least total cost; a pair costs the larger of what each
    has and the other has not, and a cluster of *either* side without a partner costs its size, so
    spurious clusters are not free.

    Parameters
    ----------
    true, found, normalise
        As in ``cell_dissimilarity``.

    Examples
    --------
    >>> cluster_dissimilarity([0, 0, 1, 1], [5, 5, 2, 2])
    0.0
    >>> cluster_dissimilarity([0, 0, 0, 0], [0, 0, 1, 1])
    1.0

    References
    ----------
    Chen, Yu, Chirkova, WaveCluster with differential privacy, CIKM 2015, who charge the true side.
    """
    A, B = _labels(true, found)
    cost = _costs(A, B)
    apart = cost[linear_sum_assignment(cost)].sum()
    return _over(int(apart), A, B, normalise)


def _costs(A: Labels, B: Labels) -> NDArray[np.int64]:
    """A square matrix: the cost of each pair, and of leaving a cluster without a partner.

    Squaring by sizes is exact: a pair never costs more than both of it alone, so the smaller side
    is matched whole.
    """
    shared = _overlaps(A, B)
    of_A, of_B = _sizes(A), _sizes(B)
    side = max(of_A.size, of_B.size)
    cost = np.zeros((side, side), dtype=np.int64)
    cost[: of_A.size, :] = of_A[:, None]
    cost[:, : of_B.size] = np.maximum(cost[:, : of_B.size], of_B)
    cost[: of_A.size, : of_B.size] -= shared
    return cost


def _overlaps(A: Labels, B: Labels) -> NDArray[np.int64]:
    both = (A >= 0) & (B >= 0)
    rows, columns = A.max(initial=-1) + 1, B.max(initial=-1) + 1
    pairs = A[both] * columns + B[both]
    return np.bincount(pairs, minlength=rows * columns).reshape(rows, columns)


def _sizes(labels: Labels) -> NDArray[np.int64]:
    return np.bincount(labels[labels >= 0])


def _over(apart: int, A: Labels, B: Labels, normalise: Normalise) -> float:
    if normalise not in ("true", "both"):
        raise InvalidSetting("normalise is neither 'true' nor 'both'.", "E.g. normalise='both'.")
    whole = np.count_nonzero(A >= 0)
    if normalise == "both":
        whole += np.count_nonzero(B >= 0)
    if whole == 0:
        return 0.0 if apart == 0 else float("inf")
    return float(apart / whole)


def _labels(true: ArrayLike, found: ArrayLike) -> tuple[Labels, Labels]:
    """Both flat, clusters numbered from 0 without gaps, -1 for none."""
    A, B = two_labellings(true, found)
    return _numbered(A), _numbered(B)


def _numbered(labels: Labels) -> Labels:
    found, places = np.unique(np.maximum(labels, -1), return_inverse=True)
    return places.astype(np.int64) - int(found.size > 0 and found[0] == -1)
