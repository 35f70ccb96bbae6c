"""Which kind of cells each column of a table holds: counts by kind, and no value.

Cells are read by the rules of the fits to come, so a column that is drafted as numbers is one that
a fit reads as numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from shoal.data.encode import floats_of, is_missing, odd_cell_kinds
from shoal.data.number_style import NUMBER_STYLES, NumberStyle, is_written_so
from shoal.data.source import Source

Kind = Literal["empty", "number", "separated number", "date", "text"]
_SEPARATED = "decimal commas or thousands separators"
_MOSTLY = 0.9  # share of known cells that are numbers, from which the others are odd ones


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
    """

    rows: int = 0
    missing: int = 0
    numbers: int = 0
    odd: frozenset[str] = frozenset()
    is_float: bool = False
    styles: tuple[int, ...] = (0, 0)

    def __add__(self, other: "ColumnKind") -> "ColumnKind":
        return ColumnKind(
            self.rows + other.rows,
            self.missing + other.missing,
            self.numbers + other.numbers,
            self.odd | other.odd,
            self.is_float or other.is_float,
            tuple(a + b for a, b in zip(self.styles, other.styles, strict=True)),
        )

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
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return _kind_of(cells.dictionary_decode())
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
