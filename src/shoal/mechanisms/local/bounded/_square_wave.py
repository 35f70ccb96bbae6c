"""The Square Wave mechanism, and the distribution estimated from its reports."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.errors import DimensionMismatch
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.bounded._base import STEPS, Bounded, Estimate, Steps, own_reports
from shoal.mechanisms.local.bounded._sliding_window import SlidingWindow
from shoal.privacy import Number

_BINS = 256  # as Li et al. have them
_MOST_ROUNDS = 10_000  # a bound that likelihoods stop long before


@dataclass(frozen=True, eq=False)
class Distribution:
    """The estimated share of people in each of equal bins of a column's range.

    Attributes
    ----------
    centers
        Of the bins, in the column's units.
    shares
        From 0 up, summing to 1.
    """

    centers: Floats
    shares: Floats

    @property
    def mean(self) -> float:
        """The mean of the distribution; biased, unlike ``SquareWave.mean``."""
        return float(self.centers @ self.shares)


@dataclass(frozen=True)
class SquareWave(Bounded):
    r"""Report one number so that its whole distribution can be learnt, not only its mean.

    For x in [0, 1] the report is uniform on [x-b, x+b] with weight e^epsilon a unit of length,
    and on the rest of [-b, 1+b] with weight 1.

    Guarantee
    ---------
    ``LocalDP(epsilon)``. Drawn exactly, in whole steps of 2**-20 of the range. See
    ``square_wave.proof.md``.

    Parameters
    ----------
    epsilon
        The promise of one report; at most 20.
    domain
        The public box, of one column. ``None``: values lie in [0, 1] already.
    clip
        Move values outside to the nearest bound instead of refusing them.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> wave = SquareWave(3.0, domain=Box(age=(0, 100)))
    >>> ages = np.repeat([[20.0], [60.0]], [15_000, 5_000], axis=0)
    >>> found = wave.distribution(wave.release(ages, Randomness(7).noise))
    >>> bool(abs(found.shares[found.centers < 40].sum() - 0.75) < 0.02)
    True

    References
    ----------
    Li et al., Estimating numerical distributions under local differential privacy, SIGMOD 2020.
    """

    epsilon: Number
    domain: Box | None = None
    clip: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain is not None and self.domain.d != 1:
            raise DimensionMismatch(
                f"SquareWave takes one column; the box has {self.domain.d}.",
                "Give each column a SquareWave of its own, at a share of epsilon.",
                reason="too many columns",
            )

    @property
    def half_width(self) -> float:
        """b, half the window's width on the scale of [0, 1]."""
        return self._window.width / (2 * STEPS)

    def mean(self, reports: Reports) -> Estimate:
        """Estimate the mean of the values behind these reports, unbiased, with its standard error.

        A report leans to the middle of the range, by a public factor that is taken out here.

        Parameters
        ----------
        reports
            Reports of this mechanism, unchanged.
        """
        plain, middle = super().mean(reports), self._box(1).unscale([[0.5]])[0]
        return Estimate(
            middle + (plain.value - middle) / self._slope, plain.standard_error / self._slope
        )

    def distribution(self, reports: Reports, smooth: bool = True) -> Distribution:
        """Estimate the distribution of the values behind these reports, in 256 bins.

        Parameters
        ----------
        reports
            Reports of this mechanism, unchanged.
        smooth
            Blend each bin a little with its neighbours at every round (EMS): steadier. ``False``
            is plain expectation maximisation.
        """
        box = self._box(1)
        places = box.scale(own_reports(reports, self).values.reshape(-1, 1))
        b = self.half_width
        # Clipped: rounding may put a report an ulp beyond the last edge.
        counts, _ = np.histogram(np.clip(places, -b, 1 + b), bins=_BINS, range=(-b, 1 + b))
        # The stopping rules of Li et al.: plain EM overfits unless it stops earlier.
        enough = 1e-3 if smooth else 1e-3 * math.exp(self.exact_epsilon)
        centers = (np.arange(_BINS) + 0.5) / _BINS
        shares = _expectation_maximisation(counts, self._transfer(centers), smooth, enough)
        return Distribution(box.unscale(centers.reshape(-1, 1))[:, 0], shares)

    @property
    def _slope(self) -> float:
        """How far the mean report moves when the value moves by 1."""
        inside = math.expm1(self.exact_epsilon) * self._window.width
        return inside / (inside + self._window.places)

    @property
    def _window(self) -> SlidingWindow:
        return _window(self.exact_epsilon)

    def _box(self, d: int) -> Box:
        return Box.unit(1) if self.domain is None else self.domain

    def _draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        window = self._window
        middle = (window.width - 1) / 2  # [P2] the window is centred on the value
        places = window.draw(steps, rng).astype(np.float64) - middle  # [P1]
        return places * (2 / STEPS) - 1

    def _scaled_variance(self, x: Floats) -> Floats:
        """Return the variance about the mean report, which is not the value."""
        width, places = self._window.width, self._window.places
        offset = x * STEPS / 2  # of the window from the middle of all places
        inside = (width**2 - 1) / 12 + offset**2
        anywhere = (places**2 - 1) / 12
        square = self._slope * inside + (1 - self._slope) * anywhere
        return (square - (self._slope * offset) ** 2) * (2 / STEPS) ** 2

    def _transfer(self, centers: Floats) -> Floats:
        """Return the probability of each output bin (line) for each input centre (column)."""
        b, ratio = self.half_width, math.exp(self.exact_epsilon)
        edges = np.linspace(-b, 1 + b, _BINS + 1)[:, None]
        covered = np.diff(np.clip(edges, centers - b, centers + b), axis=0)
        return (covered * (ratio - 1) + np.diff(edges, axis=0)) / (2 * b * ratio + 1)


@lru_cache(maxsize=64)
def _window(epsilon: Fraction) -> SlidingWindow:
    return SlidingWindow(epsilon, max(1, round(2 * _half_width(float(epsilon)) * STEPS)))


def _half_width(epsilon: float) -> float:
    """Return b for this epsilon, on the scale of [0, 1]."""
    if epsilon < 1e-3:  # the fraction cancels
        return 0.5 - epsilon / 3
    growth = math.expm1(epsilon)
    return (epsilon * (growth + 1) - growth) / (2 * (growth + 1) * (growth - epsilon))


def _expectation_maximisation(
    counts: NDArray[np.intp], transfer: Floats, smooth: bool, enough: float
) -> Floats:
    """Return the shares that make these counts likely, starting from equal ones."""
    shares = np.full(transfer.shape[1], 1 / transfer.shape[1])
    before = -math.inf
    for _ in range(_MOST_ROUNDS):
        expected = transfer @ shares
        likelihood = float(counts @ np.log(expected))
        if likelihood - before < enough:
            break
        before = likelihood
        shares *= transfer.T @ (counts / expected)
        shares = _smoothed(shares) if smooth else shares
        shares /= shares.sum()
    return shares


def _smoothed(shares: Floats) -> Floats:
    """Average each bin with its neighbours: weights (1, 2, 1)/4, (2, 1)/3 at the ends."""
    inner = (shares[:-2] + 2 * shares[1:-1] + shares[2:]) / 4
    ends = (2 * shares[0] + shares[1]) / 3, (2 * shares[-1] + shares[-2]) / 3
    return np.concatenate([[ends[0]], inner, [ends[1]]])
