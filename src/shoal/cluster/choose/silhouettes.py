"""Silhouettes of weighted points."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.choose.cloud import Weights
from shoal.domain.box import Matrix

__all__ = ["silhouettes"]

_CHUNK = 256


def silhouettes(
    points: Matrix, weights: Weights, labellings: Sequence[NDArray[Any]]
) -> list[float]:
    """The mean silhouette of several labellings, a point of weight w counting as w points.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [9.0]])
    >>> round(silhouettes(points, np.array([2.0, 1.0, 2.0]), [np.array([0, 0, 1])])[0], 3)
    0.953
    """
    ones = [np.eye(labels.max() + 1)[labels] * weights[:, None] for labels in labellings]
    totals = np.zeros(len(labellings))
    for start in range(0, len(points), _CHUNK):
        part = slice(start, start + _CHUNK)
        distances = np.sqrt(((points[part, None] - points) ** 2).sum(axis=2))
        for at, (labels, own) in enumerate(zip(labellings, ones, strict=True)):
            totals[at] += weights[part] @ _widths(distances @ own, own.sum(axis=0), labels[part])
    return [float(total) for total in totals / max(weights.sum(), np.finfo(float).tiny)]


def _widths(sums: Matrix, sizes: Weights, labels: NDArray[Any]) -> Weights:
    """How much nearer each point is to its own cluster than to the next; 0 if it is alone."""
    rows = np.arange(len(labels))
    others = sizes[labels] - 1
    inside = sums[rows, labels] / np.maximum(others, np.finfo(float).tiny)
    outside = sums / np.maximum(sizes, np.finfo(float).tiny)
    outside[rows, labels] = np.inf
    outside[:, sizes <= 0] = np.inf
    nearest = outside.min(axis=1)
    good = (others > 0) & np.isfinite(nearest)
    larger = np.where(good, np.maximum(np.maximum(inside, nearest), np.finfo(float).tiny), 1)
    return np.where(good, (np.where(good, nearest, 0) - inside) / larger, 0)
