"""A public list of categories, and the codes its values are stored as."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.domain.value_text import (
    column_as_text,
    column_to_text,
    is_text_or_absent,
    is_value,
    normalise_column,
    normalise_text,
    value_to_text,
)
from shoal.errors import InvalidDomain, UnknownCategory, setting, value_text

Codes = NDArray[np.int32]
OTHER = "<other>"
_FIRST_INEXACT_FLOAT = 2**53  # another whole number rounds to it, and to none below


@dataclass(frozen=True, init=False)
class Categories:
    """The values a column may take, in order, stated before anyone looks at the rows.

    Values without a type, those of a CSV file or a Python list, are compared as people write them,
    without blanks around them: the number 1 and the texts "1" and "1.0" are one value. A column
    with a type is taken if the type is the list's own: text, numbers, dates or truth values. What a
    value is depends on this value, its type and the list, never on the rest of its column.

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
        listed = _checked_values(values)
        if other not in ("refuse", "bucket"):
            raise InvalidDomain(
                setting("other") + f" must be 'refuse' or 'bucket'; got {value_text(other)}.",
                "It decides what happens to other values.",
            )
        if other == "bucket" and OTHER in listed:
            raise InvalidDomain(
                f"{OTHER} is both a value and the bucket for other values.", "Rename the value."
            )
        object.__setattr__(self, "values", listed)
        object.__setattr__(self, "other", other)

    @property
    def size(self) -> int:
        """How many codes there are: one a value, and one for the bucket if there is one."""
        return len(self.values) + (self.other == "bucket")

    def codes(self, values: Any) -> Codes:
        """Return the index of each value in the list.

        Parameters
        ----------
        values
            Python values, each read by itself; or a column of Arrow, pandas or NumPy of the list's
            own type. Of objects only text is taken.

        Raises
        ------
        UnknownCategory
            If a value is not listed and there is no bucket, or a column has another type.
        """
        import pyarrow as pa

        if not isinstance(values, pa.Array | pa.ChunkedArray) and not hasattr(values, "dtype"):
            return self.codes_of_texts(column_to_text(values))
        column = _typed_column(values)
        if column is None:
            raise self.type_error("objects that are not all text")
        if not self._takes(column.type):
            raise self.type_error(
                "nested values" if pa.types.is_nested(column.type) else str(column.type)
            )
        return self._finished(self._places(column))

    def codes_of_texts(self, texts: Any) -> Codes:
        """Return the index of each value of an Arrow array of text, read by itself.

        Parameters
        ----------
        texts
            What values without a type are written as.
        """
        return self._finished(self._places_of_text(texts))

    def type_error(self, what: str) -> UnknownCategory:
        """Return the error that says which columns a list of this kind takes.

        Parameters
        ----------
        what
            What the column holds instead.
        """
        taken = "whole numbers" if self._are_large else self.kind
        return UnknownCategory(
            f"A public list of {self.kind} takes columns of {taken}; this one holds {what}.",
            "Pass the file by its path: each cell is then read by itself. Or have the column read "
            f"as {self.kind} in the first place, e.g. pd.read_csv(path, dtype=str) for text: a "
            "type that was inferred from all rows lets one row change how others are read.",
        )

    @property
    def kind(self) -> Literal["text", "numbers", "dates", "truth values"]:
        """What the list holds; several kinds at once are text."""
        kinds = {type(value) for value in self.values}
        if kinds <= {int, float, Decimal}:
            return "numbers"
        if kinds == {bool}:
            return "truth values"
        return "dates" if kinds == {date} else "text"

    def labels(self, codes: ArrayLike) -> NDArray[np.object_]:
        """Return the values these codes stand for.

        Parameters
        ----------
        codes
            Whole numbers from 0.
        """
        places = np.asarray(codes)
        if places.size == 0:
            places = places.astype(np.int32)
        if places.dtype.kind not in "iu" or np.any((places < 0) | (places >= self.size)):
            raise UnknownCategory(
                f"Codes must be whole numbers from 0 to {self.size - 1}; some are not.",
                "Use codes of these categories.",
            )
        known: NDArray[np.object_] = np.empty(self.size, dtype=object)
        known[: len(self.values)] = self.values
        known[len(self.values) :] = OTHER
        return known.take(places)

    @property
    def _are_large(self) -> bool:
        """Whether these are numbers to which a float may round that was another number."""
        is_large = (abs(value) >= _FIRST_INEXACT_FLOAT for value in self.values)
        return self.kind == "numbers" and any(is_large)

    def _takes(self, kind: Any) -> bool:
        """Whether a column of this type is one of the list's own kind."""
        from pyarrow import types as is_a

        tests: dict[str, tuple[Any, ...]] = {
            "text": (is_a.is_string, is_a.is_large_string, is_a.is_string_view),
            "numbers": (is_a.is_integer, is_a.is_decimal),
            "dates": (is_a.is_date,),
            "truth values": (is_a.is_boolean,),
        }
        if is_a.is_floating(kind):
            return self.kind == "numbers" and not self._are_large
        return is_a.is_null(kind) or any(test(kind) for test in tests[self.kind])

    def _places(self, column: Any) -> Any:
        """Return the index of each value of a typed column, null for values that are not listed."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.kind != "numbers" or self._are_large:
            return self._places_of_text(column_as_text(column))
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.string())  # by its own digits, not by the column's scale
        listed = pa.array([float(value) for value in self.values])
        return pc.index_in(column.cast(pa.float64(), safe=False), listed)

    def _finished(self, places: Any) -> Codes:
        """Return codes, with values that are not listed in the bucket; refuse them without one."""
        import pyarrow.compute as pc

        codes = np.array(pc.fill_null(places, -1).to_numpy(zero_copy_only=False), dtype=np.int32)
        unknown = codes < 0
        if self.other == "bucket":
            codes[unknown] = len(self.values)
        elif unknown.any():
            raise UnknownCategory(
                f"{np.count_nonzero(unknown)} of {codes.size} values are missing or outside the "
                f"public list of {len(self.values)}.",
                "Complete the list, or collect them with " + setting("other", "bucket") + ".",
            )
        return codes

    def _places_of_text(self, column: Any) -> Any:
        """Look values up as they are written, or else by the number they name."""
        import pyarrow as pa
        import pyarrow.compute as pc

        # Spelling first, value second: versions 1.1 and 1.10 stay two if both are listed.
        listed = [value_to_text(value) for value in self.values]
        equal = _unambiguous([normalise_text(written) for written in listed])
        exact = pc.index_in(pc.ascii_trim_whitespace(column), pa.array(listed))
        return pc.coalesce(exact, pc.index_in(normalise_column(column), equal, skip_nulls=True))


def _checked_values(values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidDomain(
            f"Categories must be a list; got a {type(values).__name__}.",
            'E.g. Categories(["F", "M"]).',
        )
    listed = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    if not listed or not all(is_value(v) for v in listed):
        raise InvalidDomain(
            "Categories need at least one value, and each must be text, a number, a date or a "
            "truth value.",
            "A missing value is not a category: collect such values with "
            + setting("other", "bucket")
            + ".",
        )
    twice = [value for value, times in Counter(map(_comparison_text, listed)).items() if times > 1]
    if twice:
        raise InvalidDomain(f"{twice[0]!r} is listed more than once.", "List each value once.")
    return listed


def _comparison_text(value: object) -> str:
    """Return the text by which a listed value is compared: numbers normalised, text as it is."""
    return value_to_text(value) if isinstance(value, str) else normalise_text(value_to_text(value))


def _typed_column(values: Any) -> Any:
    """Return a column that has a type as an Arrow array; None for objects that are no text."""
    import pyarrow as pa

    if not isinstance(values, pa.Array | pa.ChunkedArray):
        cells = getattr(values.dtype, "categories", values)  # those of a categorical column
        if cells.dtype == "object":
            objects = list(values)
            return column_to_text(objects) if all(map(is_text_or_absent, objects)) else None
        values = pa.array(values, from_pandas=True)
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _unambiguous(listed: list[str]) -> Any:
    """Return the listed values, null where several are equal numbers, such as 1.1 and 1.10."""
    import pyarrow as pa

    times = Counter(listed)
    return pa.array([v if times[v] == 1 else None for v in listed], pa.string())
