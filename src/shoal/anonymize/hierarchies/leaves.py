"""How the cells of a column find their leaves: as text, as numbers or as dates."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.anonymize.hierarchies.hierarchy import NO_LEAF, Codes
from shoal.data.encode import floats_of
from shoal.domain.written import plain, plain_column

__all__ = ["DateLeaves", "NumberLeaves", "TextLeaves", "as_text", "days_in", "masked", "numbers_in"]

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?")


@dataclass(frozen=True, eq=False)
class TextLeaves:
    """A cell is the leaf it is written like or, if none is, the one it equals: 39.0 is 39.

    ``kept``: only so many characters of a cell count, the rest being masked by ``*``.

    Examples
    --------
    >>> TextLeaves(["39", "40"])(pa.array([" 40", "39.0", "x"])).tolist()
    [1, 0, -1]
    """

    leaves: Sequence[str]
    kept: int | None = None

    def __call__(self, column: Any) -> Codes:
        """The code of each cell."""
        cells = pc.utf8_trim_whitespace(as_text(column))
        if self.kept is not None:
            return _codes(pc.index_in(masked(cells, self.kept), self._exact))
        found = pc.index_in(cells, self._exact)
        if found.null_count:
            found = pc.coalesce(
                found, pc.index_in(plain_column(cells), self._equal, skip_nulls=True)
            )
        return _codes(found)

    @cached_property
    def _exact(self) -> pa.Array:
        return pa.array(self.leaves, pa.string())

    @cached_property
    def _equal(self) -> pa.Array:
        """Leaves as they are compared, but null where several are equal, such as 1.1 and 1.10."""
        written = [plain(leaf) for leaf in self.leaves]
        seen: dict[str, int] = {}
        for leaf in written:
            seen[leaf] = seen.get(leaf, 0) + 1
        return pa.array([leaf if seen[leaf] == 1 else None for leaf in written], pa.string())


@dataclass(frozen=True, eq=False)
class NumberLeaves:
    """A cell is the interval it lies in; beyond the declared domain, the first or the last.

    Examples
    --------
    >>> NumberLeaves(np.array([0.0, 10, 20]), whole=True)(pa.array(["-3", "10", "1.5"])).tolist()
    [0, 1, -1]
    """

    breaks: NDArray[np.float64]
    whole: bool

    def __call__(self, column: Any) -> Codes:
        """The code of each cell."""
        numbers = numbers_in(column)
        codes = np.searchsorted(self.breaks[1:-1], numbers, side="right").astype(np.int32)
        odd = np.isnan(numbers) | (self.whole & (numbers != np.floor(numbers)))
        codes[odd] = NO_LEAF
        return codes


@dataclass(frozen=True, eq=False)
class DateLeaves:
    """A cell is the period it lies in: ``period(day)`` is a whole number, ``leaves`` are sorted.

    ``clip``: days before the first period or after the last belong to those.
    """

    leaves: NDArray[np.int64]
    period: Any
    clip: bool

    def __call__(self, column: Any) -> Codes:
        """The code of each cell."""
        days = days_in(column)
        periods = np.array([-1 if day is None else self.period(day) for day in days], np.int64)
        if self.clip:
            inside = np.clip(periods, self.leaves[0], self.leaves[-1])
            periods = np.where(periods < 0, periods, inside)
        codes = np.searchsorted(self.leaves, periods).astype(np.int32)
        found = self.leaves[np.minimum(codes, len(self.leaves) - 1)] == periods
        return np.where(found, codes, np.int32(NO_LEAF))


def as_text(column: Any) -> Any:
    """A column of anything that can be written down as an Arrow array of text; -0.0 is 0.

    A time of some zone is written in UTC: readers and DuckDB name the same time by other zones.

    Examples
    --------
    >>> as_text(pa.array([1.0, 2.5, -0.0])).to_pylist()
    ['1', '2.5', '0']
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_binary(column.type) or pa.types.is_nested(column.type):
        return pa.nulls(len(column), pa.string())  # no leaf: told as such
    if pa.types.is_timestamp(column.type) and column.type.tz:
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    written = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.equal(written, "-0"), "0", written)
    return written


def masked(cells: Any, kept: int) -> Any:
    """The first characters of each text, and a ``*`` where more follow."""
    more = pc.greater(pc.utf8_length(cells), kept)
    return pc.if_else(
        more, pc.binary_join_element_wise(pc.utf8_slice_codeunits(cells, 0, kept), "*", ""), cells
    )


def numbers_in(column: Any) -> NDArray[np.float64]:
    """Each cell as a number, NaN if it is none."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        floats: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(
            zero_copy_only=False
        )
        return floats
    return floats_of(as_text(column))


def days_in(column: Any) -> list[date | None]:
    """Each cell as a day, written 2001-03-05 with or without a time; ``None`` if it is none."""
    return [_day(cell) for cell in as_text(column).to_pylist()]


def _day(cell: str | None) -> date | None:
    found = _DAY.fullmatch(cell.strip()) if cell else None
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _codes(places: Any) -> Codes:
    codes: Codes = pc.fill_null(places, NO_LEAF).to_numpy(zero_copy_only=False).astype(np.int32)
    return codes
