"""Columns of a batch as numbers or category codes, the two things methods compute with."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.source import picked
from shoal.domain import Categories
from shoal.errors import NotNumeric, UnknownCategory

__all__ = ["codes", "numbers"]


def numbers(batch: pa.RecordBatch, names: Sequence[str]) -> NDArray[np.float64]:
    """These columns as float64, one row each; a missing value is NaN.

    Whole numbers beyond 2**53 are rounded. Text, dates and truth values raise ``NotNumeric``.
    Each column lies in one piece of memory (Fortran order), as kernels read them.

    Examples
    --------
    >>> batch = pa.record_batch({"age": [31, None], "visits": [2.5, 1.0]})
    >>> numbers(batch, ["age", "visits"]).tolist()
    [[31.0, 2.5], [nan, 1.0]]
    """
    at = picked(batch.schema.names, names)
    wrong = [name for name, j in zip(names, at, strict=True) if not _is_numeric(batch.column(j))]
    if wrong:
        raise NotNumeric(
            f"{', '.join(map(repr, wrong))} of {len(names)} columns are not numbers throughout.",
            "Convert them, or describe them as categories: `sex: {values: [F, M]}` in a schema.",
        )
    columns = np.empty((len(at), batch.num_rows))
    for row, j in zip(columns, at, strict=True):
        row[:] = _floats(batch.column(j))
    return columns.T


def codes(batch: pa.RecordBatch, categories: Mapping[str, Categories]) -> NDArray[np.int32]:
    """Category codes of these columns, one row each, in the order of ``categories``.

    Examples
    --------
    >>> batch = pa.record_batch({"sex": ["M", "F"]})
    >>> codes(batch, {"sex": Categories(["F", "M"])}).tolist()
    [[1], [0]]
    """
    columns = np.empty((len(categories), batch.num_rows), dtype=np.int32)
    for row, (name, listed) in zip(columns, categories.items(), strict=True):
        (at,) = picked(batch.schema.names, [name])
        try:
            row[:] = listed.codes(batch.column(at))
        except UnknownCategory as error:
            raise UnknownCategory(f"Column {name!r}: {error.came}", error.next_step) from None
    return columns.T


def _is_numeric(column: pa.Array) -> bool:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def _floats(column: pa.Array) -> NDArray[np.float64]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    floats: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return floats
