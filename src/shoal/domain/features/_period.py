"""The period that features are about: whole days and weeks on the clock of one zone."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

MOST_WEEKS = 62  # the weeks of a person are bits of one whole number of 64 bits
DAY = 86_400_000_000  # in microseconds
HOUR = DAY // 24
_EPOCH = date(1970, 1, 1)
_MARGIN = timedelta(days=3)  # no zone is further from UTC than that


@dataclass(frozen=True)
class Period:
    """Days from ``start`` to the day before ``end``.

    Parameters
    ----------
    start, end
        The first day, and the first day that is no longer in it.
    zone
        The zone whose clock is read; None takes times as what a clock showed.
    arrived_before
        Events that arrived on this day or later are left out; None takes all.

    Examples
    --------
    >>> Period(date(2025, 3, 3), date(2025, 12, 15)).n_weeks
    41
    """

    start: date
    end: date
    zone: str | None = None
    arrived_before: date | None = None

    @property
    def n_days(self) -> int:
        """How many days there are."""
        return (self.end - self.start).days

    @property
    def n_weeks(self) -> int:
        """How many weeks, counted from the first day; the last may be short."""
        return -(-self.n_days // 7)

    @property
    def start_at(self) -> int:
        """When the first day begins, in microseconds on the zone's clock."""
        return microseconds(self.start)

    def day_of(self, day: date) -> int:
        """Return the number of a day, 0 for the first.

        Parameters
        ----------
        day
            The day.
        """
        return (day - self.start).days

    def on_clock(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the zone's clock shows at these instants, in microseconds.

        Offsets come from Python's own zone file, so that no engine's file matters.

        Parameters
        ----------
        at
            Instants in microseconds; without a zone they are a clock's already.

        Examples
        --------
        >>> there = Period(date(2025, 7, 1), date(2025, 7, 2), "America/Montevideo")
        >>> (there.on_clock(np.array([microseconds(date(2025, 7, 1))])) - there.start_at) // HOUR
        array([-3])
        """
        if self.zone is None:
            return at
        changes, offsets = self._offsets
        shown: NDArray[np.int64] = at + offsets[np.searchsorted(changes, at, side="right")]
        return shown

    @cached_property
    def _offsets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Instants at which the clock is put forward or back, and the offsets around them."""
        zone = ZoneInfo(self.zone or "UTC")
        last = max(self.end, self.arrived_before or self.end)
        first = _instant(self.start) - _MARGIN
        changes: list[int] = []
        offsets = [_offset(zone, first)]
        while first < _instant(last) + _MARGIN:
            after = first + timedelta(days=1)
            # Two changes within a day have not been seen; the offset after both would hold.
            if _offset(zone, after) != offsets[-1]:
                changes.append(_change_between(zone, first, after))
                offsets.append(_offset(zone, after))
            first = after
        return np.array(changes, np.int64), np.array(offsets, np.int64)


def microseconds(day: date) -> int:
    """Return the beginning of a day, in microseconds since that of 1970."""
    return (day - _EPOCH).days * DAY


def _instant(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _offset(zone: ZoneInfo, at: datetime) -> int:
    offset = at.astimezone(zone).utcoffset() or timedelta()
    return offset // timedelta(microseconds=1)


def _change_between(zone: ZoneInfo, low: datetime, high: datetime) -> int:
    """Return the first second at which the later offset holds, as microseconds."""
    later = _offset(zone, high)
    first, last = int(low.timestamp()), int(high.timestamp())
    while last - first > 1:
        middle = (first + last) // 2
        same = _offset(zone, datetime.fromtimestamp(middle, UTC)) == later
        first, last = (first, middle) if same else (middle, last)
    return last * 1_000_000
