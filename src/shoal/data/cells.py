"""Cells of text read as numbers, each by itself: no cell changes what another one means."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.domain.written import MISSING

__all__ = ["floats_of", "is_missing", "oddities"]

# No zeros in front: 01219 is a postcode, and would lose its first digit as a number.
_NUMBER = r"^[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_ODDITIES = {
    "dates": r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}",
    "zeros in front": r"^[+-]?0[0-9]",
    "decimal commas or thousands separators": r"^[+-]?[0-9]+(?:[ ,.'_][0-9]+)+$",
    "other text": r"",
}


def floats_of(column: pa.Array) -> NDArray[np.float64]:
    """Each cell as the double nearest to it; NaN where there is no finite number.

    Examples
    --------
    >>> floats_of(pa.array(["31", " 2.5e1", "1,5", "NA", "05"])).tolist()
    [31.0, 25.0, nan, nan, nan]
    """
    cells = pc.ascii_trim_whitespace(column)
    readable = pc.if_else(pc.match_substring_regex(cells, _NUMBER), cells, None)
    floats: NDArray[np.float64] = readable.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return floats


def is_missing(column: pa.Array) -> pa.Array:
    """Whether a cell is empty or holds one of the usual marks for that, such as NA.

    Examples
    --------
    >>> is_missing(pa.array(["", " ", "NA", None, "x"])).to_pylist()
    [True, True, True, True, False]
    """
    return pc.is_in(pc.ascii_trim_whitespace(column), pa.array([*MISSING, None]))


def oddities(column: pa.Array) -> list[str]:
    """What kinds of cells there are that are neither numbers nor missing; none is quoted.

    Examples
    --------
    >>> oddities(pa.array(["31", "1,5", "NA", "05"]))
    ['zeros in front', 'decimal commas or thousands separators']
    """
    cells = pc.ascii_trim_whitespace(column)
    fine = pc.or_(is_missing(cells), pc.match_substring_regex(cells, f"{_NUMBER}|{_INFINITE}"))
    left, found = cells.filter(pc.invert(fine)), []
    for kind, pattern in _ODDITIES.items():
        alike = pc.match_substring_regex(left, pattern)
        if pc.any(alike).as_py():
            found.append(kind)
        left = left.filter(pc.invert(alike))
    return found
