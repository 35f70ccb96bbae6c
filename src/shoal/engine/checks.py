"""What can be told wrong about a verb's arguments before a row is read."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.data.column_names import join_names
from shoal.domain import Box, Partition
from shoal.engine.rows import Integers
from shoal.engine.screen import Screen
from shoal.errors import (
    DimensionMismatch,
    DuplicateColumn,
    InvalidDomain,
    InvalidSetting,
    TooLarge,
    UnknownBounds,
    UnknownColumn,
    setting,
)

__all__ = ["MAX_DENSE_CELLS", "add_checked", "check_columns", "check_partition", "integers_of"]

MAX_DENSE_CELLS = 2**24  # 128 MiB of counts


def check_partition(partition: Partition, screen: Screen, dense: bool) -> None:
    """Check that a partition is one of these rows, and not too fine for a dense count."""
    if dense and partition.size > MAX_DENSE_CELLS:
        raise TooLarge(
            f"{partition.size} cells are more than the {MAX_DENSE_CELLS} a dense count may have.",
            "Count with " + setting("sparse", True) + ", or use fewer cells.",
            reason="cells",
        )
    box = getattr(partition, "box", None)
    if box is not None:
        _check_box(box, screen)
    partition.keys(screen.empty().numbers)  # a width that does not fit raises here


def _check_box(box: Box, screen: Screen) -> None:
    if box.names != screen.numbers:
        raise DimensionMismatch(
            f"The cells are made of columns {join_names(box.names)}; the rows have "
            f"{join_names(screen.numbers) or 'no numeric ones'}.",
            "Make the grid over the rows' own box, e.g. Grid(domain, 16).",
        )
    same = (box.low == screen.box.low) & (box.high == screen.box.high)
    if not same.all():
        raise InvalidDomain(
            f"The cells and the rows have different bounds in "
            f"{join_names(np.array(box.names)[~same])}"
            ", so rows beyond the cells would pile up on their edge.",
            "Make the grid over the rows' own box, or the rows for the grid's: rows_of(X, box).",
        )


def check_columns(columns: Sequence[str], screen: Screen, available: Sequence[str]) -> None:
    """Check that groups are asked for over public columns, each once."""
    known = (*screen.numbers, *screen.categories)
    if isinstance(columns, str) or not columns:
        raise InvalidSetting("No list of columns came.", f"E.g. sizes([{known[0]!r}]).")
    if len(set(columns)) < len(columns):
        raise DuplicateColumn("A column is asked for twice.", "Name each column once.")
    for name in columns:
        if name in known:
            continue
        if name in available:
            raise UnknownBounds(
                f"{name!r} is in the table, but nothing about it is public.",
                "Describe it in the schema: `low` and `high`, or `values`.",
            )
        raise UnknownColumn(f"There is no column {name!r}.", f"There are {join_names(known)}.")


def integers_of(parts: Any) -> tuple[Integers, ...]:
    """What a kernel returned, as int64 arrays; anything but a tuple of integers is refused."""
    good = isinstance(parts, tuple) and all(
        isinstance(part, np.ndarray | np.integer) and np.can_cast(part.dtype, np.int64)
        for part in parts
    )
    if not good:
        raise InvalidSetting(
            "The kernel returned something else than a tuple of arrays of integers.",
            "Round onto a lattice first: only integers add up the same on every engine.",
        )
    return tuple(np.asarray(part, dtype=np.int64) for part in parts)


def add_checked(totals: tuple[Integers, ...], parts: tuple[Integers, ...]) -> None:
    """Add a block's arrays to the totals, in place; their shapes must be those of every block."""
    wanted, shapes = [total.shape for total in totals], [part.shape for part in parts]
    if wanted != shapes:
        raise InvalidSetting(
            f"The kernel's arrays have shapes {shapes} on a block, and {wanted} on an empty one.",
            "Return the same shapes for every block, whatever its rows.",
        )
    for total, part in zip(totals, parts, strict=True):
        np.add(total, part, out=total)
