"""Compute a table of scores, each beside what is reached without data and by chance.

Each side of a comparison labels the same rows, and may have centres.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.errors import InvalidSetting
from shoal.evaluate._agreement import ami, ari, fowlkes_mallows, mi, mirkin, nmi, rand_index
from shoal.evaluate._centers import center_errors, centroid_index, normalised_inertia, plain_centers
from shoal.evaluate._separation import calinski_harabasz, davies_bouldin, silhouette
from shoal.evaluate.array_checks import check_labels, check_points, check_same_length


@dataclass(frozen=True, eq=False)
class Clustering:
    """The label of each row and, if there are any, centres in the units of distance.

    Parameters
    ----------
    centers
        One a row, or None.
    """

    labels: Integers
    centers: Floats | None = None

    @property
    def count(self) -> int:
        """The number of clusters."""
        inside = self.labels[self.labels >= 0]
        return len(np.unique(inside)) if self.centers is None else len(self.centers)

    def shuffled(self, random_state: int) -> "Clustering":
        """Return the same labels in random order."""
        return Clustering(np.random.default_rng(random_state).permutation(self.labels))


@dataclass(frozen=True, eq=False)
class _ScoredRows:
    """The rows, if given, as they are and in the units in which clusters were found.

    Parameters
    ----------
    rows
        In raw units, or None.
    scaled
        In the model's units, or None.
    """

    rows: Floats | None
    scaled: Floats | None
    scale: Callable[[Any], Floats]

    @classmethod
    def of(cls, rows: Any, model: Any) -> "_ScoredRows":
        """Scale the rows to the model's units: its own, half sides of its box, or raw ones."""
        scale = _scale_of(model)
        if rows is None:
            return cls(None, None, scale)
        plain = check_points(rows)
        return cls(plain, scale(plain), scale)

    def clustering(self, of: Any) -> Clustering:
        """Return labels as given, or those that a fitted model gives the rows."""
        if not hasattr(of, "predict"):
            return self._checked(Clustering(check_labels(of)))
        if self.rows is None:
            raise InvalidSetting("A model needs rows to label.", "Give rows=X.")
        centers = getattr(of, "cluster_centers_", None)
        scaled = None if centers is None else self.scale(np.asarray(centers))
        return self._checked(Clustering(check_labels(of.predict(self.rows)), scaled))

    def reference(self, against: Any, count: int, random_state: int) -> Clustering:
        """Return what to compare with: labels, a model, or k-means on the rows.

        Parameters
        ----------
        against
            Labels, a model, or None for k-means.
        """
        if against is not None:
            given = self.clustering(against)
            has_centers = given.centers is not None
            return given if has_centers else Clustering(given.labels, self._means(given.labels))
        if self.scaled is None:
            raise InvalidSetting(
                "There is nothing to compare with.",
                "Give rows=X, or against=labels of the plain way.",
            )
        centers = plain_centers(self.scaled, max(count, 1), random_state=random_state)
        middle = centers.mean(axis=0)
        return Clustering(nearest_centers(self.scaled - middle, centers - middle), centers)

    def _means(self, labels: Integers) -> Floats | None:
        """Return the mean of each cluster."""
        names = np.unique(labels[labels >= 0])
        if self.scaled is None or not len(names):
            return None
        return np.array([self.scaled[labels == name].mean(axis=0) for name in names])

    def _checked(self, clustering: Clustering) -> Clustering:
        if self.rows is not None:
            check_same_length(self.rows, clustering.labels, "labels")
        return clustering


def _scale_of(model: Any) -> Callable[[Any], Floats]:
    if (units := getattr(model, "units_", None)) is not None:
        return lambda X: np.asarray(X / units)
    box = getattr(model, "box", None) or getattr(model, "domain", None)
    if box is not None:
        return lambda X: box.scale(box.clip(X), -1, 1)
    return np.asarray


Measure = Callable[[Clustering], float]
NO_BETTER = "no better than without data"
_COMPARED = 5_000  # rows whose silhouettes are computed, from all pairs
HIGH = 0.7  # a control above it, of scores that end at 1, leaves little to show
SCHEMA = pa.schema(
    [
        ("score", pa.string()),
        ("value", pa.float64()),
        ("plain", pa.float64()),
        ("control", pa.float64()),
        ("shuffled", pa.float64()),
        ("closed", pa.float64()),
        ("better", pa.string()),
        ("note", pa.string()),
    ]
)


