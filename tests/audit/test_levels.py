import math

import numpy as np
import pytest

from shoal.audit.levels import ceiling_of, certified, check_levels
from shoal.errors import InvalidSetting


def test_limits_are_those_of_clopper_and_pearson():
    """P[Binomial(m, p_low) >= k] = alpha/4, P[Binomial(m, q_high) <= l] = alpha/4."""
    from scipy.optimize import brentq
    from scipy.stats import binom

    m, k, l, alpha = 500, 120, 30, 0.02  # noqa: E741
    p_low = brentq(lambda p: binom.sf(k - 1, m, p) - alpha / 4, 1e-9, 1)
    q_high = brentq(lambda q: binom.cdf(l, m, q) - alpha / 4, 1e-9, 1)
    found = certified(np.array([k]), np.array([l]), m, alpha, 0.01)[0]
    assert found == pytest.approx(math.log((p_low - 0.01) / q_high))


def test_the_ends_need_no_formula():
    nothing = certified(np.array([0, 5]), np.array([3, 10]), 10, 0.01, 0)
    assert nothing[0] == -math.inf
    assert nothing[1] < 0  # the other side is always in the event


def test_all_against_none_is_the_ceiling():
    seen = certified(np.array([100_000]), np.array([0]), 100_000, 0.01, 0)[0]
    assert seen == pytest.approx(ceiling_of(100_000, 0.01), abs=1e-3)


@pytest.mark.parametrize(
    ("alpha", "delta"),
    [(0, 0), (0.5, 0), (math.nan, 0), ("0.1", 0), (0.1, 1), (0.1, -1), (0.1, math.nan)],
)
def test_levels_outside_their_range_are_refused(alpha, delta):
    with pytest.raises(InvalidSetting):
        check_levels(alpha, delta)
