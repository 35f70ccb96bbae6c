"""Encode columns of a batch as numbers, category codes or owners, each cell on its own.

What a cell means follows from this cell, the type of its column and public facts. Which types a
column takes follows from its kind alone (docs/guides/data.md has the table), so one odd row cannot
change how others are read.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.data.source import find_columns
from shoal.data.untyped_cells import cells_of, texts_of
from shoal.domain import Categories
from shoal.domain.categories import Codes
from shoal.domain.value_text import MISSING, column_as_text, normalise_column
from shoal.errors import InvalidSetting, NotNumeric, UnknownCategory, setting

_NO_OWNER_TYPES = (
    pa.types.is_floating,
    pa.types.is_nested,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
    pa.types.is_binary_view,
)

# No zeros in front: 01219 is a postcode, and would lose its first digit as a number.
_NUMBER = r"^[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_ODD_CELLS = {
    "dates": r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}",
    "zeros in front": r"^[+-]?0[0-9]",
    "decimal commas or thousands separators": r"^[+-]?[0-9]+(?:[ ,.'_][0-9]+)+$",
    "other text": r"",
}


def encode_numbers(
    batch: pa.RecordBatch,
    names: Sequence[str],
    text: Literal["refuse", "missing"] = "refuse",
    lenient: Collection[str] = (),
) -> Floats:
    """Return these columns as float64, one row each; a missing value is NaN.

    Each column lies in one piece of memory (Fortran order), as kernels read them.

    Parameters
    ----------
    batch
        The rows. Whole numbers beyond 2**53 are rounded.
    names
        The columns; one with a type of text, dates or truth values raises ``NotNumeric``.
    text
        What a cell of an untyped column does that is no number: raise ``NotNumeric`` ("refuse"), or
        count as "missing".
    lenient
        Columns in which such a cell is missing whatever ``text`` says.

    Examples
    --------
    >>> from shoal.data import source_of
    >>> (batch,) = source_of({"age": [31, None], "visits": ["2.5", "often"]}).batches(
    ...     ["age", "visits"]
    ... )
    >>> encode_numbers(batch, ["age", "visits"], text="missing").tolist()
    [[31.0, 2.5], [nan, nan]]
    """
    # One line a column, transposed at the end: each column is then contiguous.
    rows = np.empty((len(names), batch.num_rows))
    wrong_types, wrong_cells = {}, {}
    for row, name, at in zip(rows, names, find_columns(batch.schema.names, names), strict=True):
        column = _decoded(batch.column(at))
        if _is_number(column.type):
            row[:] = _floats(column)
        elif cells_of(batch.schema.field(at)) == "untyped":
            texts = texts_of(column)
            row[:] = floats_of(texts)
            if text == "refuse" and name not in lenient and (kinds := odd_cell_kinds(texts)):
                wrong_cells[name] = ", ".join(kinds)
        else:
            wrong_types[name] = _name_of_type(column.type)
    if wrong_types:
        raise _wrong_type_error(wrong_types, len(names))
    if wrong_cells:
        raise _not_numeric(wrong_cells, len(names))
    return rows.T


def encode_codes(batch: pa.RecordBatch, categories: Mapping[str, Categories]) -> NDArray[np.int32]:
    """Return the category codes of these columns, one row each.

    Examples
    --------
    >>> batch = pa.record_batch({"sex": ["M", "F"]})
    >>> encode_codes(batch, {"sex": Categories(["F", "M"])}).tolist()
    [[1], [0]]
    """
    columns = np.empty((len(categories), batch.num_rows), dtype=np.int32)
    for row, (name, known) in zip(columns, categories.items(), strict=True):
        (at,) = find_columns(batch.schema.names, [name])
        try:
            row[:] = _codes(batch.column(at), cells_of(batch.schema.field(at)), known)
        except UnknownCategory as error:
            raise error.within(f"Column {name!r}") from None
    return columns.T


def encode_owners(batch: pa.RecordBatch, name: str) -> pa.Array:
    """Return the person each row belongs to as text, null where there is none.

    A person is told by this value alone, whatever else is in the column: 7, "7" and "7.0" are one.

    Examples
    --------
    >>> encode_owners(pa.record_batch({"id": ["7", "7.0", " ada", "NA"]}), "id").to_pylist()
    ['7', '7', 'ada', None]
    """
    (at,) = find_columns(batch.schema.names, [name])
    column, cells = _decoded(batch.column(at)), cells_of(batch.schema.field(at))
    is_untyped = cells == "untyped"
    if not is_untyped and any(test(column.type) for test in _NO_OWNER_TYPES):
        raise _no_owners_error(name, _name_of_type(column.type))
    if cells == "mixed objects":
        raise _no_owners_error(name, "objects of several kinds")
    # Spelling must not make two people of one: each would get a promise of their own.
    written = normalise_column(texts_of(column) if is_untyped else column_as_text(column))
    return pc.if_else(is_missing(written), None, written)


def _no_owners_error(name: str, what: str) -> InvalidSetting:
    return InvalidSetting(
        f"{name!r} holds {what}, which cannot tell people apart.",
        "Convert it to whole numbers or text first; floats round large numbers.",
    )


def _codes(column: pa.Array, cells: str, known: Categories) -> Codes:
    if cells == "mixed objects":
        raise known.type_error("objects that are not all text")
    return known.codes_of_texts(texts_of(column)) if cells == "untyped" else known.codes(column)


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def _name_of_type(kind: pa.DataType) -> str:
    return "nested values" if pa.types.is_nested(kind) else str(kind)


def _wrong_type_error(wrong: Mapping[str, str], n_columns: int) -> NotNumeric:
    return NotNumeric(
        f"{_listed(wrong)} of {n_columns} columns have no type of numbers.",
        "Pass the file by its path: each cell is then read by itself, whatever the others are. Or "
        "state the type where the table is made, e.g. float64. Other values are categories: `sex: "
        "{values: [F, M]}` in a schema.",
    )


def _not_numeric(wrong: Mapping[str, str], n_columns: int) -> NotNumeric:
    return NotNumeric(
        f"{_listed(wrong)} of {n_columns} columns are not numbers throughout.",
        "Write numbers like 1234.5; or leave such rows out: "
        + setting("nonfinite", "drop")
        + "; or say how numbers are written: "
        + setting("numbers", "1.234,5")
        + "; or describe other values as categories: `sex: {values: [F, M]}` in a schema.",
    )


def _listed(wrong: Mapping[str, str]) -> str:
    return ", ".join([f"{name!r} ({what})" for name, what in wrong.items()][:5])


def _floats(column: pa.Array) -> Floats:
    if pa.types.is_decimal(column.type):
        # By its own digits: the scale follows from all cells, and a cast would divide by it.
        column = column.cast(pa.string())
    floats: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats


def floats_of(column: pa.Array) -> Floats:
    """Return each cell as the nearest double; NaN where it is no finite number.

    Examples
    --------
    >>> floats_of(pa.array(["31", " 2.5e1", "1,5", "NA", "05"])).tolist()
    [31.0, 25.0, nan, nan, nan]
    """
    cells = pc.ascii_trim_whitespace(column)
    readable = pc.if_else(pc.match_substring_regex(cells, _NUMBER), cells, None)
    floats: Floats = readable.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return floats


def is_missing(column: pa.Array) -> pa.Array:
    """Return which cells are empty or hold a usual mark for that, such as NA.

    Examples
    --------
    >>> is_missing(pa.array(["", " ", "NA", None, "x"])).to_pylist()
    [True, True, True, True, False]
    """
    return pc.is_in(pc.ascii_trim_whitespace(column), pa.array([*MISSING, None]))


def odd_cell_kinds(column: pa.Array) -> list[str]:
    """Name the kinds of cells that are neither numbers nor missing; none is quoted.

    Examples
    --------
    >>> odd_cell_kinds(pa.array(["31", "1,5", "NA", "05"]))
    ['zeros in front', 'decimal commas or thousands separators']
    """
    cells = pc.ascii_trim_whitespace(column)
    fine = pc.or_(is_missing(cells), pc.match_substring_regex(cells, f"{_NUMBER}|{_INFINITE}"))
    left, kinds = cells.filter(pc.invert(fine)), []
    for kind, pattern in _ODD_CELLS.items():
        alike = pc.match_substring_regex(left, pattern)
        if pc.any(alike).as_py():
            kinds.append(kind)
        left = left.filter(pc.invert(alike))
    return kinds
