"""Kinds of columns, as Spark and as Arrow have them."""

import copy
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from shoal.errors import InvalidSetting

__all__ = ["ddl_of", "empty_batch", "nearest_spark_schema", "quote_name", "widened_schema"]

_KINDS = {
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
_NAMES = {kind: name for name, kind in _KINDS.items()}
_IN_JSON = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}
_SIGNED = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}


def quote_name(name: str) -> str:
    """A column's name as Spark's SQL takes it, whatever it holds.

    Examples
    --------
    >>> quote_name("a.b`c")
    '`a.b``c`'
    """
    return "`" + name.replace("`", "``") + "`"


def empty_batch(frame: Any, columns: Sequence[str]) -> pa.RecordBatch:
    """No rows of these columns of a Spark frame, in the kinds that tasks will get them."""
    kinds = dict(frame.dtypes)
    return pa.record_batch([pa.array([], _arrow(kinds[n])) for n in columns], names=list(columns))


def nearest_spark_schema(schema: pa.Schema) -> pa.Schema:
    """The nearest schema that Spark has: its whole numbers have a sign."""
    kinds = [_SIGNED.get(kind, kind) for kind in schema.types]
    odd = sorted({str(kind) for kind in kinds if kind not in _NAMES})
    if odd:
        raise InvalidSetting(
            f"A kernel makes columns of {', '.join(odd)}, which Spark does not support.",
            "Make whole numbers, floats, text or truth values.",
        )
    return pa.schema(list(zip(schema.names, kinds, strict=True)))


def ddl_of(schema: pa.Schema) -> str:
    """A schema in Spark's words.

    Examples
    --------
    >>> ddl_of(pa.schema([("age", pa.float64()), ("n", pa.int64())]))
    '`age` double, `n` bigint'
    """
    return ", ".join(f"{quote_name(field.name)} {_NAMES[field.type]}" for field in schema)


def widened_schema(frame: Any, schema: pa.Schema) -> Any:
    """The Spark schema of a frame with these columns after its own."""
    structure = copy.deepcopy(frame.schema)  # ``add`` changes what it is called on
    for field in schema:
        name = _NAMES[field.type]
        structure = structure.add(field.name, _IN_JSON.get(name, name))  # Spark has two names
    return structure


def _arrow(kind: str) -> pa.DataType:
    """The kind of a column named in Spark's words; nested ones are all alike to what reads them."""
    if kind.startswith("decimal"):
        return pa.decimal128(38, 18)
    if kind.startswith(("varchar", "char", "string")):
        return pa.string()
    return _KINDS.get(kind, pa.list_(pa.null()))
