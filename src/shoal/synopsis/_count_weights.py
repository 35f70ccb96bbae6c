"""Turn noisy counts into weights from 0 up; post-processing, so it costs nothing.

Only released numbers are read, so whatever is done here is post-processing.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.errors import InvalidSetting

Negative = Literal["norm-cut", "norm-sub", "threshold", "zero"]


def weights_of(
    noisy_counts: ArrayLike,
    n_rows: int,
    negative: Negative = "norm-cut",
    threshold: float = 0.0,
) -> Floats:
    """Return how many rows each cell stands for: a number from 0 up.

    Parameters
    ----------
    noisy_counts
        Released counts, in any order.
    n_rows
        The released or public number of rows.
    negative
        ``"norm-cut"`` keeps the largest counts until their sum reaches ``n_rows``, cells tied with
        the last of them included, and drops the rest. ``"norm-sub"`` takes the same amount off
        every count, so that the positive rest sums to ``n_rows``. ``"threshold"`` keeps counts
        above ``threshold``. ``"zero"`` sets negative counts to zero, which gives every empty cell
        some mass on average.
    threshold
        The least count that ``"threshold"`` keeps; other rules ignore it.

    Examples
    --------
    >>> weights_of([7, -2, 3, 1, 0], n_rows=9).tolist()
    [7.0, 0.0, 3.0, 0.0, 0.0]
    >>> weights_of([7, -2, 3, 1, 0], n_rows=8, negative="norm-sub").tolist()
    [6.0, 0.0, 2.0, 0.0, 0.0]

    References
    ----------
    Wang et al., Locally differentially private frequency estimation with consistency, NDSS 2020.
    """
    counts = np.asarray(noisy_counts, dtype=np.float64)
    if negative == "threshold":
        return _keep_above(counts, threshold)
    return _rule(negative)(counts, n_rows)


def check_negative(negative: object) -> None:
    """Refuse an unknown rule for negative counts, before any row is read."""
    if negative != "threshold":
        _rule(negative)


def _rule(negative: object) -> Callable[[Floats, int], Floats]:
    rule = _RULES.get(negative) if isinstance(negative, str) else None
    if rule is None:
        known = ", ".join(map(repr, (*_RULES, "threshold")))
        raise InvalidSetting.of("negative", f"must be one of {known}", "norm-cut", negative)
    return rule


def _norm_cut(counts: Floats, n_rows: int) -> Floats:
    """Keep the largest counts until they sum to ``n_rows``."""
    # From the largest down: the smallest positive counts are the likeliest to be noise.
    falling = np.sort(counts[counts > 0])[::-1]
    reached = int(np.searchsorted(np.cumsum(falling), n_rows))
    if reached >= falling.size:  # all that is positive is not enough
        return _without_negatives(counts)
    return np.where(counts >= falling[reached], counts, 0.0)


def _norm_sub(counts: Floats, n_rows: int) -> Floats:
    """Project onto counts from 0 up that sum to ``n_rows``, by least squares."""
    if not counts.size:
        return counts
    falling = np.sort(counts)[::-1]
    taken = (np.cumsum(falling) - n_rows) / np.arange(1, falling.size + 1)
    stays = np.flatnonzero(falling > taken)[-1]  # the first does: n_rows is at least 1
    less: Floats = counts - taken[stays]
    return np.maximum(less, 0.0)


def _keep_above(counts: Floats, threshold: float) -> Floats:
    return np.where(counts > max(threshold, 0.0), counts, 0.0)


def _without_negatives(counts: Floats, n_rows: int = 0) -> Floats:
    return np.maximum(counts, 0.0)


_RULES: dict[str, Callable[[Floats, int], Floats]] = {
    "norm-cut": _norm_cut,
    "norm-sub": _norm_sub,
    "zero": _without_negatives,
}
