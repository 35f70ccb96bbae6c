"""Read columns of arrays and data frames of any kind, and make a table of the same kind."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.data import encode, source_of
from shoal.domain import Categories
from shoal.domain.box import as_matrix
from shoal.errors import DimensionMismatch, InvalidSetting, NotNumeric, PersonMissing


def names_of(X: Any) -> tuple[str, ...] | None:
    """Return the columns of a data frame; ``None`` for anything else, taken as an array."""
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(X):
        return None
    return tuple(str(name) for name in nw.from_native(X, eager_only=True).columns)


def numbers_of(X: Any, columns: Sequence[str] | None) -> Floats:
    """Return these columns of a frame, or an array, as float64 rows; missing values are NaN.

    Parameters
    ----------
    columns
        The columns of a frame; None for an array.
    """
    if columns is None:
        return as_matrix(_plain_array(X))
    source = source_of(X)
    parts = [encode.encode_numbers(batch, columns) for batch in source.batches(columns)]
    return np.concatenate([np.empty((0, len(columns))), *parts])


def codes_of(X: Any, column: str, categories: Categories) -> Integers:
    """Return the category codes of one column."""
    batches = source_of(X).batches([column])
    parts = [encode.encode_codes(batch, {column: categories})[:, 0] for batch in batches]
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def _columns_of(X: Any, columns: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """Return these columns of a frame, whatever their type."""
    batches = list(source_of(X).batches(columns))
    if not batches:
        return {name: pa.chunked_array([], pa.null()) for name in columns}
    return {name: pa.chunked_array([batch.column(name) for batch in batches]) for name in columns}


def tokens_of(X: Any, person: str) -> list[str]:
    """Return the person of each row as text; 7, 7.0 and the text "7" are one person."""
    column = _columns_of(X, [person])[person]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    missing = pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0
    texts = [] if missing else _tokens_as_text(column, person)
    missing += texts.count("")
    if missing:
        raise PersonMissing(
            f"{missing} of {len(column)} rows have no value in {person!r}, "
            "so they belong to nobody.",
            "Fill in whose they are, or remove them.",
        )
    return texts


def check_token(person: str | None, columns: Sequence[str]) -> None:
    """Refuse to report the column that identifies people."""
    if person is not None and person in columns:
        raise InvalidSetting(
            f"{person!r} is both the person's token and a column to report.",
            "Name a column that only tells people apart.",
        )


def frame_like(X: Any, columns: dict[str, NDArray[Any]]) -> Any:
    """Return a frame of the same kind as ``X`` with these columns, and nothing else of ``X``.

    Not its index either: that is a column of people's data too, more often than not.
    """
    import narwhals as nw

    return frame_of(columns, nw.from_native(X, eager_only=True).implementation)


def frame_of(columns: dict[str, NDArray[Any]], kind: Any) -> Any:
    """Return a frame of a named kind, such as "pandas", with a plain index if it has one."""
    import narwhals as nw

    return nw.from_dict(columns, backend=kind).to_native()


def _plain_array(X: Any) -> NDArray[Any]:
    kind = f"{type(X).__module__}.{type(X).__qualname__}"
    if kind.startswith("scipy.sparse"):
        raise NotNumeric(
            "Sparse matrices are not supported.", "Pass X.toarray(), if it fits in memory."
        )
    try:
        array: NDArray[Any] = np.asanyarray(X)
    except ValueError:
        raise NotNumeric(
            "The rows have different lengths.",
            "Give every row as many numbers as there are columns.",
        ) from None
    if array.ndim != 2:
        raise DimensionMismatch(
            f"Expected a two-dimensional array of rows; got shape {array.shape}.",
            "Reshape your data, e.g. X.reshape(-1, 1) for one column.",
        )
    if array.dtype.kind == "c":
        raise NotNumeric("Complex data not supported.", "Give real and imaginary parts apart.")
    return array


def _tokens_as_text(column: pa.ChunkedArray, person: str) -> list[str]:
    try:
        # Columns with gaps come as floats: 7.0 must be the person 7.
        if pa.types.is_floating(column.type):
            column = column.cast(pa.int64())
        texts: list[str] = column.cast(pa.string()).to_pylist()
    except pa.ArrowException:
        raise InvalidSetting(
            f"{person!r} holds {column.type}s that cannot tell people apart.",
            "Tokens are text or whole numbers.",
        ) from None
    return texts
