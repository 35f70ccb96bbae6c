"""How useful a release is for analysts: distributions, associations, and models of a column.

All of it compares the release with the original rows, so it is for the holder of the table only.
"""

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.anonymize._policy import Policy
from shoal.anonymize.codec import published_names
from shoal.anonymize.equivalence_classes import count_rows, number_classes
from shoal.anonymize.hierarchies._hierarchy import as_text
from shoal.anonymize.search_problem import Problem
from shoal.anonymize.table import QueriedTable
from shoal.arrays import Floats, Integers
from shoal.data.column_names import missing_columns_error
from shoal.errors import InvalidSetting, TooFewRows

_MOST_ROWS = 20_000  # rows that models are trained and tested on
_MOST_VALUES = 200  # values of a feature that are told apart; the others are one
_FOLDS = 3
_DENSE = 2**22  # up to this many cells a table of all is faster than sorting


@dataclass(frozen=True)
class ColumnChange:
    """The distribution of a column before a release, and as its labels tell it after.

    Parameters
    ----------
    after
        The share that a reader would guess: a label's rows spread evenly over its leaves.
    """

    name: str
    values: tuple[str, ...]
    before: Floats
    after: Floats

    @property
    def distance(self) -> float:
        """The share of rows that would have to move: half the sum of differences."""
        return float(np.abs(self.before - self.after).sum() / 2)


@dataclass(frozen=True)
class _Association:
    """How strongly two columns go together before and after, as Cramér's V from 0 to 1."""

    columns: tuple[str, str]
    before: float
    after: float


def column_changes(
    problem: Problem, labels: NDArray[np.int32], suppressed: NDArray[np.bool_]
) -> list[ColumnChange]:
    """Return how the distribution of each quasi-identifier changes.

    Parameters
    ----------
    labels
        int32 (F, d): the label of each line.
    suppressed
        bool (F,): lines that are not published.

    Examples
    --------
    >>> from shoal.anonymize.search_problem import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0], [0], [0], [1]], k=2)
    >>> young = np.full((2, 1), 1, dtype=np.int32)
    >>> (change,) = column_changes(table, young, np.zeros(2, dtype=bool))
    >>> change.before.tolist(), change.after.tolist(), change.distance
    ([0.75, 0.25, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], 0.25)
    """
    live, changes = ~suppressed, []
    for q, (name, tree) in enumerate(zip(problem.names, problem.trees, strict=True)):
        size = tree.taxonomy.size
        before = np.bincount(problem.codes[:, q], problem.n, minlength=size).astype(np.float64)
        rows = np.bincount(labels[live, q], problem.n[live], minlength=tree.size)
        spread = np.zeros(size + 1)
        np.add.at(spread, tree.low, rows / (tree.high - tree.low))
        np.add.at(spread, tree.high, -rows / (tree.high - tree.low))
        after = np.cumsum(spread)[:-1]
        changes.append(
            ColumnChange(name, tuple(tree.taxonomy.leaves), _shares(before), _shares(after))
        )
    return changes


def _shares(counts: Floats) -> Floats:
    return np.asarray(np.maximum(counts, 0) / max(float(counts.sum()), 1e-300))


def associations(
    problem: Problem, labels: NDArray[np.int32], suppressed: NDArray[np.bool_]
) -> list[_Association]:
    """Return Cramér's V of each pair of quasi-identifiers before and after, strongest first.

    Parameters
    ----------
    labels
        int32 (F, d): the label of each line.
    suppressed
        bool (F,): lines that are not published.
    """
    before = [column.astype(np.int64) for column in problem.codes.T]
    after, rows = _label_columns(problem, labels, suppressed)
    pairs = [
        _Association(
            (problem.names[a], problem.names[b]),
            _cramers_v(before[a], before[b], problem.n),
            _cramers_v(after[a], after[b], rows),
        )
        for a, b in combinations(range(problem.d), 2)
    ]
    return sorted(pairs, key=lambda each: -each.before)


def _label_columns(
    problem: Problem, labels: NDArray[np.int32], suppressed: NDArray[np.bool_]
) -> tuple[list[Integers], Integers]:
    """Return the labels of each class, column by column, and its rows: far fewer than lines."""
    classes = number_classes(labels, suppressed)
    live = classes.ids >= 0
    of_class = np.zeros((classes.size, problem.d), dtype=np.int64)
    of_class[classes.ids[live]] = labels[live]
    return list(of_class.T), count_rows(problem, classes)


def _cramers_v(a: Integers, b: Integers, n: Integers) -> float:
    """Return Cramér's V, 0 where a column has one value only."""
    cells, row_sums, column_sums = _cross_table(a, b, n)
    total, least = float(n.sum()), min((row_sums > 0).sum(), (column_sums > 0).sum()) - 1
    if least < 1 or not total:
        return 0.0
    # Sum over occupied cells of observed^2 / expected, less 1: empty cells add nothing.
    counts, of_row, of_column = cells
    phi = float((counts**2 / (row_sums[of_row] * column_sums[of_column])).sum()) - 1
    return float(np.sqrt(max(phi, 0.0) / least))


