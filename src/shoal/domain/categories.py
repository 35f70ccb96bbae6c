"""A public list of categories, and the codes its values are stored as."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.domain.value_text import (
    column_to_text,
    is_value,
    normalise_column,
    normalise_text,
    value_to_text,
)
from shoal.errors import InvalidDomain, UnknownCategory, setting, value_text

Codes = NDArray[np.int32]
OTHER = "<other>"
_LARGEST_EXACT_FLOAT = 2**53  # floats hold every whole number up to here


@dataclass(frozen=True, init=False)
class Categories:
    """The values a column may take, in order, stated before anyone looks at the rows.

    Values are compared as people write them, without blanks around them: the number 1 and the
    texts "1" and "1.0" are one value, for a CSV file knows no difference. What a value is depends
    on this value and the list alone, never on the rest of its column.

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
            A column of any type that Arrow takes.

        Raises
        ------
        UnknownCategory
            If a value is not listed and there is no bucket.
        """
        codes = self._places(_column(values))
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

    def _places(self, column: Any) -> Codes:
        """Return the codes of a column, -1 for values that are not listed."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_floating(column.type) and _are_numbers(self.values):
            column, listed = column.cast(pa.float64(), safe=False), _floats(self.values)
            places = pc.index_in(column, listed)
        else:
            places = self._places_of_text(_as_text(column))
        return np.array(pc.fill_null(places, -1).to_numpy(zero_copy_only=False), dtype=np.int32)

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


def _column(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    if isinstance(values, pa.Array):
        return values
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return column_to_text(values)  # kinds are mixed


def _as_text(column: Any) -> Any:
    import pyarrow as pa

    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    if any(test(column.type) for test in tests):
        raise _no_categories_error(column.type)  # some bytes are text and some are not
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        raise _no_categories_error(column.type) from None


def _no_categories_error(kind: Any) -> UnknownCategory:
    import pyarrow as pa

    what = "nested values" if pa.types.is_nested(kind) else f"{kind}"
    return UnknownCategory(
        f"A column of {what} cannot hold categories.",
        "Categories are text, numbers, dates or truth values.",
    )


def _unambiguous(listed: list[str]) -> Any:
    """Return the listed values, null where several are equal numbers, such as 1.1 and 1.10."""
    import pyarrow as pa

    times = Counter(listed)
    return pa.array([v if times[v] == 1 else None for v in listed], pa.string())


def _are_numbers(values: tuple[Any, ...]) -> bool:
    return {type(value) for value in values} <= {int, float}


def _floats(values: tuple[Any, ...]) -> Any:
    import pyarrow as pa

    if any(abs(value) > _LARGEST_EXACT_FLOAT for value in values):
        raise UnknownCategory(
            "A column of floats cannot tell apart the listed numbers beyond 2**53.",
            "Pass the column as whole numbers or text.",
        )
    return pa.array(values, pa.float64())
