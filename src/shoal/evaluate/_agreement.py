"""Compare two labellings of the same rows or cells, whatever the clusters are called.

The label -1, no cluster, counts as one more group: a method that calls everything noise has put all
rows in one group. Scores of fewer than two rows are NaN. Where one side has one group only, scores
corrected for chance are 0, or 1 if the other side has one group too.

``agreement_of_counts`` reads counts of label pairs instead of labels; the dissimilarities compare
labellings of cells.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    fowlkes_mallows_score,
    mutual_info_score,
    normalized_mutual_info_score,
    rand_score,
)
from sklearn.metrics.cluster import contingency_matrix

from shoal.arrays import Floats, Integers
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.evaluate.array_checks import check_two_labellings

Normalise = Literal["true", "both"]
Charge = Literal["true", "both"]


def ami(true: ArrayLike, predicted: ArrayLike) -> float:
    """Compute the adjusted mutual information: 1 for equal groups, about 0 for random labels.

    Parameters
    ----------
    true
        The true label of each row.
    predicted
        The predicted label of each row.

    Examples
    --------
    >>> ami([0, 0, 1, 1], [5, 5, 2, 2])
    1.0

    References
    ----------
    Vinh, Epps, Bailey, Information theoretic measures for clusterings comparison, JMLR 2010.
    """
    return _agreement(adjusted_mutual_info_score, true, predicted)


def ari(true: ArrayLike, predicted: ArrayLike) -> float:
    """Compute the adjusted Rand index: agreement on pairs of rows, corrected for chance.

    Parameters
    ----------
    true
        The true label of each row.
    predicted
        The predicted label of each row.

    Examples
    --------
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.57

    References
    ----------
    Hubert, Arabie, Comparing partitions, Journal of Classification 1985.
    """
    return _agreement(adjusted_rand_score, true, predicted)


def nmi(true: ArrayLike, predicted: ArrayLike) -> float:
    """Compute the mutual information over the mean entropy; not corrected for chance.

    Parameters
    ----------
    true
        The true label of each row.
    predicted
        The predicted label of each row.

    Examples
    --------
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.8
    """
    return _agreement(normalized_mutual_info_score, true, predicted)


def mi(true: ArrayLike, predicted: ArrayLike) -> float:
    r"""Compute the mutual information of two labellings in nats, at most either's entropy.

    .. math:: \sum_{ij} \frac{n_{ij}}{n} \log \frac{n\, n_{ij}}{a_i b_j}

    It is not corrected: finer labels share more with anything, and chance is above 0. ``nmi``
    divides it by the entropies, ``ami`` takes chance off as well.

    Parameters
    ----------
    true
        One label for each row.
    predicted
        Another label for each row.

    Examples
    --------
    >>> round(mi([0, 0, 1, 1], [5, 5, 2, 2]), 4)  # log 2: one side tells the other
    0.6931
    """
    return _agreement(mutual_info_score, true, predicted)


def rand_index(true: ArrayLike, predicted: ArrayLike) -> float:
    """Compute the share of pairs of rows that both sides put together, or both apart.

    Parameters
    ----------
    true
        The true label of each row.
    predicted
        The predicted label of each row.

    Examples
    --------
    >>> round(rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.83

    References
    ----------
    Rand, Objective criteria for the evaluation of clustering methods, JASA 1971.
    """
    return _agreement(rand_score, true, predicted)


def fowlkes_mallows(true: ArrayLike, predicted: ArrayLike) -> float:
    """Compute the geometric mean of precision and recall over pairs of rows put together.

    Parameters
    ----------
    true
        The true label of each row.
    predicted
        The predicted label of each row.

    Examples
    --------
    >>> round(fowlkes_mallows([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.71

    References
    ----------
    Fowlkes, Mallows, A method for comparing two hierarchical clusterings, JASA 1983.
    """
    return _agreement(fowlkes_mallows_score, true, predicted)


def mirkin(true: ArrayLike, predicted: ArrayLike) -> int:
    r"""Compute the Mirkin metric: twice the pairs of rows that one side alone puts together.

    .. math:: \sum_i a_i^2 + \sum_j b_j^2 - 2 \sum_{ij} n_{ij}^2

    Here n_ij rows have label i on the one side and j on the other, a_i and b_j are the sums. It is
    a metric on partitions: 0 if the groups are the same (or there is no pair), n (n - 1) if the one
    side has a single group and the other a group for each row. An exact whole number, in time that
    grows with the rows and not with their pairs. ``rand_index`` is 1 less its share of n (n - 1).

    Parameters
    ----------
    true
        One label for each row.
    predicted
        Another label for each row.

    Examples
    --------
    >>> mirkin([0, 0, 1, 1], [0, 0, 1, 2])  # the last two rows, seen from either
    2

    References
    ----------
    Mirkin, Mathematical classification and clustering, 1996; Meila, Comparing clusterings, Journal
    of Multivariate Analysis 2007.
    """
    A, B = check_two_labellings(true, predicted)
    if not len(A):
        return 0
    table = contingency_matrix(A, B, sparse=True)
    both, first, second = map(_sum_of_squares, (table.data, table.sum(axis=1), table.sum(axis=0)))
    return first + second - 2 * both


def _agreement(score: Callable[..., float], true: ArrayLike, predicted: ArrayLike) -> float:
    A, B = check_two_labellings(true, predicted)
    return float(score(A, B)) if len(A) > 1 else math.nan


def agreement_of_counts(counts: ArrayLike) -> dict[str, float]:
    """Compute all scores but ``ami`` from counts of label pairs.

    They equal the scores on labels, up to rounding. ``ami`` is not among them, since its cost grows
    with the rows.

    Parameters
    ----------
    counts
        Whole numbers: a row for each label of one side, a column for each of the other.

    Examples
    --------
    >>> found = agreement_of_counts([[2, 0, 0], [0, 1, 1]])
    >>> {name: round(score, 2) for name, score in found.items()}
    {'ari': 0.57, 'rand_index': 0.83, 'fowlkes_mallows': 0.71, 'mirkin': 2, 'nmi': 0.8, 'mi': 0.69}
    """
    table = np.asarray(counts)
    if table.ndim != 2 or table.dtype.kind not in "iu":
        raise DimensionMismatch(
            f"Expected a table of whole numbers; got shape {table.shape}, or other values.",
            "Give one row for each label of one side, and one column for each label of the other.",
        )
    if table.sum() < 2:
        undefined = ("ari", "rand_index", "fowlkes_mallows", "nmi", "mi")
        return dict.fromkeys(undefined, math.nan) | {"mirkin": 0}
    return _pair_scores(table) | _information_scores(table / table.sum())


def _pair_scores(table: NDArray[np.integer]) -> dict[str, float]:
    """Compute the scores on pairs of rows, with exact counts however many rows there are."""
    n = int(table.sum())
    both, first, second = (
        _sum_of_squares(part) - n for part in (table, table.sum(axis=1), table.sum(axis=0))
    )
    only_first, only_second, pairs = first - both, second - both, n * (n - 1)
    neither = pairs - both - only_first - only_second
    return {
        "ari": _adjusted(both, only_first, only_second, neither),
        "rand_index": (both + neither) / pairs,
        "fowlkes_mallows": both / math.sqrt(first * second) if both else 0.0,
        "mirkin": only_first + only_second,
    }


def _sum_of_squares(counts: ArrayLike) -> int:
    """In Python's integers: squares of ten billion rows pass 64 bits."""
    return sum(count * count for count in np.asarray(counts).ravel().tolist())


def _adjusted(both: int, only_first: int, only_second: int, neither: int) -> float:
    if only_first == only_second == 0:
        return 1.0
    agreed = 2 * (both * neither - only_first * only_second)
    chance = (both + only_second) * (only_second + neither)
    return agreed / (chance + (both + only_first) * (only_first + neither))


def _information_scores(shares: Floats) -> dict[str, float]:
    """Return the mutual information, and the same over the mean of both entropies."""
    first, second = (_entropy(shares.sum(axis=axis)) for axis in (1, 0))
    shared = max(0.0, first + second - _entropy(shares.ravel()))
    has_groups = first + second > 0
    return {"nmi": 2 * shared / (first + second) if has_groups else 1.0, "mi": shared}


def _entropy(shares: Floats) -> float:
    some = shares[shares > 0]
    return abs(float(some @ np.log(some))) if len(some) > 1 else 0.0


def cell_dissimilarity(
    true: ArrayLike, predicted: ArrayLike, normalise: Normalise = "true"
) -> float:
    """Count the cells in a cluster on one side only, over the cells of true clusters.

    It is neither symmetric nor bounded by 1, unless divided by the cells of both sides. It reads
    the true labels, so it is for the holder of the rows only.

    Parameters
    ----------
    true
        The true label of each cell; -1 is none.
    predicted
        The predicted label of each cell; -1 is none.
    normalise
        Divide by the cells of "true" clusters, or of "both" sides' clusters.

    Examples
    --------
    >>> cell_dissimilarity([0, 0, 1, -1], [0, 0, -1, 1])
    0.6666666666666666
    """
    A, B = _labels(true, predicted)
    apart = int(np.count_nonzero((A >= 0) != (B >= 0)))
    return _normalised(apart, A, B, normalise)


def cluster_dissimilarity(
    true: ArrayLike,
    predicted: ArrayLike,
    normalise: Normalise = "true",
    charge: Charge = "both",
) -> float:
    """Count the cells by which matched clusters differ, over the cells of true clusters.

    Clusters are matched one to one at the least total cost; a pair costs the larger of what each
    has and the other has not, and a cluster of *either* side without a partner costs its size, so
    spurious clusters are not free unless ``charge`` says so.

    Parameters
    ----------
    true
        The true label of each cell; -1 is none.
    predicted
        The predicted label of each cell; -1 is none.
    normalise
        Divide by the cells of "true" clusters, or of "both" sides' clusters.
    charge
        Whose clusters cost their size without a partner: those of "both" sides, or the "true" ones
        alone, as published.

    Examples
    --------
    >>> cluster_dissimilarity([0, 0, 1, 1], [5, 5, 2, 2])
    0.0
    >>> cluster_dissimilarity([0, 0, 0, 0], [0, 0, 1, 1])
    1.0
    >>> cluster_dissimilarity([0, 0, 0, 0], [0, 0, 1, 1], charge="true")
    0.5

    References
    ----------
    Chen, Yu, Chirkova, WaveCluster with differential privacy, CIKM 2015, who charge the true side.
    """
    if charge not in ("true", "both"):
        raise InvalidSetting.of("charge", "must be 'true' or 'both'", "both", charge)
    A, B = _labels(true, predicted)
    cost = _costs(A, B)
    if charge == "true":
        cost[_sizes(A).size :] = 0  # predicted clusters without a partner
    apart = cost[linear_sum_assignment(cost)].sum()
    return _normalised(int(apart), A, B, normalise)


def _costs(A: Integers, B: Integers) -> Integers:
    """Return a square matrix of the cost of each pair, and of leaving a cluster unmatched.

    Padding with sizes is exact: a pair never costs more than both clusters alone, so all clusters
    of the smaller side are matched.
    """
    shared = _overlaps(A, B)
    of_A, of_B = _sizes(A), _sizes(B)
    side = max(of_A.size, of_B.size)
    cost = np.zeros((side, side), dtype=np.int64)
    cost[: of_A.size, :] = of_A[:, None]
    cost[:, : of_B.size] = np.maximum(cost[:, : of_B.size], of_B)
    cost[: of_A.size, : of_B.size] -= shared
    return cost


def _overlaps(A: Integers, B: Integers) -> Integers:
    both = (A >= 0) & (B >= 0)
    rows, columns = A.max(initial=-1) + 1, B.max(initial=-1) + 1
    pairs = A[both] * columns + B[both]
    return np.bincount(pairs, minlength=rows * columns).reshape(rows, columns)


def _sizes(labels: Integers) -> Integers:
    return np.bincount(labels[labels >= 0])


def _normalised(apart: int, A: Integers, B: Integers, normalise: Normalise) -> float:
    if normalise not in ("true", "both"):
        raise InvalidSetting.of("normalise", "must be 'true' or 'both'", "both", normalise)
    whole = np.count_nonzero(A >= 0)
    if normalise == "both":
        whole += np.count_nonzero(B >= 0)
    if whole == 0:
        return 0.0 if apart == 0 else float("inf")
    return float(apart / whole)


def _labels(true: ArrayLike, predicted: ArrayLike) -> tuple[Integers, Integers]:
    """Return both labellings flat, with clusters numbered from 0 without gaps, -1 for none."""
    A, B = check_two_labellings(true, predicted)
    return _renumber(A), _renumber(B)


def _renumber(labels: Integers) -> Integers:
    distinct, places = np.unique(np.maximum(labels, -1), return_inverse=True)
    return places.astype(np.int64) - int(distinct.size > 0 and distinct[0] == -1)
