"""Columns of cells that have no type in common, marked so that each cell is read by itself.

A type that is inferred from all cells would let one of them change how every other is read. See
docs/decisions/cells-read-alone.md.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.domain.value_text import column_to_text, is_text_or_absent

Cells = Literal["typed", "untyped", "mixed objects"]
_KEY = "shoal.cells"
# What a file of text and Python's lists hold: metadata of an Arrow field or a Spark column.
UNTYPED: dict[str, str] = {_KEY: "untyped"}
# Python values that Arrow holds as they are; others, and several kinds at once, become text.
_PLAIN_KINDS: dict[type, pa.DataType] = {
    int: pa.int64(),
    float: pa.float64(),
    np.float64: pa.float64(),
    bool: pa.bool_(),
    date: pa.date32(),
}


def cells_of(field: pa.Field) -> Cells:
    """Return whether a column has a type, or cells that are read each by itself.

    Parameters
    ----------
    field
        The column's field in the schema of a batch. An object column of pandas or NumPy is
        "typed", as text, unless it holds other values too.

    Examples
    --------
    >>> cells_of(field_of_cells("age", pa.string())), cells_of(pa.field("age", pa.int64()))
    ('untyped', 'typed')
    """
    cells: Cells = (field.metadata or {}).get(_KEY.encode(), b"typed").decode()
    return cells


def field_of_cells(name: str, kind: pa.DataType, cells: Cells = "untyped") -> pa.Field:
    """Return the field of a column with such cells."""
    return pa.field(name, kind, metadata=None if cells == "typed" else {_KEY: cells})


def values_column(values: Sequence[Any]) -> pa.Array:
    """Return Python values as an array: of one plain kind as they are, else as text.

    Which of the two it is changes nothing for a cell: ``texts_of`` and the conversion to doubles
    give the same for both.

    Examples
    --------
    >>> values_column([1, None]).type, values_column([1, "x"]).to_pylist()
    (DataType(int64), ['1', 'x'])
    """
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if len(kinds) == 1 and (plain := _PLAIN_KINDS.get(*kinds)) is not None:
        try:
            return pa.array(values, plain)
        except (pa.ArrowException, OverflowError):
            pass  # a whole number beyond 64 bits
    return column_to_text(values)


def objects_column(values: Iterable[Any]) -> tuple[pa.Array, Cells]:
    """Return an object column of pandas or NumPy as text, and whether it holds text alone.

    Examples
    --------
    >>> objects_column(["F", None])[1], objects_column(["F", 1])[1]
    ('typed', 'mixed objects')
    """
    cells = list(values)
    is_text = all(map(is_text_or_absent, cells))
    return column_to_text(cells), "typed" if is_text else "mixed objects"


def texts_of(column: pa.Array) -> pa.Array:
    """Return the cells of an untyped column as text, each as it would be alone.

    Parameters
    ----------
    column
        As ``values_column`` makes it, or text of a file.

    Examples
    --------
    >>> texts_of(pa.array([1.5, None, 2.0])).to_pylist()
    ['1.5', None, '2.0']
    """
    return column if pa.types.is_string(column.type) else column_to_text(column.to_pylist())
