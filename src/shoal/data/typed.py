"""Text columns of a public table as the numbers they hold."""

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.cells import floats_of, is_missing, oddities

__all__ = ["typed"]


def typed(table: pa.Table) -> pa.Table:
    """The table with each column of text as whole numbers or numbers, if all its cells are.

    For tables that are public: one cell decides how its whole column is read.

    Examples
    --------
    >>> typed(pa.table({"age": ["31", "NA"], "plz": ["01219", "70173"]})).to_pydict()
    {'age': [31, None], 'plz': ['01219', '70173']}
    """
    columns = [_typed(column.combine_chunks()) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _typed(column: pa.Array) -> pa.Array:
    if not pa.types.is_string(column.type) or oddities(column):
        return column
    try:
        cells = pc.ascii_trim_whitespace(column)
        return pc.if_else(is_missing(cells), None, cells).cast(pa.int64())
    except pa.ArrowInvalid:
        return pa.array(floats_of(column), mask=is_missing(column).to_numpy(zero_copy_only=False))
