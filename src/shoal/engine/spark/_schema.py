"""Convert column types between Spark and Arrow."""

import copy
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from shoal.data.untyped_cells import UNTYPED, Cells, field_of_cells
from shoal.errors import InvalidSetting

_ARROW_TYPES = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}
_SPARK_NAMES = {kind: name for name, kind in _ARROW_TYPES.items()}
_JSON_NAMES = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}
_SIGNED_TYPES = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}


def quote_name(name: str) -> str:
    """Quote a column's name for Spark's SQL, whatever letters it holds.

    Parameters
    ----------
    name
        The name.

    Examples
    --------
    >>> quote_name("a.b`c")
    '`a.b``c`'
    """
    return "`" + name.replace("`", "``") + "`"


def empty_batch(frame: Any, columns: Sequence[str]) -> pa.RecordBatch:
    """Return an empty batch of these columns, in the types that tasks will receive."""
    kinds = dict(frame.dtypes)
    fields = [
        field_of_cells(name, _arrow_type(kinds[name]), cells)
        for name, cells in cells_of_columns(frame, columns).items()
    ]
    return pa.RecordBatch.from_pylist([], schema=pa.schema(fields))


def cells_of_columns(frame: Any, columns: Sequence[str]) -> dict[str, Cells]:
    """Return which of these columns are text of a file, marked so by ``read_table``."""
    marks = {field.name: field.metadata for field in frame.schema}
    is_untyped = {name: UNTYPED.items() <= marks.get(name, {}).items() for name in columns}
    return {name: "untyped" if is_untyped[name] else "typed" for name in columns}


def nearest_spark_schema(schema: pa.Schema) -> pa.Schema:
    """Return the nearest schema that Spark has: it knows no unsigned numbers.

    Raises
    ------
    InvalidSetting
        If a type has no counterpart.
    """
    kinds = [_SIGNED_TYPES.get(kind, kind) for kind in schema.types]
    odd = sorted({str(kind) for kind in kinds if kind not in _SPARK_NAMES})
    if odd:
        raise InvalidSetting(
            f"A kernel makes columns of {', '.join(odd)}, which Spark does not support.",
            "Make whole numbers, floats, text or truth values.",
        )
    return pa.schema(list(zip(schema.names, kinds, strict=True)))


def ddl_of(schema: pa.Schema) -> str:
    """Write a schema in Spark's notation.

    Examples
    --------
    >>> ddl_of(pa.schema([("age", pa.float64()), ("n", pa.int64())]))
    '`age` double, `n` bigint'
    """
    return ", ".join(f"{quote_name(field.name)} {_SPARK_NAMES[field.type]}" for field in schema)


def widened_schema(frame: Any, schema: pa.Schema) -> Any:
    """Return the Spark schema of a frame with further columns after its own."""
    structure = copy.deepcopy(frame.schema)  # ``add`` changes what it is called on
    for field in schema:
        name = _SPARK_NAMES[field.type]
        structure = structure.add(field.name, _JSON_NAMES.get(name, name))  # Spark has two names
    return structure


def _arrow_type(kind: str) -> pa.DataType:
    """Return the Arrow type of a Spark type's name; all nested types become one."""
    if kind.startswith("decimal"):
        return pa.decimal128(38, 18)
    if kind.startswith(("varchar", "char", "string")):
        return pa.string()
    return _ARROW_TYPES.get(kind, pa.list_(pa.null()))
