"""Differentially private k-means, as good as plain k-means where there are rows enough."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from shoal.arrays import Floats
from shoal.bounds_check import Clipping
from shoal.cluster import choose as choices
from shoal.cluster.group_sizes import (
    NoiseSum,
    Totals,
    combine_counts,
    noise_of_rows,
    warn_if_no_group_is_certain,
)
from shoal.cluster.kmeans._budget_plan import (
    FEW_AXES,
    MOST_CELLS,
    KMeansPlan,
    direction_share,
    hardness,
    location_share,
    make_plan,
    part_share,
    plan_of_halves,
    share_gaussian,
    steps_alone,
    takes_halves,
    takes_one_mean,
)
from shoal.cluster.kmeans._cells import (
    NoisyClusters,
    cell_points,
    centers_of_cells,
    clusters_about_one_mean,
    join_small_clusters,
    weighted_cells,
)
from shoal.cluster.kmeans._centroids import CentroidClusterer
from shoal.cluster.kmeans._location import (
    MEAN,
    Location,
    find_one_mean,
    find_part,
    find_rows,
    rings_about_middle,
)
from shoal.cluster.kmeans._noisy_means import Rings, read_rings, take_step
from shoal.cluster.kmeans._published_methods import hybrid, lloyd
from shoal.cluster.kmeans._settings import (
    WITH_OWN_STEPS,
    Method,
    check_clusterer,
    check_delta,
    check_settings,
    cluster_numbers,
    method_from_settings,
    method_to_settings,
    synopsis_of_method,
)
from shoal.cluster.kmeans._weighted_kmeans import Clusterer, find_centers
from shoal.domain import Box, Schema, View
from shoal.engine import Rows
from shoal.errors import InvalidSetting, setting
from shoal.estimator import (
    Spending,
    box_of,
    promise_from_settings,
    promise_to_settings,
)
from shoal.privacy import ApproxDP, LedgerOrPath, PureDP
from shoal.randomness import Randomness, Seed
from shoal.synopsis import AdaptiveGrid, Synopsis, UniformGrid

_PUBLIC_RUNS = 20  # of k-means on the public rows


class PrivateKMeans(CentroidClusterer):
    r"""k-means whose centres may be published.

    Where rows are many it is first measured where they lie. Up to five columns, cells of an
    adaptive grid find the clusters and one or two steps towards noisy means refine their centres.
    In more columns the rows are seen along a few axes, and many small clusters are found and
    refined before the wanted ones are. Row labels are not published: the holder of the rows calls
    ``predict``.

    Guarantee
    ---------
    :math:`\varepsilon`-DP when a row is added or removed, or as ``privacy`` and a schema say; with
    ``privacy=ApproxDP(...)``, :math:`(\varepsilon, \delta)`-DP. See ``estimator.proof.md``.

    Parameters
    ----------
    n_clusters
        How many, or several numbers to choose among, e.g. ``range(2, 21)``.
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``; the publisher's to defend.
    privacy
        The whole promise, where more than epsilon is to be said. ``ApproxDP(1, 1e-6)`` lets all
        noisy means share one Gaussian budget where that is less noise: from 6 to 14 columns on, by
        the number of steps; for a delta of 1e-10 from 13 to 30. Give one of the two.
    domain
        Public bounds, to which rows are moved; a schema also says whose each row is. Every column
        counts by the width of its bounds. 256 columns at most.
    method
        "auto", or one of the published ways: "adaptive-grid", "uniform-grid", "privtree" (k-means
        of the cells of such a synopsis), "lloyd" (noisy iterations), "hybrid" (a uniform grid,
        then such an iteration where it will pay). A synopsis that is not fitted, with settings of
        its own, serves as well: the two-level grid as first printed is
        ``method=AdaptiveGrid(consistency=False, negative="zero"), refine=False``.
    init
        Public rows to start from, at least one a cluster, with the columns of the domain in its
        order: last year's open table, a public survey. All of the budget then moves their centres
        towards the means of the rows; that gains much on small tables, if the public rows are like
        them. Never give rows of the table itself. None starts from nothing.
    refine
        Take steps towards noisy means where they will pay. Without, centres are those of the
        cells. "lloyd" and "hybrid" have their own steps.
    choose
        How to choose among several numbers of clusters, at no cost: "simulation", "elbow",
        "silhouette" or "gap", as in ``shoal.choose.k``.
    spark_kmeans
        Whose k-means clusters the cells: "sklearn", on this machine, or "mllib", the Spark
        session's, for more cells than this machine holds. It finds poorer optima.
    clipping, n_public, nonfinite, ledger, random_state
        As for every private estimator: see ``shoal.synopsis.PrivateEstimator``.

    Attributes
    ----------
    cluster_centers_
        One line each, in the rows' units.
    cluster_sizes_
        The noisy number of rows of each, from 0 up; together ``n_rows_``.
    expected_error_
        How far the noise of the last release alone moves each centre, root mean square, in half
        sides of the box; at most its diagonal.
    synopsis_
        The cells it began with, publishable, and free to use again; None for "lloyd", with
        ``init``, and where rows are so few that one mean is all that was bought.
    n_rows_, n_rows_within_, n_clusters_
        The noisy or public number of rows, and what noise moves it by at most in 95 of 100
        releases, 0 if it is public; how many clusters.
    n_rows_beyond_view_, n_rows_beyond_view_within_
        Where cells are fine in a small part of the box only: the noisy number of rows beyond it,
        and what noise moves that by at most in 95 of 100 releases. There cells are as wide as they
        are far, so a group of few rows may be missed. Else None.
    is_certain_, rows_detected_, noise_sizes_
        Whether each cluster, and the table, can be distinguished from noise; what noise alone would
        count in each cluster, in one of 1,000 releases of a table of nobody for all clusters
        together. Where none can, ``fit`` warns with ``shoal.errors.NoGroupsDetected``: the release
        is paid for, and stays.
    cost_curve_
        The cost of each number of clusters that was tried, with the noise in it: a
        ``choose.CostCurve``. None for a single number, and for rules other than "simulation".
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

    _promises = (PureDP, ApproxDP)
    _number: int | None = None

    def __init__(
        self,
        n_clusters: int | Sequence[int] = 8,
        *,
        epsilon: Any = None,
        privacy: PureDP | ApproxDP | None = None,
        domain: Box | Schema | None = None,
        method: Method | Synopsis = "auto",
        init: Any = None,
        refine: bool = True,
        choose: Literal["simulation", "elbow", "silhouette", "gap"] = "simulation",
        spark_kmeans: Clusterer = "sklearn",
        clipping: Clipping = "stop",
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.privacy = privacy
        self.domain = domain
        self.method = method
        self.init = init
        self.refine = refine
        self.choose = choose
        self.spark_kmeans = spark_kmeans
        self.clipping = clipping
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
                + " is not supported: a row that counts more than once would need more noise.",
                "Leave it out; for people with several rows, name the column that tells people "
                "apart in a schema.",
            )
        super().fit(X)
        if self.synopsis_ is not None:  # they were released on one page, and tell of one total
            self.synopsis_.guarantee_, self.synopsis_.n_rows_ = self.guarantee_, self.n_rows_
            self.synopsis_.bounds_check_ = self.bounds_check_
        warn_if_no_group_is_certain(self.is_certain_, self.rows_detected_)
        return self

    def spend(self, spending: Spending) -> Self:
        """Do the work of ``fit`` on somebody's page, for this share of its budget."""
        check_settings(self, spending.rows.domain)
        check_delta(spending.budget)
        rng, d, counts = spending.rng, spending.box.d, cluster_numbers(self.n_clusters)
        auto = self.method == "auto"
        self.cost_curve_ = None

        # 1. How many rows there are: every rule below reads this number. The first pass measures
        #    them from the middle of the box too.
        rings = rings_about_middle(spending) if auto and self.init is None else None
        row_count = self._count_rows(spending)  # [P1]
        n_rows, left, row_noise = row_count.value, 1 - row_count.cost, noise_of_rows(row_count)
        spending = replace(spending, n_rows=n_rows)
        if self.method in WITH_OWN_STEPS or self.init is not None:
            clusters = self._without_plan(spending, left, counts[0])
            return self._keep(clusters, n_rows, row_noise)

        # Several numbers of clusters are chosen among by the cells, so these are counted then.
        has_one_number = len(counts) == 1 and self.refine
        if rings is not None and has_one_number and takes_one_mean(n_rows, spending.budget, d):
            mean = find_one_mean(spending.share(left, delta=1), rings)  # [P11]
            self.synopsis_ = None
            return self._keep(clusters_about_one_mean(mean, counts[0], rng), n_rows, row_noise)

        # 2. Where the rows lie, unless they are too few to tell; how the rest is divided.
        view, location = None, None
        halves = has_one_number and takes_halves(n_rows, spending.epsilon, d, counts[0])
        if rings is not None and not halves:
            spending, location, left = self._locate(spending, left, rings)  # [P4]
        radius_guess = 0.3 * math.sqrt(d) if location is None else 0.6 * location.spread
        in_view = location is not None and (d > FEW_AXES or location.is_small)
        plan = self._plan(spending, left, in_view=in_view, halves=auto and halves)
        spending = share_gaussian(spending, plan)  # [P10]
        plan = plan.fitted_to(spending)
        if location is not None and in_view:
            view = location.view(spending, plan.axes)

        # 3. Cells, finer where rows are, with noisy counts. In few columns those of a view are
        #    fine, and wider ones hold the rows beyond it.
        zoom, view = (view, None) if d <= FEW_AXES else (None, view)
        for_cells = replace(spending.share(plan.cells), view=view)
        self.synopsis_ = synopsis = self._new_synopsis(for_cells, plan, zoom).spend(
            for_cells
        )  # [P5]
        synopsis.guarantee_ = for_cells.budget.simulated(rng.noise.simulation)

        # 4. Centres of the cells, by weighted k-means; how many, if several numbers came.
        k = self._choose_k(synopsis, rng)
        cells = weighted_cells(synopsis, plan, k, self.spark_kmeans)
        if not plan.steps:
            return self._keep(centers_of_cells(cells, k, rng), n_rows, row_noise)
        first = cells.centers(plan.first_clusters(k), rng)
        centers = cells.placed(first)
        labelled_in, labelled_by = cells.labels_in_shadow(first)
        errors: Floats | None = None
        least = cells.spread_inside(first) if d <= FEW_AXES or plan.finds_far_cells else None

        # 5. Steps: radii that hold a part of the rows, then the noisy means within them. Small
        #    clusters are joined to those that are wanted.
        for step in plan.steps:  # [P6]
            in_parts = step.finds_far_rows
            rings = read_rings(spending, centers, labelled_by, labelled_in, in_parts=in_parts)
            means = take_step(spending, step, rings, radius_guess, errors, least)
            centers, errors, labelled_by, least = means.centers, means.errors, None, None
            if len(centers) > k:
                clear = means.with_detected(plan.micro_clusters)
                centers, errors = join_small_clusters(clear, k, rng), None

        # 6. Centres that the plan left without a step are cells.
        clusters = NoisyClusters.from_means(means)
        if len(centers) < k:
            clusters = cells.complete(clusters, k)
        return self._keep(clusters, n_rows, row_noise)

    def _without_plan(self, spending: Spending, left: Fraction, k: int) -> NoisyClusters:
        """The clusters of methods that have their own steps, or of a start from public rows."""
        self.synopsis_ = None
        if self.method == "lloyd":
            return lloyd(spending.share(left), k)  # [P2]
        if self.method == "hybrid":
            self.synopsis_, clusters = hybrid(  # [P3]
                spending.share(left), k, self.spark_kmeans
            )
            return clusters
        return clusters_from_public_rows(spending.share(left, delta=1), self.init, k)  # [P7]

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
        settings = {name: getattr(synopsis, name) for name in ("epsilon", "privacy", "domain")}
        own: dict[str, Any] = {"spark_kmeans": spark_kmeans, "random_state": random_state}
        model = cls(n_clusters, **settings, **own, refine=False)
        cells, rng = cell_points(synopsis, by=spark_kmeans), Randomness(random_state)
        k = model._choose_k(synopsis, rng)
        model.synopsis_, model.guarantee_ = synopsis, synopsis.guarantee_
        model.bounds_check_ = synopsis.bounds_check_
        clusters = centers_of_cells(cells, k, rng)
        totals = combine_counts(synopsis.n_rows_, None, clusters.counted, clusters.sizes)
        model._publish(clusters, replace(totals, within=synopsis.rows_within()))
        warn_if_no_group_is_certain(model.is_certain_, model.rows_detected_)
        return model

    def _settings(self) -> dict[str, Any]:
        """The parameters as JSON has them, without the domain and what belongs to one run."""
        names = (
            "choose",
            "clipping",
            "n_clusters",
            "n_public",
            "nonfinite",
            "refine",
            "spark_kmeans",
        )
        params = {name: getattr(self, name) for name in names}
        if isinstance(self.n_clusters, range | tuple):
            params["n_clusters"] = list(self.n_clusters)
        if self.init is not None:
            params["init"] = np.asarray(self.init, dtype=np.float64).tolist()
        return dict(
            sorted((params | method_to_settings(self.method) | promise_to_settings(self)).items())
        )

    @classmethod
    def _parameters(cls, settings: Mapping[str, Any], box: Box) -> dict[str, Any]:
        """Back from ``_settings``."""
        params = method_from_settings(promise_from_settings(settings, box), box)
        if isinstance(params["n_clusters"], list):
            params["n_clusters"] = tuple(params["n_clusters"])
        return params

    def _release_name(self, rows: Rows) -> str:
        counts = cluster_numbers(self.n_clusters)
        if len(counts) > 1:
            return f"{counts[0]} to {counts[-1]} groups"
        return f"{counts[0]} {'group' if counts[0] == 1 else 'groups'}"

    def _locate(
        self, spending: Spending, left: Fraction, rings: Rings
    ) -> tuple[Spending, Location | None, Fraction]:
        """Where the rows lie, if that is looked for; and what is left then."""
        assert spending.n_rows is not None
        n_rows, epsilon, d = spending.n_rows, spending.epsilon, spending.box.d
        if share := part_share(n_rows, epsilon, d):
            return spending, find_part(spending.share(share)), left - share
        if not (share := location_share(n_rows, epsilon, d, hardness(d, spending.budget))):
            return spending, None, left
        spending = self._fix_gaussian(spending, left, share)  # [P10]
        location, paid = find_rows(spending, share, rings)
        return spending, location, left - paid

    def _plan(
        self, spending: Spending, left: Fraction, *, in_view: bool, halves: bool
    ) -> KMeansPlan:
        """How what is left is divided, once the rows were looked for."""
        k, auto = cluster_numbers(self.n_clusters)[-1], self.method == "auto"
        if halves:
            return plan_of_halves(left, spending.box.d, k)
        return make_plan(left, spending, k, auto=auto, in_view=in_view, refine=self.refine)

    def _fix_gaussian(self, spending: Spending, left: Fraction, share: Fraction) -> Spending:
        """In many columns, fix what all noisy means share before the rows are located."""
        assert spending.n_rows is not None
        d, k = spending.box.d, cluster_numbers(self.n_clusters)[-1]
        if d <= FEW_AXES:
            return spending
        rest = left - share - direction_share(spending.n_rows, spending.epsilon, d)
        plan = make_plan(rest, spending, k, auto=True, in_view=True, refine=self.refine)
        return share_gaussian(spending, plan, also=MEAN * share)

    def _new_synopsis(self, spending: Spending, plan: KMeansPlan, zoom: View | None) -> Synopsis:
        """The synopsis that the method asks for, not fitted yet."""
        if plan.cells_an_axis:
            grid = UniformGrid(cells=plan.cells_an_axis)
            synopsis: Synopsis = grid.with_far_cells() if plan.finds_far_cells else grid
        elif self.method == "auto":
            synopsis = AdaptiveGrid(max_cells=MOST_CELLS)
            synopsis = synopsis if zoom is None else synopsis.zoomed(zoom)
        else:
            synopsis = synopsis_of_method(self.method)
        box = box_of(spending.rows, None)
        return synopsis.set_params(epsilon=spending.budget.epsilon, domain=box)  # type: ignore[no-any-return]

    def _with_number(self, n_clusters: int) -> Self:
        """Return itself, not fitted, with the choice among several numbers already made.

        The budget is still divided for all numbers that might be chosen.
        """
        self._number = n_clusters
        return self

    def _choose_k(self, synopsis: Synopsis, rng: Randomness) -> int:
        counts, self.cost_curve_ = cluster_numbers(self.n_clusters), None
        if self._number is not None or len(counts) == 1:
            return self._number or counts[0]
        choice = choices.k(synopsis, by=self.choose, among=counts, random_state=rng.seed())
        self.cost_curve_ = choice.costs
        return choice.value

    def _keep(self, clusters: NoisyClusters, n_rows: int, row_noise: NoiseSum | None) -> Self:
        """Publish centres and sizes, these and the number of rows made one."""
        return self._publish(
            clusters, combine_counts(n_rows, row_noise, clusters.counted, clusters.sizes)
        )

    def _publish(self, clusters: NoisyClusters, totals: Totals) -> Self:
        # The largest first, by released sizes: group 1 of a page is the first on every list.
        order = np.argsort(-totals.sizes, kind="stable")
        self.cluster_centers_ = self.box.unscale(clusters.centers[order], -1, 1)
        self.n_rows_, self.n_rows_within_ = totals.n_rows, totals.within
        self.cluster_sizes_, self.noise_sizes_ = totals.sizes[order], totals.reach[order]
        self.is_certain_, self.rows_detected_ = totals.is_certain[order], totals.rows_detected
        self.expected_error_ = np.minimum(clusters.errors[order], 2 * math.sqrt(self.box.d))
        self.n_clusters_ = len(clusters.centers)
        self.n_features_in_ = self.box.d
        self.feature_names_in_ = np.array(self.box.names, dtype=object)
        return self


