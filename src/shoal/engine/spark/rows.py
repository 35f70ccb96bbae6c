"""`Rows` of a Spark frame: the embedded engine's kernels, run where the rows are."""

import secrets
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Literal, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.source import check_names, find_columns
from shoal.domain import Box, Partition, Schema, SparseCounts
from shoal.engine import people
from shoal.engine.checks import check_columns, check_partition, integers_of
from shoal.engine.duckdb import coded_schema, labelled
from shoal.engine.rows import Integers, Kernel, Mapper, Tally, Terms
from shoal.engine.sample import Sample
from shoal.engine.screen import Screen
from shoal.engine.spark.blocks import Each, Groups, Keep, Keyed, Lots
from shoal.engine.spark.failures import check_alive, guarded
from shoal.engine.spark.mapped import SparkMapped
from shoal.engine.spark.schema import ddl, empty_batch
from shoal.engine.spark.tasks import CountCells, Nothing, Pass, Problems, SumUp, Totals, Work, over
from shoal.errors import from_literal

__all__ = ["SparkRows"]

_PAIR = "key bigint, value bigint"
_ERROR = "error string"


class SparkRows:
    """`Rows` of a Spark frame, classic or of Spark Connect; make them with `rows_of`.

    Every verb is one job that reads rows. Tasks add up their partitions, Spark adds up the tasks,
    and what comes to the driver is as large as the answer, whatever the number of rows. The frame
    must hold the same rows whenever it is computed: ``persist`` or ``checkpoint`` one that would
    not (a sample without a seed, ``limit`` without an order).

    Parameters
    ----------
    frame, domain, terms
        Where rows are, what is public about them, how they are admitted.
    key
        Keys the hash that picks a person's rows; drawn by the operating system if left out.
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
        self.seen: Tally | None = None
        self._kept: tuple[Any, people.KeptRows] | None = None
        self._progress: Callable[[int], None] = _ignore
        self._frame = frame
        check_alive(frame)
        self._check_schema()

    def on_progress(self, callback: Callable[[int], None]) -> None:
        """Call back with the number of rows read, after every pass."""
        self._progress = callback

    def size(self) -> int:
        """How many rows are admitted; the first full pass of any verb finds out."""
        if self._size is None:
            self._added(Nothing())
        assert self._size is not None
        return self._size

    @overload
    def count(self, partition: Partition, sparse: Literal[False] = False) -> Integers: ...
    @overload
    def count(self, partition: Partition, sparse: Literal[True]) -> SparseCounts: ...
    def count(self, partition: Partition, sparse: bool = False) -> Integers | SparseCounts:
        """Rows in each cell; sparse, only the cells that have any: these come to the driver."""
        check_partition(partition, self._screen, dense=not sparse)
        totals = self._added(CountCells(partition))
        if sparse:
            return SparseCounts(*totals.sparse(), partition.size)
        return totals.dense(partition.size)

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """The kernel's arrays, added up over all blocks; on no rows, its zeros."""
        empty = self._screen.empty()
        shapes = [part.shape for part in integers_of(kernel(empty))]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        flat = self._added(SumUp(kernel, empty)).dense(int(ends[-1]))
        parts = zip(ends[:-1], ends[1:], shapes, strict=True)
        return tuple(flat[start:end].reshape(shape) for start, end, shape in parts)

    def sizes(self, columns: Sequence[str]) -> pa.Table:
        """How many rows share each combination of values, as column ``n``, in rising order."""
        check_columns(columns, self._screen, self._frame.columns)
        frame, sift = self._admitted()
        schema = coded_schema(columns, self._screen)
        task = Each(sift, Groups(columns, self._screen))
        counted = ddl(schema.append(pa.field("n", pa.int64())))
        groups = over(frame, sift.columns, task, counted)
        with guarded("counting groups"):
            counts = groups.groupBy(*schema.names).sum("n").toArrow()
        counts = counts.rename_columns([*schema.names, "n"])
        ordered = counts.sort_by([(name, "ascending") for name in schema.names])
        return labelled(ordered, columns, self._screen)

    def map(self, kernel: Mapper, names: Iterable[str]) -> SparkMapped:
        """The table whose columns the kernel computes, a block at a time.

        A kernel that draws noise is told of each block's place (`shoal.engine.rows.Drawing`).
        """
        return SparkMapped(self._admitted, kernel, tuple(names), self._screen.empty())

    def take(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """A uniform sample of the rows' numbers without replacement, for the holder."""
        Sample(n, rng)  # a number that is none raises here
        frame, sift = self._admitted()
        names = [f"c{i}" for i in range(len(self._screen.numbers))]
        schema = pa.schema([(name, pa.float64()) for name in ("lot", *names)])
        task = Each(sift, Lots(int(n), int(rng.integers(2**63))))
        lots = over(frame, sift.columns, task, ddl(schema)).sort("lot").limit(int(n))
        with guarded("drawing a sample"):
            drawn = lots.toArrow()
        columns = [drawn[name].to_numpy() for name in names]
        return np.array(columns, dtype=np.float64).reshape(len(names), drawn.num_rows).T

    def _added(self, work: Work) -> Totals:
        """One pass; rows that are refused raise at its end."""
        frame, sift = self._kept or self._limit() or (self._frame, self._screen)
        totals = self._pass(frame, sift, work)
        self._size = totals.tally(self._screen.numbers).kept  # of rows that stay, of no others
        return totals

    def _admitted(self) -> tuple[Any, Screen | people.KeptRows]:
        """The frame to read once every row was admitted, and what sifts it."""
        self.size()
        return self._kept or (self._frame, self._screen)

    def _pass(self, frame: Any, sift: Screen | people.KeptRows, work: Work) -> Totals:
        check_alive(frame)
        task = Pass(self._screen, sift, work)
        with guarded("reading rows"):
            pairs = over(frame, sift.columns, task, _PAIR)
            totals = Totals(pairs.groupBy("key").sum("value").toArrow())
        if totals.problem:
            _tell(over(frame, sift.columns, Problems(task), _ERROR))
        tally = totals.tally(self._screen.numbers)
        self._screen.check(tally)
        self._progress(tally.read)
        if sift is self._screen:
            self.seen = tally
        return totals

    def _limit(self) -> tuple[Any, people.KeptRows] | None:
        """The rows that stay when each person keeps so many, as a frame that Spark keeps.

        A person's rows meet in one partition, where the embedded engine's own choice is made. A
        part that is lost is made again: the key and the rows alone decide.
        """
        if self.terms.max_rows_per_person is None:
            return None
        self._pass(self._frame, self._screen, Nothing())
        sift = people.KeptRows(len(self._screen.numbers), len(self._screen.categories))
        schema = people.keyed_schema(sift.numbers, sift.codes)
        keyed = over(
            self._frame, self._screen.columns, Each(self._screen, Keyed(schema)), ddl(schema)
        )
        keep = Keep(schema, self.terms.max_rows_per_person, self._key)
        content = ddl(pa.schema(list(schema)[:-1]))
        frame = keyed.repartition("entity").mapInArrow(keep, content).persist()
        weakref.finalize(self, _forget, frame)
        self._kept = frame, sift
        return self._kept

    def _check_schema(self) -> None:
        """What the columns' names and kinds tell wrong, before a row is read."""
        names, columns = check_names(self._frame.columns), self._screen.columns
        find_columns(names, columns)
        self._screen(empty_batch(self._frame, columns))


def _tell(errors_met: Any) -> None:
    """Raise what a task met, as it would be raised here; of several, the first by its words."""
    with guarded("reading rows"):
        (first,) = errors_met.sort("error").limit(1).toArrow().to_pylist()
    raise from_literal(first["error"])


def _forget(frame: Any) -> None:
    with suppress(Exception):  # the session may be gone, and its memory with it
        frame.unpersist()


def _ignore(rows: int) -> None:
    """Nobody watches."""
