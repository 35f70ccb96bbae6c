"""Screen batches of rows before a kernel sees them, and count what was odd."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.data import encode
from shoal.data.column_names import join_names
from shoal.domain import Box, Categories, Partition, Schema
from shoal.engine._rows import Block, Tally, Terms
from shoal.errors import (
    DimensionMismatch,
    DuplicateColumn,
    InvalidDomain,
    InvalidSetting,
    NotFinite,
    OutsideDomain,
    PersonMissing,
    TooLarge,
    UnknownBounds,
    UnknownColumn,
    setting,
)

Sides = NDArray[np.int8]
MAX_DENSE_CELLS = 2**24  # 128 MiB of counts


class ScreenedBatch(NamedTuple):
    """The admitted rows of a batch, the counts, and whose rows they are if asked."""

    block: Block
    tally: Tally
    person: pa.Array | None


@dataclass(frozen=True)
class Screen:
    """Encodes a batch, moves or leaves out odd rows, and counts them.

    Examples
    --------
    >>> screen = Screen(Box(age=(0, 110)), Terms(nonfinite="drop"))
    >>> block, tally, _ = screen(pa.record_batch({"age": [31.0, None, 200.0]}))
    >>> block.numbers.tolist(), tally.nonfinite
    ([[31.0], [110.0]], 1)
    """

    domain: Box | Schema
    terms: Terms

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numeric columns."""
        return self.domain.names if isinstance(self.domain, Box) else self.domain.numbers

    @property
    def categories(self) -> dict[str, Categories]:
        """The columns of categories; a box has none."""
        return {} if isinstance(self.domain, Box) else self.domain.categories

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read, each once."""
        person = () if self.terms.person is None else (self.terms.person,)
        return tuple(dict.fromkeys((*self.numbers, *self.categories, *person)))

    @property
    def n_codes(self) -> int:
        """How many columns of codes a block has: categories, then marks of missing numbers."""
        return len(self.categories) + len(self._flagged)

    def empty(self) -> Block:
        """Return a block of no rows."""
        codes = np.empty((0, self.n_codes), dtype=np.int32)
        return Block(np.empty((0, len(self.numbers))), codes)

    def __call__(self, batch: pa.RecordBatch) -> ScreenedBatch:
        """Return the rows of a batch that are admitted."""
        n = batch.num_rows
        # Left out or refused row by row: text that is no number is a missing one.
        text: Literal["refuse", "missing"] = (
            "missing" if self.terms.nonfinite == "drop" else "refuse"
        )
        numbers = (
            encode.encode_numbers(batch, self.numbers, text, self._filled)
            if self.numbers
            else np.empty((n, 0))
        )
        codes = encode.encode_codes(batch, self.categories)
        if self._filled:
            codes = np.hstack([codes, self._fill_missing(numbers)])
        person = (
            None if self.terms.person is None else encode.encode_owners(batch, self.terms.person)
        )
        tally = Tally(n, n, nobody=0 if person is None else person.null_count)
        # The fast way for most batches: extremes of columns tell that no row is odd.
        clipped = self._clip_if_needed(numbers) if n else (Tally(), None)
        if clipped is not None:
            odd, sides = clipped
        else:
            admitted, odd, sides = self._screen_rows(numbers)
            numbers, codes = numbers[admitted], codes[admitted]
            person = None if person is None else person.filter(pa.array(admitted))
        return ScreenedBatch(Block(numbers, codes, sides), tally + odd, person)

    @property
    def _filled(self) -> tuple[str, ...]:
        """The numeric columns whose missing values are filled; a box has none."""
        missing = {} if isinstance(self.domain, Box) else self.domain.missing
        return tuple(name for name in self.numbers if name in missing)

    @property
    def _flagged(self) -> tuple[str, ...]:
        return () if isinstance(self.domain, Box) else self.domain.flagged

    def _fill_missing(self, numbers: Floats) -> NDArray[np.int32]:
        """Put the middle of the bounds where a number is missing, in place; return the marks."""
        marks = {}
        for name in self._filled:
            axis = self.numbers.index(name)
            absent = ~np.isfinite(numbers[:, axis])
            numbers[absent, axis] = (self.box.low[axis] + self.box.high[axis]) / 2
            marks[name] = absent.astype(np.int32)
        flags = [marks[name] for name in self._flagged]
        return np.column_stack(flags) if flags else np.empty((len(numbers), 0), dtype=np.int32)

    def refuses(self, tally: Tally) -> bool:
        """Whether the terms refuse a table with these counts."""
        nonfinite = tally.nonfinite and self.terms.nonfinite == "refuse"
        outside = tally.outside and self.terms.outside == "refuse"
        return bool(nonfinite or outside or tally.nobody)

    def check(self, tally: Tally) -> None:
        """Raise if the terms refuse a table with these counts; errors never hold a value."""
        if tally.nonfinite and self.terms.nonfinite == "refuse":
            raise NotFinite(
                f"{tally.nonfinite} of {tally.read} rows have a missing, NaN or infinite value in "
                f"{self._listed(tally.nonfinite_columns)}.",
                "Fill or remove them, or leave such rows out with "
                + setting("nonfinite", "drop")
                + ".",
                reason="missing values",
            )
        if tally.outside and self.terms.outside == "refuse":
            raise OutsideDomain(
                f"{tally.outside} of {tally.read} rows lie outside the bounds of "
                f"{self._listed(tally.outside_columns)}.",
                "Widen the bounds, move such rows with "
                + setting("outside", "clip")
                + ", or leave them out with "
                + setting("outside", "drop")
                + ".",
            )
        if tally.nobody:
            raise PersonMissing(
                f"{tally.nobody} of {tally.read} rows have no value, or one such as NA, in "
                f"{self.terms.person!r}, so they belong to nobody.",
                "Fill in whose they are, or remove them: otherwise a person's rows cannot be "
                "limited.",
            )

    def check_partition(self, partition: Partition, dense: bool) -> None:
        """Refuse a partition of other columns or bounds, or too fine for a dense count."""
        if dense and partition.size > MAX_DENSE_CELLS:
            raise TooLarge(
                f"{partition.size} cells are more than the {MAX_DENSE_CELLS} a dense count may "
                "have.",
                "Count with " + setting("sparse", True) + ", or use fewer cells.",
                reason="cells",
            )
        box = getattr(partition, "box", None)
        if box is not None:
            self._check_box(box)
        # On no rows: only the shape is tried.
        partition.keys(self.empty().numbers)  # a width that does not fit raises here

    def check_columns(self, columns: Sequence[str], available: Sequence[str]) -> None:
        """Refuse columns to group by that are not public, or named twice."""
        known = (*self.numbers, *self.categories)
        if isinstance(columns, str) or not columns:
            raise InvalidSetting("Expected a list of columns.", f"E.g. sizes([{known[0]!r}]).")
        if len(set(columns)) < len(columns):
            raise DuplicateColumn("A column is selected twice.", "Name each column once.")
        for name in columns:
            if name in known:
                continue
            if name in available:
                raise UnknownBounds(
                    f"{name!r} is in the table, but nothing about it is public.",
                    "Describe it in the schema: `low` and `high`, or `values`.",
                )
            raise UnknownColumn(
                f"There is no column {name!r}.", f"The columns are {join_names(known)}."
            )

    def _check_box(self, box: Box) -> None:
        if box.names != self.numbers:
            raise DimensionMismatch(
                f"The cells are made of columns {join_names(box.names)}; the rows have "
                f"{join_names(self.numbers) or 'no numeric ones'}.",
                "Make the grid over the rows' own box, e.g. Grid(domain, 16).",
            )
        same = (box.low == self.box.low) & (box.high == self.box.high)
        if not same.all():
            raise InvalidDomain(
                "The cells and the rows have different bounds in "
                f"{join_names(np.array(box.names)[~same])}, so rows outside the grid would all "
                "be counted at its edge.",
                "Make the grid over the rows' own box, or the rows for the grid's: "
                "rows_of(X, box).",
            )

    def _clip_if_needed(self, numbers: Floats) -> tuple[Tally, Sides | None] | None:
        """Clip rows in place if that is all they need; return a tally and the sides, else None.

        Columns' extremes tell whether any has to be moved; NaN comes through them and fails.
        """
        if not self.numbers:
            return Tally(), None
        # Two reductions a column are far cheaper than a mask for every row.
        least, most = numbers.min(axis=0), numbers.max(axis=0)
        outside = ~((least >= self.box.low) & (most <= self.box.high))
        finite = bool(np.isfinite(least).all() and np.isfinite(most).all())
        if outside.any() and (self.terms.outside != "clip" or not finite):
            return None
        if not outside.any():
            return Tally(), None
        sides = np.zeros(numbers.shape, dtype=np.int8)
        for axis in np.flatnonzero(outside):
            column, low, high = numbers[:, axis], self.box.low[axis], self.box.high[axis]
            sides[:, axis] = (column > high).view(np.int8) - (column < low).view(np.int8)
            np.clip(column, low, high, out=column)
        moved = int(np.count_nonzero(sides.any(axis=1)))
        names = frozenset(self.numbers[axis] for axis in np.flatnonzero(outside))
        return Tally(outside=moved, moved=moved, outside_columns=names), sides

    def _screen_rows(self, numbers: Floats) -> tuple[NDArray[np.bool_], Tally, Sides | None]:
        """Clip rows in place; return which stay, a tally of the odd ones, and sides of the rest."""
        box = self.box
        bad = ~np.isfinite(numbers)
        bad_rows = np.logical_or.reduce(bad, axis=1)
        # A row that is not finite is counted once, as that.
        beyond = ((numbers < box.low) | (numbers > box.high)) & ~bad_rows[:, None]
        beyond_rows = np.logical_or.reduce(beyond, axis=1)
        admitted = ~(bad_rows | beyond_rows) if self.terms.outside == "drop" else ~bad_rows
        sides = ((numbers > box.high).view(np.int8) - (numbers < box.low).view(np.int8))[admitted]
        moved = int(np.count_nonzero(sides.any(axis=1)))
        np.clip(numbers, box.low, box.high, out=numbers)
        odd = Tally(
            admitted=-int(np.count_nonzero(~admitted)),
            nonfinite=int(np.count_nonzero(bad_rows)),
            outside=int(np.count_nonzero(beyond_rows)),
            moved=moved,
            nonfinite_columns=self._named(bad),
            outside_columns=self._named(beyond),
        )
        return admitted, odd, sides if moved else None

    @cached_property
    def box(self) -> Box:
        """The bounds of the numeric columns."""
        return self.domain if isinstance(self.domain, Box) else self.domain.box

    def _named(self, odd: NDArray[np.bool_]) -> frozenset[str]:
        return frozenset(self.numbers[i] for i in np.flatnonzero(odd.any(axis=0)))

    def _listed(self, columns: Iterable[str]) -> str:
        return ", ".join(repr(name) for name in self.numbers if name in columns)
