"""The victim of an attack: the way from rows, through a mechanism, to a fitted model.

``answers_of`` and ``evidence_of`` return what a model says about records, as numbers that an attack
can learn from; ``summary_of`` what a released model shows around one record.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.audit.bound._pairs import pair_distances
from shoal.cluster import unfitted
from shoal.cluster.group_sizes import ignore_no_groups_warning
from shoal.errors import (
    DimensionMismatch,
    InvalidSetting,
    NotFinite,
    NotNumeric,
    setting,
    value_text,
)
from shoal.privacy import Guarantee, MetricDP
from shoal.randomness import Randomness

Fit = Any  # an estimator, or a function (rows, rng) or (rows, labels, rng)

_CLIP = 1e-6  # confidences stay this far from 0 and 1, so that log odds are finite
_CHUNK_CELLS = 2**22  # comparisons held at a time

_NEAREST = 8  # centres; further ones say little about a record


@dataclass(frozen=True, eq=False)
class Victim:
    """The way from rows to what is released about them, with fresh noise each time.

    Parameters
    ----------
    fit
        An estimator, which is cloned, or a function ``(rows, rng)`` that returns the model; with
        labels ``(rows, labels, rng)``. ``rng`` is a ``Randomness``.
    mechanism
        A local mechanism that rows pass before ``fit``; an estimator may bring its own.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> victim = Victim.of(KMeans(2, n_init=1))
    >>> model = victim.model(np.array([[0.0], [0.1], [1.0]]), None, Randomness(7))
    >>> sorted(model.cluster_centers_.round(2).ravel().tolist())
    [0.05, 1.0]
    """

    fit: Fit
    mechanism: Any = None

    @classmethod
    def of(cls, fit: Fit, mechanism: Any = None) -> "Victim":
        """Return the victim with the estimator's own mechanism, unless one is given."""
        if not callable(fit) and not hasattr(fit, "fit"):
            raise InvalidSetting(
                f"fit must be an estimator or a function; got {value_text(fit)}.",
                "Give e.g. PrivateKMeans(...), or a function of rows and rng that returns a model.",
            )
        own = getattr(fit, "mechanism", None) if hasattr(fit, "fit") else None
        return cls(fit, own if mechanism is None else mechanism)

    def reported(self, rows: Floats, rng: Randomness) -> Any:
        """Return what leaves the rows: ``Reports`` of the mechanism, or the rows themselves."""
        return rows if self.mechanism is None else self.mechanism.release(rows, rng.noise)

    def model(self, reported: Any, labels: Integers | None, rng: Randomness) -> Any:
        """Fit a model to what was reported."""
        if not hasattr(self.fit, "fit"):
            values = np.asarray(reported)
            return self.fit(values, rng) if labels is None else self.fit(values, labels, rng)
        takes_reports = getattr(self.fit, "mechanism", None) is not None
        values = reported if takes_reports else np.asarray(reported)
        with ignore_no_groups_warning():
            return unfitted(self.fit, random_state=rng.seed()).fit(values, labels)

    def fit_rows(self, rows: Floats, labels: Integers | None, rng: Randomness) -> Any:
        """Fit a model to rows, through the mechanism."""
        return self.model(self.reported(rows, rng), labels, rng)

    def promise(self, model: Any) -> Guarantee | None:
        """Return the promise of the mechanism, or of the fitted model itself."""
        guarantee = getattr(self.mechanism, "guarantee", getattr(model, "guarantee_", None))
        return guarantee if isinstance(guarantee, Guarantee) else None

    def farthest(self, promise: Guarantee | None, first: Floats, second: Floats) -> float | None:
        """Return the largest distance between rows of two tables, in the units of a promise.

        None for promises that do not depend on distances, and where their units are not known.
        """
        if not isinstance(promise, MetricDP):
            return None
        apart = pair_distances(promise, self.mechanism, first, second)
        return None if apart is None else float(apart.max(initial=0))


def as_rows(rows: ArrayLike) -> Floats:
    """Return rows as a table of finite numbers, one row for each person."""
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise NotNumeric("The rows are not numbers.", "Choose the columns that are.") from None
    if table.ndim != 2:
        raise InvalidSetting(
            f"The rows must be a table with two dimensions; got {table.ndim}.",
            "Give one row for each person.",
        )
    if not np.isfinite(table).all():
        raise NotFinite("Some rows hold NaN or infinity.", "Drop them, or fill them in.")
    return table


def answers_of(model: Any, rows: Floats, labels: Integers | None, classes: int) -> Floats:
    """Return the features of a shadow attack: what the model says about each row.

    For a classifier they are its probabilities and that of the row's own label; for centres the
    distances, nearest first, since the order of centres differs between models; for cells the
    logarithm of the noisy count. A callable model is called.
    """
    if hasattr(model, "predict_proba"):
        return np.hstack([_chances(model, rows, classes), _own_label(model, rows, labels, classes)])
    if hasattr(model, "cluster_centers_"):
        sorted_ = np.sort(_distances(model, rows), axis=1)
        gap = sorted_[:, 1:2] - sorted_[:, :1] if sorted_.shape[1] > 1 else sorted_[:, :1]
        return np.hstack([sorted_[:, :1], gap, sorted_[:, 1:]])
    return evidence_of(model, rows, labels, classes)[:, None]


