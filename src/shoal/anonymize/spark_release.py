"""The rows of a release as a Spark frame, in an order that depends on them alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.anonymize.frequency import Frequency
from shoal.anonymize.generalize import CLASS, Publishing
from shoal.anonymize.policy import Policy
from shoal.anonymize.release import Release
from shoal.anonymize.table import OWNER
from shoal.engine.spark_schema import quoted
from shoal.engine.spark_table import SparkTable

__all__ = ["SPARK_OWNER", "in_own_order", "released_frame"]

SPARK_OWNER = "_shoal_owner"
_ORDER = "_shoal_order"
_PIECE = 1 << 16  # rows of a class that are made at once
_NO_HASH = ("map<", "variant")


def released_frame(
    policy: Policy, table: SparkTable, frequency: Frequency, release: Release
) -> Any:
    """The released columns of every row that is published; with an entity, whose it is, too.

    Parameters
    ----------
    policy, table, frequency
        What was asked, of which table, and its lines.
    release
        What becomes of each line.
    """
    plan = Publishing(policy, table.names, frequency, release)
    rows = _marked(table, plan) if plan.reads_rows else _made(table, plan, frequency)
    labels = table.session.createDataFrame(_labels(plan)).hint("broadcast")
    carried = iter(range(len(plan.columns.carried)))
    chosen = [
        f"{f'c{next(carried)}' if by_class is None else f'l{i}'} AS {quoted(name)}"
        for i, (name, by_class) in enumerate(plan.columns.by_name.items())
    ]
    people = policy.privacy.entity is not None
    kept = [OWNER] if people else []
    if not people:
        rows = _keyed(rows, rows.columns)
        kept = [_ORDER]
    published = rows.join(labels, CLASS).selectExpr(*chosen, *(_kept(name) for name in kept))
    return published if people else _sorted(published)


def in_own_order(frame: Any) -> Any:
    """The rows of a frame in an order that depends on their cells alone.

    Any order that is a function of the released rows says no more than they do; one in which
    they came would tell where each stood. Being no draw, it is the same if a task is run again.
    """
    return _sorted(_keyed(frame, frame.columns))


def _kept(name: str) -> str:
    return f"{name} AS {SPARK_OWNER}" if name == OWNER else name


def _keyed(rows: Any, columns: Sequence[str]) -> Any:
    """Rows dealt to partitions by a hash of these columns, which says where each will stand."""
    kinds = dict(rows.dtypes)
    cells = [part for name in columns for part in _cell(quoted(name), kinds[name])]
    keyed = rows.selectExpr("*", f"xxhash64({', '.join(cells)}) AS {_ORDER}")
    return keyed.repartition(_ORDER)


def _cell(name: str, kind: str) -> tuple[str, str]:
    """What is hashed of a column: whether it is null, and its cell."""
    plain = not any(mark in kind for mark in _NO_HASH)
    return f"isnull({name})", name if plain else f"to_json(struct({name}))"


def _sorted(keyed: Any) -> Any:
    return keyed.sortWithinPartitions(_ORDER).drop(_ORDER)


def _marked(table: SparkTable, plan: Publishing) -> Any:
    """Rows that are published, with their class and what they carry."""
    marking, frame = plan.marking(), table.frame
    typed = [f"CAST(0 AS INT) AS {CLASS}"]
    for i, name in enumerate(marking.carried):
        cell = "CAST(NULL AS STRING)" if name in marking.keys else quoted(name)
        typed.append(f"{cell} AS c{i}")
    if marking.entity is not None:
        typed.append(f"CAST(NULL AS STRING) AS {OWNER}")
    needed = list(dict.fromkeys([*plan.quasi, *marking.carried, *filter(None, [marking.entity])]))
    schema = _bare(frame.selectExpr(*typed).schema)
    return table.mapped(marking, needed, schema)


def _made(table: SparkTable, plan: Publishing, frequency: Frequency) -> Any:
    """Rows of classes alone: nothing else is published, so the table is not read again."""
    rows = np.zeros(int(plan.of_line.max()) + 1, dtype=np.int64)
    live = plan.of_line >= 0
    np.add.at(rows, plan.of_line[live], frequency.problem.n[live])
    pieces = -(-rows // _PIECE)
    of = np.repeat(np.arange(len(rows), dtype=np.int32), pieces)
    times = np.minimum(_PIECE, np.repeat(rows, pieces) - _PIECE * _within(pieces))
    frame = table.session.createDataFrame(pa.table({CLASS: of, "times": times.astype(np.int32)}))
    return frame.selectExpr(f"explode(array_repeat({CLASS}, times)) AS {CLASS}")


def _within(pieces: Any) -> Any:
    """Numbers from 0 within each run of so many."""
    return np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)


def _labels(plan: Publishing) -> pa.Table:
    """Each class with its published labels."""
    by_name = plan.columns.by_name
    cells = {f"l{i}": _plain(by) for i, by in enumerate(by_name.values()) if by is not None}
    size = len(next(iter(cells.values())))
    return pa.table({CLASS: pa.array(np.arange(size, dtype=np.int32)), **cells})


def _plain(cells: Any) -> Any:
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def _bare(schema: Any) -> Any:
    """A Spark schema without what was noted beside columns: lists of categories name raw values."""
    return type(schema).fromJson(_without_notes(schema.jsonValue()))


def _without_notes(part: Any) -> Any:
    if isinstance(part, list):
        return [_without_notes(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {key: {} if key == "metadata" else _without_notes(of) for key, of in part.items()}
