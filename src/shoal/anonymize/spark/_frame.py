"""The released rows as a Spark frame, in an order that depends on their content only."""

from typing import Any

import numpy as np
import pyarrow as pa

from shoal.anonymize._frequency_table import FrequencyTable
from shoal.anonymize._policy import Policy
from shoal.anonymize.release._writer import CLASS, Release, ReleasePlan, RowMarker
from shoal.engine.duckdb import OWNER
from shoal.engine.spark import SparkTable, quote_name

SPARK_OWNER = "_shoal_owner"
_ORDER = "_shoal_order"
_TIMES = "_shoal_times"
_PARTITION_ROWS = 1 << 19  # about
_PIECE_ROWS = 1 << 16  # rows of a class that are made at a time
_MOST_BROADCAST = 500_000  # combinations sent to every executor
_NESTED = ("array<", "map<", "struct<", "variant")


def released_frame(
    policy: Policy, table: SparkTable, frequency: FrequencyTable, release: Release
) -> Any:
    """Return the released columns of every published row and, with a person column, whose it is."""
    plan = ReleasePlan(policy, table.names, frequency, release)
    if not plan.reads_rows:
        return _make_rows(table, plan, frequency)
    marking = plan.marking()
    lines = _lines(table, plan, marking)
    rows = (
        _mark_rows(table, plan, marking)
        if lines is None
        else _join_lines(table, plan, marking, lines)
    )
    people = policy.privacy.person is not None
    if not people:
        rows = _keep_order(sort_by_content(rows, int(frequency.problem.n[plan.of_line >= 0].sum())))
    labels = table.session.createDataFrame(_labels(plan)).hint("broadcast")
    whose = [f"{OWNER} AS {SPARK_OWNER}"] if people else []
    return rows.join(labels, CLASS).selectExpr(*_published_columns(plan), *whose)


