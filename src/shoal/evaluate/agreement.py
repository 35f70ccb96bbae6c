"""How far two labellings of the same rows agree, whatever the clusters are called.

-1, no cluster, counts as one more group: a method that calls everything noise has put all rows in
one group, and scores as such. Fewer than two rows say nothing: NaN. Where one side has one group
only, the scores that are corrected for chance are 0, or 1 if the other side has one group too.
"""

import math
from collections.abc import Callable

from numpy.typing import ArrayLike
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    fowlkes_mallows_score,
    normalized_mutual_info_score,
    rand_score,
)

from shoal.evaluate.checks import two_labellings

__all__ = ["ami", "ari", "fowlkes_mallows", "nmi", "rand_index"]


def ami(true: ArrayLike, found: ArrayLike) -> float:
    """Adjusted mutual information: 1 if the groups are the same, about 0 if labels are chance.

    Parameters
    ----------
    true, found
        A label for each row.

    Examples
    --------
    >>> ami([0, 0, 1, 1], [5, 5, 2, 2])
    1.0

    References
    ----------
    Vinh, Epps, Bailey, Information theoretic measures for clusterings comparison, JMLR 2010.
    """
    return _agreement(adjusted_mutual_info_score, true, found)


def ari(true: ArrayLike, found: ArrayLike) -> float:
    """Adjusted Rand index: pairs of rows that both sides put together or apart, less chance.

    Parameters
    ----------
    true, found
        A label for each row.

    Examples
    --------
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.57

    References
    ----------
    Hubert, Arabie, Comparing partitions, Journal of Classification 1985.
    """
    return _agreement(adjusted_rand_score, true, found)


def nmi(true: ArrayLike, found: ArrayLike) -> float:
    """Mutual information over the mean of both entropies: not corrected, so chance is above 0.

    Parameters
    ----------
    true, found
        A label for each row.

    Examples
    --------
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.8
    """
    return _agreement(normalized_mutual_info_score, true, found)


def rand_index(true: ArrayLike, found: ArrayLike) -> float:
    """The share of pairs of rows that both sides put together, or both apart.

    Parameters
    ----------
    true, found
        A label for each row.

    Examples
    --------
    >>> round(rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.83

    References
    ----------
    Rand, Objective criteria for the evaluation of clustering methods, JASA 1971.
    """
    return _agreement(rand_score, true, found)


def fowlkes_mallows(true: ArrayLike, found: ArrayLike) -> float:
    """The geometric mean of precision and recall over pairs of rows put together.

    Parameters
    ----------
    true, found
        A label for each row.

    Examples
    --------
    >>> round(fowlkes_mallows([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.71

    References
    ----------
    Fowlkes, Mallows, A method for comparing two hierarchical clusterings, JASA 1983.
    """
    return _agreement(fowlkes_mallows_score, true, found)


def _agreement(score: Callable[..., float], true: ArrayLike, found: ArrayLike) -> float:
    A, B = two_labellings(true, found)
    return float(score(A, B)) if len(A) > 1 else math.nan
