"""Which kind of cells each column of a table holds: counts by kind, and no value.

Cells are read by the rules of the fits to come, so a column that is drafted as numbers is one that
a fit reads as numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.encode import floats_of, is_missing, odd_cell_kinds
from shoal.data.number_style import NUMBER_STYLES, NumberStyle, is_written_so
from shoal.data.source import Source

Kind = Literal["empty", "number", "separated number", "date", "text"]
_SEPARATED = "decimal commas or thousands separators"
_MOSTLY = 0.9  # share of known cells that are numbers, from which the others are odd ones
_FIRST = 1_000
_ENOUGH = 20  # known cells from which two different values are two answers, and not two rows
# The answers that a draft may quote: anybody who reads "yes" expects "no".
_ANSWERS = (
    ("0", "1"), ("1", "2"), ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"),
    ("nein", "ja"), ("nej", "ja"), ("nee", "ja"), ("n", "j"), ("non", "oui"), ("n", "o"),
    ("no", "si"), ("no", "sí"), ("n", "s"), ("nao", "sim"), ("não", "sim"), ("nie", "tak"),
    ("f", "m"), ("female", "male"), ("w", "m"), ("women", "men"),
)  # fmt: skip


@dataclass(frozen=True)
class ColumnKind:
    """What the cells of a column are; adds up over batches.

    Parameters
    ----------
    rows
        All cells.
    missing
        Empty cells, and marks such as NA.
    numbers
        Cells that are numbers.
    odd
        The kinds of all other cells, in words.
    is_float
        Whether it came as floating-point numbers, which cannot tell people apart.
    styles
        Cells that are numbers in each of ``NUMBER_STYLES``, counted where some are odd.
    two
        The different values of its known cells; None if there are more than two.
    """

    rows: int = 0
    missing: int = 0
    numbers: int = 0
    odd: frozenset[str] = frozenset()
    is_float: bool = False
    styles: tuple[int, ...] = (0, 0)
    two: frozenset[str] | None = field(default=None, repr=False)

    def __add__(self, other: "ColumnKind") -> "ColumnKind":
        if not self.rows:
            return other
        both = None if self.two is None or other.two is None else self.two | other.two
        return ColumnKind(
            self.rows + other.rows,
            self.missing + other.missing,
            self.numbers + other.numbers,
            self.odd | other.odd,
            self.is_float or other.is_float,
            tuple(a + b for a, b in zip(self.styles, other.styles, strict=True)),
            both if both is not None and len(both) <= 2 else None,
        )

    @property
    def is_two_valued(self) -> bool:
        """Whether its known cells are of two different values at most, and not few cells."""
        return self.two is not None and self.rows - self.missing >= _ENOUGH

    @property
    def answers(self) -> tuple[str, str] | None:
        """The two answers that its cells are, as they are written; None if they are no pair.

        Both come from a public list of pairs, the spelling from the cells.

        Examples
        --------
        >>> ColumnKind(rows=99, two=frozenset({"Yes", "No"})).answers
        ('No', 'Yes')
        """
        if not self.is_two_valued:
            return None
        for spell in (str, str.capitalize, str.upper):
            for pair in _ANSWERS:
                written = spell(pair[0]), spell(pair[1])
                if self.two == frozenset(written):
                    return written
        return None

    @property
    def kind(self) -> Kind:
        """The one word for it."""
        known = self.rows - self.missing
        if not known:
            return "empty"
        if self.numbers >= _MOSTLY * known:
            return "number"
        if _SEPARATED in self.odd and "other text" not in self.odd:
            return "separated number"
        return "date" if self.odd == {"dates"} and not self.numbers else "text"

    @property
    def style(self) -> NumberStyle:
        """The style in which most of its cells are numbers."""
        return NUMBER_STYLES[int(self.styles[1] > self.styles[0])]

    @property
    def is_complete(self) -> bool:
        """Whether every cell is a number."""
        return self.numbers == self.rows


def column_kinds(source: Source, on_rows: Callable[[int], None] | None = None) -> list[ColumnKind]:
    """Return the kind of each column of a table, in one pass.

    Parameters
    ----------
    source
        The table.
    on_rows
        Called with the number of rows read so far.

    Examples
    --------
    >>> from shoal.data import source_of
    >>> table = {"age": ["31", "NA"], "price": ["1,50", "2,75"], "town": ["York", "Rome"]}
    >>> [each.kind for each in column_kinds(source_of(table))]
    ['number', 'separated number', 'text']
    """
    kinds = [ColumnKind() for _ in source.names]
    for batch in source.batches(source.names):
        kinds = [kind + _kind_of(cells) for kind, cells in zip(kinds, batch.columns, strict=True)]
        if on_rows is not None:
            on_rows(kinds[0].rows)
    return kinds


def _kind_of(cells: pa.Array) -> ColumnKind:
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    return replace(_counted(cells), two=_two_values(cells))


def _two_values(cells: pa.Array) -> frozenset[str] | None:
    """Return the different known values if there are two at most."""
    if pa.types.is_nested(cells.type):
        return None
    for part in (cells[:_FIRST], cells):  # most columns have more among the first cells
        text = pc.ascii_trim_whitespace(part.cast(pa.string()))
        known = pc.unique(text.filter(pc.invert(is_missing(text))))
        if len(known) > 2:
            return None
    return frozenset(known.to_pylist())


def _counted(cells: pa.Array) -> ColumnKind:
    kind = cells.type
    known = len(cells) - cells.null_count
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return ColumnKind(len(cells), cells.null_count, known)
    if pa.types.is_floating(kind):
        finite = int(np.isfinite(cells.to_numpy(zero_copy_only=False)).sum())
        return ColumnKind(len(cells), len(cells) - finite, finite, is_float=True)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _kind_of_text(cells.cast(pa.string()))
    word = "dates" if pa.types.is_temporal(kind) else "other text"
    return ColumnKind(len(cells), cells.null_count, odd=frozenset({word} if known else ()))


def _kind_of_text(cells: pa.Array) -> ColumnKind:
    numbers = int(np.isfinite(floats_of(cells)).sum())
    missing = int(is_missing(cells).true_count)
    if numbers + missing == len(cells):
        return ColumnKind(len(cells), missing, numbers)
    styles = tuple(is_written_so(cells, style).true_count for style in NUMBER_STYLES)
    return ColumnKind(len(cells), missing, numbers, frozenset(odd_cell_kinds(cells)), styles=styles)
