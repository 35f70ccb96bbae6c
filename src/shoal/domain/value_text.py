"""How values are written as text, each on its own: no value changes how another is read.

That is what bounds a row's influence. If one odd cell could turn a column of numbers into one of
text, adding one row would move everybody's.
"""

import math
import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

_BLANKS = " \t\n\v\f\r"
# What spreadsheets and statistics programs write where nothing is.
MISSING = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None",
    "#N/A", "#NA", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
_WHOLE = r"(-?(?:0|[1-9][0-9]*))"
_TRAILING_ZEROS = rf"^{_WHOLE}\.0*$|^{_WHOLE}(\.[0-9]*[1-9])0+$"


def value_to_text(value: object) -> str:
    """Write a value as text without surrounding blanks; truth values in lower case.

    Examples
    --------
    >>> value_to_text(" F "), value_to_text(True), value_to_text(7)
    ('F', 'true', '7')
    """
    written = str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
    return _unicode(written.strip(_BLANKS))


def column_to_text(values: Iterable[Any]) -> Any:
    """Return values of mixed types as an Arrow array of text, null where that is impossible.

    Examples
    --------
    >>> column_to_text([7, "x", None, 2.5, [1]]).to_pylist()
    ['7', 'x', None, '2.5', None]
    """
    import pyarrow as pa

    # Text is by far the most common: no call for it.
    written = [v if type(v) is str else _text_or_none(v) for v in values]
    try:
        return pa.array(written, pa.string())
    except UnicodeEncodeError:  # half a character somewhere
        return pa.array([v and _unicode(v) for v in written], pa.string())


def column_as_text(column: Any) -> Any:
    """Return a typed Arrow column as text, decimals by their digits whatever the column's scale.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column_as_text(pa.array([Decimal("0"), Decimal("1.5e-10")])).to_pylist()
    ['0.00000000000', '0.00000000015']
    """
    import pyarrow as pa

    if not pa.types.is_decimal(column.type):
        return column.cast(pa.string())
    # Arrow writes 0E-11 for zero in a column that has small numbers.
    return pa.array([v if v is None else format(v, "f") for v in column.to_pylist()], pa.string())


def normalise_text(written: str) -> str:
    """Trim text and drop trailing zeros of decimals: 7.0 is 7; leading zeros stay.

    Examples
    --------
    >>> normalise_text(" 7.00"), normalise_text("2.50"), normalise_text("007")
    ('7', '2.5', '007')
    """
    return re.sub(_TRAILING_ZEROS, r"\1\2\3", written.strip(_BLANKS))


def normalise_column(column: Any) -> Any:
    """Apply ``normalise_text`` to every value of an Arrow column of text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> normalise_column(pa.array([" 7.00", "7", "x", None])).to_pylist()
    ['7', '7', 'x', None]
    """
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim_whitespace(column)
    if not pc.any(pc.match_substring(trimmed, ".")).as_py():
        return trimmed  # the rule below would leave every value as it is, only slowly
    return pc.replace_substring_regex(trimmed, _TRAILING_ZEROS, r"\1\2\3")


def is_value(value: object) -> bool:
    """Whether something is text, a number, a date or a truth value, and not missing."""
    if isinstance(value, Decimal):
        return not value.is_nan()  # math.isnan raises for one that signals
    if isinstance(value, float):
        return not math.isnan(value)
    # pandas' missing time is a date that is not even itself.
    return isinstance(value, str | int | date) and value == value  # noqa: PLR0124


def is_text_or_absent(value: object) -> bool:
    """Whether something is text, or what libraries put where nothing is.

    Examples
    --------
    >>> [is_text_or_absent(value) for value in ("x", None, float("nan"), 1, b"x")]
    [True, True, True, False, False]
    """
    if isinstance(value, float):
        return math.isnan(value)
    # pandas' marks by their names: pandas need not be installed.
    return isinstance(value, str | None) or type(value).__name__ in ("NAType", "NaTType")


def _text_or_none(value: Any) -> str | None:
    """Write a value as text; None for what is no value."""
    # NumPy's times become whole numbers or dates, by their unit.
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    try:
        return value_to_text(value) if is_value(value) else None
    except ValueError:  # a whole number of more digits than Python writes
        return None


def _unicode(written: str) -> str:
    """Replace halves of characters, which UTF-8 cannot encode, by their escapes."""
    return written.encode("utf-8", "backslashreplace").decode()
