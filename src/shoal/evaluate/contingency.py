"""How far two labellings agree, told by how many rows have each pair of labels."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DimensionMismatch

__all__ = ["agreement_of_counts"]


def agreement_of_counts(counts: ArrayLike) -> dict[str, float]:
    """``ari``, ``rand_index``, ``fowlkes_mallows`` and ``nmi``, of rows of any number.

    The scores of that name on labels, to rounding. ``ami`` is not among them: it takes a sum over
    all counts that there might have been, which grows with the rows.

    Parameters
    ----------
    counts
        A line for each label of the one side, a column for each of the other: whole numbers.

    Examples
    --------
    >>> found = agreement_of_counts([[2, 0, 0], [0, 1, 1]])
    >>> {name: round(score, 2) for name, score in found.items()}
    {'ari': 0.57, 'rand_index': 0.83, 'fowlkes_mallows': 0.71, 'nmi': 0.8}
    """
    table = np.asarray(counts)
    if table.ndim != 2 or table.dtype.kind not in "iu":
        raise DimensionMismatch(
            f"Counts of shape {table.shape} came, or no whole numbers.",
            "Give a table of them: a line a label of the one side, a column a label of the other.",
        )
    if table.sum() < 2:
        return dict.fromkeys(("ari", "rand_index", "fowlkes_mallows", "nmi"), math.nan)
    return _of_pairs(table) | {"nmi": _nmi(table / table.sum())}


def _of_pairs(table: NDArray[np.integer]) -> dict[str, float]:
    """Of pairs of rows: together on both sides, on one only, on neither. Exact, however many."""
    n = int(table.sum())
    both, first, second = (
        sum(int(count) ** 2 for count in part.ravel()) - n
        for part in (table, table.sum(axis=1), table.sum(axis=0))
    )
    only_first, only_second, pairs = first - both, second - both, n * (n - 1)
    neither = pairs - both - only_first - only_second
    return {
        "ari": _adjusted(both, only_first, only_second, neither),
        "rand_index": (both + neither) / pairs,
        "fowlkes_mallows": both / math.sqrt(first * second) if both else 0.0,
    }


def _adjusted(both: int, only_first: int, only_second: int, neither: int) -> float:
    if only_first == only_second == 0:
        return 1.0
    agreed = 2 * (both * neither - only_first * only_second)
    chance = (both + only_second) * (only_second + neither)
    return agreed / (chance + (both + only_first) * (only_first + neither))


def _nmi(shares: NDArray[np.float64]) -> float:
    """Mutual information over the mean of both entropies."""
    first, second = (_entropy(shares.sum(axis=axis)) for axis in (1, 0))
    if first == second == 0:
        return 1.0
    shared = max(0.0, first + second - _entropy(shares.ravel()))
    return 2 * shared / (first + second)


def _entropy(shares: NDArray[np.float64]) -> float:
    some = shares[shares > 0]
    return abs(float(some @ np.log(some))) if len(some) > 1 else 0.0