def sort_by_content(frame: Any, rows: int) -> Any:
    """Sort the rows of a frame by a hash of their cells.

    An order that is a function of the released rows reveals no more than they do; the order in
    which they came would reveal their places. Since nothing is drawn, the order is the same if a
    task is run again.
    """
    kinds = dict(frame.dtypes)
    cells = [part for name in frame.columns for part in _cell(quote_name(name), kinds[name])]
    keyed = frame.selectExpr("*", f"xxhash64({', '.join(cells)}) AS {_ORDER}")
    # So many partitions and no others: Spark would join small ones by their bytes, which depend
    # on the order rows came in.
    dealt = keyed.repartition(-(-rows // _PARTITION_ROWS) or 1, _ORDER)
    return dealt.sortWithinPartitions(_ORDER).drop(_ORDER)


def _published_columns(plan: ReleasePlan) -> list[str]:
    """Return the published columns under their names."""
    carried = iter(range(len(plan.columns.carried)))
    return [
        f"{f'c{next(carried)}' if by_class is None else f'l{i}'} AS {quote_name(name)}"
        for i, (name, by_class) in enumerate(plan.columns.by_name.items())
    ]


def _cell(name: str, kind: str) -> tuple[str, ...]:
    """Return what is hashed of a column: whether it is null, and its cell.

    Spark hashes -0.0 as 0.0, skips nulls within a structure and may apply a collation, so rows that
    differ only in these would stay in their order. As text they differ; only JSON marks where a
    part ends, and only the other text has all digits of a time.
    """
    if kind.startswith(_NESTED):
        return f"isnull({name})", f"CAST({name} AS STRING)", f"to_json(struct({name}))"
    loose = kind in ("float", "double") or kind.startswith("string ")  # with a collation
    return f"isnull({name})", f"CAST({name} AS STRING)" if loose else name


def _keep_order(rows: Any) -> Any:
    """Keep the order of sorted rows through the join with labels; sorting before it moves less.

    Spark drops a sort below a join, except under a column that depends on a row's place.
    """
    others = [name for name in rows.columns if name != CLASS]
    return rows.selectExpr(f"{CLASS} + 0 * spark_partition_id() AS {CLASS}", *others)


def _lines(table: SparkTable, plan: ReleasePlan, marking: RowMarker) -> Any:
    """Return the combinations of the table with the class of each, as a frame to join with.

    None where rows must pass through Python all the same, for pseudonyms and owners, or where
    combinations are too many to send or of kinds that Spark would get back as others.
    """
    known = table.known
    by_hand = marking.keys or marking.person is not None
    if (
        by_hand
        or known is None
        or known.num_rows > _MOST_BROADCAST
        or _has_nested_metadata(table, marking)
    ):
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


def _join_lines(table: SparkTable, plan: ReleasePlan, marking: RowMarker, lines: Any) -> Any:
    """Join rows with the line they belong to, without leaving Spark.

    A join compares cells as the count did, nulls and floats included.
    """
    cells = [f"{table.cell(name)} AS q{i}" for i, name in enumerate(plan.quasi)]
    carried = [f"{quote_name(name)} AS c{i}" for i, name in enumerate(marking.carried)]
    rows = _without_metadata(table.frame.selectExpr(*cells, *carried))
    assert table.known is not None
    equal = [
        rows[f"q{i}"].eqNullSafe(lines[f"v{i}"])
        if column.null_count
        else rows[f"q{i}"] == lines[f"v{i}"]
        for i, column in enumerate(table.known.columns[: len(cells)])
    ]
    met = rows.join(lines.hint("broadcast"), equal)
    return met.selectExpr(CLASS, *(f"c{i}" for i in range(len(carried))))


def _mark_rows(table: SparkTable, plan: ReleasePlan, marking: RowMarker) -> Any:
    """Return the published rows, with their class and the columns they carry."""
    typed = [f"CAST(0 AS INT) AS {CLASS}"]
    for i, name in enumerate(marking.carried):
        cell = "CAST(NULL AS STRING)" if name in marking.keys else quote_name(name)
        typed.append(f"{cell} AS c{i}")
    if marking.person is not None:
        typed.append(f"CAST(NULL AS STRING) AS {OWNER}")
    needed = list(dict.fromkeys([*plan.quasi, *marking.carried, *filter(None, [marking.person])]))
    schema = _schema_without_metadata(table.frame.selectExpr(*typed).schema)
    return table.mapped(marking, needed, schema, counted=plan.quasi)


def _make_rows(table: SparkTable, plan: ReleasePlan, frequency: FrequencyTable) -> Any:
    """Return rows made from classes only: nothing else is published, so no row is read.

    Classes come in the order of their labels; the rows of one class are equal.
    """
    live = plan.of_line >= 0
    labels = _labels(plan).drop_columns(CLASS)
    rows = np.bincount(plan.of_line[live], frequency.problem.n[live], len(labels)).astype(np.int64)
    names = labels.column_names
    labels = labels.append_column(_TIMES, pa.array(rows)).sort_by([(n, "ascending") for n in names])
    rows = labels[_TIMES].to_numpy()
    pieces = -(-rows // _PIECE_ROWS)
    times = np.minimum(_PIECE_ROWS, np.repeat(rows, pieces) - _PIECE_ROWS * _number_within(pieces))
    lines = labels.select(names).take(pa.array(np.repeat(np.arange(len(rows)), pieces)))
    lines = lines.append_column(_TIMES, pa.array(times.astype(np.int32)))
    again = f"explode(array_repeat(true, {_TIMES})) AS {_TIMES}"
    return (
        table.session.createDataFrame(lines)
        .selectExpr(*_published_columns(plan), again)
        .drop(_TIMES)
    )


def _number_within(pieces: Any) -> Any:
    """Number the rows from 0 within each piece."""
    return np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)


def _labels(plan: ReleasePlan) -> pa.Table:
    """Return each class with its published labels."""
    by_name = plan.columns.by_name
    cells = {f"l{i}": _plain(by) for i, by in enumerate(by_name.values()) if by is not None}
    size = len(next(iter(cells.values())))
    return pa.table({CLASS: pa.array(np.arange(size, dtype=np.int32)), **cells})


def _plain(cells: Any) -> Any:
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def _without_metadata(rows: Any) -> Any:
    """Return a frame without the metadata of its columns."""
    for field in rows.schema.fields:
        if field.metadata:
            rows = rows.withMetadata(field.name, {})
    return rows


def _has_nested_metadata(table: SparkTable, marking: RowMarker) -> bool:
    """Return whether parts of a carried structure have metadata."""
    kinds = [f.dataType.jsonValue() for f in table.frame.schema.fields if f.name in marking.carried]
    return any(kind != _part_without_metadata(kind) for kind in kinds)


def _schema_without_metadata(schema: Any) -> Any:
    """Return a Spark schema without metadata of columns, which may list raw values."""
    return type(schema).fromJson(_part_without_metadata(schema.jsonValue()))


def _part_without_metadata(part: Any) -> Any:
    if isinstance(part, list):
        return [_part_without_metadata(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: {} if key == "metadata" else _part_without_metadata(of) for key, of in part.items()
    }
