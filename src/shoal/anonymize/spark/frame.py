"""The rows of a release as a Spark frame, in an order that depends on them alone."""

from typing import Any

import numpy as np
import pyarrow as pa

from shoal.anonymize.frequency_table import FrequencyTable
from shoal.anonymize.policy import Policy
from shoal.anonymize.release.writer import CLASS, Release, ReleasePlan, RowMarker
from shoal.engine.duckdb import OWNER
from shoal.engine.spark.schema import quote_name
from shoal.engine.spark.table import SparkTable

__all__ = ["SPARK_OWNER", "released_frame", "sort_by_content"]

SPARK_OWNER = "_shoal_owner"
_ORDER = "_shoal_order"
_TIMES = "_shoal_times"
_PART = 1 << 19  # rows of a partition, about
_PIECE = 1 << 16  # rows of a class that are made at once
_SENT = 500_000  # combinations that are sent to every executor
_NESTED = ("array<", "map<", "struct<", "variant")


def released_frame(
    policy: Policy, table: SparkTable, frequency: FrequencyTable, release: Release
) -> Any:
    """The released columns of every row that is published; with an entity, whose it is, too.

    Parameters
    ----------
    policy, table, frequency
        What was asked, of which table, and its lines.
    release
        What becomes of each line.
    """
    plan = ReleasePlan(policy, table.names, frequency, release)
    if not plan.reads_rows:
        return _made(table, plan, frequency)
    marking = plan.marking()
    lines = _lines(table, plan, marking)
    rows = _marked(table, plan, marking) if lines is None else _met(table, plan, marking, lines)
    people = policy.privacy.entity is not None
    if not people:
        rows = _order_held(sort_by_content(rows, int(frequency.problem.n[plan.of_line >= 0].sum())))
    labels = table.session.createDataFrame(_labels(plan)).hint("broadcast")
    whose = [f"{OWNER} AS {SPARK_OWNER}"] if people else []
    return rows.join(labels, CLASS).selectExpr(*_chosen(plan), *whose)


