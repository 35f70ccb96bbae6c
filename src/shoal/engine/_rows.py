"""The operations through which methods read rows, on whatever machine the rows are."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, overload, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import Box, Partition, Schema, SparseCounts
from shoal.errors import InvalidSetting, setting
from shoal.randomness import NoiseStream


@dataclass(frozen=True, eq=False)
class Block:
    """Some admitted rows as arrays: all that a kernel sees.

    Parameters
    ----------
    numbers
        One row each, the domain's numeric columns in order: finite and inside the box.
    codes
        One row each, the codes of the schema's categories in order, then 1 where a number of a
        column with ``missing: flag`` was missing; no columns for a box.
    sides
        Of each number, 1 where it was moved down to the high bound, -1 where it was moved up to
        the low one, else 0; None if no row was moved.
    """

    numbers: Floats
    codes: NDArray[np.int32]
    sides: NDArray[np.int8] | None = None

    def __len__(self) -> int:
        return len(self.numbers)


Kernel = Callable[[Block], tuple[Integers, ...]]
"""What turns a block of rows into arrays of whole numbers, which are added up over blocks."""
Columns = NDArray[Any] | Sequence[NDArray[Any]]


@runtime_checkable
class Drawing(Protocol):
    """A kernel that draws noise; it is told each block's position and draws for that position.

    So a task that is run twice draws the same, and no two blocks share what they draw.
    """

    def at(self, *place: object) -> Callable[[Block], Columns]:
        """Return the kernel for one block; without a position, for a block of no rows."""


Mapper = Callable[[Block], Columns] | Drawing
"""What turns a block of rows into columns of as many rows, with or without noise."""


def kernel_at(kernel: Mapper, *place: object) -> Callable[[Block], Columns]:
    """Return the function that maps the block at this position."""
    return kernel.at(*place) if isinstance(kernel, Drawing) else kernel


@dataclass(frozen=True)
class Terms:
    """Which rows are admitted: what happens to odd ones, and how many a person may have.

    Parameters
    ----------
    outside
        Rows beyond the box are moved to it ("clip"), left out ("drop") or refused.
    nonfinite
        Rows with a missing, NaN or infinite number are refused or left out ("drop").
    person
        The column that identifies people, or None.
    max_rows_per_person
        How many rows a person keeps, or None for all.

    Examples
    --------
    >>> Terms(outside="refuse").nonfinite
    'refuse'
    """

    outside: Literal["clip", "drop", "refuse"] = "clip"
    nonfinite: Literal["refuse", "drop"] = "refuse"
    person: str | None = None
    max_rows_per_person: int | None = None

    def __post_init__(self) -> None:
        _check_choice("outside", self.outside, ("clip", "drop", "refuse"))
        _check_choice("nonfinite", self.nonfinite, ("refuse", "drop"))
        if self.max_rows_per_person is not None:
            _check_limit(self.max_rows_per_person, self.person)


@dataclass(frozen=True)
class Tally:
    """Counts of rows read, admitted and odd; tallies of blocks add up.

    Parameters
    ----------
    read
        Rows that were read.
    admitted
        Rows that came through.
    nonfinite
        Rows with a missing, NaN or infinite number.
    outside
        Rows beyond the box.
    nobody
        Rows that name no person.
    nonfinite_columns
        The columns that held such numbers.
    outside_columns
        The columns in which rows were beyond the box.
    moved
        Rows that came through and were moved to the box.
    """

    read: int = 0
    admitted: int = 0
    nonfinite: int = 0
    outside: int = 0
    nobody: int = 0
    nonfinite_columns: frozenset[str] = frozenset()
    outside_columns: frozenset[str] = frozenset()
    moved: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.read + other.read,
            self.admitted + other.admitted,
            self.nonfinite + other.nonfinite,
            self.outside + other.outside,
            self.nobody + other.nobody,
            self.nonfinite_columns | other.nonfinite_columns,
            self.outside_columns | other.outside_columns,
            self.moved + other.moved,
        )


class Mapped(Protocol):
    """A table that a kernel computes from the rows, not computed yet."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Compute the table, a batch at a time."""

    def write(self, path: str | Path, overwrite: bool = False) -> Path:
        """Compute the table and write it, whole or not at all, to .csv, .csv.gz or .parquet."""

    def frame(self) -> Any:
        """Compute the whole table: an Arrow table, or a frame if the rows are in one."""

    def stored(self) -> AbstractContextManager[Any]:
        """Compute the table once and store it; yield what ``rows_of`` reads it from again."""

    def like_input(self, squeeze: bool = False) -> Any:
        """Compute a line for each row, in the form the rows came in.

        Returns
        -------
        array or frame
            An array with a line for each row and a column for each name; of rows in a frame, that
            frame with these columns after its own.
        """

    def shuffled(self, noise: NoiseStream) -> "Mapped":
        """Return the same table with its lines in random order."""


