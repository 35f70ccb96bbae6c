"""From counts of an event to a certified bound: Clopper and Pearson's limits, both directions."""

import math

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InvalidSetting, TooFewDraws
from shoal.privacy.exact import whole_number

__all__ = ["ceiling_of", "certified", "check_draws", "check_levels"]

Counts = NDArray[np.intp]
_FEWEST = 1_000


def certified(
    often: Counts, seldom: Counts, m: int, alpha: float, delta: float
) -> NDArray[np.float64]:
    """ln((p_low - delta)/q_high) for events seen so often among m outputs of either side.

    Four one-sided limits at alpha/4, two for each of two directions, hold together with
    probability 1 - alpha; and where they hold, no (epsilon, delta)-private mechanism exceeds its
    epsilon: p_low - delta <= p - delta <= e^epsilon q <= e^epsilon q_high.
    """
    from scipy.stats import beta

    with np.errstate(divide="ignore", invalid="ignore"):
        p_low = np.where(often == 0, 0.0, beta.ppf(alpha / 4, often, m - often + 1))
        q_high = np.where(seldom == m, 1.0, beta.ppf(1 - alpha / 4, seldom + 1, m - seldom))
        return np.asarray(np.log(np.maximum(p_low - delta, 0) / q_high))


def ceiling_of(m: int, alpha: float) -> float:
    """The most that m outputs a side can show: all of one side, none of the other.

    >>> round(ceiling_of(100_000, 0.01), 2)
    9.72
    """
    return math.log(m / math.log(4 / alpha))


def check_levels(alpha: float, delta: float) -> None:
    """Refuse an alpha outside (0, 0.5) or a delta outside [0, 1)."""
    numbers = isinstance(alpha, int | float) and isinstance(delta, int | float)
    if not numbers or not 0 < alpha < 0.5 or not 0 <= delta < 1:
        raise InvalidSetting(
            "alpha must lie in (0, 0.5) and delta in [0, 1).", "E.g. alpha=0.01, delta=0."
        )


def check_draws(draws: int) -> None:
    """Refuse fewer than a thousand outputs a side."""
    whole = whole_number(draws)
    if whole is None or whole < _FEWEST:
        raise TooFewDraws(
            f"{draws} outputs a side came or were asked for; an audit needs {_FEWEST}.",
            "Draw more: 200,000 a side show bounds up to 9.7.",
        )