def sort_by_content(frame: Any, rows: int) -> Any:
    """The rows of a frame, so many, in an order that depends on their cells alone.

    Any order that is a function of the released rows says no more than they do; one in which
    they came would tell where each stood. Being no draw, it is the same if a task is run again.
    """
    kinds = dict(frame.dtypes)
    cells = [part for name in frame.columns for part in _cell(quote_name(name), kinds[name])]
    keyed = frame.selectExpr("*", f"xxhash64({', '.join(cells)}) AS {_ORDER}")
    # So many partitions and no others: Spark would join small ones by their bytes, which depend
    # on the order rows came in.
    dealt = keyed.repartition(-(-rows // _PART) or 1, _ORDER)
    return dealt.sortWithinPartitions(_ORDER).drop(_ORDER)


def _chosen(plan: ReleasePlan) -> list[str]:
    """The published columns under their names."""
    carried = iter(range(len(plan.columns.carried)))
    return [
        f"{f'c{next(carried)}' if by_class is None else f'l{i}'} AS {quote_name(name)}"
        for i, (name, by_class) in enumerate(plan.columns.by_name.items())
    ]


def _cell(name: str, kind: str) -> tuple[str, ...]:
    """What is hashed of a column: whether it is null, and its cell.

    Spark hashes -0.0 as 0.0, skips nulls within a structure and may heed a collation: rows that
    differ in these alone would come in the order they stood in. As text they differ; only JSON
    tells where one ends, and only the other text has all digits of a time.
    """
    if kind.startswith(_NESTED):
        return f"isnull({name})", f"CAST({name} AS STRING)", f"to_json(struct({name}))"
    loose = kind in ("float", "double") or kind.startswith("string ")  # with a collation
    return f"isnull({name})", f"CAST({name} AS STRING)" if loose else name


def _order_held(rows: Any) -> Any:
    """Sorted rows whose order outlives the join with labels: sorting before it moves less.

    Spark drops a sort below a join, except under a cell that depends on where a row lies.
    """
    others = [name for name in rows.columns if name != CLASS]
    return rows.selectExpr(f"{CLASS} + 0 * spark_partition_id() AS {CLASS}", *others)


def _lines(table: SparkTable, plan: ReleasePlan, marking: RowMarker) -> Any:
    """Combinations as they stand in the table with the class of each, as a frame to look them up.

    None where rows must pass through Python all the same, for pseudonyms and owners, or where
    combinations are too many to send or of kinds that Spark would get back as others.
    """
    known = table.known
    by_hand = marking.keys or marking.entity is not None
    if by_hand or known is None or known.num_rows > _SENT or _noted_within(table, marking):
        return None
    cells = known.select(range(len(plan.quasi)))
    classes = marking.finder(cells.rename_columns(plan.quasi))
    named = cells.rename_columns([f"v{i}" for i in range(len(plan.quasi))])
    lines = named.append_column(CLASS, pa.array(classes)).filter(pa.array(classes >= 0))
    frame, counted = table.session.createDataFrame(lines), table.view(plan.quasi)
    if [kind for _, kind in frame.dtypes[:-1]] != [kind for _, kind in counted.dtypes]:
        return None
    alone = known.num_columns == len(plan.quasi) + 1  # else lines differ in other columns, too
    return frame if alone else frame.distinct()


def _met(table: SparkTable, plan: ReleasePlan, marking: RowMarker, lines: Any) -> Any:
    """Rows that meet the line they are one of, without leaving Spark.

    A join takes cells for equal as the count did, nulls and floats included.
    """
    cells = [f"{table.cell(name)} AS q{i}" for i, name in enumerate(plan.quasi)]
    carried = [f"{quote_name(name)} AS c{i}" for i, name in enumerate(marking.carried)]
    rows = _unnoted(table.frame.selectExpr(*cells, *carried))
    assert table.known is not None
    equal = [
        rows[f"q{i}"].eqNullSafe(lines[f"v{i}"])
        if column.null_count
        else rows[f"q{i}"] == lines[f"v{i}"]
        for i, column in enumerate(table.known.columns[: len(cells)])
    ]
    met = rows.join(lines.hint("broadcast"), equal)
    return met.selectExpr(CLASS, *(f"c{i}" for i in range(len(carried))))


def _marked(table: SparkTable, plan: ReleasePlan, marking: RowMarker) -> Any:
    """Rows that are published, with their class and what they carry."""
    typed = [f"CAST(0 AS INT) AS {CLASS}"]
    for i, name in enumerate(marking.carried):
        cell = "CAST(NULL AS STRING)" if name in marking.keys else quote_name(name)
        typed.append(f"{cell} AS c{i}")
    if marking.entity is not None:
        typed.append(f"CAST(NULL AS STRING) AS {OWNER}")
    needed = list(dict.fromkeys([*plan.quasi, *marking.carried, *filter(None, [marking.entity])]))
    schema = _bare(table.frame.selectExpr(*typed).schema)
    return table.mapped(marking, needed, schema, counted=plan.quasi)


def _made(table: SparkTable, plan: ReleasePlan, frequency: FrequencyTable) -> Any:
    """Rows of classes alone: nothing else is published, so the table is not read again.

    Classes come in the order of their labels; the rows of one are all alike.
    """
    live = plan.of_line >= 0
    labels = _labels(plan).drop_columns(CLASS)
    rows = np.bincount(plan.of_line[live], frequency.problem.n[live], len(labels)).astype(np.int64)
    names = labels.column_names
    labels = labels.append_column(_TIMES, pa.array(rows)).sort_by([(n, "ascending") for n in names])
    rows = labels[_TIMES].to_numpy()
    pieces = -(-rows // _PIECE)
    times = np.minimum(_PIECE, np.repeat(rows, pieces) - _PIECE * _within(pieces))
    lines = labels.select(names).take(pa.array(np.repeat(np.arange(len(rows)), pieces)))
    lines = lines.append_column(_TIMES, pa.array(times.astype(np.int32)))
    again = f"explode(array_repeat(true, {_TIMES})) AS {_TIMES}"
    return table.session.createDataFrame(lines).selectExpr(*_chosen(plan), again).drop(_TIMES)


def _within(pieces: Any) -> Any:
    """Numbers from 0 within each run of so many."""
    return np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)


def _labels(plan: ReleasePlan) -> pa.Table:
    """Each class with its published labels."""
    by_name = plan.columns.by_name
    cells = {f"l{i}": _plain(by) for i, by in enumerate(by_name.values()) if by is not None}
    size = len(next(iter(cells.values())))
    return pa.table({CLASS: pa.array(np.arange(size, dtype=np.int32)), **cells})


def _plain(cells: Any) -> Any:
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def _unnoted(rows: Any) -> Any:
    """A frame without what was noted beside its columns."""
    for field in rows.schema.fields:
        if field.metadata:
            rows = rows.withMetadata(field.name, {})
    return rows


def _noted_within(table: SparkTable, marking: RowMarker) -> bool:
    """Whether something is noted beside the parts of a structure that rows carry along."""
    kinds = [f.dataType.jsonValue() for f in table.frame.schema.fields if f.name in marking.carried]
    return any(kind != _without_notes(kind) for kind in kinds)


def _bare(schema: Any) -> Any:
    """A Spark schema without what was noted beside columns: lists of categories name raw values."""
    return type(schema).fromJson(_without_notes(schema.jsonValue()))


def _without_notes(part: Any) -> Any:
    if isinstance(part, list):
        return [_without_notes(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {key: {} if key == "metadata" else _without_notes(of) for key, of in part.items()}