def score(
    result: Any,
    rows: ArrayLike | None = None,
    *,
    against: Any = None,
    control: Any = None,
    random_state: int = 0,
) -> pa.Table:
    """Score clusters against those found without noise, beside what is reached without data.

    A score alone misleads: two clusters on a diagonal are separated by almost any two centres. So
    each row also has what a ``control`` without data reaches, what shuffled labels reach, and how
    much of the gap between the control and the plain answer is closed. It reads rows, or labels of
    rows, so the table is for their holder only.

    Parameters
    ----------
    result
        A label for each row, or a fitted model with ``predict``. Centres are scored in the
        model's units: its ``units_``, or half sides of its box.
    rows
        Points. Without them only labels are compared. For a model of a mixed table, a table with
        its columns: scored are then the mixed cost and the Gower silhouette.
    against
        Labels or a model of the plain way; left out, scikit-learn's k-means on the rows, or plain
        k-prototypes, with as many clusters.
    control
        Labels or a model made without data, e.g. ``LocalClusterer.control``; or a list of several:
        one alone may be lucky. Their scores are averaged, and an answer that does not beat the
        best of them is noted.
    random_state
        The seed of k-means, of the shuffled labels and of the 5,000 rows that silhouettes compare.

    Returns
    -------
    pyarrow.Table
        A line a score: ``score``, ``value``, ``plain`` (what the plain answer gets), ``control``,
        ``shuffled``, ``closed`` (the share of the gap from control to plain: 1 all of it, below 0
        worse than without data), ``better`` ("higher" or "lower"), ``note``. What is not defined,
        such as the silhouette of one cluster, is null.

    Examples
    --------
    >>> table = score([0, 0, 1, 1, 1], against=[5, 5, 5, 2, 2], control=[0, 1, 0, 1, 0])
    >>> table.select(["score", "value", "control", "closed"]).to_pylist()[1]
    {'score': 'ari', 'value': 0.166..., 'control': -0.25, 'closed': 0.333...}
    """
    if hasattr(result, "score_table"):  # groups of a mixed table, which is no matrix
        table: pa.Table = result.score_table(
            rows, against=against, control=control, random_state=random_state
        )
        return table
    scored_rows = _ScoredRows.of(rows, result)
    own = scored_rows.clustering(result)
    plain = scored_rows.reference(against, own.count, random_state)
    without = tuple(scored_rows.clustering(one) for one in controls_of(control))
    comparison = Comparison(own, plain, without, own.shuffled(random_state))
    lines = [
        comparison.line(measure) for measure in _measures(scored_rows, comparison, random_state)
    ]
    return pa.Table.from_pylist(lines, schema=SCHEMA)


@dataclass(frozen=True)
class Score:
    """A score: its name, which direction is better, and how to measure a clustering.

    Parameters
    ----------
    ends_at_1
        Whether 1 is the best there is.
    of_labels
        Whether labels suffice; others need centres.
    """

    name: str
    better: Literal["higher", "lower"]
    of: Measure
    ends_at_1: bool = False
    of_labels: bool = True


@dataclass(frozen=True, eq=False)
class Comparison:
    """The clustering to score, the plain one, and the ones that know nothing."""

    result: Clustering
    plain: Clustering
    controls: tuple[Clustering, ...]
    shuffled: Clustering

    def line(self, score: Score) -> dict[str, Any]:
        """Return one row of the table."""
        value, plain = _number(score.of(self.result)), _number(score.of(self.plain))
        controls = self._control_values(score)
        control = fmean(controls) if controls else None
        shuffled = _number(score.of(self.shuffled)) if score.of_labels else None
        closed = _closed(value, plain, control)
        return {
            "score": score.name,
            "value": value,
            "plain": plain,
            "control": control,
            "shuffled": shuffled,
            "closed": closed,
            "better": score.better,
            "note": _note(score, value, controls, closed),
        }

    def _control_values(self, score: Score) -> list[float]:
        usable = [one for one in self.controls if score.of_labels or one.centers is not None]
        return [value for one in usable if (value := _number(score.of(one))) is not None]


