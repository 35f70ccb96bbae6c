"""A table that a kernel computes from a Spark frame, where the rows are."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from shoal.engine._computed_table import apply_kernel, check_names, columns_of
from shoal.engine._people import LimitedRows
from shoal.engine._rows import Block, Drawing, Mapper, kernel_at
from shoal.engine.row_screening import Screen
from shoal.engine.spark._blocks import (
    AppendColumns,
    KernelColumns,
    MapBlocks,
    pack_batches,
    unpack_batch,
)
from shoal.engine.spark._failures import translate_errors
from shoal.engine.spark._schema import ddl_of, nearest_spark_schema, widened_schema
from shoal.engine.spark._tasks import map_partitions, merge_batches
from shoal.errors import CannotWrite, ConflictingSettings, DuplicateColumn, setting
from shoal.randomness import NoiseStream, TaskNoise

_ORDER = "_order"


@dataclass(frozen=True, eq=False)
class SparkMapped:
    """The result of ``SparkRows.map``, computed when it is read.

    Parameters
    ----------
    admitted
        Admits every row, and returns the frame that holds them and what screens its batches.
    """

    admitted: Callable[[], tuple[Any, Screen | LimitedRows]]
    kernel: Mapper
    names: tuple[str, ...]
    empty: Block
    order: TaskNoise | None = None

    def __post_init__(self) -> None:
        check_names(self.names)

    def shuffled(self, noise: NoiseStream) -> "SparkMapped":
        """Return the same table with its lines in random order."""
        return replace(self, order=noise.for_tasks())

    def frame(self) -> Any:
        """Return a Spark frame; lines with noise are computed and stored before it returns.

        Computed anew, they would be drawn anew: so they are checkpointed, in the session's
        checkpoint folder if it has one, else on its executors. Should these be lost, reading the
        frame fails; it never draws again.
        """
        if self.order is not None:
            keyed = _WithOrder(self.kernel, self.order)
            lines = _checkpointed(self._lines(keyed, (*self.names, _ORDER)))
            return lines.sort(_ORDER).drop(_ORDER)
        lines = self._lines(self.kernel, self.names)
        return _checkpointed(lines) if isinstance(self.kernel, Drawing) else lines

    def stored(self) -> AbstractContextManager[Any]:
        """Return the frame, which is computed and stored if it has noise."""
        return nullcontext(self.frame())

    def like_input(self, squeeze: bool = False) -> Any:
        """Return the frame the rows came in, with these columns after its own.

        Parameters
        ----------
        squeeze
            Ignored: a frame has no other shape.
        """
        frame, screen_batch = self.admitted()
        if not isinstance(screen_batch, Screen):
            raise ConflictingSettings(
                "Only some rows of each person were kept, so the rows no longer match the frame's.",
                "Leave "
                + setting("person")
                + " and "
                + setting("max_rows_per_person")
                + " out here.",
            )
        twice = [name for name in self.names if name in frame.columns]
        if twice:
            raise DuplicateColumn(
                f"The frame already has a column {twice[0]!r}.", "Rename it, or leave it out."
            )
        schema = self._schema(self.kernel, self.names)
        task = AppendColumns(screen_batch, KernelColumns(self.kernel, schema))
        return map_partitions(frame, frame.columns, task, widened_schema(frame, schema))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Bring the table to this machine, a batch at a time."""
        schema = self._schema(self.kernel, self.names)
        # An empty batch first, so that a table of no rows still has its columns.
        yield pa.RecordBatch.from_pylist([], schema)
        with translate_errors("making a table of the rows"):
            if self.order is None:
                frame, screen_batch = self.admitted()
                task = pack_batches(MapBlocks(screen_batch, KernelColumns(self.kernel, schema)))
                lines = map_partitions(frame, screen_batch.columns, task, "batch binary")
            else:
                lines = map_partitions(
                    self.frame(), self.names, pack_batches(merge_batches), "batch binary"
                )
            for line in lines.toLocalIterator():
                yield unpack_batch(line[0]).cast(schema)

    def write(self, path: str | Path, overwrite: bool = False) -> Any:
        """Have Spark write the table to a folder of files, at any path it can reach.

        Parameters
        ----------
        path
            A path that ends in .csv, .csv.gz or .parquet, which says the format; e.g.
            ``hdfs://...``.
        """
        kind = next((s for s in (".csv.gz", ".csv", ".parquet") if str(path).endswith(s)), None)
        if kind is None:
            raise CannotWrite(
                f"{Path(path).name} does not end like a format that can be written.",
                "Use a name that ends in .csv, .csv.gz or .parquet.",
            )
        lines = self.frame() if self.order is not None else self._lines(self.kernel, self.names)
        writer = lines.write.mode("overwrite" if overwrite else "error")
        with translate_errors("writing a table"):
            if kind == ".parquet":
                writer.parquet(str(path))
            else:
                packing = "gzip" if kind == ".csv.gz" else "none"
                writer.csv(str(path), header=True, compression=packing)
        return path

    def _lines(self, kernel: Mapper, names: tuple[str, ...]) -> Any:
        schema = self._schema(kernel, names)
        frame, screen_batch = self.admitted()
        return map_partitions(
            frame,
            screen_batch.columns,
            MapBlocks(screen_batch, KernelColumns(kernel, schema)),
            ddl_of(schema),
        )

    def _schema(self, kernel: Mapper, names: tuple[str, ...]) -> pa.Schema:
        return nearest_spark_schema(apply_kernel(kernel_at(kernel), names, self.empty).schema)


@dataclass(frozen=True, eq=False)
class _WithOrder:
    """A kernel's columns, and a random position for each line."""

    kernel: Mapper
    noise: TaskNoise

    def at(self, *place: object) -> Callable[[Block], list[NDArray[Any]]]:
        """Return the function for one block."""

        def both(block: Block) -> list[NDArray[Any]]:
            # The full range of int64: two equal places are rare.
            stream = self.noise.stream("order", *place)
            places = stream.integers(-(2**63), 2**63 - 1, size=len(block), endpoint=True)
            return [*columns_of(kernel_at(self.kernel, *place)(block)), places]

        return both


def _checkpointed(lines: Any) -> Any:
    """Compute a frame now and store it: computed again, other noise would be drawn."""
    session = lines.sparkSession
    with translate_errors("keeping what was drawn"):
        if _checkpoint_folder(session) is not None:
            return lines.checkpoint(eager=True)
        return lines.localCheckpoint(eager=True)


def _checkpoint_folder(session: Any) -> str | None:
    connected = hasattr(session, "is_stopped")  # by Spark Connect, which has no context
    folder: str | None = (
        session.conf.get("spark.checkpoint.dir", None)
        if connected
        else session.sparkContext.getCheckpointDir()
    )
    return folder
