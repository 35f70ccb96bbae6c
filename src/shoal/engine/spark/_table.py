"""A Spark frame as a ``FrameTable``: rows are counted and queried where they are."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from secrets import token_hex
from typing import Any

import pyarrow as pa

from shoal.data.source import check_names, find_columns
from shoal.data.untyped_cells import field_of_cells
from shoal.domain import Box, Schema
from shoal.engine._engine_choice import is_spark_frame
from shoal.engine._rows import Terms
from shoal.engine.duckdb import COUNTED, OWNER, plain_names, with_plain_names
from shoal.engine.row_screening import Screen
from shoal.engine.spark._failures import check_session_runs, translate_errors
from shoal.engine.spark._files import digest_of, files_of, uri_of
from shoal.engine.spark._output import FolderOutput, folder_output
from shoal.engine.spark._rows import SparkRows
from shoal.engine.spark._schema import cells_of_columns, ddl_of, empty_batch, quote_name
from shoal.engine.spark._tasks import hide_error_text, map_partitions, merge_batches
from shoal.engine.table import BlockTask
from shoal.errors import InvalidSetting, TooLarge

COLLECT_LIMIT = 20_000_000  # combinations that come to the driver
_WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint")
_NESTED = ("array<", "map<", "struct<", "variant")  # in Spark's words
Batches = Iterator[pa.RecordBatch]
Kernel = Callable[[pa.RecordBatch], pa.RecordBatch]


@dataclass(frozen=True, eq=False)
class PersistedFrame:
    """A frame that Spark stores once it is computed.

    Parameters
    ----------
    frame
        The Spark frame.
    """

    frame: Any = field(repr=False)

    @cached_property
    def lines(self) -> int:
        """The number of lines."""
        with translate_errors("counting combinations"):
            return int(self.frame.count())

    def each(self, columns: Sequence[str]) -> pa.Table:
        """Return the values of each column with the sums of ``n``; ``which`` is its index."""
        sets = ", ".join(f"({name})" for name in columns)
        # A bit for each column that is left out, the first column's being the highest.
        alone = [(1 << len(columns)) - 1 - (1 << at) for at in reversed(range(len(columns)))]
        which = " ".join(f"WHEN {mask} THEN {at}" for at, mask in enumerate(alone))
        with translate_errors("counting values"), _named_view(self.frame) as name:
            sql = (
                f"SELECT CASE grouping_id() {which} END AS which, {', '.join(columns)}, "
                f"sum(n) AS n FROM {name} GROUP BY GROUPING SETS ({sets})"
            )
            return self.frame.sparkSession.sql(sql).toArrow()

    def table(self) -> pa.Table:
        """Bring the frame to this machine."""
        with translate_errors("bringing counts to the driver"):
            return self.frame.toArrow()


class SparkTable:
    """A Spark frame that is counted and queried on the cluster.

    Parameters
    ----------
    frame
        A Spark DataFrame. Its rows stay on the cluster.
    collect_limit
        How many distinct combinations may come to this machine.
    """

    def __init__(self, frame: Any, collect_limit: int = COLLECT_LIMIT) -> None:
        if not is_spark_frame(frame):
            raise InvalidSetting(
                f"SparkTable needs a Spark DataFrame; got a {type(frame).__name__}.",
                "Pass other tables as they are.",
            )
        check_session_runs(frame)
        self.frame, self.collect_limit = frame, collect_limit
        self.names = check_names(frame.columns)
        self._kinds = dict(frame.dtypes)
        self.known: pa.Table | None = None  # combinations that came here, for rows to be found by

    @property
    def session(self) -> Any:
        """The frame's Spark session."""
        return self.frame.sparkSession

    def cell(self, name: str) -> str:
        """Return the SQL expression by which a column's values are counted.

        A time is what clocks showed in the session's zone, and text is told apart byte by byte:
        Spark itself hands times to the driver in one zone and to tasks in another, and takes
        ``a`` for ``A`` if a column's collation says so.
        """
        kind, written = self._kinds[name], quote_name(name)
        if kind == "timestamp":
            return f"CAST({written} AS TIMESTAMP_NTZ)"
        return f"CAST({written} AS STRING)" if kind.startswith("string ") else written

    def nested(self, columns: Sequence[str]) -> list[str]:
        """Return which of these columns hold lists or structures, by the frame's schema."""
        return [name for name in columns if self._kinds[name].startswith(_NESTED)]

    def view(self, columns: Sequence[str], owner: str | None = None) -> Any:
        """Return these columns as a frame with c0, c1, ... and the owner as text.

        Parameters
        ----------
        owner
            The column that identifies people, or None.
        """
        named = [f"{self.cell(name)} AS c{i}" for i, name in enumerate(columns)]
        if owner is None:
            return self.frame.selectExpr(*(named or ["1 AS none"]))
        # Asked of Spark itself, which alone knows the types after its casts.
        schema = self.frame.selectExpr(*named, f"CAST(NULL AS STRING) AS {OWNER}").schema
        wanted = list(dict.fromkeys([*columns, owner]))
        with_plain_names(empty_batch(self.frame, wanted), columns, owner)  # refused here, not there
        kernel = partial(with_plain_names, columns=columns, owner=owner)
        return self.mapped(kernel, wanted, schema, counted=columns)

    def mapped(
        self, kernel: Kernel, columns: Sequence[str], schema: Any, counted: Sequence[str]
    ) -> Any:
        """Return the frame of what a kernel computes of batches of these columns.

        Those ``counted`` come as they are counted, others as they are.

        Parameters
        ----------
        counted
            The columns to convert as ``cell`` does.
        """
        # Under plain names: Spark would take a dot in one for a field of a structure.
        cells = [self.cell(name) if name in counted else quote_name(name) for name in columns]
        plain = self.frame.selectExpr(*(f"{cell} AS c{i}" for i, cell in enumerate(cells)))
        return plain.mapInArrow(MapBatches(kernel, tuple(columns)), schema)

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """Run ``sql`` on ``rows``, whose columns are c0, c1, ... in this order.

        Parameters
        ----------
        columns
            The columns that are c0, c1, ...
        owner
            The column that identifies people, or None.
        """
        with translate_errors("counting rows"), _named_view(self.view(columns, owner)) as name:
            return self.session.sql(f"WITH rows AS (SELECT * FROM {name}) {sql}").toArrow()

    @contextmanager
    def grouped(self, columns: Sequence[str], owner: str | None = None) -> Iterator[PersistedFrame]:
        """Yield the distinct combinations with their row counts ``n``, stored by Spark.

        The rows are read once, here.

        Parameters
        ----------
        columns
            The columns that are c0, c1, ...
        owner
            The column that identifies people, or None.
        """
        cells = ", ".join(plain_names(columns, owner))
        with translate_errors("counting rows"), _named_view(self.view(columns, owner)) as name:
            counted = f"SELECT {cells}, {COUNTED} GROUP BY ALL"
            groups = self.session.sql(f"WITH rows AS (SELECT * FROM {name}) {counted}")
            with persist(groups) as lines:
                yield lines

    def counts(
        self,
        columns: Sequence[str],
        owner: str | None = None,
        replacements: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> pa.Table:
        """Bring the distinct combinations with their row counts ``n`` to this machine.

        Parameters
        ----------
        columns
            The columns that are c0, c1, ...
        owner
            The column that identifies people, or None.
        """
        with self.grouped(columns, owner) as combinations:
            if combinations.lines > self.collect_limit:
                raise too_many_error(
                    combinations.lines, self.collect_limit, "They are needed all at once"
                )
            return combinations.table()

    def collected(self, columns: Sequence[str], owner: str | None = None) -> pa.Table | None:
        """Return the result of ``counts``, so that rows are read once; None if too large.

        Parameters
        ----------
        columns
            The columns that are c0, c1, ...
        owner
            The column that identifies people, or None.
        """
        with self.grouped(columns, owner) as combinations:
            return combinations.table() if combinations.lines <= self.collect_limit else None

    def owners(self, person: str) -> Any:
        """Return the different people of the table, as text, up to the limit."""
        with self.grouped([], person) as people:
            if people.lines > self.collect_limit:
                raise TooLarge(
                    f"The table has {people.lines:,} people, and {self.collect_limit:,} may be "
                    "collected on the driver, where they are compared with those of other "
                    "releases.",
                    "Give the driver more memory and pass SparkTable(frame, collect_limit=...).",
                    reason="people",
                )
            return people.table()[OWNER]

    def rows(
        self, domain: Box | Schema, terms: Terms | None = None, screen: Screen | None = None
    ) -> SparkRows:
        """Return its rows as ``Rows``.

        Parameters
        ----------
        terms
            How they are admitted; left out, as ``rows_of`` does.
        screen
            What batches go through before a kernel sees them; left out, what the terms say.
        """
        return SparkRows(self.frame, domain, terms or Terms(), screen=screen)

    def select(self, columns: Sequence[str], whole: bool = False) -> Any:
        """Return a frame of these columns."""
        find_columns(self.names, columns)
        names = [quote_name(name) for name in columns]
        cells = [f"try_cast({name} AS BIGINT) AS {name}" for name in names] if whole else names
        return self.frame.selectExpr(*cells)

    def is_whole(self, name: str) -> bool:
        """Whether a column has a type of whole numbers."""
        return self._kinds[name] in _WHOLE_TYPES

    def sample(self, columns: Sequence[str], n: int, seed: int) -> pa.Table:
        """Bring at most ``n`` random rows of these columns to this machine."""
        plain = [f"{quote_name(name)} AS c{i}" for i, name in enumerate(columns)]
        with translate_errors("drawing a sample"):
            # A random number a row and the smallest n: Spark's own sample() has no fixed size.
            lots = self.frame.selectExpr(*plain, f"rand({seed % 2**63}) AS lot").sort("lot")
            drawn = lots.limit(n).drop("lot").toArrow()
        cells = cells_of_columns(self.frame, columns)
        fields = [
            field_of_cells(name, kind, cells[name])
            for name, kind in zip(columns, drawn.schema.types, strict=True)
        ]
        return pa.table(drawn.columns, schema=pa.schema(fields))

    @contextmanager
    def added_up(self, task: BlockTask, schema: pa.Schema) -> Iterator["SparkTable"]:
        """Run a task on blocks of all columns and add up equal lines by the last column."""
        *keys, n = schema.names
        with translate_errors("adding up what tasks made"):
            lines = map_partitions(self.frame, self.names, _MapBlocks(task), ddl_of(schema))
            with persist(lines.groupBy(*keys).sum(n).toDF(*schema.names)) as sums:
                yield SparkTable(sums.frame)

    def text_at(self, path: str) -> str | None:
        """Return the text of a small file that the session can read; None if there is none."""
        uri = uri_of(path)
        if not files_of(self.session).exists(uri):
            return None
        with translate_errors("reading a text"):
            lines = self.session.read.text(uri, wholetext=True).toArrow()["value"].to_pylist()
        return "".join(lines)  # none, if it is empty

    def digest(self, path: str) -> str:
        """Return a checksum of a folder's files."""
        return digest_of(self.session, uri_of(path))

    def output(
        self, path: str, sidecar: str, overwrite: bool = False
    ) -> AbstractContextManager[FolderOutput]:
        """Open a folder for a table made from this one, with a text beside it."""
        return folder_output(self.frame, path, sidecar, overwrite)


def too_many_error(lines: int, limit: int, why: str) -> TooLarge:
    """Return the error that names how many combinations there are and how many may come.

    Parameters
    ----------
    lines
        How many there are.
    limit
        How many may come.
    why
        Why they are needed here, as a sentence.
    """
    return TooLarge(
        f"The table has {lines:,} distinct combinations, and {limit:,} may be collected on the "
        f"driver. {why}.",
        "Give the driver more memory and pass SparkTable(frame, collect_limit=...), or make "
        "fewer columns quasi or sensitive.",
        reason="combinations",
    )


@dataclass(frozen=True, eq=False)
class MapBatches:
    """A task that runs a kernel on each batch; errors of libraries lose their text.

    Parameters
    ----------
    kernel
        Computes a batch of a batch.
    names
        The names the columns get back, if they travelled under others.
    """

    kernel: Kernel
    names: tuple[str, ...] = ()  # that the columns get back, if others travelled in their place

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Yield what the kernel computes of each batch."""
        for batch in batches:
            named = batch.rename_columns(self.names) if self.names else batch
            yield hide_error_text(self.kernel, named)


@dataclass(frozen=True, eq=False)
class _MapBlocks:
    """A task that runs another on whole blocks; errors of libraries lose their text."""

    task: BlockTask

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Yield what the task computes of the blocks."""
        made = iter(self.task(merge_batches(batches)))
        while (batch := hide_error_text(next, made, None)) is not None:
            yield batch


@contextmanager
def persist(frame: Any) -> Iterator[PersistedFrame]:
    """Have Spark store a frame, in memory or on disk, while the block runs.

    Parameters
    ----------
    frame
        The frame.
    """
    frame = frame.persist()
    try:
        yield PersistedFrame(frame)
    finally:
        frame.unpersist()


@contextmanager
def _named_view(frame: Any) -> Iterator[str]:
    """Yield a name by which SQL can use a frame."""
    name = f"shoal_{token_hex(8)}"
    frame.createOrReplaceTempView(name)
    try:
        yield name
    finally:
        frame.sparkSession.catalog.dropTempView(name)
