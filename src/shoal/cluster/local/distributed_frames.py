"""Reports in a frame of a cluster: counted there, with a sample here for methods that need one.

Records in such a frame: labelled and measured where they are, as a client does its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.cluster.local.inputs import box_of
from shoal.cluster.local.methods.result import Row, nearest
from shoal.data import encode
from shoal.domain import Box
from shoal.domain.box import Matrix
from shoal.engine import Block, Rows, rows_of
from shoal.engine.entry import by_engine, unbounded_box
from shoal.engine.rows import Mapper, Tally, Terms
from shoal.engine.screen import Screen, ScreenedBatch
from shoal.engine.table import FrameTable
from shoal.errors import DimensionMismatch, NotAReport, quantity
from shoal.mechanisms.local.categories.local_grid import LocalGrid
from shoal.mechanisms.local.records import records_of
from shoal.mechanisms.local.reports import Reports
from shoal.perturb.distributed_frames import SAMPLE
from shoal.privacy import Mechanism
from shoal.randomness import Randomness, Seed

__all__ = [
    "CenterDistances",
    "FrameReports",
    "GatheredReports",
    "NearestCenter",
    "distances",
    "sum_over_reports",
    "with_columns",
]

_STEPS = 2**20  # whole numbers add up the same in any order

Field = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrameReports:
    """Reports in a Spark frame and the mechanism that made them: ``LocalClusterer`` fits them.

    All reports are counted where they are: by cell for a ``LocalGrid``, and on the lattice of
    ``method="em"`` for ``NDLaplace`` in up to three columns, unless the box is so wide against the
    noise that the lattice would be too large. Everything else is learnt from a uniform sample of
    200,000; of fewer, from all. Nothing larger comes to the driver. ``LocalClusterer.n_used_`` says
    from how many it learnt.

    Parameters
    ----------
    frame
        A Spark frame, as ``Perturb(mechanism).transform(frame)`` returns. It has the columns of the
        mechanism's box; without a box, the mechanism's columns are all it has; and of a
        ``LocalGrid`` it has one column of whole numbers.
    mechanism
        What made them. A ``LocalGrid`` knows its cells, or learns them from how many reported.
    simulation
        Whether their noise was seeded.
    """

    frame: Any = field(repr=False)
    mechanism: Any
    simulation: bool = False

    def __post_init__(self) -> None:
        self._table()

    def gather(self, random_state: Seed = None) -> "GatheredReports":
        """What a learner needs of them on this machine.

        Parameters
        ----------
        random_state
            Of the sample.
        """
        if isinstance(self.mechanism, LocalGrid):
            return self._cells(self.mechanism)
        rows = self._rows(unbounded_box(_columns(self._table(), self.mechanism)))
        sample = rows.take(SAMPLE, Randomness(random_state).compute)
        return GatheredReports(sample, self.mechanism, simulation=self.simulation, rows=rows)

    def _cells(self, grid: LocalGrid) -> "GatheredReports":
        column = _only_column(self._table())
        if isinstance(grid.cells, str):  # it waits for the number of reports
            grid = grid.with_cells_for(max(1, self._rows(unbounded_box([column])).size()))
        rows = self._rows(Box(**{column: (0, grid.oracle.codes - 1)}))
        none = np.empty(0, dtype=np.int64)
        return GatheredReports(none, grid, simulation=self.simulation, rows=rows)

    def _rows(self, box: Box) -> Rows:
        return rows_of(self.frame, box, outside="refuse")

    def _table(self) -> FrameTable:
        return by_engine(self.frame, embedded=_refuse_embedded, distributed=_same_table)


def _refuse_embedded(X: object) -> FrameTable:
    raise NotAReport(
        f"Expected a Spark frame of reports; got a {type(X).__name__}.",
        "Wrap arrays in Reports(values, mechanism).",
    )


def _same_table(table: FrameTable) -> FrameTable:
    return table


@dataclass(frozen=True, eq=False, kw_only=True)
class GatheredReports(Reports):
    """Some of a frame's reports, and the way to sums over all of them. Its length is of all.

    Parameters
    ----------
    rows
        All reports.
    """

    rows: Rows = field(repr=False)

    def __len__(self) -> int:
        return self.rows.size()


def sum_over_reports(reports: Reports, counted: Callable[[Matrix], NDArray[Any]]) -> Field:
    """What ``counted`` makes of reports, added up over all of them; of those in a frame in one job.

    Parameters
    ----------
    reports, counted
        Arrays of one shape come of any of them; in a frame, shares are kept to a millionth.

    Examples
    --------
    >>> from shoal.mechanisms import NDLaplace
    >>> reports = Reports(np.array([[0.5, 2.0], [1.0, 1.5]]), NDLaplace(1.0))
    >>> sum_over_reports(reports, lambda values: values.sum(axis=0)).tolist()
    [1.5, 3.5]
    """
    if not isinstance(reports, GatheredReports):
        return np.asarray(counted(reports.values), dtype=np.float64)
    (steps,) = reports.rows.sum(_InSteps(counted))
    return np.asarray(steps / _STEPS)


@dataclass(frozen=True, eq=False)
class _InSteps:
    """Kernel: shares of reports, as whole steps."""

    counted: Callable[[Matrix], NDArray[Any]]

    def __call__(self, block: Block) -> tuple[NDArray[np.int64]]:
        return (np.rint(self.counted(block.numbers) * float(_STEPS)).astype(np.int64),)


def _columns(table: FrameTable, mechanism: Mechanism[Any, Any]) -> tuple[str, ...]:
    box = box_of(mechanism)
    return table.names if box is None else box.names


def _only_column(table: FrameTable) -> str:
    names = table.names
    if len(names) != 1 or not table.is_whole(names[0]):
        raise DimensionMismatch(
            "Reports of a LocalGrid are one column of whole numbers; this frame has "
            f"{quantity(len(names), 'column')}, or other values.",
            "Select the column and its type: frame.selectExpr('CAST(cell AS BIGINT) AS cell').",
        )
    return names[0]


@dataclass(frozen=True, eq=False)
class NearestCenter:
    """Kernel: the nearest centre of each record, distances in ``units``."""

    centers: Matrix
    units: Row

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """One column."""
        return [nearest(block.numbers, self.centers, self.units)]


@dataclass(frozen=True, eq=False)
class CenterDistances:
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


def with_columns(
    table: FrameTable, box: Box | None, d: int, kernel: Mapper, names: list[str]
) -> Any:
    """The frame with the columns more that a kernel makes of its records.

    Parameters
    ----------
    table
        The frame of records.
    box
        Records are moved into it as `shoal.cluster.local.inputs.records` moves them. Without one,
        all of the frame's columns are the record, and NaN is refused.
    d
        How many columns a record has.
    kernel
        Makes columns of a block of records.
    names
        What these columns are called.
    """
    rows = _rows_anywhere(table, d) if box is None else _rows_in_box(table, box)
    return rows.map(kernel, names).like_input()


def _rows_in_box(table: FrameTable, box: Box) -> Rows:
    return table.rows(box, screen=_Moving(box, Terms()))


def _rows_anywhere(table: FrameTable, d: int) -> Rows:
    if len(table.names) != d:
        raise DimensionMismatch(
            f"The frame has {quantity(len(table.names), 'column')}; the model has {d}.",
            "Select them in the model's order: frame.select(...).",
        )
    return table.rows(unbounded_box(table.names), Terms(outside="refuse"))


class _Moving(Screen):
    """Takes every record: beyond the box it goes to the nearest point, NaN to the middle."""

    def __call__(self, batch: pa.RecordBatch) -> ScreenedBatch:
        numbers = records_of(encode.encode_numbers(batch, self.numbers), self.box, clip=True)
        n, block = len(numbers), Block(numbers, np.empty((len(numbers), 0), dtype=np.int32))
        return ScreenedBatch(block, Tally(n, n), None)
