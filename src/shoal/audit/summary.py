"""What a released model shows around one record: a line of numbers of fixed length."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.answers import evidence_of
from shoal.audit.victim import Matrix

__all__ = ["summary_of"]

Vector = NDArray[np.float64]
_NEAREST = 8  # centres; further ones say little about a record


def summary_of(model: Any, record: Matrix) -> Vector:
    """Centres nearest first with their weights, the cell the record lies in, and the sizes.

    Parameters
    ----------
    model
        Fitted: centres, a synopsis, a map of cells, or all of them.
    record
        A table of one line.
    """
    parts = [_centers(model, record)] if hasattr(model, "cluster_centers_") else []
    synopsis = getattr(model, "synopsis_", None)
    cells = model if synopsis is None else synopsis
    if hasattr(cells, "cells_"):
        parts.append(_cells(cells, record))
    elif hasattr(cells, "noisy_counts_"):
        parts.append(evidence_of(cells, record, None, 0))
        parts.append(np.asarray(cells.predict(record), dtype=np.float64))
    if not parts:
        parts.append(evidence_of(model, record, None, 0))
    sizes = [getattr(model, name, None) for name in ("n_rows_", "n_clusters_")]
    parts.append(np.array([float(size) for size in sizes if size is not None]))
    return np.concatenate(parts)


def _centers(model: Any, record: Matrix) -> Vector:
    centers = np.asarray(model.cluster_centers_, dtype=np.float64)
    weights = np.asarray(getattr(model, "cluster_weights_", np.zeros(len(centers))), dtype=float)
    lines = np.column_stack([((centers - record) ** 2).sum(axis=1), weights, centers])
    shown = np.zeros((_NEAREST, lines.shape[1]))
    nearest = lines[np.argsort(lines[:, 0], kind="stable")][:_NEAREST]
    shown[: len(nearest)] = nearest
    return shown.ravel()


def _cells(synopsis: Any, record: Matrix) -> Vector:
    """The noisy count and the volume of the record's cell; how many cells there are."""
    view = getattr(synopsis, "view_", None)
    seen, cells = record if view is None else view.apply(record), synopsis.cells_
    inside = ((seen >= cells.low) & (seen <= cells.high)).all(axis=1)
    if not inside.any():
        return np.array([0.0, 0.0, len(cells)])
    at = int(np.argmax(inside))
    volume = float((cells.high[at] - cells.low[at]).prod())
    return np.array([float(cells.noisy_count[at]), volume, len(cells)])