def _cross_table(a: Integers, b: Integers, n: Integers) -> tuple[tuple[Any, Any, Any], Any, Any]:
    """Return occupied cells (rows, and where they are), and the sums of both columns."""
    row_sums, column_sums = np.bincount(a, n), np.bincount(b, n)
    width, key = len(column_sums), a * len(column_sums) + b
    if len(row_sums) * width <= _DENSE:
        every = np.bincount(key, n)
        place = np.flatnonzero(every)
        counts = every[place]
    else:
        place, of = np.unique(key, return_inverse=True)
        counts = np.bincount(of, n)
    return (counts, place // width, place % width), row_sums, column_sums


@dataclass(frozen=True)
class _ModelScore:
    """How well a column is predicted from the others.

    Parameters
    ----------
    auc
        The area under the ROC curve, averaged over the column's values; 0.5 is a guess.
    """

    accuracy: float
    auc: float
    rows: int


@dataclass(frozen=True)
class ClassificationReport:
    """A column predicted from the original rows, from the released ones, and by its majority.

    Parameters
    ----------
    majority
        The share of the commonest value: what is right without a model.
    """

    target: str
    original: _ModelScore
    released: _ModelScore
    majority: float
    warnings: tuple[str, ...] = ()


def classification_report(
    policy: Policy, original: Any, released: Any, target: str, seed: int = 1
) -> ClassificationReport:
    """Compare how well a column is predicted from original and from released rows.

    Logistic regression on all published columns but the target, each label a feature of its own;
    three folds, at most 20,000 rows of each table.

    Parameters
    ----------
    target
        The column to predict; published as it is, or a quasi-identifier.
    Raises
    ------
    InvalidSetting
        If the target is not published, has one value only, or nothing is left to predict it from.
    UnknownColumn, TooFewRows
        If a table lacks one of the columns, or has no rows.
    """
    published = [*policy.names("quasi"), *policy.names("sensitive"), *policy.names("other")]
    if target not in published:
        raise InvalidSetting(
            f"{target!r} is not a published column of the policy.",
            f"Choose one of {', '.join(published)}.",
            setting="target",
        )
    features = [name for name in policy.names("quasi") if name != target]
    if not features:
        raise InvalidSetting(
            f"{target!r} is the only quasi-identifier: nothing is left to predict it from.",
            "Choose another column.",
            setting="target",
        )
    names = [*features, target]
    before = _columns(original, {name: (name,) for name in names}, seed)
    after = _columns(released, {name: published_names(policy, name) for name in names}, seed)
    counts = np.unique(before[target], return_counts=True)[1]
    return ClassificationReport(
        target,
        _score(before, target, seed),
        _score(after, target, seed),
        float(counts.max() / counts.sum()),
        tuple(_warnings(policy, target)),
    )


def _warnings(policy: Policy, target: str) -> list[str]:
    if target not in policy.names("quasi"):
        return []
    return [
        f"{target!r} is itself a quasi-identifier: groups were made to agree in it, so the "
        "released table may look easier to predict than the original. Give it another role, "
        "release again, and compare that."
    ]


def _columns(
    X: Any, columns: dict[str, tuple[str, ...]], seed: int
) -> dict[str, NDArray[np.object_]]:
    """Return columns as texts, of a random part of the rows if they are many.

    Parameters
    ----------
    columns
        Under which names each column is published: two for bounds.
    """
    table, wanted = QueriedTable(X), [name for names in columns.values() for name in names]
    if not {*wanted} <= {*table.names}:
        raise missing_columns_error(wanted, table.names, f"of {len(wanted)} columns to compare")
    batches = list(table.batches(wanted))
    if not sum(batch.num_rows for batch in batches):
        raise TooFewRows("The table has no rows.", "Give one with rows to predict a column from.")
    rows = pa.Table.from_batches(batches)
    if rows.num_rows > _MOST_ROWS:
        chosen = np.random.default_rng(seed).choice(rows.num_rows, _MOST_ROWS, replace=False)
        rows = rows.take(pa.array(np.sort(chosen)))
    texts = {name: as_text(rows[name].combine_chunks()).fill_null("") for name in wanted}
    joined = {
        name: pc.binary_join_element_wise(*(texts[each] for each in names), " ")
        for name, names in columns.items()
    }
    return {name: text.to_numpy(zero_copy_only=False).astype(str) for name, text in joined.items()}


def _score(columns: dict[str, NDArray[np.object_]], target: str, seed: int) -> _ModelScore:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    y = columns[target]
    values, counts = np.unique(y, return_counts=True)
    common = values[counts >= _FOLDS]
    keep = np.isin(y, common)
    if len(common) < 2:
        raise InvalidSetting(
            f"{target!r} has fewer than two values to tell apart.", "Choose another column."
        )
    X = np.stack([of[keep] for name, of in columns.items() if name != target], axis=1)
    encoder = OneHotEncoder(handle_unknown="ignore", max_categories=_MOST_VALUES)
    model = make_pipeline(encoder, LogisticRegression(max_iter=200))
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that stops early is still a fair comparison
        chances = cross_val_predict(model, X, y[keep], cv=folds, method="predict_proba")
    guesses = common[chances.argmax(axis=1)]
    if len(common) == 2:
        auc = roc_auc_score(y[keep], chances[:, 1])
    else:
        auc = roc_auc_score(y[keep], chances, multi_class="ovr", average="macro")
    return _ModelScore(float((guesses == y[keep]).mean()), float(auc), int(keep.sum()))
