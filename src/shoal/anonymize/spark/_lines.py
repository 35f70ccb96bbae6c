"""A frequency table that stays on Spark as codes, and what is counted of it there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.anonymize.codec import Codec
from shoal.anonymize.search._distributed_top_down import (
    ChildCounts,
    Codes,
    CountChildren,
    MergedLines,
    MergeLines,
)
from shoal.anonymize.search_problem import Cut, Problem
from shoal.arrays import Integers
from shoal.engine.spark import MapBatches, translate_errors


class SparkLines:
    """Lines kept by Spark: columns q0, q1, ... of leaf codes, and ``n``, their rows.

    Parameters
    ----------
    frame
        The lines, as ``code_combinations`` returns them.
    problem
        The rules; its own lines are not read.
    """

    def __init__(self, frame: Any, problem: Problem) -> None:
        self._frame, self._problem = frame, problem

    def merged(self, floor: Cut, most: int | None = None) -> MergedLines | None:
        """Return lines merged below the nodes of ``floor``; None if they are more than ``most``."""
        names, kinds = _names(self._problem.d), _schema(self._problem.d)
        kernel = _MergeBatch(MergeLines.below(floor, self._problem))
        lines = self._frame.mapInArrow(MapBatches(kernel), kinds).groupBy(*names).agg({"n": "sum"})
        with translate_errors("merging lines"):
            collected = (lines if most is None else lines.limit(most + 1)).toArrow()
        return (
            None if most is not None and len(collected) > most else MergedLines(*_arrays(collected))
        )

    def children(self, classes: Codes, cut: Cut, nodes: NDArray[np.bool_]) -> ChildCounts:
        """Count how some classes of a cut divide by the children of these nodes."""
        divide = CountChildren(classes, cut, nodes, self._problem)
        return divide.unpacked(*_sum_by_key(self._frame, _DivideBatch(divide), "dividing classes"))


def code_combinations(frame: Any, codec: Codec) -> Any:
    """Encode distinct combinations c0, c1, ..., n; lines with a null that is no leaf are
    dropped.
    """
    return frame.mapInArrow(MapBatches(_EncodeBatch(codec)), _schema(len(codec.hierarchies)))


def count_rows(frame: Any) -> int:
    """Count the rows that the lines stand for."""
    with translate_errors("counting rows"):
        total = frame.agg({"n": "sum"}).toArrow()
    return int(total.column(0)[0].as_py() or 0)


@dataclass(frozen=True, eq=False)
class _EncodeBatch:
    """A kernel that encodes combinations as codes."""

    codec: Codec

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        names = enumerate(self.codec.hierarchies)
        codes = np.stack([self.codec.leaves(name, batch[f"c{q}"]) for q, name in names], axis=1)
        complete = (codes >= 0).all(axis=1)
        return _batch(codes[complete], batch["n"].to_numpy(zero_copy_only=False)[complete])


@dataclass(frozen=True, eq=False)
class _MergeBatch:
    """A kernel that merges lines below a floor."""

    merge: MergeLines

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return _batch(*self.merge(*_arrays(batch)))


@dataclass(frozen=True, eq=False)
class _DivideBatch:
    """A kernel that counts lines by class and child."""

    divide: CountChildren

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        children = self.divide(*_arrays(batch))
        return pa.record_batch({"key": self.divide.packed(children), "n": children.n})


def _sum_by_key(frame: Any, kernel: Any, what: str) -> tuple[Integers, Integers]:
    """Sum what a kernel returns for each batch by key; the keys rise."""
    pairs = frame.mapInArrow(MapBatches(kernel), "key bigint, n bigint")
    with translate_errors(what):
        sums = pairs.groupBy("key").agg({"n": "sum"}).toArrow()
    keys, n = (column.to_numpy().astype(np.int64) for column in sums.columns)
    order = np.argsort(keys)
    return keys[order], n[order]


def _arrays(batch: Any) -> tuple[Codes, Integers]:
    *codes, n = (column.to_numpy() for column in batch.columns)
    return np.stack(codes, axis=1).astype(np.int32), n.astype(np.int64)


def _batch(codes: Codes, n: Integers) -> pa.RecordBatch:
    columns = [pa.array(np.ascontiguousarray(column)) for column in codes.T]
    return pa.record_batch([*columns, pa.array(n)], names=[*_names(codes.shape[1]), "n"])


def _names(d: int) -> list[str]:
    return [f"q{q}" for q in range(d)]


def _schema(d: int) -> str:
    return ", ".join([*(f"{name} int" for name in _names(d)), "n bigint"])
