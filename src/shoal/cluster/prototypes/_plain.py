"""k-prototypes without noise, for comparison: it promises nothing."""

from typing import Any, Self

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from shoal.cluster.prototypes._search import find_prototypes
from shoal.cluster.prototypes.evaluation import ScoredPrototypes
from shoal.cluster.prototypes.held_rows import hold_rows
from shoal.cluster.prototypes.measure import Assignment
from shoal.cluster.prototypes.verbs import CostSum, Labels
from shoal.domain import Schema
from shoal.engine import rows_of
from shoal.privacy import Unprotected
from shoal.randomness import Randomness, Seed
from shoal.synopsis.mixed.columns import mixed_columns

_STEPS = 2**24


class KPrototypes(ScoredPrototypes, ClusterMixin, BaseEstimator):  # type: ignore[misc]
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
            .map(Labels(self._assignment()), ["label"])
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
        (total,) = rows_of(X, self._schema()).sum(CostSum(self._assignment(), _STEPS))
        return -float(total[0]) / _STEPS

    def _schema(self) -> Schema:
        mixed_columns(self.domain)  # refuses what is no schema
        assert isinstance(self.domain, Schema)
        return self.domain

    def _assignment(self) -> Assignment:
        check_is_fitted(self, "_prototypes")
        return Assignment(self._schema(), self._prototypes)
