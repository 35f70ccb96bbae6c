"""A Spark frame behind the verbs of ``FrameTable``: rows are read and counted where they are."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from secrets import token_hex
from typing import Any

import pyarrow as pa

from shoal.data.source import check_names, find_columns
from shoal.domain import Box, Schema
from shoal.engine.duckdb import COUNTED, OWNER, plain_names, with_plain_names
from shoal.engine.entry import is_spark_frame
from shoal.engine.rows import Terms
from shoal.engine.screen import Screen
from shoal.engine.spark.failures import check_session_runs, translate_errors
from shoal.engine.spark.files import digest_of, files_of, uri_of
from shoal.engine.spark.output import FolderOutput, folder_output
from shoal.engine.spark.rows import SparkRows
from shoal.engine.spark.schema import ddl_of, empty_batch, quote_name
from shoal.engine.spark.tasks import hide_error_text, map_partitions, merge_batches
from shoal.engine.table import BlockTask
from shoal.errors import InvalidSetting, TooLarge

__all__ = [
    "COLLECT_LIMIT",
    "MapBatches",
    "PersistedFrame",
    "SparkTable",
    "persist",
    "too_many_error",
]

COLLECT_LIMIT = 20_000_000  # combinations that come to the driver
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NESTED = ("array<", "map<", "struct<", "variant")  # in Spark's words
Batches = Iterator[pa.RecordBatch]
Kernel = Callable[[pa.RecordBatch], pa.RecordBatch]


@dataclass(frozen=True, eq=False)
class PersistedFrame:
    """A frame that Spark keeps once it is computed."""

    frame: Any = field(repr=False)

    @cached_property
    def lines(self) -> int:
        """How many lines it has."""
        with translate_errors("counting combinations"):
            return int(self.frame.count())

    def each(self, columns: Sequence[str]) -> pa.Table:
        """Each of these columns by itself: its values and the sums of ``n``, ``which`` it is."""
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
        """Bring it here."""
        with translate_errors("bringing counts to the driver"):
            return self.frame.toArrow()


class SparkTable:
    """A Spark frame that is asked for counts.

    Parameters
    ----------
    frame
        A Spark DataFrame. Its rows stay on the cluster.
    collect_limit
        So many distinct combinations may come to this machine.
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
        """A column as it is counted, in Spark's words.

        A time is what clocks showed in the session's zone, and text is told apart byte by byte:
        Spark itself hands times to the driver in one zone and to tasks in another, and takes
        ``a`` for ``A`` if a column's collation says so.
        """
        kind, written = self._kinds[name], quote_name(name)
        if kind == "timestamp":
            return f"CAST({written} AS TIMESTAMP_NTZ)"
        return f"CAST({written} AS STRING)" if kind.startswith("string ") else written

    def nested(self, columns: Sequence[str]) -> list[str]:
        """Which of these columns hold lists or structures, by the frame's schema."""
        return [name for name in columns if self._kinds[name].startswith(_NESTED)]

    def view(self, columns: Sequence[str], owner: str | None = None) -> Any:
        """These columns as a frame with c0, c1, ... and, as text, whose each row is."""
        named = [f"{self.cell(name)} AS c{i}" for i, name in enumerate(columns)]
        if owner is None:
            return self.frame.selectExpr(*(named or ["1 AS none"]))
        schema = self.frame.selectExpr(*named, f"CAST(NULL AS STRING) AS {OWNER}").schema
        wanted = list(dict.fromkeys([*columns, owner]))
        with_plain_names(empty_batch(self.frame, wanted), columns, owner)  # refused here, not there
        kernel = partial(with_plain_names, columns=columns, owner=owner)
        return self.mapped(kernel, wanted, schema, counted=columns)

    def mapped(
        self, kernel: Kernel, columns: Sequence[str], schema: Any, counted: Sequence[str]
    ) -> Any:
        """What a kernel makes of batches of these columns, as a frame of this Spark schema.

        Those ``counted`` come as they are counted, others as they are.
        """
        # Under plain names: Spark would take a dot in one for a field of a structure.
        cells = [self.cell(name) if name in counted else quote_name(name) for name in columns]
        plain = self.frame.selectExpr(*(f"{cell} AS c{i}" for i, cell in enumerate(cells)))
        return plain.mapInArrow(MapBatches(kernel, tuple(columns)), schema)

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """What ``sql`` makes of ``rows``, whose columns are c0, c1, ... in this order."""
        with translate_errors("counting rows"), _named_view(self.view(columns, owner)) as name:
            return self.session.sql(f"WITH rows AS (SELECT * FROM {name}) {sql}").toArrow()

    @contextmanager
    def grouped(self, columns: Sequence[str], owner: str | None = None) -> Iterator[PersistedFrame]:
        """The distinct combinations with their rows, ``n``, kept by Spark while the block lasts.

        The rows are read once, here.
        """
        cells = ", ".join(plain_names(columns, owner))
        with translate_errors("counting rows"), _named_view(self.view(columns, owner)) as name:
            counted = f"SELECT {cells}, {COUNTED} GROUP BY ALL"
            groups = self.session.sql(f"WITH rows AS (SELECT * FROM {name}) {counted}")
            with persist(groups) as lines:
                yield lines

    def counts(self, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """The distinct combinations with their rows, ``n``, on this machine."""
        with self.grouped(columns, owner) as combinations:
            if combinations.lines > self.collect_limit:
                raise too_many_error(
                    combinations.lines, self.collect_limit, "They are needed all at once"
                )
            return combinations.table()

    def collected(self, columns: Sequence[str], owner: str | None = None) -> pa.Table | None:
        """The result of ``counts``, so that rows are read once; None if it is too large."""
        with self.grouped(columns, owner) as combinations:
            return combinations.table() if combinations.lines <= self.collect_limit else None

    def owners(self, entity: str) -> Any:
        """The different people of the table, as text; no more than combinations may come here."""
        with self.grouped([], entity) as people:
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
        """Its rows behind the verbs of ``Rows``."""
        return SparkRows(self.frame, domain, terms or Terms(), screen=screen)

    def select(self, columns: Sequence[str], whole: bool = False) -> Any:
        """A frame of these columns; ``whole``: read as whole numbers, null where they are none."""
        find_columns(self.names, columns)
        names = [quote_name(name) for name in columns]
        cells = [f"try_cast({name} AS BIGINT) AS {name}" for name in names] if whole else names
        return self.frame.selectExpr(*cells)

    def is_whole(self, name: str) -> bool:
        """Whether a column's kind is that of whole numbers."""
        return self._kinds[name] in _WHOLE

    def sample(self, columns: Sequence[str], n: int, seed: int) -> pa.Table:
        """At most ``n`` rows of these columns, drawn at random, on this machine."""
        plain = [f"{quote_name(name)} AS c{i}" for i, name in enumerate(columns)]
        with translate_errors("drawing a sample"):
            lots = self.frame.selectExpr(*plain, f"rand({seed % 2**63}) AS lot").sort("lot")
            return lots.limit(n).drop("lot").toArrow().rename_columns(list(columns))

    @contextmanager
    def added_up(self, task: BlockTask, schema: pa.Schema) -> Iterator["SparkTable"]:
        """What a task makes of blocks of all columns, equal lines added up by the last column."""
        *keys, n = schema.names
        with translate_errors("adding up what tasks made"):
            lines = map_partitions(self.frame, self.names, _MapBlocks(task), ddl_of(schema))
            with persist(lines.groupBy(*keys).sum(n).toDF(*schema.names)) as sums:
                yield SparkTable(sums.frame)

    def text_at(self, path: str) -> str | None:
        """The text of a small file that the session can read; None if there is none."""
        uri = uri_of(path)
        if not files_of(self.session).exists(uri):
            return None
        with translate_errors("reading a text"):
            lines = self.session.read.text(uri, wholetext=True).toArrow()["value"].to_pylist()
        return "".join(lines)  # none, if it is empty

    def digest(self, path: str) -> str:
        """A hash of the hashes of a folder's files."""
        return digest_of(self.session, uri_of(path))

    def output(
        self, path: str, sidecar: str, overwrite: bool = False
    ) -> AbstractContextManager[FolderOutput]:
        """A folder for a table made of this one, and a text beside it, whole or not at all."""
        return folder_output(self.frame, path, sidecar, overwrite)


def too_many_error(lines: int, limit: int, why: str) -> TooLarge:
    """The error that says how many combinations there are, and how many may come."""
    return TooLarge(
        f"The table has {lines:,} distinct combinations, and {limit:,} may be collected on the "
        f"driver. {why}.",
        "Give the driver more memory and pass SparkTable(frame, collect_limit=...), or make "
        "fewer columns quasi or sensitive.",
        reason="combinations",
    )


@dataclass(frozen=True, eq=False)
class MapBatches:
    """Runs a kernel over the batches of a partition; what libraries say of rows stays unsaid."""

    kernel: Kernel
    names: tuple[str, ...] = ()  # that the columns get back, if others travelled in their place

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """What the kernel makes of each batch."""
        for batch in batches:
            named = batch.rename_columns(self.names) if self.names else batch
            yield hide_error_text(self.kernel, named)


@dataclass(frozen=True, eq=False)
class _MapBlocks:
    """Runs a task over whole blocks of a partition; errors of libraries lose their words."""

    task: BlockTask

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """What the task makes of them."""
        made = iter(self.task(merge_batches(batches)))
        while (batch := hide_error_text(next, made, None)) is not None:
            yield batch


@contextmanager
def persist(frame: Any) -> Iterator[PersistedFrame]:
    """Have Spark keep a frame while the block lasts, in memory or on disk."""
    frame = frame.persist()
    try:
        yield PersistedFrame(frame)
    finally:
        frame.unpersist()


@contextmanager
def _named_view(frame: Any) -> Iterator[str]:
    """A name for a frame that SQL can use; frames made by it live on without it."""
    name = f"shoal_{token_hex(8)}"
    frame.createOrReplaceTempView(name)
    try:
        yield name
    finally:
        frame.sparkSession.catalog.dropTempView(name)
