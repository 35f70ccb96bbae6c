"""Half widths of intervals, from how far refits lay from plain k-means of the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import t as student

from shoal.arrays import Floats, Integers

# Rules and what they reached: docs/decisions/intervals.md.
PRIOR = 4  # refits that the mean over a group's coordinates, or over all sizes, is worth
_MOST_FLIPS = 0.2  # of the refits, before a group is called unstable
_BIAS_TIMES = (
    2.0  # a bias counts so many times: refits had half of that of fits, where it was large
)
_MOST_RATE = 0.975  # a rate is raised for refits that are left out, up to this


@dataclass(frozen=True, eq=False)
class Deviations:
    """How far refits lay from what plain k-means finds in the rows they were run on."""

    centers: Floats
    sizes: Floats

    @classmethod
    def of(cls, refits: Sequence[tuple[Floats, Floats]]) -> "Deviations":
        """Return those of several refits."""
        return cls(np.array([at for at, _ in refits]), np.array([of for _, of in refits]))


def half_widths(deviations: Deviations, centers: Floats, rate: float) -> tuple[Floats, Floats]:
    """Return half the width of the interval of each coordinate and of each size.

    Deviations are squared about zero, so that a bias of the method counts, and twice.

    Returns
    -------
    tuple
        Of the centres, a line a group, and of the sizes; NaN for groups that are unstable.
    """
    refits, k, _ = deviations.centers.shape
    reach = distance_to_next(centers) / 2
    flips = np.linalg.norm(deviations.centers, axis=2) > reach
    at_centers, at_sizes = np.full(centers.shape, np.nan), np.full(k, np.nan)
    of_sizes = [_squares(deviations.sizes[~flips[:, group], group]) for group in range(k)]
    of_all_sizes = float(np.nanmean(of_sizes)) if np.isfinite(of_sizes).any() else 0.0
    for group in range(k):
        left, share = ~flips[:, group], float(flips[:, group].mean())
        if share > _MOST_FLIPS or left.sum() < refits / 2:
            continue
        level = min(rate / (1 - share), _MOST_RATE)
        own = _squares(deviations.centers[left, group])
        wide = pooled_half_width(own, float(own.mean()), int(left.sum()), level)
        if wide.max() > reach[group]:
            continue
        at_centers[group] = wide
        at_sizes[group] = pooled_half_width(of_sizes[group], of_all_sizes, int(left.sum()), level)
    return at_centers, at_sizes


def pooled_half_width(own: Floats, pooled: float, refits: int, level: float) -> Floats:
    """Return Student's quantile times a root mean square that leans on that of its like.

    Examples
    --------
    >>> pooled_half_width(np.array([1.0, 1.0]), 1.0, 10**6, 0.9).round(3).tolist()
    [1.645, 1.645]
    """
    variances = (refits * own + PRIOR * pooled) / (refits + PRIOR)
    quantile: float = student.ppf((1 + level) / 2, refits + PRIOR)
    return np.asarray(quantile * np.sqrt(variances))


def distance_to_next(centers: Floats) -> Floats:
    """Return the distance from each centre to the nearest other one; infinite for a single one."""
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    return np.asarray(gaps.min(axis=1))


def match_centers(centers: Floats, others: Floats) -> Integers:
    """Return for each centre the place of its own among others: least squares in all.

    Examples
    --------
    >>> match_centers(np.array([[0.0], [1.0]]), np.array([[0.9], [0.2]])).tolist()
    [1, 0]
    """
    squares = ((centers[:, None] - others[None]) ** 2).sum(axis=2)
    return np.asarray(linear_sum_assignment(squares)[1])


def _squares(deviations: Floats) -> Floats:
    """Mean squares over refits, the square of a bias that stands out of them several times."""
    refits = len(deviations)
    if refits < 2:
        return np.full(deviations.shape[1:], np.nan)
    squares, mean = (deviations**2).mean(axis=0), deviations.mean(axis=0)
    bias = np.maximum(mean**2 - deviations.var(axis=0, ddof=1) / refits, 0)
    return np.asarray(squares + (_BIAS_TIMES**2 - 1) * bias)
