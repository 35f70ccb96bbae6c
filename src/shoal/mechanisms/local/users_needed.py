"""Estimate how many people must report for a wanted accuracy, before collecting."""

import math

from shoal.errors import InvalidSetting, setting, value_text
from shoal.mechanisms.local.bounded.base import local_budget
from shoal.privacy.exact import Number, whole_number

__all__ = ["users_needed"]

# The inertia beyond plain k-means' is about c v k^2 / n, v k^2 / n being the squared noise in a
# cluster's count relative to it; and below some n / (v k^2) clusters are missed now and then, so
# that no formula for the mean holds. Both by number of columns: docs/decisions/local-grid.md.
_EXCESS = {1: 25.0, 2: 25.0, 3: 120.0, 4: 600.0}
_FEWEST = {1: 1_500.0, 2: 1_500.0, 3: 6_000.0, 4: 20_000.0}


def users_needed(ratio: float, *, n_clusters: int, d: int, epsilon: Number) -> int:
    r"""Return the number of people for an inertia of at most ``ratio`` times plain k-means'.

    For reports of a ``LocalGrid`` with automatic cells:
    :math:`v k^2 \max(m_d, c_d / (ratio - 1))`, with :math:`v = 4e^\varepsilon/(e^\varepsilon-1)^2`
    the noise of a report. A rule of thumb for a usual collection, not for the mean: with few people
    a small group is missed now and then. Tried on round groups at least four deviations apart, six
    tables each, at epsilon 2 and :math:`1200 v k^2` people: in 2 columns the ratio had medians of
    1.02, 1.02 and 1.03 for 3, 5 and 8 groups, and one of the six tables of 8 lost one. For 1 and
    4 columns it is an extrapolation. Try rows made up to be like yours.

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

    Examples
    --------
    >>> users_needed(1.1, n_clusters=5, d=2, epsilon=1.0)
    140000
    >>> users_needed(1.1, n_clusters=5, d=2, epsilon=2.0)
    28000
    """
    if not isinstance(ratio, int | float) or not 1.01 <= ratio <= 2:
        raise InvalidSetting(
            setting("ratio") + f" must be a number from 1.01 to 2; got {value_text(ratio)}.",
            "E.g. " + setting("ratio", 1.1) + ": inertia a tenth above plain.",
        )
    k = whole_number(n_clusters)
    if k is None or k < 1 or d not in _EXCESS:
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
    people = k**2 / half**2 * max(_FEWEST[d], _EXCESS[d] / (ratio - 1))
    return _two_digits_up(max(people, k))


def _two_digits_up(number: float) -> int:
    """Round up to two significant digits."""
    step: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / step) * step
