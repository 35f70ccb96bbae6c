"""Lines with equal labels: their classes, how large they are, and what a release loses."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.problem import Metrics, Problem

__all__ = ["Classes", "classes_of", "distinct_people", "metrics_of", "people_of", "rows_of"]

_RADIX = 2**62


class Classes(NamedTuple):
    """``ids``: int64 (F,), the class of each line, -1 if suppressed; ``size``: how many classes."""

    ids: NDArray[np.int64]
    size: int


def classes_of(labels: NDArray[np.int32], suppressed: NDArray[np.bool_] | None = None) -> Classes:
    """Number the classes of lines with equal labels, in the order of their labels; exact.

    Examples
    --------
    >>> classes_of(np.array([[3, 1], [0, 2], [3, 1]], dtype=np.int32))
    Classes(ids=array([1, 0, 1]), size=2)
    """
    live = np.ones(len(labels), dtype=bool) if suppressed is None else ~suppressed
    ids = np.full(len(labels), -1, dtype=np.int64)
    kept = labels[live]
    packed, radix = np.zeros(len(kept), dtype=np.int64), 1
    for column in kept.T:  # packed into one number, no hash: a collision would feign a class
        size = int(column.max(initial=0)) + 1
        if radix * size > _RADIX:
            packed, radix = _compressed(packed)
        packed, radix = packed * size + column, radix * size
    ids[live], size = _compressed(packed)
    return Classes(ids, size)


def _compressed(packed: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    distinct, inverse = np.unique(packed, return_inverse=True)
    return inverse, len(distinct)


def rows_of(problem: Problem, classes: Classes) -> NDArray[np.int64]:
    """int64 (size,): the rows of each class."""
    return _sums(classes, problem.n)


def people_of(problem: Problem, classes: Classes) -> NDArray[np.int64]:
    """int64 (size,): what is held against k in each class: distinct people, or rows."""
    if problem.entities is None:
        return rows_of(problem, classes)
    return distinct_people(classes, problem.entities)


def distinct_people(classes: Classes, entities: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64 (size,): how many different people the lines of each class belong to."""
    live = classes.ids >= 0
    ids, people = classes.ids[live], entities[live]
    order = np.lexsort((people, ids))
    ids, people = ids[order], people[order]
    new = np.ones(len(ids), dtype=bool)
    new[1:] = (ids[1:] != ids[:-1]) | (people[1:] != people[:-1])
    return np.bincount(ids[new], minlength=classes.size)


def _sums(classes: Classes, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    live = classes.ids >= 0
    sums = np.bincount(classes.ids[live], counts[live], minlength=classes.size)
    return sums.astype(np.int64)


def metrics_of(
    problem: Problem, labels: NDArray[np.int32], suppressed: NDArray[np.bool_]
) -> Metrics:
    """What a release keeps, counted anew from the labels of its lines."""
    classes = classes_of(labels, suppressed)
    sizes, n = rows_of(problem, classes), problem.N
    gone = n - int(sizes.sum())
    loss = _loss_by_qid(problem, labels, suppressed, gone)
    return Metrics(
        ncp=math.fsum(w * x for w, x in zip(problem.weights, loss, strict=True))
        / math.fsum(problem.weights),
        ncp_by_qid=loss,
        dm=sum(int(size) ** 2 for size in sizes) + gone * n,
        aecs=(n - gone) / max(classes.size * problem.k, 1),
        entropy=float((sizes * np.log2(n / np.maximum(sizes, 1))).sum() / n),
        classes=classes.size,
        smallest=int(people_of(problem, classes).min(initial=problem.N)),
        suppressed=gone,
    )


def _loss_by_qid(
    problem: Problem, labels: NDArray[np.int32], suppressed: NDArray[np.bool_], gone: int
) -> tuple[float, ...]:
    live = ~suppressed
    labels, n = labels[live], problem.n[live]
    by_node = (np.bincount(labels[:, q], n) for q in range(problem.d))
    sums = (rows @ cost[: len(rows)] for rows, cost in zip(by_node, problem.costs, strict=True))
    return tuple((float(loss) + gone) / max(problem.N, 1) for loss in sums)
