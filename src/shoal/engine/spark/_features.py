"""Features of tables on Spark: the same encoders in tasks, the same queries, the same division."""

from collections.abc import Mapping
from typing import Any

from shoal.engine._engine_choice import is_spark_frame
from shoal.engine.feature_table._embedded import repeated_person_error
from shoal.engine.feature_table._plan import Plan
from shoal.engine.spark._availability import session_module
from shoal.engine.spark._failures import translate_errors
from shoal.engine.spark._files import uri_of
from shoal.engine.spark._schema import ddl_of, empty_batch
from shoal.engine.spark._table import MapBatches, SparkTable
from shoal.engine.spark._tasks import map_partitions


def features_frame(plan: Plan, tables: Mapping[str, Any]) -> Any:
    """Return the frame with one row a person; the table of people is counted now.

    Parameters
    ----------
    plan
        What is computed.
    tables
        Frames, or paths that Spark can reach, by their names in the features file.
    """
    session = next(t.sparkSession for t in tables.values() if is_spark_frame(t))
    frames = {name: _frame(session, table) for name, table in tables.items()}
    results: dict[str, Any] = {}
    if "people" in frames:
        lines = _encoded(frames["people"], plan.people_encoder)
        people = _query(session, plan.people_sql, lines)
        with translate_errors("counting people"):
            if people.where("n > 1").limit(1).count():
                raise repeated_person_error()
        results["people"] = people
    for query, encoder in plan.queries():
        lines = _encoded(frames[query.table], encoder)
        results[query.name] = _query(session, query.sql, lines)
    named = ", ".join(f"{name} AS (SELECT * FROM {{{name}}})" for name in results)
    with translate_errors("joining features"):
        joined = session.sql(f"WITH {named} {plan.joined_sql}", **results)
    return map_partitions(
        joined, joined.columns, MapBatches(plan.values), ddl_of(plan.values.schema)
    )


def _frame(session: Any, table: Any) -> Any:
    if is_spark_frame(table):
        return SparkTable(table).frame
    return session_module().read_table(session, uri_of(str(table)))


def _encoded(frame: Any, encoder: Any) -> Any:
    """Return the frame of encoded lines; types that cannot be read are refused here."""
    SparkTable(frame).select(encoder.reads)
    encoder(empty_batch(frame, encoder.reads))
    return map_partitions(frame, encoder.reads, MapBatches(encoder), ddl_of(encoder.schema))


def _query(session: Any, sql: str, lines: Any) -> Any:
    with translate_errors("grouping events"):
        return session.sql(sql, rows=lines)  # its view goes once the query is read
