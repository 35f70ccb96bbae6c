"""``Rows`` of a Spark frame: the embedded engine's kernels, run where the rows are."""

import secrets
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Literal, overload

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Integers
from shoal.data.source import check_names, find_columns
from shoal.domain import Box, Partition, Schema, SparseCounts
from shoal.engine import _people as people
from shoal.engine._rows import Kernel, Mapper, Tally, Terms, integers_of
from shoal.engine.duckdb import coded_schema, with_labels
from shoal.engine.row_screening import Screen
from shoal.engine.sample import Sample
from shoal.engine.spark._blocks import (
    CountGroups,
    DrawLots,
    LimitRowsPerPerson,
    MapBlocks,
    WithOwners,
)
from shoal.engine.spark._computed_table import SparkMapped
from shoal.engine.spark._failures import check_session_runs, translate_errors
from shoal.engine.spark._schema import ddl_of, empty_batch
from shoal.engine.spark._tasks import (
    Aggregation,
    CountCells,
    ErrorTexts,
    PartitionSums,
    PassTask,
    SumKernel,
    TallyOnly,
    map_partitions,
)
from shoal.errors import from_literal

_PAIR = "key bigint, value bigint"
_ERROR = "error string"


class SparkRows:
    """``Rows`` of a Spark frame, classic or of Spark Connect; made by ``rows_of``.

    Every verb is one job that reads rows. Tasks add up their partitions, Spark adds up the tasks,
    and what comes to the driver is as large as the answer, whatever the number of rows. The frame
    must hold the same rows whenever it is computed: ``persist`` or ``checkpoint`` one that would
    not (a sample without a seed, ``limit`` without an order).

    Parameters
    ----------
    key
        The key of the hash that picks a person's rows; drawn by the operating system if left out.
    screen
        What batches go through before a kernel sees them; left out, what the terms say.
    """

    rereadable = True

    def __init__(
        self,
        frame: Any,
        domain: Box | Schema,
        terms: Terms,
        *,
        key: str | None = None,
        screen: Screen | None = None,
    ) -> None:
        self.domain = domain
        self.terms = terms
        self._screen = Screen(domain, terms) if screen is None else screen
        self._key = key or secrets.token_hex(16)
        self._size: int | None = None  # unknown until a first full pass has admitted every row
        self._moved: int | None = None
        self.tally: Tally | None = None
        self._limited: tuple[Any, people.LimitedRows] | None = None
        self._progress: Callable[[int], None] = _ignore_progress
        self._frame = frame
        check_session_runs(frame)
        self._check_schema()

    def on_progress(self, callback: Callable[[int], None]) -> None:
        """Set a function that is called with the rows read, after every pass."""
        self._progress = callback

    def size(self) -> int:
        """Return how many rows are admitted; needs one full pass, whichever verb makes it."""
        if self._size is None:
            self._aggregate(TallyOnly())
        assert self._size is not None
        return self._size

    def moved(self) -> int:
        """Return how many admitted rows were moved to the bounds; any full pass tells."""
        self.size()
        assert self._moved is not None
        return self._moved

    @overload
    def count(self, partition: Partition, sparse: Literal[False] = False) -> Integers: ...
    @overload
    def count(self, partition: Partition, sparse: Literal[True]) -> SparseCounts: ...
    def count(self, partition: Partition, sparse: bool = False) -> Integers | SparseCounts:
        """Count the rows in each cell; sparse, only cells with rows come to the driver.

        Parameters
        ----------
        sparse
            Whether to return ``SparseCounts``.
        """
        self._screen.check_partition(partition, dense=not sparse)
        totals = self._aggregate(CountCells(partition))
        if sparse:
            return SparseCounts(*totals.sparse(), partition.size)
        return totals.dense(partition.size)

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """Add up the kernel's arrays over all blocks; zeros where there are no rows."""
        empty = self._screen.empty()
        shapes = [part.shape for part in integers_of(kernel(empty))]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        flat = self._aggregate(SumKernel(kernel, empty)).dense(int(ends[-1]))
        parts = zip(ends[:-1], ends[1:], shapes, strict=True)
        return tuple(flat[start:end].reshape(shape) for start, end, shape in parts)

    def sizes(self, columns: Sequence[str]) -> pa.Table:
        """Count how many rows share each combination of values, as column ``n``."""
        self._screen.check_columns(columns, self._frame.columns)
        frame, screen_batch = self._admitted()
        schema = coded_schema(columns, self._screen)
        task = MapBlocks(screen_batch, CountGroups(columns, self._screen))
        counted = ddl_of(schema.append(pa.field("n", pa.int64())))
        groups = map_partitions(frame, screen_batch.columns, task, counted)
        with translate_errors("counting groups"):
            counts = groups.groupBy(*schema.names).sum("n").toArrow()
        counts = counts.rename_columns([*schema.names, "n"])
        ordered = counts.sort_by([(name, "ascending") for name in schema.names])
        return with_labels(ordered, columns, self._screen)

    def map(self, kernel: Mapper, names: Iterable[str]) -> SparkMapped:
        """Return the table whose columns the kernel computes, not computed yet.

        A kernel that draws noise is told of each block's place (`shoal.engine._rows.Drawing`).
        """
        return SparkMapped(self._admitted, kernel, tuple(names), self._screen.empty())

    def take(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw a uniform sample of the rows' numbers without replacement, for their holder."""
        Sample(n, rng)  # a number that is none raises here
        frame, screen_batch = self._admitted()
        names = [f"c{i}" for i in range(len(self._screen.numbers))]
        schema = pa.schema([(name, pa.float64()) for name in ("lot", *names)])
        task = MapBlocks(screen_batch, DrawLots(int(n), int(rng.integers(2**63))))
        lots = (
            map_partitions(frame, screen_batch.columns, task, ddl_of(schema))
            .sort("lot")
            .limit(int(n))
        )
        with translate_errors("drawing a sample"):
            drawn = lots.toArrow()
        columns = [drawn[name].to_numpy() for name in names]
        return np.array(columns, dtype=np.float64).reshape(len(names), drawn.num_rows).T

    def _aggregate(self, work: Aggregation) -> PartitionSums:
        """Run one pass and return its totals; refused rows raise at its end."""
        frame, screen_batch = self._limited or self._limit() or (self._frame, self._screen)
        totals = self._pass(frame, screen_batch, work)
        tally = totals.tally(self._screen.numbers)
        self._size, self._moved = tally.admitted, tally.moved  # of rows that stay, of no others
        return totals

    def _admitted(self) -> tuple[Any, Screen | people.LimitedRows]:
        """Admit every row; return the frame to read and what screens its batches."""
        self.size()
        return self._limited or (self._frame, self._screen)

    def _pass(
        self, frame: Any, screen_batch: Screen | people.LimitedRows, work: Aggregation
    ) -> PartitionSums:
        check_session_runs(frame)
        task = PassTask(self._screen, screen_batch, work)
        with translate_errors("reading rows"):
            pairs = map_partitions(frame, screen_batch.columns, task, _PAIR)
            totals = PartitionSums(pairs.groupBy("key").sum("value").toArrow())
        # A second job fetches the texts: most passes have none.
        if totals.problem:
            _raise_task_error(map_partitions(frame, screen_batch.columns, ErrorTexts(task), _ERROR))
        tally = totals.tally(self._screen.numbers)
        self._screen.check(tally)
        self._progress(tally.read)
        if screen_batch is self._screen:
            self.tally = tally
        return totals

    def _limit(self) -> tuple[Any, people.LimitedRows] | None:
        """Return the rows each person keeps, as a frame that Spark stores.

        A person's rows meet in one partition, where the embedded engine's own choice is made. A
        part that is lost is made again: the key and the rows alone decide.
        """
        if self.terms.max_rows_per_person is None:
            return None
        self._pass(self._frame, self._screen, TallyOnly())
        screen_batch = people.LimitedRows(len(self._screen.numbers), self._screen.n_codes)
        schema = people.owned_rows_schema(screen_batch.numbers, screen_batch.codes)
        task = MapBlocks(self._screen, WithOwners(schema))
        owned = map_partitions(self._frame, self._screen.columns, task, ddl_of(schema))
        limit = LimitRowsPerPerson(schema, self.terms.max_rows_per_person, self._key)
        content = ddl_of(pa.schema(list(schema)[:-1]))
        # All rows of a person must meet in one partition to be limited.
        frame = owned.repartition("person").mapInArrow(limit, content).persist()
        weakref.finalize(self, _unpersist, frame)
        self._limited = frame, screen_batch
        return self._limited

    def _check_schema(self) -> None:
        """Refuse wrong column names and types before a row is read."""
        names, columns = check_names(self._frame.columns), self._screen.columns
        find_columns(names, columns)
        self._screen(empty_batch(self._frame, columns))


def _raise_task_error(errors_met: Any) -> None:
    """Raise the error that a task met; of several, the first by its text."""
    with translate_errors("reading rows"):
        (first,) = errors_met.sort("error").limit(1).toArrow().to_pylist()
    raise from_literal(first["error"])


def _unpersist(frame: Any) -> None:
    with suppress(Exception):  # the session may be gone, and its memory with it
        frame.unpersist()


def _ignore_progress(rows: int) -> None:
    """Do nothing: the default callback."""
