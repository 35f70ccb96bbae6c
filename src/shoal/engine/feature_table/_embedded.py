"""Compute features on this machine: passes over files, within a memory limit."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.data import source_of
from shoal.data.source import Source, find_columns
from shoal.engine.duckdb import query_to_file
from shoal.engine.feature_table._encoding import EventEncoder
from shoal.engine.feature_table._plan import Plan
from shoal.errors import RepeatedPerson
from shoal.files import scratch

_BATCH_ROWS = 16_384  # encoded lines are wide; a few batches wait for the query at a time
_QUERY_MEMORY = "144MB"  # with what encodes beside it, 400 MB in all
OnProgress = Callable[[int], None]


@dataclass
class FeatureTally:
    """What the holder of the rows may want to know, and nobody else.

    Parameters
    ----------
    people
        How many rows the result has.
    without_events
        How many of them have no event in the period.
    events
        By table of events, how many rows were counted, and not for each reason.
    strangers
        By table of events, how many counted rows belong to nobody in the result.
    above
        By feature, how many people are beyond its bounds.
    """

    people: int = 0
    without_events: int = 0
    events: dict[str, Counter[str]] = field(default_factory=dict)
    strangers: dict[str, int] = field(default_factory=dict)
    above: Counter[str] = field(default_factory=Counter)


class EmbeddedFeatures:
    """The features of tables that this process reads.

    Parameters
    ----------
    plan
        What is computed.
    tables
        The tables by their names in the file, ``people`` the table of people.
    """

    def __init__(self, plan: Plan, tables: Mapping[str, Any]) -> None:
        self._plan, self._file = plan, plan.file
        self._sources: dict[str, Source] = {n: source_of(table) for n, table in tables.items()}
        self.tally = FeatureTally()
        self._check_columns()

    def _check_columns(self) -> None:
        """Refuse missing columns now, although rows are read later."""
        for name, encoder in self._plan.encoders():
            find_columns(self._sources[name].names, encoder.reads)

    def write(self, path: Path, on_progress: OnProgress | None = None) -> None:
        """Compute the table and write it to a Parquet file."""
        with pq.ParquetWriter(path, self._plan.values.schema) as writer:
            for batch in self.batches(on_progress):
                writer.write_batch(batch)

    def batches(self, on_progress: OnProgress | None = None) -> Iterator[pa.RecordBatch]:
        """Compute the table, a batch at a time."""
        self.tally = tally = FeatureTally(events={name: Counter() for name in self._file.events})
        with scratch() as folder:
            if self._file.people.table is not None:
                self._run_people(folder)
            for query, encoder in self._plan.queries():
                is_first = query.name.startswith("e")
                counts = tally.events[query.table] if is_first else Counter[str]()
                lines = self._encoded(query.table, encoder, counts, on_progress)
                sql = query.sql.format(rows="rows")
                path = folder / f"{query.name}.parquet"
                query_to_file(sql, encoder.schema, lines, path, _QUERY_MEMORY)
            self._count_strangers(folder)
            joined = folder / "joined.parquet"
            nothing = pa.schema([("none", pa.int64())])
            query_to_file(_with_tables(folder, self._plan.joined_sql), nothing, (), joined)
            with pq.ParquetFile(joined) as file:
                for batch in file.iter_batches(_BATCH_ROWS):
                    rows = self._plan.values(batch)
                    self._count_rows(batch, rows)
                    yield rows

    def _run_people(self, folder: Path) -> None:
        encoder = self._plan.people_encoder
        source = self._sources["people"].batches(encoder.reads, _BATCH_ROWS)
        path = folder / "people.parquet"
        sql = self._plan.people_sql.format(rows="rows")
        query_to_file(sql, encoder.schema, map(encoder, source), path)
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["n"]):
                if pc.any(pc.greater(batch.column(0), 1)).as_py():
                    raise repeated_person_error()

    def _encoded(
        self, table: str, encoder: EventEncoder, counts: Counter[str], show: OnProgress | None
    ) -> Iterator[pa.RecordBatch]:
        read = 0
        for batch in self._sources[table].batches(encoder.reads, _BATCH_ROWS):
            lines, counted = encoder.encode(batch)
            counts.update(counted)
            read += batch.num_rows
            if show is not None:
                show(read)
            yield lines

    def _count_strangers(self, folder: Path) -> None:
        """Count the rows of events whose people are not in the result."""
        if self._file.people.who != "table":
            return
        for place, table in enumerate(self._file.events):
            path = folder / "strangers.parquet"
            sql = (
                "SELECT CAST(coalesce(sum(counted.a0), 0) AS BIGINT) AS n "
                f"FROM e{place} AS counted LEFT JOIN people "
                "ON counted.owner = people.owner WHERE people.owner IS NULL"
            )
            nothing = pa.schema([("none", pa.int64())])
            query_to_file(_with_tables(folder, sql), nothing, (), path)
            self.tally.strangers[table] = pq.read_table(path)["n"][0].as_py()
            path.unlink()

    def _count_rows(self, joined: pa.RecordBatch, rows: pa.RecordBatch) -> None:
        tally = self.tally
        tally.people += rows.num_rows
        firsts = [f"e{place}_0" for place in range(len(self._file.events))]
        without = np.ones(rows.num_rows, bool)
        for name in firsts:
            without &= joined.column(name).is_null().to_numpy(zero_copy_only=False)
        tally.without_events += int(without.sum())
        for feature in self._file.features:
            values = rows.column(feature.name).fill_null(feature.low).to_numpy()
            beyond = np.count_nonzero((values > feature.high) | (values < feature.low))
            tally.above[feature.name] += int(beyond)


def _with_tables(folder: Path, sql: str) -> str:
    """Return a query in which the results that lie in a folder are tables."""
    names = [path.stem for path in sorted(folder.glob("*.parquet"))]
    parts = []
    for name in names:
        where = str(folder / f"{name}.parquet").replace("'", "''")
        parts.append(f"{name} AS (SELECT * FROM read_parquet('{where}'))")
    return f"WITH {', '.join(parts)} {sql}"


def repeated_person_error() -> RepeatedPerson:
    """Return the error of a table of people that has two rows of one."""
    return RepeatedPerson(
        "Some people have several rows in the table of people.",
        "Keep one row a person; or take the latest: `people: {repeats: {latest: updated_at}}`, "
        "where that is a column of times.",
    )