@runtime_checkable
class Rows(Protocol):
    """The rows of a table, read by a few operations ("verbs"); each verb is one pass.

    Rows that the terms refuse raise in the first full pass, before it returns anything, so nothing
    raises on data once a release has begun.
    """

    @property
    def domain(self) -> Box | Schema:
        """What is public about the columns."""

    @property
    def terms(self) -> Terms:
        """How rows are admitted."""

    @property
    def rereadable(self) -> bool:
        """Whether there can be a second pass."""

    @property
    def tally(self) -> Tally | None:
        """What the first full pass counted, None before it; for the holder, never released."""

    def size(self) -> int:
        """Return how many rows are admitted: as sensitive as any count."""

    def moved(self) -> int:
        """Return how many of them were moved to the bounds of some column: no less sensitive."""

    @overload
    def count(self, partition: Partition, sparse: Literal[False] = False) -> Integers: ...
    @overload
    def count(self, partition: Partition, sparse: Literal[True]) -> SparseCounts: ...
    def count(self, partition: Partition, sparse: bool = False) -> Integers | SparseCounts:
        """Count the rows in each cell; sparse, only the cells that have any.

        Parameters
        ----------
        partition
            The cells.
        sparse
            Whether to return ``SparseCounts``.
        """

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """Add up the kernel's arrays over all blocks.

        Parameters
        ----------
        kernel
            Computes whole-number arrays of a block; integers add up the same in any order.
        """

    def sizes(self, columns: Sequence[str]) -> pa.Table:
        """Count how many rows share each combination of values, as column ``n``.

        Parameters
        ----------
        columns
            The columns.
        """

    def map(self, kernel: Mapper, names: Iterable[str]) -> Mapped:
        """Return the table whose columns the kernel computes, not computed yet.

        Parameters
        ----------
        kernel
            Computes the columns of a block.
        names
            The columns' names.
        """

    def take(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw a uniform sample of the rows' numbers without replacement, for their holder.

        Parameters
        ----------
        n
            How many rows.
        rng
            Draws the sample.
        """

    def on_progress(self, callback: Callable[[int], None]) -> None:
        """Set a function that is called with the rows read so far, after every block.

        Parameters
        ----------
        callback
            The function.
        """


def integers_of(parts: Any) -> tuple[Integers, ...]:
    """Return what a kernel returned as int64 arrays; refuse anything else."""
    # Floats are refused: their sums depend on the order of blocks, integers' do not.
    good = isinstance(parts, tuple) and all(
        isinstance(part, np.ndarray | np.integer) and np.can_cast(part.dtype, np.int64)
        for part in parts
    )
    if not good:
        raise InvalidSetting(
            "The kernel must return a tuple of integer arrays.",
            "Round onto a lattice first: only integers add up the same on every engine.",
        )
    return tuple(np.asarray(part, dtype=np.int64) for part in parts)


def add_checked(totals: tuple[Integers, ...], parts: tuple[Integers, ...]) -> None:
    """Add a block's arrays to the totals, in place; shapes must be those of every block."""
    wanted, shapes = [total.shape for total in totals], [part.shape for part in parts]
    if wanted != shapes:
        raise InvalidSetting(
            f"The kernel's arrays have shapes {shapes} on a block, and {wanted} on an empty one.",
            "Return the same shapes for every block, whatever its rows.",
        )
    for total, part in zip(totals, parts, strict=True):
        np.add(total, part, out=total)


def thread_count() -> int:
    """Return the number of threads to use: ``SHOAL_THREADS``, or the number of cores."""
    given = os.environ.get("SHOAL_THREADS", "")
    # Read at every call, so that a running session can be told to use fewer.
    if not given:
        return os.cpu_count() or 1
    if not given.isdecimal() or int(given) < 1:
        raise InvalidSetting(
            "SHOAL_THREADS must be a whole number of 1 or more.",
            "Unset it, or set e.g. SHOAL_THREADS=2.",
        )
    return int(given)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise InvalidSetting.of(name, f"must be one of {known}", choices[0], value)


def _check_limit(limit: object, person: str | None) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1:
        raise InvalidSetting.of(
            "max_rows_per_person", "must be a whole number of 1 or more", 5, limit
        )
    if person is None:
        raise InvalidSetting(
            setting("max_rows_per_person")
            + " is given without "
            + setting("person")
            + ", so it is not known whose rows they are.",
            "Name the column that tells people apart, e.g. "
            + setting("person", "student_id")
            + ".",
        )
