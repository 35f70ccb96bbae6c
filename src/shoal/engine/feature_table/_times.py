"""Times of events as microseconds, each cell read by itself."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.source import find_columns
from shoal.data.untyped_cells import cells_of, texts_of
from shoal.domain.features import Period
from shoal.errors import InvalidFeatures

NULL = np.iinfo(np.int64).min  # a whole number that is missing
_DAY, _SECOND = 86_400_000_000, 1_000_000
_TIME = (
    r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})"
    r"(?:\.(?P<part>[0-9]{1,9}))?)?)?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?$"
)
_DAYS_IN_MONTH = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
Times = NDArray[np.int64]


def clock_times(batch: pa.RecordBatch, name: str, period: Period) -> Times:
    """Return what the period's clock showed, in microseconds; ``NULL`` where it cannot be read.

    Parameters
    ----------
    batch
        The rows.
    name
        The column: a time, a date, or text like 2025-03-03 08:15:00 or 2025-03-03T11:15:00Z.
    period
        Its zone says on which clock instants are read; without one, a clock's time is taken as
        it is written.
    """
    (at,) = find_columns(batch.schema.names, [name])
    column, is_untyped = batch.column(at), cells_of(batch.schema.field(at)) == "untyped"
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if is_untyped or pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        texts = texts_of(column) if is_untyped else column.cast(pa.string())
        return _on_clock(*_times_of_text(texts, period.zone is not None), period)
    return _on_clock(*_times_of_type(column, name, period), period)


def _on_clock(at: Times, is_known: NDArray[np.bool_], period: Period) -> Times:
    return np.where(is_known, period.on_clock(at), NULL)


def _times_of_type(column: pa.Array, name: str, period: Period) -> tuple[Times, NDArray[np.bool_]]:
    kind = column.type
    if pa.types.is_timestamp(kind):
        if kind.tz is not None and period.zone is None:
            raise InvalidFeatures(
                f"{name!r} holds instants, and the file does not say on which clock to read them.",
                "Add the zone, e.g. `period: {zone: America/Montevideo}`.",
            )
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    elif pa.types.is_date(kind):
        column = column.cast(pa.timestamp("us"))
    elif not pa.types.is_null(kind):
        raise InvalidFeatures(
            f"{name!r} holds {kind}, which is no time.",
            "Store times as timestamps, or as text like 2025-03-03 08:15:00.",
        )
    whole = pc.fill_null(column.cast(pa.int64()), 0)
    return whole.to_numpy(zero_copy_only=False), ~_nulls(column)


def _nulls(column: pa.Array) -> NDArray[np.bool_]:
    nulls: NDArray[np.bool_] = pc.is_null(column).to_numpy(zero_copy_only=False)
    return nulls


def _times_of_text(texts: pa.Array, has_zone: bool) -> tuple[Times, NDArray[np.bool_]]:
    """Read text; where the clock has no zone, what is written after the time is ignored."""
    parts = pc.extract_regex(pc.ascii_trim_whitespace(texts), _TIME)
    is_read = ~_nulls(parts)

    def number(name: str) -> Times:
        text = pc.struct_field(parts, name)
        filled = pc.if_else(pc.or_kleene(pc.is_null(text), pc.equal(text, "")), "0", text)
        whole: Times = filled.cast(pa.int64()).to_numpy(zero_copy_only=False)
        return whole

    year, month, day = number("year"), number("month"), number("day")
    hour, minute, second = number("hour"), number("minute"), number("second")
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = _DAYS_IN_MONTH[np.clip(month, 0, 12)] - ((month == 2) & ~is_leap)
    is_read &= (month >= 1) & (month <= 12) & (day >= 1) & (day <= last)
    is_read &= (hour < 24) & (minute < 60) & (second < 60) & (year > 0)
    at = _days_since_epoch(year, month, day) * _DAY
    at += ((hour * 60 + minute) * 60 + second) * _SECOND + _microseconds(parts)
    return at - _offsets(parts) if has_zone else at, is_read


def _days_since_epoch(year: Times, month: Times, day: Times) -> Times:
    """Return the days since 1970 in the Gregorian calendar, by whole numbers alone."""
    early = month <= 2
    year = year - early
    months = np.where(early, month + 9, month - 3)  # from March, so that a leap day is the last
    era = year // 400
    of_era = year - era * 400
    days: Times = era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100
    days += (153 * months + 2) // 5 + day - 1 - 719_468
    return days


def _microseconds(parts: pa.Array) -> Times:
    text = pc.fill_null(pc.struct_field(parts, "part"), "")
    padded = pc.utf8_slice_codeunits(pc.utf8_rpad(text, 6, "0"), 0, 6)
    whole: Times = padded.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return whole


def _offsets(parts: pa.Array) -> Times:
    """Return how far the written zone is ahead of UTC, in microseconds."""
    text = pc.fill_null(pc.struct_field(parts, "zone"), "")
    plain = pc.if_else(pc.or_(pc.equal(text, ""), pc.equal(text, "Z")), "+0000", text)
    digits = pc.replace_substring(plain, ":", "")
    hours = pc.utf8_slice_codeunits(digits, 1, 3).cast(pa.int64()).to_numpy(zero_copy_only=False)
    minutes = pc.utf8_slice_codeunits(digits, 3, 5).cast(pa.int64()).to_numpy(zero_copy_only=False)
    is_behind = pc.starts_with(plain, "-").to_numpy(zero_copy_only=False)
    ahead: Times = (hours * 60 + minutes) * 60 * _SECOND
    return np.where(is_behind, -ahead, ahead)
