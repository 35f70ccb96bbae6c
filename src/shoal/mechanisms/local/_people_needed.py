"""Estimate how many people must report for a wanted accuracy, before collecting."""

import math
from typing import NamedTuple

from shoal.errors import InvalidSetting, setting, value_text
from shoal.mechanisms.local.bounded._base import local_budget
from shoal.privacy import Number, whole_number


class _Rule(NamedTuple):
    """People, in units of v k^2: at least ``fewest``, and ``excess`` over (ratio - 1)."""

    fewest: float
    excess: float


# The inertia beyond plain k-means' is about c v k^2 / n, v k^2 / n being the squared noise in a
# cluster's count relative to it; and below some n / (v k^2) clusters are missed. By number of
# columns, for nine of ten tables and for every second: docs/decisions/local-grid.md.
_NINE_OF_TEN = {
    1: _Rule(800, 40),
    2: _Rule(1_000, 60),
    3: _Rule(5_000, 300),
    4: _Rule(20_000, 600),
}
_EVERY_SECOND = {
    1: _Rule(100, 10),
    2: _Rule(400, 30),
    3: _Rule(1_200, 100),
    4: _Rule(8_000, 600),
}


def people_needed(
    ratio: float, *, n_clusters: int, d: int, epsilon: Number, cautious: bool = True
) -> int:
    r"""Return the number of people for an inertia of at most ``ratio`` times plain k-means'.

    For reports of a ``LocalGrid`` with automatic cells:
    :math:`v k^2 \max(m_d, c_d / (ratio - 1))`, with :math:`v = 4e^\varepsilon/(e^\varepsilon-1)^2`
    the noise of a report. A rule of thumb, measured on round groups of similar size at least four
    deviations apart, in one to three columns; for four it is an extrapolation. Groups of very
    unequal sizes take several times as many: the smallest decides. Try rows made up to be like
    yours.

    Parameters
    ----------
    ratio
        The wanted inertia over that of plain k-means, from 1.01 to 2.
    n_clusters
        How many clusters are looked for.
    d
        The number of columns, at most 4.
    epsilon
        The promise of one report.
    cautious
        Whether about nine of ten tables are to reach the ratio, or every second: in two columns
        15 of 16 did.

    Examples
    --------
    >>> people_needed(1.1, n_clusters=5, d=2, epsilon=1.0)
    93000
    >>> people_needed(1.1, n_clusters=5, d=2, epsilon=1.0, cautious=False)
    37000
    """
    if not isinstance(ratio, int | float) or not 1.01 <= ratio <= 2:
        raise InvalidSetting(
            setting("ratio") + f" must be a number from 1.01 to 2; got {value_text(ratio)}.",
            "E.g. " + setting("ratio", 1.1) + ": inertia a tenth above plain.",
        )
    k = whole_number(n_clusters)
    if k is None or k < 1 or d not in _NINE_OF_TEN:
        raise InvalidSetting(
            setting("n_clusters") + " must be a whole number of 1 or more, and d one from 1 to 4.",
            "E.g. "
            + setting("n_clusters", 5)
            + ", "
            + setting("d", 2)
            + "; for more columns, try it on made-up rows.",
        )
    # 1 / sinh(epsilon/2)^2 is v, the noise of a report.
    half = math.sinh(local_budget(epsilon) / 2)
    rule = (_NINE_OF_TEN if cautious else _EVERY_SECOND)[d]
    people = k**2 / half**2 * max(rule.fewest, rule.excess / (ratio - 1))
    return _two_digits_up(max(people, k))


def _two_digits_up(number: float) -> int:
    """Round up to two significant digits."""
    step: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / step) * step