def evidence_of(model: Any, rows: Floats, labels: Integers | None, classes: int) -> Floats:
    """Return the statistic of a likelihood ratio attack: one number, higher for a member.

    It is the log odds of the row's own label, minus the squared distance to the nearest centre, the
    logarithm of the noisy count of its cell, clipped at 1, or what a callable model returns.
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
        return check_one_number_each(model(rows), len(rows))
    raise InvalidSetting(
        f"It is not known what a {type(model).__name__} tells about a record.",
        "Give "
        + setting("answers")
        + ", a function of the model and rows that returns a number for each row.",
    )


def check_answers(given: Any, n: int) -> Floats:
    """Check answers that were given from outside: finite, one row for each record."""
    try:
        answers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise NotNumeric(
            "The answers are not numbers.", "Return numbers, one line for each row."
        ) from None
    if answers.ndim not in (1, 2) or len(answers) != n or not answers.size:
        raise DimensionMismatch(
            f"The answers have shape {answers.shape} for {n} rows.", "Return one line for each row."
        )
    if not np.isfinite(answers).all():
        raise NotFinite("Some answers are NaN or infinite.", "Return finite numbers.")
    return answers.reshape(n, -1)


def check_one_number_each(given: Any, n: int) -> Floats:
    """Check answers of one number for each record."""
    answers = check_answers(given, n)
    if answers.shape[1] == 1:
        return answers[:, 0]
    raise DimensionMismatch(
        f"The answers have {answers.shape[1]} numbers for each row.",
        "Return one number for each row, higher for a member.",
    )


def _labels(model: Any, rows: Floats, labels: Integers | None) -> Integers:
    return np.asarray(model.predict(rows), dtype=np.int64) if labels is None else labels


def _chances(model: Any, rows: Floats, classes: int) -> Floats:
    """Return probabilities by label; labels that a model never saw have none."""
    chances = np.zeros((len(rows), classes))
    chances[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(rows)
    return chances


def _own_label(model: Any, rows: Floats, labels: Integers | None, classes: int) -> Floats:
    hot: Floats = np.eye(classes)[_labels(model, rows, labels)]
    return hot


def _distances(model: Any, rows: Floats) -> Floats:
    if hasattr(model, "transform"):
        return np.asarray(model.transform(rows), dtype=np.float64)
    centers = np.asarray(model.cluster_centers_, dtype=np.float64)
    return np.asarray(np.sqrt(((rows[:, None] - centers) ** 2).sum(axis=2)))


def _counts(model: Any, rows: Floats) -> Floats:
    """Return the noisy count of each row's cell; 0 where no cell was kept."""
    if hasattr(model, "cells_"):
        view = getattr(model, "view_", None)
        coordinates, cells = rows if view is None else view.apply(rows), model.cells_
        return _count_of_box(
            coordinates, cells.low, cells.high, cells.noisy_count.astype(np.float64)
        )
    return _counts_of_map(model, rows)


def _counts_of_map(model: Any, rows: Floats) -> Floats:
    """Return the same for a map of coefficients, all of them or those that were kept."""
    from shoal.cluster.wave import Lookup, Transform

    transform = Transform(model.grid_.shape, model.level, model.wavelet)
    keys = Lookup(model.grid_, transform).keys(rows)
    counts = np.asarray(model.noisy_counts_, dtype=np.float64).ravel()
    if model.cell_keys_ is None:
        return counts[keys]
    # A key that no row has, so that a search beyond the last cell finds an entry.
    cell_keys = np.append(model.cell_keys_, -1)
    places = np.minimum(np.searchsorted(model.cell_keys_, keys), counts.size)
    return np.where(cell_keys[places] == keys, np.append(counts, 0.0)[places], 0.0)


def _count_of_box(rows: Floats, low: Floats, high: Floats, counts: Floats) -> Floats:
    """Return the count of the box that each row lies in."""
    largest = np.zeros(len(rows))
    step = max(_CHUNK_CELLS // max(len(low), 1), 1)
    for start in range(0, len(rows), step):
        part = rows[start : start + step, None]
        inside = ((part >= low) & (part <= high)).all(axis=2)
        inner = np.where(inside, counts, -np.inf)
        largest[start : start + step] = inner.max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(largest), largest, 0)


def summary_of(model: Any, record: Floats) -> Floats:
    """Return the nearest centres with their weights, the record's cell, and the sizes."""
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


def _centers(model: Any, record: Floats) -> Floats:
    centers = np.asarray(model.cluster_centers_, dtype=np.float64)
    weights = np.asarray(getattr(model, "cluster_sizes_", np.zeros(len(centers))), dtype=float)
    lines = np.column_stack([((centers - record) ** 2).sum(axis=1), weights, centers])
    shown = np.zeros((_NEAREST, lines.shape[1]))
    nearest = lines[np.argsort(lines[:, 0], kind="stable")][:_NEAREST]
    shown[: len(nearest)] = nearest
    return shown.ravel()


def _cells(synopsis: Any, record: Floats) -> Floats:
    """Return the noisy count and volume of the record's cell, and the number of cells."""
    view = getattr(synopsis, "view_", None)
    coordinates, cells = record if view is None else view.apply(record), synopsis.cells_
    inside = ((coordinates >= cells.low) & (coordinates <= cells.high)).all(axis=1)
    if not inside.any():
        return np.array([0.0, 0.0, len(cells)])
    at = int(np.argmax(inside))
    volume = float((cells.high[at] - cells.low[at]).prod())
    return np.array([float(cells.noisy_count[at]), volume, len(cells)])
