"""Records in a Spark frame: labelled and measured where they are, as a client does its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.cluster.local.learnt import Row, nearest
from shoal.data import encode
from shoal.domain import Box
from shoal.domain.box import Matrix
from shoal.engine import Block
from shoal.engine.anywhere import anywhere
from shoal.engine.rows import Mapper, Terms
from shoal.engine.screen import Screen, Sifted, Tally
from shoal.engine.spark_rows import SparkRows
from shoal.errors import DimensionMismatch
from shoal.mechanisms.records import records_of

__all__ = ["Away", "NearestCenter", "distances", "with_columns"]


@dataclass(frozen=True, eq=False)
class NearestCenter:
    """Kernel: the nearest centre of each record, distances in ``units``."""

    centers: Matrix
    units: Row

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """One column."""
        return [nearest(block.numbers, self.centers, self.units)]


@dataclass(frozen=True, eq=False)
class Away:
    """Kernel: the distance of each record to each centre, in ``units``."""

    centers: Matrix
    units: Row

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """A column a centre."""
        return distances(block.numbers, self.centers, self.units)


def distances(points: Matrix, centers: Matrix, units: Row) -> list[NDArray[np.float64]]:
    """How far points are from each centre, in ``units``.

    Examples
    --------
    >>> distances(np.array([[1.0], [8.0]]), np.array([[0.0], [9.0]]), np.array([2.0]))
    [array([0.5, 4. ]), array([4. , 0.5])]
    """
    return [np.sqrt(np.square((points - center) / units).sum(1)) for center in centers]


def with_columns(frame: Any, box: Box | None, d: int, kernel: Mapper, names: list[str]) -> Any:
    """The frame with the columns more that a kernel makes of its records.

    Parameters
    ----------
    frame, box, d
        Records, moved into the box as `shoal.cluster.local.entry.records` moves them. Without one,
        all of the frame's columns are the record, and NaN is refused.
    kernel, names
        What makes columns of a block of records, and what they are called.
    """
    rows = _in_box(frame, box) if box is not None else _anywhere(frame, d)
    return rows.map(kernel, names).appended()


def _in_box(frame: Any, box: Box) -> SparkRows:
    return SparkRows(frame, box, Terms(), screen=_Moving(box, Terms()))


def _anywhere(frame: Any, d: int) -> SparkRows:
    if len(frame.columns) != d:
        raise DimensionMismatch(
            f"{len(frame.columns)} columns came; the model has {d}.",
            "Choose them in the model's order: frame.select(...).",
        )
    return SparkRows(frame, anywhere(frame.columns), Terms(outside="refuse"))


class _Moving(Screen):
    """Takes every record: beyond the box it goes to the nearest point, NaN to the middle."""

    def __call__(self, batch: pa.RecordBatch) -> Sifted:
        numbers = records_of(encode.numbers(batch, self.numbers), self.box, clip=True)
        n, block = len(numbers), Block(numbers, np.empty((len(numbers), 0), dtype=np.int32))
        return Sifted(block, Tally(n, n), None)
