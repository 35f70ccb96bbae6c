"""What is computed of which table: encoders for both engines, and the queries over their lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow.compute as pc

from shoal.data import source_of
from shoal.domain.features import FeaturesFile, PublicTable, columns_of
from shoal.engine.feature_table._encoding import (
    EventEncoder,
    PeopleEncoder,
    PublicRows,
    read_public,
)
from shoal.engine.feature_table._owners import Owners
from shoal.engine.feature_table._queries import (
    Compiled,
    Query,
    compile_features,
    joined_sql,
    people_sql,
)
from shoal.engine.feature_table._values import FeatureValues
from shoal.errors import RepeatedKey


@dataclass(frozen=True, eq=False)
class Plan:
    """A features file ready to run.

    Parameters
    ----------
    file
        The file.
    public
        The rows of its public tables.
    owners
        What reads whose each row is.
    only
        Compute the row of one person, as ids are written after their rules; None for everybody.
    """

    file: FeaturesFile
    public: Mapping[str, PublicRows]
    owners: Owners
    only: str | None = None

    @cached_property
    def _compiled(self) -> Compiled:
        return compile_features(self.file)

    @property
    def people_encoder(self) -> PeopleEncoder:
        """What encodes the table of people."""
        return PeopleEncoder(self.file.people, self.file.period, self.owners, self.only)

    @property
    def people_sql(self) -> str:
        """The query of the table of people."""
        return people_sql(self.file)

    @property
    def joined_sql(self) -> str:
        """The query that joins the results of all others."""
        return joined_sql(self.file, self._compiled.queries)

    @cached_property
    def values(self) -> FeatureValues:
        """What computes rows from joined results."""
        return FeatureValues(self.file, self._compiled.parts)

    def queries(self) -> Iterator[tuple[Query, EventEncoder]]:
        """Yield the queries over events, each with what encodes its lines."""
        for query in self._compiled.queries:
            events = self.file.events[query.table]
            columns = columns_of(events, self.file.public)
            joined = {name: self.public[name] for name in events.joins}
            yield (
                query,
                EventEncoder(
                    events,
                    self.file.period,
                    self.owners,
                    columns,
                    joined,
                    query.outputs,
                    self.only,
                ),
            )

    def encoders(self) -> Iterator[tuple[str, Any]]:
        """Yield each encoder with the name of its table."""
        if self.file.people.table is not None:
            yield "people", self.people_encoder
        for query, encoder in self.queries():
            yield query.table, encoder


def public_rows(name: str, table: PublicTable, X: Any) -> PublicRows:
    """Read a public table into memory; two rows of one key are refused."""
    source = source_of(X)
    columns = list(dict.fromkeys([table.key, *table.columns]))
    keys, encoded = read_public(source.batches(columns), table.key, table.columns)
    known = keys.drop_null()
    if len(pc.unique(known)) < len(known):
        raise RepeatedKey(
            f"public.{name} has several rows for one value of {table.key!r}, so events would count "
            "more than once.",
            "Keep one row for each key.",
        )
    return PublicRows(keys, encoded)
