"""What a shuffler adds to a local promise: the (epsilon, delta) of the sums of n reports.

Whoever sees sums alone cannot tell whose report is whose, and many reports are uniform noise that
hides the others. See ``amplification.proof.md``. The promise holds if the server is honest; if not,
the local one is left.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc, gammaln

from shoal.arrays import Floats
from shoal.errors import InvalidSetting
from shoal.mechanisms import LocalGrid
from shoal.mechanisms.local.categories import LocalHash, ResidualSign
from shoal.privacy import ApproxDP

# Paid for float arithmetic: chances of millions of people are right to about 1e-8 of themselves.
_RELATIVE, _ROUNDING = 1e-6, 1e-12
_SPREAD = 7.6  # deviations around the mean that are looked at; the rest is paid for whole
_COARSE, _FINE = 16, 64  # parts of the clones' number: to search with, and to state
_LARGEST_LOCAL = 4  # above, the local promise says little if the server is not honest


class _Blanket(NamedTuple):
    """How much of a report is uniform noise, and how far two records' supports are apart."""

    ratio: float  # e^epsilon0
    noise: float  # gamma: the chance that a report is uniform
    apart: float  # pi: the share of codes that support one record and not the other
    columns: int  # only reports of the same column hide each other


def shuffled(
    mechanism: Any, n_least: int, delta: float = 1e-6, *, liars: float = 0.1, insist: bool = False
) -> ApproxDP:
    """Return the promise of one release of sums, if the server is honest.

    Parameters
    ----------
    mechanism
        What the clients run: an oracle over categories, a ``LocalGrid`` or ``ResidualSign``.
    n_least
        The number of reports without which nothing is released.
    insist
        Allow a local epsilon above 4.

    Examples
    --------
    >>> from shoal.mechanisms import RandomizedResponse
    >>> promise = shuffled(RandomizedResponse(1.0, 2), 10_000, liars=0)
    >>> round(float(promise.epsilon), 3), float(promise.delta)
    (0.043, 1e-06)
    """
    if not 0 <= liars < 1:
        raise InvalidSetting.of("liars", "must be a share from 0 to below 1", 0.1, liars)
    if mechanism.exact_epsilon > _LARGEST_LOCAL and not insist:
        raise InvalidSetting(
            f"The local epsilon is above {_LARGEST_LOCAL}: a dishonest server could learn much.",
            "Use a smaller one, or insist=True.",
        )
    epsilon = shuffled_epsilon(mechanism, math.floor(n_least * (1 - liars)), delta)
    return ApproxDP(Fraction(epsilon), Fraction(str(delta)), neighbours="replace-one")


def shuffled_epsilon(mechanism: Any, n: int, delta: float = 1e-6) -> float:
    """Return an epsilon such that the sums of ``n`` honest reports are (epsilon, delta)-DP."""
    blanket = _blanket_of(mechanism)
    high = float(mechanism.exact_epsilon)  # the local promise holds in any case
    low = 0.0
    for parts in (_COARSE, _FINE):
        while high - low > 1e-3 * high:
            middle = (low + high) / 2
            if _delta(blanket, n, middle, parts) <= delta:
                high = middle
            else:
                low = middle
        # The finer bound is smaller, so the coarse answer bounds it from above.
        low = 0.9 * low if parts == _COARSE else low
    return high


def shuffled_delta(mechanism: Any, n: int, epsilon: float) -> float:
    """Return a delta such that the sums of ``n`` honest reports are (epsilon, delta)-DP."""
    return _delta(_blanket_of(mechanism), n, epsilon, _FINE)


def _blanket_of(mechanism: Any) -> _Blanket:
    oracle = mechanism.oracle if isinstance(mechanism, LocalGrid | ResidualSign) else mechanism
    columns = mechanism.domain.d if isinstance(mechanism, ResidualSign) else 1
    ratio = math.exp(oracle.exact_epsilon)
    if isinstance(oracle, LocalHash):
        g = oracle.buckets
        return _Blanket(ratio, g / (ratio + g - 1), (1 - 1 / g) / g, columns)  # [P1]
    k = oracle.size
    return _Blanket(ratio, k / (ratio + k - 1), 1 / k, columns)  # [P1]


def _delta(blanket: _Blanket, n: int, epsilon: float, parts: int) -> float:
    """Bound delta by the mean over the number of clones, each part at its lower end."""
    chance = blanket.noise / blanket.columns  # [P2]
    middle, spread = (n - 1) * chance, math.sqrt((n - 1) * chance * (1 - chance))
    edges = middle + spread * np.linspace(-_SPREAD, _SPREAD, parts + 1)
    lows = np.unique(np.clip(np.floor(edges), 0, n - 1))
    reaching = _at_least(lows, np.full(lows.size, n - 1.0), chance)
    masses = reaching - np.append(reaching[1:], 0.0)
    total = 1 - float(reaching[0])  # fewer clones than were looked at: delta 1
    for low, mass in zip(lows, masses, strict=True):
        total += mass * _given_clones(blanket, int(low) + 1, epsilon)  # [P4]
    return min(1.0, total * (1 + _RELATIVE) + _ROUNDING)


def _given_clones(blanket: _Blanket, reports: int, epsilon: float) -> float:
    """Bound delta where the person hides among so many uniform reports, her own among them."""
    E, gamma, M = blanket.ratio, blanket.noise, float(reports)
    chance = min(2 * blanket.apart, 1.0)
    reach = _SPREAD * math.sqrt(M * chance * (1 - chance)) + 20
    low, high = max(0, math.floor(M * chance - reach)), min(reports, math.ceil(M * chance + reach))
    s = np.arange(low, high + 1.0)
    grow = math.exp(epsilon)
    alpha = M * (1 - grow) - (E - 1) * grow * s
    beta = (E - 1) * (1 + grow)
    t = np.floor(-alpha / beta) + 1
    tail, shifted = _at_least(t, s, 0.5), _at_least(t - 1, np.maximum(s - 1, 0), 0.5)
    excess = np.maximum(alpha * tail + beta * s / 2 * shifted, 0.0)  # [P3]
    masses = _chances(s, M, chance)
    cut = gamma * E * max(0.0, 1 - float(np.sum(masses)))
    return min(1.0, float(gamma / M * np.sum(masses * excess)) + cut)


def _at_least(t: Floats, n: Floats, chance: float) -> Floats:
    """Return P[Bin(n, chance) >= t]."""
    inside = (t >= 1) & (t <= n)
    upper = betainc(np.where(inside, t, 1), np.where(inside, n - t + 1, 1), chance)
    return np.asarray(np.where(inside, upper, (t < 1).astype(float)))


def _chances(s: Floats, n: float, chance: float) -> Floats:
    """Return P[Bin(n, chance) = s]."""
    if chance == 1:
        return np.asarray((s == n).astype(float))
    ways = gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
    return np.asarray(np.exp(ways + s * math.log(chance) + (n - s) * math.log1p(-chance)))