def controls_of(control: Any) -> list[Any]:
    """Return the controls as a list: none, one, or several; a list of numbers is one labelling.

    Parameters
    ----------
    control
        As given to ``score``.
    """
    if control is None:
        return []
    is_list = isinstance(control, list | tuple) and bool(control)
    many = is_list and (hasattr(control[0], "predict") or np.ndim(control[0]) > 0)
    return list(control) if many else [control]


def _measures(
    scored_rows: _ScoredRows, comparison: Comparison, random_state: int
) -> Iterator[Score]:
    plain, X = comparison.plain, scored_rows.scaled
    yield from agreement_scores(plain)
    if X is None:
        return
    drawn = {"most": _COMPARED, "random_state": random_state}
    yield Score(
        "silhouette", "higher", lambda clustering: silhouette(X, clustering.labels, **drawn)
    )
    yield Score(
        "calinski_harabasz", "higher", lambda clustering: calinski_harabasz(X, clustering.labels)
    )
    yield Score("davies_bouldin", "lower", lambda clustering: davies_bouldin(X, clustering.labels))
    if comparison.result.centers is not None and plain.centers is not None:
        yield from _center_scores(X, plain.centers, comparison.result.count != plain.count)


def agreement_scores(plain: Clustering) -> Iterator[Score]:
    """Return the scores that compare labels with the plain ones."""
    for name, agreement in _AGREEMENTS.items():
        yield Score(name, "higher", _agreement_with(agreement, plain), ends_at_1=True)
    yield Score("mi", "higher", _agreement_with(mi, plain))
    yield Score("normalised_mirkin", "lower", _agreement_with(_normalised_mirkin, plain))


def _center_scores(X: Any, plain: Any, of_other_numbers: bool) -> Iterator[Score]:
    measures: dict[str, Callable[[Any], float]] = {
        "normalised_inertia": lambda centers: normalised_inertia(X, centers, plain),
        "centroid_index": lambda centers: centroid_index(plain, centers),
        "aee": lambda centers: center_errors(plain, centers).aee,
        "relative_aee": lambda centers: center_errors(plain, centers).relative_aee,
    }
    if of_other_numbers:
        measures |= {
            "missing_centers": lambda centers: len(center_errors(plain, centers).missing),
            "spurious_centers": lambda centers: len(center_errors(plain, centers).spurious),
        }
    for name, measure in measures.items():
        yield Score(name, "lower", _measure_of_centers(measure), of_labels=False)


def _agreement_with(agreement: Callable[..., float], plain: Clustering) -> Measure:
    return lambda clustering: agreement(plain.labels, clustering.labels)


def _normalised_mirkin(true: Integers, predicted: Integers) -> float:
    """Compute the Mirkin metric over n^2 (Meila 2007), so that tables of any length compare."""
    return mirkin(true, predicted) / len(true) ** 2 if len(true) else math.nan


def _measure_of_centers(measure: Callable[[Any], float]) -> Measure:
    return lambda clustering: measure(clustering.centers)


_AGREEMENTS = {
    "ami": ami,
    "ari": ari,
    "nmi": nmi,
    "rand_index": rand_index,
    "fowlkes_mallows": fowlkes_mallows,
}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _closed(value: float | None, plain: float | None, control: float | None) -> float | None:
    """Return how much of the gap between the control and the plain answer is closed."""
    if value is None or plain is None or control is None or math.isclose(plain, control):
        return None
    return (value - control) / (plain - control)


def _note(
    score: Score, value: float | None, controls: Sequence[float], closed: float | None
) -> str | None:
    if value is None:
        return "not defined for these clusters"
    if not controls:
        return "no control was run: the score alone may mislead"
    if closed is None:
        return "nothing to gain: it is as good without data"
    best = max(controls) if score.better == "higher" else min(controls)
    if closed <= 0 or (value > best) != (score.better == "higher"):
        return NO_BETTER
    if score.ends_at_1 and fmean(controls) > HIGH:
        return "says little: it is high without data"
    return None
