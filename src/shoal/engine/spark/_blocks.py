"""Spark tasks that compute batches of the rows they read, a block at a time."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engine import _people as people
from shoal.engine._computed_table import apply_kernel
from shoal.engine._rows import Block, Mapper, kernel_at
from shoal.engine.duckdb import coded_batch, coded_schema
from shoal.engine.row_screening import Screen, ScreenedBatch
from shoal.engine.spark._tasks import Task, hide_error_text, merge_batches
from shoal.errors import InvalidSetting
from shoal.files import scratch

Maker = Callable[[ScreenedBatch, int], pa.RecordBatch]


@dataclass(frozen=True, eq=False)
class MapBlocks:
    """A task that runs ``make`` on every block of a partition."""

    screen_batch: Screen | people.LimitedRows
    make: Maker

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one batch for each block."""
        for number, batch in enumerate(merge_batches(batches)):
            yield hide_error_text(self._one, batch, number)

    def _one(self, batch: pa.RecordBatch, number: int) -> pa.RecordBatch:
        return self.make(self.screen_batch(batch), number)


@dataclass(frozen=True, eq=False)
class KernelColumns:
    """Computes the columns of a kernel for a block.

    A kernel that draws noise draws it from a stream named by partition, block and what the block
    holds: an attempt that is run again on the same rows draws the same, and one that finds other
    rows in this place draws anew.

    Parameters
    ----------
    kernel
        Computes the columns; it may draw noise.
    """

    kernel: Mapper
    schema: pa.Schema

    def __call__(self, screened: ScreenedBatch, number: int) -> pa.RecordBatch:
        """Return a line for each row of the block."""
        from shoal.engine.spark._session import partition_id  # on a worker, where Spark is

        # The digest guards a task that is run again on rows in another order: it draws anew.
        place = (partition_id(), number, block_digest(screened.block))
        kernel = kernel_at(self.kernel, *place)
        return apply_kernel(kernel, self.schema.names, screened.block).cast(self.schema)


@dataclass(frozen=True, eq=False)
class AppendColumns:
    """A task that appends a kernel's columns to the lines that came."""

    screen: Screen
    make: KernelColumns

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield as many lines as came."""
        for number, batch in enumerate(merge_batches(batches)):
            yield hide_error_text(self._one, batch, number)

    def _one(self, batch: pa.RecordBatch, number: int) -> pa.RecordBatch:
        more = self.make(self.screen(batch.select(list(self.screen.columns))), number)
        if more.num_rows != batch.num_rows:
            raise InvalidSetting(
                "A row was left out, so the rows no longer match the frame's.",
                "Fill missing numbers first.",
            )
        return pa.record_batch([*batch.columns, *more.columns], schema=_both(batch, more))


@dataclass(frozen=True, eq=False)
class CountGroups:
    """Counts how many rows of a block share each combination of columns."""

    columns: Sequence[str]
    screen: Screen

    def __call__(self, screened: ScreenedBatch, number: int) -> pa.RecordBatch:
        """Return a line for each combination: codes of categories, numbers, and ``n``."""
        schema = coded_schema(self.columns, self.screen)
        block = pa.Table.from_batches([coded_batch(screened.block, self.columns, self.screen)])
        groups = block.group_by(schema.names).aggregate([([], "count_all")])
        arrays = [groups[name].combine_chunks() for name in (*schema.names, "count_all")]
        return pa.record_batch(arrays, names=[*schema.names, "n"])


@dataclass(frozen=True)
class DrawLots:
    """Draws a random number for each row of a block and keeps the ``n`` smallest."""

    n: int
    seed: int

    def __call__(self, screened: ScreenedBatch, number: int) -> pa.RecordBatch:
        """Return the random numbers first, then the rows' numbers."""
        from shoal.engine.spark._session import partition_id  # on a worker, where Spark is

        # By partition and block, so that a task that is run again draws the same.
        rng = np.random.default_rng([self.seed, partition_id(), number])
        numbers = screened.block.numbers
        lots = rng.random(len(numbers))
        lowest = np.argsort(lots)[: self.n]
        columns = {f"c{i}": column[lowest] for i, column in enumerate(numbers.T)}
        return pa.record_batch({"lot": lots[lowest], **columns})


@dataclass(frozen=True, eq=False)
class WithOwners:
    """Lays out admitted rows and whose they are for `LimitRowsPerPerson`."""

    schema: pa.Schema

    def __call__(self, screened: ScreenedBatch, number: int) -> pa.RecordBatch:
        """Return a line for each row."""
        return people.owned_rows(self.schema, screened)


@dataclass(frozen=True, eq=False)
class LimitRowsPerPerson:
    """A task that limits the rows of each person, for partitions with whole persons.

    Parameters
    ----------
    schema
        As ``people.owned_rows_schema`` returns it.
    """

    schema: pa.Schema
    limit: int
    key: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that stay, picked as the embedded engine picks them."""
        with scratch() as folder:
            path = folder / "kept.parquet"
            hide_error_text(self._keep, batches, path)
            with pq.ParquetFile(path, pre_buffer=False) as file:
                yield from file.iter_batches()

    def _keep(self, batches: Iterable[pa.RecordBatch], path: Path) -> None:
        same = (batch.cast(self.schema) for batch in merge_batches(batches))
        people.limit_rows_per_person(same, self.schema, self.limit, self.key, path)


def block_digest(block: Block) -> str:
    """Return a digest of a block's rows, in their order."""
    digest = hashlib.blake2b(block.numbers.tobytes(), digest_size=32)
    digest.update(block.codes.tobytes())
    return digest.hexdigest()


def pack_batches(task: Task) -> Task:
    """Return a task whose batches are single binary values, for a driver to fetch one by one."""

    def packing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in task(batches):
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.record_batch({"batch": pa.array([sink.getvalue()], pa.binary())})

    return packing


def unpack_batch(value: bytes | bytearray) -> pa.RecordBatch:
    """Return a batch that ``pack_batches`` packed."""
    with pa.ipc.open_stream(bytes(value)) as reader:
        return reader.read_next_batch()


def _both(batch: pa.RecordBatch, more: pa.RecordBatch) -> pa.Schema:
    return pa.schema([*batch.schema, *more.schema])
