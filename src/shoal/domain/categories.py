"""A public list of categories, and the codes its values are stored as."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import InvalidDomain, UnknownCategory

__all__ = ["OTHER", "Categories", "Codes", "text"]

Codes = NDArray[np.int32]
OTHER = "<other>"


@dataclass(frozen=True, init=False)
class Categories:
    """The values a column may take, in order, stated before anyone looks at the rows.

    Values are compared as people write them: the number 1 and the text "1" are one value, for a
    CSV file knows no difference.

    Parameters
    ----------
    values
        Text, whole numbers, dates or truth values, each once.
    other
        What becomes of any other value, missing ones included: ``"refuse"`` raises
        ``UnknownCategory``, ``"bucket"`` puts them into one more category, the last.

    Examples
    --------
    >>> sex = Categories(["F", "M"], other="bucket")
    >>> sex.codes(["M", "F", None, "x"]).tolist(), sex.size
    ([1, 0, 2, 2], 3)
    >>> sex.labels([0, 2]).tolist()
    ['F', '<other>']
    """

    values: tuple[Any, ...]
    other: Literal["refuse", "bucket"]

    def __init__(
        self, values: Iterable[Any], other: Literal["refuse", "bucket"] = "refuse"
    ) -> None:
        listed = _listed(values)
        if other not in ("refuse", "bucket"):
            raise InvalidDomain(
                "other is neither 'refuse' nor 'bucket'.", "Say what becomes of other values."
            )
        if other == "bucket" and OTHER in listed:
            raise InvalidDomain(
                f"{OTHER} is both a value and the bucket for other values.", "Rename the value."
            )
        object.__setattr__(self, "values", listed)
        object.__setattr__(self, "other", other)

    @property
    def size(self) -> int:
        """How many codes there are: one a value, and one for the bucket."""
        return len(self.values) + (self.other == "bucket")

    def codes(self, values: Any) -> Codes:
        """The place of each value in the list; anything Arrow takes as a column will do."""
        codes = self._places(_column(values))
        unknown = codes < 0
        if self.other == "bucket":
            codes[unknown] = len(self.values)
        elif unknown.any():
            raise UnknownCategory(
                f"{np.count_nonzero(unknown)} of {codes.size} values are missing or outside the "
                f"public list of {len(self.values)}.",
                'Complete the list, or gather them with other="bucket".',
            )
        return codes

    def labels(self, codes: ArrayLike) -> NDArray[np.object_]:
        """The values these codes stand for."""
        places = np.asarray(codes)
        if places.size == 0:
            places = places.astype(np.int32)
        if places.dtype.kind not in "iu" or np.any((places < 0) | (places >= self.size)):
            raise UnknownCategory(
                f"Some codes are not whole numbers from 0 to {self.size - 1}.",
                "Use codes of these categories.",
            )
        known: NDArray[np.object_] = np.empty(self.size, dtype=object)
        known[: len(self.values)] = self.values
        known[len(self.values) :] = OTHER
        return known.take(places)

    def _places(self, column: Any) -> Codes:
        """Codes of a column, -1 for what is not listed."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if _compare_as_numbers(column.type, self.values):
            column, listed = column.cast(pa.float64(), safe=False), pa.array(self.values, "float64")
        else:
            column, listed = _as_text(column), pa.array(map(text, self.values), pa.string())
        places = pc.fill_null(pc.index_in(column, listed), -1)
        return np.array(places.to_numpy(zero_copy_only=False), dtype=np.int32)


def text(value: object) -> str:
    """A value as people write it in a file; truth values are ``true`` and ``false``."""
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _listed(values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidDomain(
            f"Categories are a list, not a {type(values).__name__}.", 'E.g. Categories(["F", "M"]).'
        )
    listed = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    if not listed or not all(_is_value(v) for v in listed):
        raise InvalidDomain(
            "Categories need at least one value, and each must be text, a number, a date or a "
            "truth value.",
            'Missing values are no category: gather them with other="bucket".',
        )
    twice = [value for value, times in Counter(map(text, listed)).items() if times > 1]
    if twice:
        raise InvalidDomain(f"{twice[0]!r} is listed more than once.", "List each value once.")
    return listed


def _is_value(value: object) -> bool:
    if isinstance(value, float):
        return not math.isnan(value)
    return isinstance(value, str | int | date)


def _column(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    if isinstance(values, pa.Array):
        return values
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # Kinds are mixed: compare them as text.
        return pa.array([text(v) if _is_value(v) else None for v in values], pa.string())


def _as_text(column: Any) -> Any:
    import pyarrow as pa

    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        raise UnknownCategory(
            f"A column of {column.type} came, whose values are no categories.",
            "Categories are text, numbers, dates or truth values.",
        ) from None


def _compare_as_numbers(kind: Any, values: tuple[Any, ...]) -> bool:
    """Whether 1 and 1.0 could meet. Whole numbers alone compare exactly as text, at any size."""
    import pyarrow as pa

    kinds = {type(value) for value in values}
    if pa.types.is_floating(kind):
        return kinds <= {int, float}
    return bool(pa.types.is_integer(kind)) and float in kinds and kinds <= {int, float}
