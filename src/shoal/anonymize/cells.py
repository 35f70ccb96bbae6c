"""The cells of a column as distinct values and numbers, and what stands for nothing."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.anonymize.hierarchies.leaves import as_text
from shoal.errors import InvalidPolicy

__all__ = ["Distinct", "distinct", "nulls_in"]


class Distinct(NamedTuple):
    """A column taken apart: row i holds ``values[at[i]]``, or nothing where ``at[i]`` is -1."""

    values: Any
    at: NDArray[np.int32]

    def lookup(self, of_values: NDArray[np.int32], null: int) -> NDArray[np.int32]:
        """A number for each row, given one for each value and one for nulls."""
        found: NDArray[np.int32] = np.append(of_values, np.int32(null))[self.at]
        return found


def distinct(column: Any, null_values: Sequence[str]) -> Distinct:
    """A column's distinct values; floats that are no number and ``null_values`` are nulls.

    What is done with each value is then done once, however many rows share it.

    Examples
    --------
    >>> found = distinct(pa.array(["x", "NA", None, "x"]), ["NA"])
    >>> found.values.to_pylist(), found.at.tolist()
    (['x', 'NA'], [0, -1, -1, 0])
    """
    encoded = _encoded(column)
    values, at = encoded.dictionary, pc.fill_null(encoded.indices, -1)
    places = at.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    missing = nulls_in(values, null_values)
    if missing.any():
        places = np.append(np.where(missing, -1, np.arange(len(values))), -1)[places]
    return Distinct(values, places.astype(np.int32, copy=False))


def nulls_in(values: Any, null_values: Sequence[str]) -> NDArray[np.bool_]:
    """Which values are nulls, no numbers, or one of these spellings."""
    missing = pc.is_null(values, nan_is_null=pa.types.is_floating(values.type))
    if _is_text(values.type):
        trimmed = pc.utf8_trim_whitespace(as_text(values))
        missing = pc.or_(
            missing, pc.fill_null(pc.is_in(trimmed, pa.array(null_values, pa.string())), True)
        )
    mask: NDArray[np.bool_] = missing.to_numpy(zero_copy_only=False)
    return mask


def _encoded(column: Any) -> pa.DictionaryArray:
    if pa.types.is_nested(column.type):
        raise InvalidPolicy(
            "A column to be counted by its values holds lists or structures.",
            "Take a part of it as a column of its own, or give it the role `other`.",
        )
    if pa.types.is_null(column.type):  # parts of it could not be put together
        column = column.cast(pa.string())
    if isinstance(column, pa.ChunkedArray):
        chunked = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        column = chunked.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # no rows at all
            return pa.array([], chunked.type)
        return column
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )
