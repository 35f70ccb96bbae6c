"""What a model says about a record, as numbers an attack can learn from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.victim import Labels, Matrix
from shoal.errors import DimensionMismatch, InvalidSetting, NotFinite, NotNumeric

__all__ = ["answers_of", "evidence_of", "noted", "one_each"]

Vector = NDArray[np.float64]
_CLIP = 1e-6  # of a confidence: its log odds stay finite
_AT_ONCE = 2**22


def answers_of(model: Any, rows: Matrix, labels: Labels | None, classes: int) -> Matrix:
    """A line for each row: the features of a shadow attack.

    A classifier answers with its probabilities, beside the row's own label. Centres answer with
    distances, nearest first, since their order is no other model's: the own one, the gap to the
    second, all of them. Cells answer with the logarithm of their noisy count. A model that can be
    called answers for itself.
    """
    if hasattr(model, "predict_proba"):
        return np.hstack([_chances(model, rows, classes), _own_label(model, rows, labels, classes)])
    if hasattr(model, "cluster_centers_"):
        sorted_ = np.sort(_distances(model, rows), axis=1)
        gap = sorted_[:, 1:2] - sorted_[:, :1] if sorted_.shape[1] > 1 else sorted_[:, :1]
        return np.hstack([sorted_[:, :1], gap, sorted_[:, 1:]])
    return evidence_of(model, rows, labels, classes)[:, None]


def evidence_of(model: Any, rows: Matrix, labels: Labels | None, classes: int) -> Vector:
    """One number for each row, higher for a member: the statistic of a likelihood ratio attack.

    The log odds of the row's own label; minus the squared distance to the nearest centre; the
    logarithm of the noisy count of its cell, clipped at 1; or what a model that can be called says.
    """
    if hasattr(model, "predict_proba"):
        chances, own = _chances(model, rows, classes), _labels(model, rows, labels)
        q = np.clip(np.take_along_axis(chances, own[:, None], axis=1)[:, 0], _CLIP, 1 - _CLIP)
        return np.asarray(np.log(q / (1 - q)))
    if hasattr(model, "cluster_centers_"):
        return np.asarray(-(_distances(model, rows).min(axis=1) ** 2))
    if hasattr(model, "cells_") or hasattr(model, "noisy_counts_"):
        return np.log(np.maximum(_counts(model, rows), 1))
    if callable(model):
        return one_each(model(rows), len(rows))
    raise InvalidSetting(
        f"What a {type(model).__name__} says about a record is not known.",
        "Give answers=..., a function of the model and rows that returns a number a row.",
    )


def noted(said: Any, n: int) -> Matrix:
    """Answers that came from outside, a line a row: an attack on NaN would find nothing."""
    try:
        answers = np.asarray(said, dtype=np.float64)
    except (TypeError, ValueError):
        raise NotNumeric("The answers are not numbers.", "Return numbers, a line a row.") from None
    if answers.ndim not in (1, 2) or len(answers) != n or not answers.size:
        raise DimensionMismatch(
            f"Answers of shape {answers.shape} came for {n} rows.", "Return one line a row."
        )
    if not np.isfinite(answers).all():
        raise NotFinite("Some answers are NaN or infinite.", "Return finite numbers.")
    return answers.reshape(n, -1)


def one_each(said: Any, n: int) -> Vector:
    """Answers of one number a row."""
    answers = noted(said, n)
    if answers.shape[1] == 1:
        return answers[:, 0]
    raise DimensionMismatch(
        f"{answers.shape[1]} numbers a row came.", "Return one number a row, higher for a member."
    )


def _labels(model: Any, rows: Matrix, labels: Labels | None) -> Labels:
    return np.asarray(model.predict(rows), dtype=np.int64) if labels is None else labels


def _chances(model: Any, rows: Matrix, classes: int) -> Matrix:
    """Probabilities by label: a model that never met a label gives it none."""
    chances = np.zeros((len(rows), classes))
    chances[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(rows)
    return chances


def _own_label(model: Any, rows: Matrix, labels: Labels | None, classes: int) -> Matrix:
    hot: Matrix = np.eye(classes)[_labels(model, rows, labels)]
    return hot


def _distances(model: Any, rows: Matrix) -> Matrix:
    if hasattr(model, "transform"):
        return np.asarray(model.transform(rows), dtype=np.float64)
    centers = np.asarray(model.cluster_centers_, dtype=np.float64)
    return np.asarray(np.sqrt(((rows[:, None] - centers) ** 2).sum(axis=2)))


def _counts(model: Any, rows: Matrix) -> Vector:
    """The noisy count of each row's cell; 0 where no cell was kept."""
    if hasattr(model, "cells_"):
        view = getattr(model, "view_", None)
        seen, cells = rows if view is None else view.apply(rows), model.cells_
        return _containing(seen, cells.low, cells.high, cells.noisy_count.astype(np.float64))
    return _of_map(model, rows)


def _of_map(model: Any, rows: Matrix) -> Vector:
    """The same of a map of coefficients, all of them or those that were kept."""
    from shoal.cluster.wave.lookup import Lookup
    from shoal.cluster.wave.transform import Transform

    transform = Transform(model.grid_.shape, model.level, model.wavelet)
    keys = Lookup(model.grid_, transform).keys(rows)
    counts = np.asarray(model.noisy_counts_, dtype=np.float64).ravel()
    if model.cell_keys_ is None:
        return counts[keys]
    kept = np.append(model.cell_keys_, -1)  # a key nobody has, for the search to end on
    places = np.minimum(np.searchsorted(model.cell_keys_, keys), counts.size)
    return np.where(kept[places] == keys, np.append(counts, 0.0)[places], 0.0)


def _containing(rows: Matrix, low: Matrix, high: Matrix, counts: Vector) -> Vector:
    """The count of the box each row lies in."""
    found = np.zeros(len(rows))
    step = max(_AT_ONCE // max(len(low), 1), 1)
    for start in range(0, len(rows), step):
        part = rows[start : start + step, None]
        inside = ((part >= low) & (part <= high)).all(axis=2)
        found[start : start + step] = np.where(inside, counts, -np.inf).max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(found), found, 0)
