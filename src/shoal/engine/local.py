"""The embedded engine: reads rows in this process, a block at a time, on all cores."""

import secrets
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal, TypeVar, overload

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Integers
from shoal.data import Source, source_of
from shoal.data.memory import ArraySource, ArrowSource, FrameSource, ReaderSource
from shoal.domain import Box, Partition, Schema, SparseCounts
from shoal.engine import _people as people
from shoal.engine._computed_table import LocalMapped
from shoal.engine._counting import CellKeys, SparseTotal
from shoal.engine._rows import (
    Block,
    Kernel,
    Mapper,
    Tally,
    Terms,
    add_checked,
    integers_of,
    thread_count,
)
from shoal.engine.duckdb import group_sizes
from shoal.engine.row_screening import Screen, ScreenedBatch
from shoal.engine.sample import Sample
from shoal.errors import UnreadableTable
from shoal.files import scratch

BLOCK_ROWS = 65_536  # four columns of so many rows, 2 MiB, fit in a core's cache
_MOST_ENCODED = 2**27  # bytes of a table in memory that are kept once more, encoded
Item = TypeVar("Item")
Result = TypeVar("Result")


class LocalRows:
    """``Rows`` of a source on this machine; made by ``rows_of``.

    With a limit a person, the first pass writes the rows that stay to a temporary folder only the
    owner can read; it is removed with this object.

    Parameters
    ----------
    key
        Keys the hash that picks a person's rows; drawn by the operating system if left out.
    block_rows
        Rows read at a time; results do not depend on it.
    """

    def __init__(
        self,
        source: Source,
        domain: Box | Schema,
        terms: Terms,
        *,
        key: str | None = None,
        block_rows: int = BLOCK_ROWS,
    ) -> None:
        self.domain = domain
        self.terms = terms
        self._source = source
        self._screen = Screen(domain, terms)
        # Secret by default: whoever knows the key could choose which rows of theirs stay.
        self._key = key or secrets.token_hex(16)
        self._block_rows = block_rows
        self._size: int | None = None  # unknown until a first full pass has admitted every row
        self._moved: int | None = None
        self.tally: Tally | None = None
        self._limited: tuple[Source, people.LimitedRows] | None = None
        self._encoded: list[ScreenedBatch] | None = None
        self._progress: Callable[[int], None] = _ignore

    def on_progress(self, callback: Callable[[int], None]) -> None:
        """Set a function that is called with the rows read so far, after every block."""
        self._progress = callback

    @property
    def rereadable(self) -> bool:
        """Whether there can be a second pass: a record batch reader is read once."""
        # Limited rows are read from a file, which can be read again.
        flows = isinstance(self._source, ReaderSource)
        return not flows or self.terms.max_rows_per_person is not None

    def size(self) -> int:
        """Return how many rows are admitted; needs one full pass, whichever verb makes it."""
        if self._size is None:
            self._size = sum(self.each(len))
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
        """Count the rows in each cell; sparse, only the cells that have any.

        Parameters
        ----------
        sparse
            Whether to return ``SparseCounts``.
        """
        self._screen.check_partition(partition, dense=not sparse)
        if sparse:
            occupied = SparseTotal()
            for keys in self.each(CellKeys(partition)):
                occupied.add(keys)
            return occupied.result(partition.size)
        # Not a `sum`: every block's kernel would return all cells, far more than it has rows.
        total = np.zeros(partition.size, dtype=np.int64)
        for keys in self.each(CellKeys(partition)):
            np.add.at(total, keys, 1)
        return total

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """Add up the kernel's arrays over all blocks; zeros where there are no rows."""
        totals = tuple(np.zeros_like(part) for part in integers_of(kernel(self._screen.empty())))
        for parts in self.each(kernel):
            add_checked(totals, integers_of(parts))
        return totals

    def sizes(self, columns: Sequence[str]) -> pa.Table:
        """Count how many rows share each combination of values, as column ``n``."""
        self._screen.check_columns(columns, self._source.names)
        return group_sizes(self.each(lambda block: block), columns, self._screen)

    def map(self, kernel: Mapper, names: Iterable[str]) -> LocalMapped:
        """Return the table whose columns the kernel computes, not computed yet.

        The kernel is called on one block after another in the rows' order, so one that draws
        noise draws it in that order.
        """
        if not self.rereadable:
            raise UnreadableTable(
                "A record batch reader can be read only once, and mapping reads the rows twice: "
                "to check them, then to map them.",
                "Pass reader.read_all(), or the file it reads.",
            )
        return LocalMapped(self._admitted, kernel, tuple(names), self._screen.empty())

    def take(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw a uniform sample of the rows' numbers without replacement, for their holder."""
        # Blocks come in the rows' order, so the sample does not depend on threads.
        sample = Sample(n, rng)
        for block in self.each(lambda block: block):
            sample.add(block.numbers)
        return sample.rows(len(self._screen.numbers))

    def each(self, work: Callable[[Block], Result]) -> Iterator[Result]:
        """Yield what ``work`` returns for every block, in order, in one pass.

        Take all of it before you use any of it.
        """
        batches, screen_batch = self._reading()
        encoded: list[ScreenedBatch] = []
        keep: Callable[[ScreenedBatch], None] = _ignore
        if self._may_keep_encoded():
            keep, screen_batch = encoded.append, _frozen(screen_batch)
        tally = yield from self._pass(
            batches, screen_batch, lambda screened: work(screened.block), keep
        )
        self._size, self._moved = tally.admitted, tally.moved
        if self._limited is None:
            self.tally = tally
        if encoded:
            self._encoded = encoded

    def _admitted(self) -> Iterator[Block]:
        """Yield blocks once a first pass has admitted every row."""
        self.size()
        yield from self.each(lambda block: block)

    def _reading(self) -> tuple[Iterable[Any], Callable[[Any], ScreenedBatch]]:
        """Return the batches of a pass and what screens them: encoded ones are screened already."""
        if self._encoded is not None:
            return self._encoded, lambda screened: screened
        source, screen_batch = self._limited or self._limit() or (self._source, self._screen)
        return source.batches(screen_batch.columns, self._block_rows), screen_batch

    def _may_keep_encoded(self) -> bool:
        """Whether later passes may read what this one encoded: a small table, in memory anyway."""
        source = self._source
        if self._encoded is not None or self.terms.max_rows_per_person is not None:
            return False
        if not isinstance(source, ArraySource | ArrowSource | FrameSource):
            return False
        row_bytes = 8 * len(self._screen.numbers) + 4 * self._screen.n_codes
        return source.n_rows * row_bytes <= _MOST_ENCODED

    def _pass(
        self,
        batches: Iterable[Any],
        screen_batch: Callable[[Any], ScreenedBatch],
        work: Callable[[ScreenedBatch], Result],
        keep: Callable[[ScreenedBatch], None],
    ) -> Generator[Result, None, Tally]:
        """Screen every batch and yield what ``work`` returns; refused rows raise at the end."""

        def step(batch: Any) -> tuple[ScreenedBatch, list[Result]]:
            screened = screen_batch(batch)
            # What is refused is counted to the end, for the error, and never computed with.
            refused = self._screen.refuses(screened.tally)
            return screened, [] if refused else [work(screened)]

        total = Tally()
        for screened, results in map_ahead(step, batches, thread_count()):
            keep(screened)
            total += screened.tally
            self._progress(total.read)
            yield from results
        self._screen.check(total)
        return total

    def _first_pass(self, work: Callable[[ScreenedBatch], Result]) -> Iterator[Result]:
        """Read the source before the rows of each person are limited."""
        batches = self._source.batches(self._screen.columns, self._block_rows)
        self.tally = yield from self._pass(batches, self._screen, work, _ignore)

    def _limit(self) -> tuple[Source, people.LimitedRows] | None:
        """Write the rows each person keeps to a file and return it as a source."""
        if self.terms.max_rows_per_person is None:
            return None
        # The folder of limited rows lives as long as this object.
        held = ExitStack()
        weakref.finalize(self, held.close)
        folder = held.enter_context(scratch())
        screen_batch = people.LimitedRows(len(self._screen.numbers), self._screen.n_codes)
        schema = people.owned_rows_schema(screen_batch.numbers, screen_batch.codes)
        batches = self._first_pass(partial(people.owned_rows, schema))
        path = folder / "kept.parquet"
        people.limit_rows_per_person(
            batches, schema, self.terms.max_rows_per_person, self._key, path
        )
        self._limited = source_of(path), screen_batch
        return self._limited


def _frozen(screen_batch: Callable[[Any], ScreenedBatch]) -> Callable[[Any], ScreenedBatch]:
    """Return a screen whose blocks nobody can write to: later passes do not screen them again."""

    def screened(batch: Any) -> ScreenedBatch:
        made = screen_batch(batch)
        for part in (made.block.numbers, made.block.codes, made.block.sides):
            if part is not None:
                part.flags.writeable = False
        return made

    return screened


def _ignore(*_: object) -> None:
    """Do nothing: the default callback."""


def map_ahead(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Return ``map(work, items)`` in order, computed ahead by threads.

    At most ``threads + 1`` items are in memory, however slowly results are taken.

    Examples
    --------
    >>> list(map_ahead(abs, [-1, -2, -3], threads=2))
    [1, 2, 3]
    """
    if threads == 1:  # nothing to compute ahead with
        yield from map(work, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="shoal") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                # Bounded, so that a slow reader of results does not fill memory with them.
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
