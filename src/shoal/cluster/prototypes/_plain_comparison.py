"""Plain k-prototypes, which adds no noise, and scores of groups beside it and beside no data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Floats, Integers
from shoal.cluster._groups_display import GroupsMixin
from shoal.cluster.figures import profile_of_group
from shoal.cluster.prototypes._group_measurements import Assignment, NearestPrototypes, total_cost
from shoal.cluster.prototypes._mixed_rows import (
    MixedRows,
    Prototypes,
    every_row,
    hold_rows,
    prototype_table,
)
from shoal.cluster.prototypes._profile_estimates import plain_profiles
from shoal.cluster.prototypes._search import find_prototypes
from shoal.domain import Schema
from shoal.engine import rows_of
from shoal.errors import InvalidSetting
from shoal.estimator import NotebookDisplay
from shoal.evaluate import gower_silhouette
from shoal.evaluate.array_checks import check_labels, check_same_length
from shoal.evaluate.score_table import (
    SCHEMA,
    Clustering,
    Comparison,
    Score,
    agreement_scores,
    controls_of,
)
from shoal.figures import Figure
from shoal.privacy import Unprotected
from shoal.randomness import Randomness, Seed
from shoal.synopsis.mixed import mixed_columns

_STARTS = 10  # of plain k-prototypes


class ScoredPrototypes:
    """What models with prototypes have for ``evaluate.score``: a table of scores of their groups.

    Classes that use it have ``domain``, a schema, and ``_prototypes`` once they are fitted.
    """

    domain: Any
    _prototypes: Prototypes

    def score_table(
        self, rows: Any, *, against: Any = None, control: Any = None, random_state: int = 0
    ) -> pa.Table:
        """Score the groups as ``evaluate.score`` does; the table is for the holder of the rows.

        Parameters
        ----------
        against
            Labels, or a model with prototypes; left out, plain k-prototypes with as many groups.
        """
        if not hasattr(self, "_prototypes"):
            raise NotFittedError(f"This {type(self).__name__} has no prototypes yet.")
        if rows is None:
            raise InvalidSetting("A model needs rows to label.", "Give rows=X.")
        held = rows if isinstance(rows, MixedRows) else hold_rows(rows, every_row(self.domain))
        own = _clustering(held, self)
        plain = self._plain(held, against, random_state)
        controls = tuple(_clustering(held, one) for one in controls_of(control))
        comparison = Comparison(own, plain, controls, own.shuffled(random_state))
        lines = [comparison.line(score) for score in _scores(held, plain, random_state)]
        return pa.Table.from_pylist(lines, schema=SCHEMA)

    def _plain(self, held: MixedRows, against: Any, seed: int) -> Clustering:
        if against is not None:
            return _clustering(held, against)
        rng = np.random.default_rng(seed)
        prototypes = find_prototypes(held, len(self._prototypes), rng, _STARTS)
        return _of_prototypes(held, prototypes)


class KPrototypes(
    GroupsMixin,
    NotebookDisplay,
    ScoredPrototypes,
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Plain k-prototypes on the same scale and cost as ``PrivateKPrototypes``.

    Its labels and prototypes tell of single rows: it is for the holder, to compare with.

    Parameters
    ----------
    n_clusters
        How many groups.
    domain
        A schema, as for ``PrivateKPrototypes``.
    n_init
        How many starts; half from k-means++ in the mixed cost, half from k-means on one-hot rows.
    random_state
        The seed of the starts.

    Attributes
    ----------
    prototypes_
        The mean of each number and the mode of each category, as a table with a line for each
        group.
    labels_, cost_
        The group of each row, and the cost of all rows to their prototypes.
    cluster_sizes_, is_certain_
        The number of rows of each group, without noise, and whether it has any.
    profiles_
        What is typical of each group beside everyone, without noise.
    n_clusters_, feature_names_in_
        How many groups; the columns of the schema.

    Examples
    --------
    >>> schema = Schema.of({"version": 1, "columns": {"level": {"values": ["basic", "higher"]}}})
    >>> KPrototypes(2, domain=schema, random_state=0).fit({"level": ["basic", "higher"]}).cost_
    0.0

    References
    ----------
    Huang, Extensions to the k-means algorithm for clustering large data sets with categorical
    values, 1998.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        domain: Schema | None = None,
        n_init: int = 10,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.domain = domain
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find prototypes of the rows, which are held in memory.

        Parameters
        ----------
        X
            Rows of any kind.
        y
            Ignored.
        """
        rows = hold_rows(X, self.domain)
        rng = Randomness(self.random_state).compute
        self._prototypes = find_prototypes(rows, self.n_clusters, rng, self.n_init)
        self.labels_ = rows.labels(self._prototypes)
        self.cost_ = -self.score(X)
        self.prototypes_ = prototype_table(rows.columns, self._prototypes)
        self.n_clusters_ = len(self._prototypes)
        self.cluster_sizes_ = np.bincount(self.labels_, minlength=self.n_clusters_)
        self.is_certain_ = self.cluster_sizes_ > 0
        self.profiles_ = plain_profiles(rows, self.labels_, self._prototypes)
        self.feature_names_in_ = np.array(self._schema().columns, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.guarantee_ = Unprotected("plain k-prototypes adds no noise")
        return self

    def predict(self, X: Any) -> Any:
        """Return the nearest prototype of each row.

        Parameters
        ----------
        X
            Rows.
        """
        return (
            rows_of(X, self._schema())
            .map(NearestPrototypes(self._assignment()), ["label"])
            .like_input(squeeze=True)
        )

    def score(self, X: Any, y: None = None) -> float:
        """Return minus the cost of all rows to their nearest prototypes.

        Parameters
        ----------
        X
            Rows.
        y
            Ignored.
        """
        return -total_cost(rows_of(X, self._schema()), self._assignment())

    def plot(self, group: int | None = None) -> Figure:
        """Draw the profile of a group beside everyone: true values, for the holder of the rows.

        Parameters
        ----------
        group
            Its number, from 1; None takes the largest group.
        """
        check_is_fitted(self, "_prototypes")
        return profile_of_group(self.profiles_, group, noisy=False)

    def _group_values(self) -> dict[str, Sequence[Any]]:
        values: dict[str, Sequence[Any]] = self.prototypes_.to_pydict()
        return values

    def _schema(self) -> Schema:
        mixed_columns(self.domain)  # refuses what is no schema
        assert isinstance(self.domain, Schema)
        return self.domain

    def _assignment(self) -> Assignment:
        check_is_fitted(self, "_prototypes")
        return Assignment(self._schema(), self._prototypes)


def _clustering(held: MixedRows, of: Any) -> Clustering:
    """Return the groups of a model with prototypes, or labels as given."""
    if hasattr(of, "_prototypes"):
        return _of_prototypes(held, of._prototypes)
    labels = check_labels(of)
    check_same_length(held.numbers, labels, "labels")
    return Clustering(labels)


def _of_prototypes(held: MixedRows, prototypes: Prototypes) -> Clustering:
    """Return labels, and prototypes as points whose squared distances are costs."""
    points = MixedRows(held.columns, prototypes.numbers, prototypes.codes).points
    return Clustering(held.labels(prototypes), points)


def _scores(held: MixedRows, plain: Clustering, seed: int) -> Iterator[Score]:
    yield from agreement_scores(plain)
    yield Score("gower_silhouette", "higher", lambda one: _silhouette(held, one.labels, seed))
    if plain.centers is not None:
        least = _cost(held, plain.centers)
        yield Score("normalised_cost", "lower", _CostRatio(held, least), of_labels=False)


def _silhouette(held: MixedRows, labels: Integers, seed: int) -> float:
    columns = held.columns
    return gower_silhouette(
        held.numbers,
        held.codes,
        labels,
        number_weights=columns.number_weights,
        category_weights=columns.category_weights,
        random_state=seed,
    )


@dataclass(frozen=True, eq=False)
class _CostRatio:
    """The mixed cost over that of plain prototypes; NaN if those cost nothing and these do."""

    held: MixedRows
    least: float

    def __call__(self, one: Clustering) -> float:
        assert one.centers is not None
        cost = _cost(self.held, one.centers)
        if self.least > 0:
            return cost / self.least
        return 1.0 if cost == 0 else math.nan


def _cost(held: MixedRows, centers: Floats) -> float:
    squares = np.square(held.points).sum(axis=1)
    nearest = np.full(len(held), np.inf)
    for center in centers:
        apart = squares - 2 * (held.points @ center) + center @ center
        np.minimum(nearest, apart, out=nearest)
    return float(np.maximum(nearest, 0.0).sum())
