"""Differentially private k-means, as good as plain k-means where there are rows enough."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np

from shoal.cluster import choose as choices
from shoal.cluster.kmeans.ball import Rings
from shoal.cluster.kmeans.cells import cell_points, centers_of_cells
from shoal.cluster.kmeans.centroids import CentroidClusterer
from shoal.cluster.kmeans.hybrid import hybrid
from shoal.cluster.kmeans.lloyd import lloyd
from shoal.cluster.kmeans.location import about_the_middle
from shoal.cluster.kmeans.plan import FEW_AXES
from shoal.cluster.kmeans.refinement import begin
from shoal.cluster.kmeans.settings import (
    CellSettings,
    Method,
    check_clusterer,
    check_delta,
    check_settings,
    counts_of,
)
from shoal.cluster.kmeans.weighted import Clusterer
from shoal.cluster.kmeans.work import Found, Work
from shoal.cluster.noise_sum import NoiseSum
from shoal.cluster.totals import Totals, settle, warn_if_none_is_told
from shoal.domain import Box
from shoal.engine import Rows
from shoal.errors import InvalidSetting, setting
from shoal.estimator import ROWS_SHARE, Neighbours, noisy_size
from shoal.privacy import ApproxDP, Ledger, PureDP
from shoal.privacy.page import Page
from shoal.randomness import Randomness, Seed
from shoal.synopsis.base import Synopsis
from shoal.synopsis.weights import Negative

__all__ = ["PrivateKMeans"]


class PrivateKMeans(CentroidClusterer):
    r"""k-means whose centres may be published.

    Up to five columns, cells of an adaptive grid find the clusters and one step towards noisy means
    refines their centres. In more columns the rows are first located, then seen along a few axes,
    and many small clusters are found and refined before the wanted ones are. Row labels are not
    published: the holder of the rows calls ``predict``.

    Guarantee
    ---------
    :math:`\varepsilon`-DP when a row is added or removed (or as ``neighbours`` and
    ``max_rows_per_person`` say); with ``delta``, :math:`(\varepsilon, \delta)`-DP. See
    ``estimator.proof.md``.

    Parameters
    ----------
    n_clusters
        How many, or several numbers to choose among, e.g. ``range(2, 21)``.
    epsilon, domain
        The budget of one ``fit``, the publisher's to defend; public bounds, to which rows are
        moved. Every column counts by the width of its bounds. 256 columns at most.
    method
        "auto", or one of the published ways: "adaptive-grid", "uniform-grid", "privtree" (k-means
        of the cells of such a synopsis), "lloyd" (noisy iterations), "hybrid" (a uniform grid,
        then such an iteration where it will pay).
    delta
        Lets the steps take Gaussian noise where that is less: from about 14 columns on for a delta
        of 1e-6, 30 for 1e-10. None: no such chance of failure.
    refine
        Take steps towards noisy means where they will pay. Without, centres are those of the
        cells. "lloyd" and "hybrid" have their own steps.
    consistency, negative
        Of the cells: see `shoal.synopsis.AdaptiveGrid`. The two-level grid as first printed is
        ``method="adaptive-grid", consistency=False, negative="zero", refine=False``.
    choose
        How to choose among several numbers of clusters: "elbow", "silhouette" or "gap", at no cost.
    spark_kmeans
        Whose k-means clusters the cells: "sklearn", on this machine, or "mllib", the Spark
        session's, for more cells than this machine holds. It finds poorer optima.
    neighbours, entity, max_rows_per_person, n_public, nonfinite, ledger, random_state
        As for every private estimator: see ``shoal.synopsis.PrivateEstimator``.

    Attributes
    ----------
    cluster_centers_
        One line each, in the rows' units.
    cluster_weights_
        The noisy number of rows of each, from 0 up; together ``n_rows_``.
    expected_error_
        How far the noise of the last release alone moves each centre, root mean square, in half
        sides of the box; at most its diagonal.
    synopsis_
        The cells it began with, or None for "lloyd": publishable, and free to use again.
    n_rows_, n_rows_within_, n_clusters_
        The noisy or public number of rows, and what noise moves it by at most in 95 of 100
        releases, 0 if it is public; how many clusters.
    groups_told_, rows_told_, size_reach_
        Whether each cluster, and the table, can be told from nobody; what noise alone would count
        in each cluster, in one of 1,000 releases of a table of nobody for all clusters together.
        Where none can be told, ``fit`` warns with ``shoal.errors.NoGroupsTold``: the release is
        paid for, and stays.
    guarantee_
        What was promised to each person.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 500, axis=0)
    >>> model = PrivateKMeans(2, epsilon=1.0, domain=Box.unit(2), random_state=7).fit(X)
    >>> sorted(model.cluster_centers_.round(1).tolist())
    [[0.2, 0.2], [0.8, 0.8]]

    References
    ----------
    Su, Cao, Li, Bertino, Jin, Differentially private k-means clustering, CODASPY 2016 (uniform
    grid, DPLloyd, hybrid); Qardaji, Yang, Li, Differentially private grids for geospatial data,
    ICDE 2013; Hardt, Talwar, On the geometry of differential privacy, STOC 2010 (the steps' noise).
    """

    def __init__(
        self,
        n_clusters: int | Sequence[int] = 8,
        *,
        epsilon: Any,
        domain: Box | None,
        method: Method = "auto",
        delta: Any = None,
        refine: bool = True,
        consistency: bool = True,
        negative: Negative = "norm-cut",
        choose: Literal["elbow", "silhouette", "gap"] = "elbow",
        spark_kmeans: Clusterer = "sklearn",
        neighbours: Neighbours = "add-remove",
        entity: str | None = None,
        max_rows_per_person: int | None = None,
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: Ledger | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.domain = domain
        self.method = method
        self.delta = delta
        self.refine = refine
        self.consistency = consistency
        self.negative = negative
        self.choose = choose
        self.spark_kmeans = spark_kmeans
        self.neighbours = neighbours
        self.entity = entity
        self.max_rows_per_person = max_rows_per_person
        self.n_public = n_public
        self.nonfinite = nonfinite
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: None = None, sample_weight: None = None) -> Self:
        """Find centres, once paid for.

        Parameters
        ----------
        X
            Rows: an array, a frame, of Spark too, a table, the path of a file.
        y
            Ignored.
        sample_weight
            Refused: a row of weight w would change counts by w, and the noise is for 1.
        """
        if sample_weight is not None:
            raise InvalidSetting(
                setting("sample_weight")
                + " came: a row that counts more than once needs more noise than this.",
                "Leave it out; for people with several rows give "
                + setting("entity")
                + " and "
                + setting("max_rows_per_person")
                + ".",
            )
        super().fit(X)
        if self.synopsis_ is not None:  # they were released on one page, and tell of one total
            self.synopsis_.guarantee_, self.synopsis_.n_rows_ = self.guarantee_, self.n_rows_
        warn_if_none_is_told(self.groups_told_, self.rows_told_)
        return self

    def spend(self, rows: Rows, page: Page, budget: Any, rng: Randomness) -> Self:
        """Do the work of ``fit`` on somebody's page, for this share of its budget."""
        check_settings(self, rows.domain)
        check_delta(budget)
        rings = self._first_look(rows)
        n_rows, left, noise = self._known_size(rows), Fraction(1), None
        if n_rows is None:
            left = 1 - ROWS_SHARE  # [P1]
            share = PureDP(budget.epsilon * ROWS_SHARE)
            n_rows = noisy_size(rows, page, share, rng.noise)
            noise = NoiseSum.geometric(float(share.epsilon))
        work = Work(rows, page, rng, budget, n_rows, left, rings)
        self.synopsis_, found = self._found(work)
        return self._keep(found, settle(n_rows, noise, found.counted, found.sizes))

    @classmethod
    def from_synopsis(
        cls,
        synopsis: Synopsis,
        n_clusters: int | Sequence[int],
        *,
        spark_kmeans: Clusterer = "sklearn",
        random_state: Seed = None,
    ) -> Self:
        """Centres of the cells of a fitted synopsis: any number of times, at no further cost.

        Parameters
        ----------
        synopsis
            Fitted; its guarantee covers whatever is made of it.
        n_clusters
            How many, or several numbers to choose among.
        spark_kmeans
            Whose k-means: "sklearn" or "mllib".
        random_state
            Of the runs of k-means; these draws protect nothing.
        """
        check_clusterer(spark_kmeans)
        settings = {"epsilon": synopsis.epsilon, "domain": synopsis.domain}
        own: dict[str, Any] = {"spark_kmeans": spark_kmeans, "random_state": random_state}
        model = cls(n_clusters, **settings, **own, refine=False)
        cells, rng = cell_points(synopsis, by=spark_kmeans), Randomness(random_state)
        k = model._chosen(synopsis, rng)
        model.synopsis_, model.guarantee_ = synopsis, synopsis.guarantee_
        found = centers_of_cells(cells, k, rng)
        totals = settle(synopsis.n_rows_, None, found.counted, found.sizes)
        model._keep(found, replace(totals, within=synopsis.rows_within()))
        warn_if_none_is_told(model.groups_told_, model.rows_told_)
        return model

    def _promise(self) -> Any:
        pure = super()._promise()
        if self.delta is None:
            return pure
        return ApproxDP(pure.epsilon, self.delta, neighbours=pure.neighbours, rows=pure.rows)

    def _release_name(self, rows: Rows) -> str:
        counts = counts_of(self.n_clusters)
        if len(counts) > 1:
            return f"{counts[0]} to {counts[-1]} groups"
        return f"{counts[0]} {'group' if counts[0] == 1 else 'groups'}"

    def _first_look(self, rows: Rows) -> Rings | None:
        """What a wide table will be located by: read first, so that its size comes with it."""
        wide = self.method == "auto" and len(rows.domain.names) > FEW_AXES  # type: ignore[union-attr]
        return about_the_middle(rows) if wide else None

    def _found(self, work: Work) -> tuple[Synopsis | None, Found]:
        counts = counts_of(self.n_clusters)
        if self.method == "lloyd":
            return None, lloyd(work, counts[0])  # [P2]
        if self.method == "hybrid":
            return hybrid(work, counts[0], self.spark_kmeans, negative=self.negative)  # [P3]
        how = (self.refine, self.consistency, self.negative, self.spark_kmeans)
        asked = CellSettings(self.method, *how)
        synopsis, refinement = begin(work, counts[-1], asked)  # [P4]
        return synopsis, refinement.centers(self._chosen(synopsis, work.rng))  # [P5]

    def _chosen(self, synopsis: Synopsis, rng: Randomness) -> int:
        counts = counts_of(self.n_clusters)
        if len(counts) == 1:
            return counts[0]
        return choices.k(synopsis, by=self.choose, among=counts, random_state=rng.seed()).value

    def _keep(self, found: Found, totals: Totals) -> Self:
        self.cluster_centers_ = self._bounds.unscale(found.centers, -1, 1)
        self.n_rows_, self.n_rows_within_ = totals.n_rows, totals.within
        self.cluster_weights_, self.size_reach_ = totals.sizes, totals.reach
        self.groups_told_, self.rows_told_ = totals.told, totals.rows_told
        self.expected_error_ = np.minimum(found.errors, 2 * math.sqrt(self._bounds.d))
        self.n_clusters_ = len(found.centers)
        self.n_features_in_ = self._bounds.d
        return self
