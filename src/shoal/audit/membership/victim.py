"""What is attacked: the way from rows, through a mechanism if there is one, to a fitted model.

What a model says about a record, as numbers an attack can learn from.

What a released model shows around one record: a line of numbers of fixed length.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.audit.bound.pairs import pair_distances
from shoal.cluster.totals import ignore_no_groups_warning
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

__all__ = [
    "Labels",
    "Matrix",
    "Victim",
    "answers_of",
    "as_rows",
    "check_answers",
    "check_one_number_each",
    "evidence_of",
    "summary_of",
]

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]
Fit = Any  # an estimator, or a function (rows, rng) or (rows, labels, rng)

Vector = NDArray[np.float64]
_CLIP = 1e-6  # of a confidence: its log odds stay finite
_AT_ONCE = 2**22

_NEAREST = 8  # centres; further ones say little about a record


@dataclass(frozen=True, eq=False)
class Victim:
    """From rows to what is released about them, with fresh noise each time.

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
        """With the estimator's own mechanism, if it has one and none is given."""
        if not callable(fit) and not hasattr(fit, "fit"):
            raise InvalidSetting(
                f"fit must be an estimator or a function; got {value_text(fit)}.",
                "Give e.g. PrivateKMeans(...), or a function of rows and rng that returns a model.",
            )
        own = getattr(fit, "mechanism", None) if hasattr(fit, "fit") else None
        return cls(fit, own if mechanism is None else mechanism)

    def reported(self, rows: Matrix, rng: Randomness) -> Any:
        """What leaves the rows: ``Reports`` of the mechanism, or the rows themselves."""
        return rows if self.mechanism is None else self.mechanism.release(rows, rng.noise)

    def model(self, reported: Any, labels: Labels | None, rng: Randomness) -> Any:
        """A model of what was reported."""
        if not hasattr(self.fit, "fit"):
            values = np.asarray(reported)
            return self.fit(values, rng) if labels is None else self.fit(values, labels, rng)
        takes_reports = getattr(self.fit, "mechanism", None) is not None
        values = reported if takes_reports else np.asarray(reported)
        with ignore_no_groups_warning():
            return _fresh(self.fit, rng.seed()).fit(values, labels)

    def trained(self, rows: Matrix, labels: Labels | None, rng: Randomness) -> Any:
        """A model of rows."""
        return self.model(self.reported(rows, rng), labels, rng)

    def promise(self, model: Any) -> Guarantee | None:
        """What was promised: by the mechanism, or by the fitted model itself."""
        guarantee = getattr(self.mechanism, "guarantee", getattr(model, "guarantee_", None))
        return guarantee if isinstance(guarantee, Guarantee) else None

    def farthest(self, promise: Guarantee | None, first: Matrix, second: Matrix) -> float | None:
        """The largest distance between lines of two tables, as a promise about distances has it.

        ``None`` for other promises, and where the promise's units are not known.
        """
        if not isinstance(promise, MetricDP):
            return None
        apart = pair_distances(promise, self.mechanism, first, second)
        return None if apart is None else float(apart.max(initial=0))


def _fresh(estimator: Any, seed: int) -> Any:
    """An unfitted copy with noise of its own. It writes in no ledger: nothing of it is released."""
    from sklearn.base import clone

    made, known = clone(estimator), estimator.get_params(deep=False)
    own = {"random_state": seed, "ledger": None}
    return made.set_params(**{name: value for name, value in own.items() if name in known})


def as_rows(rows: ArrayLike) -> Matrix:
    """Rows as a table of finite numbers, one line a person."""
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
        return check_one_number_each(model(rows), len(rows))
    raise InvalidSetting(
        f"It is not known what a {type(model).__name__} tells about a record.",
        "Give "
        + setting("answers")
        + ", a function of the model and rows that returns a number for each row.",
    )


def check_answers(given: Any, n: int) -> Matrix:
    """Answers that came from outside, a line a row: an attack on NaN would find nothing."""
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


def check_one_number_each(given: Any, n: int) -> Vector:
    """Answers of one number a row."""
    answers = check_answers(given, n)
    if answers.shape[1] == 1:
        return answers[:, 0]
    raise DimensionMismatch(
        f"The answers have {answers.shape[1]} numbers for each row.",
        "Return one number for each row, higher for a member.",
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
        coordinates, cells = rows if view is None else view.apply(rows), model.cells_
        return _containing(coordinates, cells.low, cells.high, cells.noisy_count.astype(np.float64))
    return _of_map(model, rows)


def _of_map(model: Any, rows: Matrix) -> Vector:
    """The same of a map of coefficients, all of them or those that were kept."""
    from shoal.cluster.wave.transform import Lookup, Transform

    transform = Transform(model.grid_.shape, model.level, model.wavelet)
    keys = Lookup(model.grid_, transform).keys(rows)
    counts = np.asarray(model.noisy_counts_, dtype=np.float64).ravel()
    if model.cell_keys_ is None:
        return counts[keys]
    cell_keys = np.append(model.cell_keys_, -1)  # a key nobody has, for the search to end on
    places = np.minimum(np.searchsorted(model.cell_keys_, keys), counts.size)
    return np.where(cell_keys[places] == keys, np.append(counts, 0.0)[places], 0.0)


def _containing(rows: Matrix, low: Matrix, high: Matrix, counts: Vector) -> Vector:
    """The count of the box each row lies in."""
    largest = np.zeros(len(rows))
    step = max(_AT_ONCE // max(len(low), 1), 1)
    for start in range(0, len(rows), step):
        part = rows[start : start + step, None]
        inside = ((part >= low) & (part <= high)).all(axis=2)
        inner = np.where(inside, counts, -np.inf)
        largest[start : start + step] = inner.max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(largest), largest, 0)


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
    coordinates, cells = record if view is None else view.apply(record), synopsis.cells_
    inside = ((coordinates >= cells.low) & (coordinates <= cells.high)).all(axis=1)
    if not inside.any():
        return np.array([0.0, 0.0, len(cells)])
    at = int(np.argmax(inside))
    volume = float((cells.high[at] - cells.low[at]).prod())
    return np.array([float(cells.noisy_count[at]), volume, len(cells)])