def clusters_from_public_rows(spending: Spending, init: Any, k: int) -> NoisyClusters:
    """Take steps from the centres of public rows; all of the budget goes to the steps.

    Parameters
    ----------
    spending
        What is left of the budget; the number of rows stands in it.
    """
    assert spending.n_rows is not None
    centers, guess = public_centers(init, spending.box, k, spending.rng)  # [P8]
    d, hard = spending.box.d, hardness(spending.box.d, spending.budget)
    plan = steps_alone(spending.n_rows, spending.epsilon, d, k, hard)
    spending = share_gaussian(spending, plan)
    errors: Floats | None = None
    for step in plan.steps:  # [P9]
        rings = read_rings(spending, centers)
        means = take_step(spending, step, rings, guess, errors)
        centers, errors = means.centers, means.errors
    return NoisyClusters.from_means(means)


def public_centers(init: Any, box: Box, k: int, rng: Randomness) -> tuple[Floats, float]:
    """Plain k-means of public rows in [-1, 1]^d, and the radius that holds half of them.

    Parameters
    ----------
    init
        Public rows, ``k`` or more; ``k`` of them are the centres.
    k, rng
        How many clusters; for where runs begin.
    """
    points = box.scale(box.clip(np.asarray(init, dtype=np.float64)), -1, 1)
    centers = (
        points
        if len(points) == k
        else find_centers(points, np.ones(len(points)), k, rng, _PUBLIC_RUNS)
    )
    _, away = pairwise_distances_argmin_min(points, centers)
    return centers, float(np.median(away)) or 0.3 * float(np.sqrt(box.d))
