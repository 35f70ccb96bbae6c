"""Reports and records in Spark frames: counted, labelled and measured where they are.

Reports are counted on the cluster, with a sample on the driver for methods that need one. Records
are labelled as a client labels its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.cluster.local._inputs import box_of
from shoal.data import encode
from shoal.domain import Box
from shoal.engine import Block, Mapper, Rows, Tally, Terms, by_engine, rows_of, unbounded_box
from shoal.engine.row_screening import Screen, ScreenedBatch
from shoal.engine.table import FrameTable
from shoal.errors import DimensionMismatch, NotAReport, quantity
from shoal.mechanisms import LocalGrid, Reports
from shoal.mechanisms.local import records_of
from shoal.perturb.learnt_remap import SAMPLE
from shoal.privacy import Mechanism
from shoal.randomness import Randomness, Seed

_STEPS = 2**20  # shares are summed in whole steps, which give the same sum in any order


@dataclass(frozen=True, eq=False)
class FrameReports:
    """Reports in a Spark frame, and the mechanism that made them, for ``LocalClusterer.fit``.

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
        The mechanism that made the reports. A ``LocalGrid`` without given cells gets them from the
        number of reports.
    simulation
        Whether the noise of the reports was seeded.
    """

    frame: Any = field(repr=False)
    mechanism: Any
    simulation: bool = False

    def __post_init__(self) -> None:
        self._table()

    def gather(self, random_state: Seed = None) -> "GatheredReports":
        """Bring a sample of the reports, or the means to count them all, to the driver.

        Parameters
        ----------
        random_state
            The seed of the sample.
        """
        if isinstance(self.mechanism, LocalGrid):
            return self._gather_cells(self.mechanism)
        rows = self._rows(unbounded_box(_columns(self._table(), self.mechanism)))
        sample = rows.take(SAMPLE, Randomness(random_state).compute)
        return GatheredReports(sample, self.mechanism, simulation=self.simulation, rows=rows)

    def _gather_cells(self, grid: LocalGrid) -> "GatheredReports":
        column = _only_column(self._table())
        # The size of an automatic grid depends on the number of reports.
        if isinstance(grid.cells, str):
            grid = grid.with_cells_for(max(1, self._rows(unbounded_box([column])).size()))
        rows = self._rows(Box(**{column: (0, grid.oracle.codes - 1)}))
        no_values = np.empty(0, dtype=np.int64)
        return GatheredReports(no_values, grid, simulation=self.simulation, rows=rows)

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
    """A sample of a frame's reports, and the frame's rows for sums over all of them.

    Its length is the number of all reports in the frame.

    Parameters
    ----------
    rows
        The rows of all reports.
    """

    rows: Rows = field(repr=False)

    def __len__(self) -> int:
        return self.rows.size()

    def sample(self, random_state: Seed = None) -> NDArray[Any]:
        """Return reports on this machine; cells, which the frame counts, are drawn only here.

        Parameters
        ----------
        random_state
            The seed of the sample.
        """
        if len(self.values):
            return self.values
        drawn = self.rows.take(SAMPLE, Randomness(random_state).compute)
        return np.asarray(drawn[:, 0], dtype=np.int64)


def sum_over_reports(reports: Reports, count: Callable[[Floats], NDArray[Any]]) -> Floats:
    """What ``counted`` makes of reports, added up over all of them; of those in a frame in one job.

    Parameters
    ----------
    count
        Maps a block of reports to an array of one shape. In a frame its values are rounded to a
        millionth.

    Examples
    --------
    >>> from shoal.mechanisms import NDLaplace
    >>> reports = Reports(np.array([[0.5, 2.0], [1.0, 1.5]]), NDLaplace(1.0))
    >>> sum_over_reports(reports, lambda values: values.sum(axis=0)).tolist()
    [1.5, 3.5]
    """
    if not isinstance(reports, GatheredReports):
        return np.asarray(count(reports.values), dtype=np.float64)
    (steps,) = reports.rows.sum(_WholeShares(count))
    return np.asarray(steps / _STEPS)


@dataclass(frozen=True, eq=False)
class _WholeShares:
    """A kernel that computes shares of reports as whole steps."""

    count: Callable[[Floats], NDArray[Any]]

    def __call__(self, block: Block) -> tuple[Integers]:
        return (np.rint(self.count(block.numbers) * float(_STEPS)).astype(np.int64),)


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
    """A kernel that finds the nearest centre of each record."""

    centers: Floats
    units: Floats

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """Return one column: the number of the nearest centre of each record."""
        return [nearest_centers(block.numbers, self.centers, self.units)]


@dataclass(frozen=True, eq=False)
class CenterDistances:
    """A kernel that computes the distance of each record to each centre."""

    centers: Floats
    units: Floats

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """Return a column of distances for each centre."""
        return distances(block.numbers, self.centers, self.units)


def distances(points: Floats, centers: Floats, units: Floats) -> list[Floats]:
    """Compute the distances of points to each centre.

    Returns
    -------
    One array of distances for each centre.

    Examples
    --------
    >>> distances(np.array([[1.0], [8.0]]), np.array([[0.0], [9.0]]), np.array([2.0]))
    [array([0.5, 4. ]), array([4. , 0.5])]
    """
    return [np.sqrt(np.square((points - center) / units).sum(1)) for center in centers]


def with_columns(
    table: FrameTable, box: Box | None, d: int, kernel: Mapper, names: list[str]
) -> Any:
    """Return the frame with the columns added that a kernel computes from its records.

    Parameters
    ----------
    box
        The public bounds, to which records are moved as in `shoal.cluster.local._inputs.records`.
        Without a box, all columns of the frame are the record, and NaN is refused.
    """
    rows = _rows_anywhere(table, d) if box is None else _rows_in_box(table, box)
    return rows.map(kernel, names).like_input()


def _rows_in_box(table: FrameTable, box: Box) -> Rows:
    return table.rows(box, screen=_MoveIntoBox(box, Terms()))


def _rows_anywhere(table: FrameTable, d: int) -> Rows:
    if len(table.names) != d:
        raise DimensionMismatch(
            f"The frame has {quantity(len(table.names), 'column')}; the model has {d}.",
            "Select them in the model's order: frame.select(...).",
        )
    return table.rows(unbounded_box(table.names), Terms(outside="refuse"))


class _MoveIntoBox(Screen):
    """A screen that keeps every record: clipped to the box, with NaN moved to the middle."""

    def __call__(self, batch: pa.RecordBatch) -> ScreenedBatch:
        numbers = records_of(encode.encode_numbers(batch, self.numbers), self.box, clip=True)
        n, block = len(numbers), Block(numbers, np.empty((len(numbers), 0), dtype=np.int32))
        return ScreenedBatch(block, Tally(n, n), None)
