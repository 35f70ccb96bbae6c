"""Scores of centres and labels where rows are too many to bring here: sums, and counts of pairs.

They read rows, so they are for the holder; publishing one costs a budget.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.cluster.kmeans.kernels import LeastSquares
from shoal.domain import Box
from shoal.domain.box import as_matrix
from shoal.engine import rows_of
from shoal.engine.entry import frame_table
from shoal.evaluate.agreement import agreement_of_counts

__all__ = ["inertia", "label_agreement", "normalised_inertia"]

_STEPS = 2**30  # in the square of the box's diagonal: a few billion rows fit in 63 bits


def inertia(X: Any, centers: ArrayLike, domain: Box) -> float:
    """The squared distances of rows to their nearest centres, summed, in raw units.

    Parameters
    ----------
    X, domain
        Rows of any kind, a Spark frame too, and their bounds: rows beyond are moved to them.
    centers
        One line each.

    Examples
    --------
    >>> round(inertia({"x": [0.0, 1.0, 5.0]}, [[0.0], [4.0]], Box(x=(0, 9))), 6)
    2.0
    """
    longest = float(((domain.high - domain.low) ** 2).sum())
    inside = domain.clip(as_matrix(centers, domain.d))
    kernel = LeastSquares(np.ones(domain.d), inside, _STEPS / longest)
    (steps,) = rows_of(X, domain).sum(kernel)
    return float(steps[0]) * longest / _STEPS


def normalised_inertia(X: Any, centers: ArrayLike, plain: ArrayLike, domain: Box) -> float:
    """The inertia of some centres over that of plain ones: 1 is as good, 2 twice as far.

    NaN if the plain centres are on all rows, unless these are too: then 1.

    Parameters
    ----------
    X, centers, domain
        As of ``inertia``.
    plain
        Centres found without noise.

    Examples
    --------
    >>> rows = {"x": [0.0, 2.0, 8.0, 10.0]}
    >>> round(normalised_inertia(rows, [[2.0], [8.0]], [[1.0], [9.0]], Box(x=(0, 10))), 6)
    2.0
    """
    own, least = (inertia(X, each, domain) for each in (centers, plain))
    if least > 0:
        return own / least
    return 1.0 if own == 0 else math.nan


def label_agreement(frame: Any, first: str, second: str) -> dict[str, float]:
    """How far two columns of labels agree: see ``shoal.evaluate.agreement_of_counts``.

    Parameters
    ----------
    frame
        A Spark frame, such as ``model.predict(frame)``, which has a column ``label``.
    first, second
        Its columns of labels, of any kind; nulls are a group of their own.
    """
    pairs = frame_table(frame).counts([first, second])
    lines, columns = (_numbered(pairs[name].to_pylist()) for name in ("c0", "c1"))
    counts = np.zeros((lines.max(initial=-1) + 1, columns.max(initial=-1) + 1), dtype=np.int64)
    np.add.at(counts, (lines, columns), pairs["n"].to_numpy())
    return agreement_of_counts(counts)


def _numbered(labels: list[Any]) -> NDArray[np.int64]:
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    return np.array([places[label] for label in labels], dtype=np.int64)
