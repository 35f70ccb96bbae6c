"""Rewrite numbers with decimal commas or thousands separators as plain ones, cell by cell."""

from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.csv_text import CSVText
from shoal.data.source import Source

NumberStyle = Literal["1.234,5", "1,234.5"]
NUMBER_STYLES: tuple[NumberStyle, ...] = ("1.234,5", "1,234.5")
_BLANKS = "' \u00a0\u202f"  # between thousands in either style
_MARKS = {"1.234,5": (".", ","), "1,234.5": (",", ".")}


def is_written_so(cells: pa.Array, style: NumberStyle) -> pa.Array:
    """Return which cells are numbers in a style; plain whole numbers are in both.

    Examples
    --------
    >>> is_written_so(pa.array(["1.234,5", "1,5", "12", "1.5", "a"]), "1.234,5").to_pylist()
    [True, True, True, False, False]
    """
    thousands, decimal = _MARKS[style]
    group = f"[{thousands}{_BLANKS}]"
    whole = f"[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]+"
    return pc.match_substring_regex(
        pc.ascii_trim_whitespace(cells), f"^[+-]?(?:{whole})(?:[{decimal}][0-9]+)?$"
    )


def _to_plain_numbers(cells: pa.Array, style: NumberStyle) -> pa.Array:
    """Return the cells with numbers of a style written like 1234.5; others stay as they are.

    Examples
    --------
    >>> _to_plain_numbers(pa.array(["1.234,5", "-7", "1 000", "York", None]), "1.234,5").to_pylist()
    ['1234.5', '-7', '1000', 'York', None]
    """
    thousands, decimal = _MARKS[style]
    plain = pc.replace_substring_regex(
        pc.ascii_trim_whitespace(cells), f"[{thousands}{_BLANKS}]", ""
    )
    if decimal != ".":
        plain = pc.replace_substring(plain, decimal, ".")
    return pc.if_else(is_written_so(cells, style), plain, cells)


def write_plain_table(source: Source, file: Any, style: NumberStyle) -> None:
    """Write a table as CSV with plain numbers, a batch at a time."""
    schema = pa.schema([(name, pa.string()) for name in source.names])
    text = CSVText(file, schema)
    for batch in source.batches(source.names):
        columns = [_to_plain_numbers(cells.cast(pa.string()), style) for cells in batch.columns]
        text.write(pa.record_batch(columns, schema=schema))
