"""The intervals of a model: one for each coordinate of a centre, each size and the total."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats

RATE = 0.9
_MOST_UNSTABLE = 1 / 3  # of the groups, before the intervals of all of them are in doubt
_OF_95_IN_100 = 0.84  # a normal deviate's 90 % limit over its 95 % one; a Laplace one's is less


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals that hold what the method without noise would find, each at its rate.

    They are made from released numbers alone, so they cost nothing and may be published. NaN marks
    a group that is unstable: it moves to another place between refits, so its centre and size are
    given no interval.

    Parameters
    ----------
    centers_low
        The lower ends, a line for each group; no columns where groups have no centres.
    centers_high
        The upper ends.
    sizes_low
        The lower end of each group's number of rows, 0 or more.
    sizes_high
        The upper end.
    total_low
        The lower end of the number of all rows.
    total_high
        The upper end.
    rate
        How many of these intervals hold, each taken alone.
    missing
        Why there are none at all, where there are none.

    Examples
    --------
    >>> low, high = np.array([[0.1], [np.nan]]), np.array([[0.2], [np.nan]])
    >>> sizes = np.array([40.0, np.nan])
    >>> intervals = Intervals(low, high, sizes, sizes + 20, 90.0, 110.0)
    >>> intervals.unstable.tolist(), intervals.shares_high.tolist()
    ([False, True], [0.6, nan])
    >>> Intervals.of(intervals.to_dict()).centers_low.tolist()
    [[0.1], [nan]]
    """

    centers_low: Floats
    centers_high: Floats
    sizes_low: Floats
    sizes_high: Floats
    total_low: float
    total_high: float
    rate: float = RATE
    missing: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, which ``Intervals.of`` takes."""
        ends = {name: _plain(getattr(self, name)) for name in _CENTERS + _SIZES + _TOTAL}
        return ends | {"rate": self.rate, "missing": self.missing}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Intervals":
        """Rebuild intervals from ``to_dict``."""
        ends: dict[str, Any] = {
            name: np.array(values[name], dtype=np.float64) for name in _CENTERS + _SIZES
        }
        if not len(values["sizes_low"]):
            # A list of no lines does not say how many columns its lines have.
            ends |= {name: np.empty((0, 0)) for name in _CENTERS}
        rest = {name: values[name] for name in (*_TOTAL, "rate", "missing")}
        return cls(**ends, **rest)

    @property
    def unstable(self) -> NDArray[np.bool_]:
        """Whether each group has no interval, as it moves to another place between refits."""
        return np.isnan(self.sizes_low)

    @property
    def has_rivals(self) -> bool:
        """Whether other groupings are nearly as good: more than a third are unstable."""
        return bool(self.unstable.mean() > _MOST_UNSTABLE) if self.unstable.size else False

    @property
    def shares_low(self) -> Floats:
        """The lower end of each group's share of all rows."""
        return self.sizes_low / self._middle

    @property
    def shares_high(self) -> Floats:
        """The upper end of each group's share, at most 1."""
        return np.minimum(self.sizes_high / self._middle, 1.0)

    @property
    def half_widths(self) -> Floats:
        """Half the width of each centre's intervals."""
        return (self.centers_high - self.centers_low) / 2

    @property
    def _middle(self) -> float:
        return max((self.total_low + self.total_high) / 2, 1.0)


_CENTERS = ("centers_low", "centers_high")
_SIZES = ("sizes_low", "sizes_high")
_TOTAL = ("total_low", "total_high")


def _plain(numbers: Any) -> Any:
    """Return nested lists; JSON has no NaN, for which None stands, and no infinity."""
    if isinstance(numbers, list):
        return [_plain(each) for each in numbers]
    if isinstance(numbers, np.ndarray | np.generic):
        return _plain(numbers.tolist())
    if math.isnan(numbers):
        return None
    return str(numbers) if math.isinf(numbers) else numbers


def total_interval(n_rows: float, within: float) -> tuple[float, float]:
    """Return the interval of the number of all rows.

    Parameters
    ----------
    within
        What noise moves it by at most in 95 of 100 releases; 0 if it is public.

    Examples
    --------
    >>> total_interval(1_000, 50), total_interval(1_000, 0)
    ((958.0, 1042.0), (1000.0, 1000.0))
    """
    half = _OF_95_IN_100 * within
    return max(n_rows - half, 0.0), n_rows + half
