"""Scores of centres and labels for tables too large for memory, from sums and counts of pairs.

They read rows, so they are for the holder only; to publish one would need noise and a budget.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Integers
from shoal.cluster.kmeans._kernels import LeastSquares
from shoal.domain import Box
from shoal.domain.box import as_matrix
from shoal.engine import frame_table, rows_of
from shoal.evaluate import agreement_of_counts

# Squared distances are summed in whole steps, this many in the square of the box's diagonal: a few
# billion rows then fit in 63 bits, and the sum does not depend on the order of rows.
_STEPS = 2**30


def inertia(X: Any, centers: ArrayLike, domain: Box) -> float:
    """Return the sum of squared distances of rows to their nearest centres, in raw units.

    Parameters
    ----------
    X
        Rows of any kind, also a Spark frame.
    centers
        One row for each centre.
    domain
        The bounds of the rows; rows outside are moved to them.

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
    """Return the inertia of some centres over that of plain ones; 1 is as good.

    If the plain centres have no inertia, it is 1 if these have none either, else NaN.

    Parameters
    ----------
    X
        Rows of any kind, also a Spark frame.
    centers
        One row for each centre.
    plain
        Centres fitted without noise, to compare with.
    domain
        The bounds of the rows; rows outside are moved to them.

    Examples
    --------
    >>> rows = {"x": [0.0, 2.0, 8.0, 10.0]}
    >>> round(normalised_inertia(rows, [[2.0], [8.0]], [[1.0], [9.0]], Box(x=(0, 10))), 6)
    2.0
    """
    value, plain_value = (inertia(X, each, domain) for each in (centers, plain))
    if plain_value > 0:
        return value / plain_value
    return 1.0 if value == 0 else math.nan


def label_agreement(frame: Any, first: str, second: str) -> dict[str, float]:
    """Return how far two columns of labels agree; see ``shoal.evaluate.agreement_of_counts``.

    Parameters
    ----------
    frame
        A Spark frame, such as ``model.predict(frame)``, which has a column ``label``.
    first
        The name of a column of labels of any type; nulls are a group of their own.
    """
    pairs = frame_table(frame).counts([first, second])
    row_codes, column_codes = (_number_labels(pairs[name].to_pylist()) for name in ("c0", "c1"))
    counts = np.zeros(
        (row_codes.max(initial=-1) + 1, column_codes.max(initial=-1) + 1), dtype=np.int64
    )
    np.add.at(counts, (row_codes, column_codes), pairs["n"].to_numpy())
    return agreement_of_counts(counts)


def _number_labels(labels: list[Any]) -> Integers:
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    return np.array([places[label] for label in labels], dtype=np.int64)
