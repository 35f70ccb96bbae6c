"""The table of people that a features file describes, computed when it is read."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.data._read_once import PlanSource
from shoal.data.files import files_at
from shoal.data.source import BATCH_ROWS
from shoal.domain import Schema
from shoal.domain.features import FeaturesFile
from shoal.engine._engine_choice import is_spark_frame
from shoal.engine.feature_table._embedded import EmbeddedFeatures, FeatureTally
from shoal.engine.feature_table._owners import Owners
from shoal.engine.feature_table._plan import Plan, public_rows
from shoal.errors import ConflictingSettings, InvalidFeatures
from shoal.files import atomic_file, private_file


def features(
    file: str | Path | FeaturesFile,
    *,
    tables: Mapping[str, Any] | None = None,
    period: tuple[str, str] | None = None,
) -> "FeatureTable":
    """Make one row a person from tables of people and events, as a features file says.

    A row is a function of that person's own rows and of what the file states as public, so what a
    method promises for one row it promises for all rows of a person, whatever their number. The
    result is the holder's: it is no release. See ``queries.proof.md``.

    Parameters
    ----------
    file
        The path of the features file, or what ``FeaturesFile.of`` made.
    tables
        Tables in place of the files that are named, by their names in the file; ``people`` is the
        table of people. Frames of Spark stay there: then all tables of people are such frames.
    period
        Another first day and end than the file's.

    Returns
    -------
        The table; no row of people is read yet.

    Raises
    ------
    InvalidFeatures
        If the file says what it may not, or contradicts itself: all problems at once.
    RepeatedKey
        If a public table has two rows of one key.

    Examples
    --------
    >>> pupils = {"pupil": ["ana", "ben", "cem"]}
    >>> log = {"pupil": ["ana", "ana", "cem"], "at": ["2025-03-03", "2025-03-04", "2025-04-01"]}
    >>> table = features(
    ...     FeaturesFile.of({
    ...         "version": 1,
    ...         "person": "pupil",
    ...         "period": {"from": "2025-03-03", "until": "2025-12-15"},
    ...         "people": {"table": "pupils.csv"},
    ...         "events": {"log": {"table": "log.csv", "time": "at"}},
    ...         "features": {"logins": {"count": "log", "high": 400}},
    ...     }),
    ...     tables={"people": pupils, "log": log},
    ... )
    >>> sorted(table.to_arrow().to_pylist(), key=lambda row: row["pupil"])[:2]
    [{'pupil': 'ana', 'logins': 2.0}, {'pupil': 'ben', 'logins': 0.0}]
    """
    given = dict(tables or {})
    if not isinstance(file, FeaturesFile):
        file = FeaturesFile.load(file, period=period)
    elif period is not None:
        raise ConflictingSettings(
            "A features file that is read already has its period.", "Pass its path instead."
        )
    return FeatureTable(file, given)


class FeatureTable:
    """One row a person, as ``shoal.features`` makes it; computed once, when it is first read.

    Parameters
    ----------
    file
        The features.
    tables
        Tables in place of those that the file names.
    only
        Compute the row of this person alone.
    """

    def __init__(
        self, file: FeaturesFile, tables: Mapping[str, Any], only: str | None = None
    ) -> None:
        self.file, self._tables = file, dict(tables)
        self._check_names()
        public = {
            name: public_rows(name, table, self._tables.get(name, file.path_of(table.table)))
            for name, table in file.public.items()
        }
        owners = Owners(file.ids, file.crosswalk, self._table_of_ids())
        own = None if only is None else _id_of(only, owners)
        self._plan = Plan(file, public, owners, own)
        self._on_progress: Callable[[int], None] | None = None
        self._far: Any = None
        self._here: EmbeddedFeatures | None = None
        of_people = self._tables_of_people()
        if any(is_spark_frame(table) for table in of_people.values()):
            from shoal.engine.spark import features_frame  # loaded for frames alone

            self._far = features_frame(self._plan, of_people)
        else:
            self._here = EmbeddedFeatures(self._plan, of_people)
        self._source = PlanSource(self.names, self._write)

    def _check_names(self) -> None:
        known = {*self.file.events, *self.file.public, "people", "ids"}
        if odd := {*self._tables} - known:
            raise InvalidFeatures(
                f"The file has no table {', '.join(map(repr, sorted(odd)))}.",
                f"It has {', '.join(sorted(known))}.",
            )

    def _tables_of_people(self) -> dict[str, Any]:
        paths = {name: events.table for name, events in self.file.events.items()}
        if self.file.people.table is not None:
            paths["people"] = self.file.people.table
        return {n: self._tables.get(n, self.file.path_of(path)) for n, path in paths.items()}

    def _table_of_ids(self) -> Any:
        if self.file.crosswalk is None:
            return None
        table = self._tables.get("ids", self.file.path_of(self.file.crosswalk.table))
        if not is_spark_frame(table):
            return table
        return table.select(self.file.crosswalk.old, self.file.crosswalk.new).toArrow()

    @property
    def domain(self) -> Schema:
        """What is public of its columns, for any method."""
        return self.file.schema

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns, the person first."""
        return tuple(self._plan.values.schema.names)

    @property
    def tally(self) -> FeatureTally | None:
        """What the last computation met, for the holder alone; None for tables on Spark."""
        return None if self._here is None else self._here.tally

    def on_progress(self, callback: Callable[[int], None]) -> None:
        """Have a function called with the rows read so far.

        Parameters
        ----------
        callback
            The function.
        """
        self._on_progress = callback

    def batches(
        self, columns: Sequence[str] | None = None, size: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Start a pass over the table; the first computes it, into a file that goes with it.

        Parameters
        ----------
        columns
            The columns; None for all.
        size
            The most rows of a batch.
        """
        return self._source.batches(self.names if columns is None else columns, size)

    def to_arrow(self) -> pa.Table:
        """Return the whole table."""
        return pa.Table.from_batches(self.batches(), self._plan.values.schema)

    def to_parquet(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write the table, readable by its owner alone, whole or not at all.

        Parameters
        ----------
        path
            The file.
        overwrite
            Whether a file that is there may be replaced.
        """
        with atomic_file(Path(path), overwrite) as part:
            self._write(private_file(part))
        return Path(path)

    def explain(self, person: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """Return one person's row, and how many rows of events each feature takes.

        For the holder alone.

        Parameters
        ----------
        person
            The person's id.
        """
        counted = [f for f in self.file.features if not f.parts]
        counts = tuple(replace(f, aggregate="count", column=None, none=0.0) for f in counted)
        behind = FeatureTable(replace(self.file, features=counts), self._tables, person)
        row = FeatureTable(self.file, self._tables, person).to_arrow().to_pylist()
        taken = behind.to_arrow().select([f.name for f in counts]).to_pylist()
        return (row[0], taken[0]) if row else (None, {})

    def files(self) -> list[tuple[str, int, int]]:
        """List the files of all tables, with size and time of the last change of each."""
        public = {name: table.table for name, table in self.file.public.items()}
        paths = [self._tables.get(n, self.file.path_of(path)) for n, path in public.items()]
        paths += [self._table_of_ids(), *self._tables_of_people().values()]
        return [fact for path in paths if isinstance(path, str | Path) for fact in files_at(path)]

    def public_digests(self) -> dict[str, str]:
        """Return the SHA-256 of each public table's file; those in memory have none."""
        found = {}
        for name, table in self.file.public.items():
            path = Path(str(self._tables.get(name, self.file.path_of(table.table))))
            if path.is_file():
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def __shoal_table__(self) -> Any:
        """Return what methods read: a source of this machine, or a frame of Spark."""
        return self._source if self._here is not None else self._far

    def _write(self, path: Path) -> None:
        if self._here is not None:
            self._here.write(path, self._on_progress)
            return
        import pyarrow.parquet as pq

        pq.write_table(self._far.toArrow().cast(self._plan.values.schema), path)


def _id_of(person: str, owners: Owners) -> str:
    """Return the person whom an id names."""
    from shoal.data.untyped_cells import field_of_cells

    schema = pa.schema([field_of_cells("id", pa.string())])
    batch = pa.record_batch([pa.array([person])], schema=schema)
    return str(owners.of(batch, "id")[0].as_py())
