"""Cluster records that only their owners see, from the reports of a local mechanism.

``distance_units`` says how distances between records and centres are measured: in public units, or
by the spread of the records.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.cluster._description_cache import ComputedOnce
from shoal.cluster._groups_display import GroupsMixin
from shoal.cluster._simulate import refit, unfitted
from shoal.cluster.figures import MAP_PARTS, center_map
from shoal.cluster.intervals import Intervals
from shoal.cluster.local import _saving as saving
from shoal.cluster.local._distributed_frames import (
    CenterDistances,
    FrameReports,
    GatheredReports,
    NearestCenter,
    distances,
    with_columns,
)
from shoal.cluster.local._group_test import Evidence, evidence_of
from shoal.cluster.local._inputs import (
    box_of,
    check_reports,
    local_guarantee,
    records,
    refuse_frame,
    refuse_too_few,
)
from shoal.cluster.local._rounds import ROUNDS_FROM
from shoal.cluster.local.methods._method_choice import choose_method, method_by_name
from shoal.cluster.local.methods._moments import debiased_covariance, noise_variance
from shoal.cluster.local.methods._result import (
    LearningResult,
    Progress,
    increasing_progress,
)
from shoal.cluster.model_folder import save_model
from shoal.domain import Box
from shoal.engine import Mapper, by_engine
from shoal.engine.table import FrameTable
from shoal.errors import InvalidSetting
from shoal.estimator import NotebookDisplay
from shoal.figures import Figure, raster_of_points
from shoal.mechanisms import LocalGrid, Prior, RandomizedResponse, Reports
from shoal.mechanisms.local import Scaling, people_needed
from shoal.mechanisms.local.laplace import laplace_of
from shoal.privacy import (
    Guarantee,
    Ledger,
    LedgerOrPath,
    LocalDP,
    Number,
    Public,
    Released,
    Result,
    whole_number,
)
from shoal.randomness import Randomness, Seed


class LocalClusterer(GroupsMixin, ComputedOnce, NotebookDisplay, BaseEstimator):  # type: ignore[misc]
    r"""Learn cluster centres from reports and the law of their noise.

    Each client then labels its own record by the nearest centre.

    Guarantee
    ---------
    The reports' own, and nothing more is spent: what is fitted is a function of reports and public
    settings. A client that calls ``predict`` on its own record and keeps the label tells nobody
    anything. A label that is sent, or acted on for all to see, is a second release: ``answer``
    randomises it and pays for it. See ``estimator.proof.md``.

    Parameters
    ----------
    n_clusters
        The number of clusters; choose it without looking at the rows.
    mechanism
        The mechanism that makes the reports; ``fit`` refuses reports of another one.
    method
        ``"auto"`` picks by promise, number of reports, columns and epsilon. ``"em"``: k-means on
        the density of the records. ``"mixture"``: Gaussians behind the noise.
        ``"posterior-means"``: k-means on the best guess of each record. ``"moments"``: k-means on
        reports shrunk to the records' covariance, for very many. ``"blend"``: k-means on all
        four together, for few. ``"plain"``: k-means on the reports, noise and all. ``"grid"``: for
        reports of ``LocalGrid``.
    scale
        How distances between records and centres are measured. ``None``: as the mechanism's promise
        measures them, or by the box's sides. ``"box"``, or a number a column: how much of it counts
        as one. ``"spread"``: by the standard deviation of the records in each column, as far as the
        reports tell it.
    random_state
        The seed of the restarts. The noise is in the reports already.
    progress
        Called with a share from 0 to 1 while a long ``fit`` runs.

    Attributes
    ----------
    cluster_centers_
        The centres in raw units, one row for each cluster.
    report_labels_
        The cluster that each *report* most likely came from; ``None`` for reports in a Spark frame.
        There are no labels of rows.
    n_clusters_, feature_names_in_
        The number of clusters; the columns of the box, or x0, x1, ... without one.
    cluster_sizes_
        About how many reports belong to each cluster, by its share of the density.
    is_certain_
        Whether the reports show each cluster, all alike, once ``evidence`` tested it; else None.
    evidence_
        What that test found; None before. It is saved with the model, and pages follow it.
    density_
        The estimated density of the records: ``density_.atoms``, ``density_.weights``.
    method_
        The name of the method that was used.
    guarantee_
        The promise of the reports, marked if their noise was seeded.
    n_reports_
        The number of reports.
    n_used_
        How many of them were learnt from; fewer only where a sample stands for a Spark frame.

    Examples
    --------
    >>> from shoal.mechanisms import PlanarLaplace
    >>> rows = np.repeat([[1.0, 1.0], [5.0, 5.0]], 500, axis=0)
    >>> noise = PlanarLaplace(2.0, domain=Box(x=(0, 6), y=(0, 6)))
    >>> reports = noise.release(rows, Randomness(7).noise)  # on the clients
    >>> model = LocalClusterer(2, mechanism=noise, random_state=7).fit(reports)
    >>> sorted(model.cluster_centers_.round().tolist())
    [[1.0, 1.0], [5.0, 5.0]]
    >>> len(set(model.predict([[0.5, 1.5], [5.5, 4.0]])))  # each on its own client
    2
    """

    needs = staticmethod(people_needed)
    is_certain_: NDArray[np.bool_] | None = None
    evidence_: Evidence | None = None

    @property
    def intervals_(self) -> Intervals:
        """Intervals of centres and sizes, simulated from the learnt density: nothing is spent.

        They hold what plain k-means of the records would find, as far as people drawn from the
        density tell; five more fits. NaN marks a group that is unstable. Read from the model's
        description (``shoal.describe``), or computed when first read, and kept.
        """
        from shoal.cluster.local._intervals import local_intervals

        check_is_fitted(self)
        return self._compute_once("intervals", lambda: local_intervals(self))

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        mechanism: Any,
        method: str = "auto",
        scale: Any = None,
        random_state: Seed = None,
        progress: Progress = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.mechanism = mechanism
        self.method = method
        self.scale = scale
        self.random_state = random_state
        self.progress = progress

    def fit(self, reports: Reports | FrameReports, y: None = None) -> Self:
        """Learn the centres from reports of ``mechanism``.

        Parameters
        ----------
        reports
            Made by the mechanism. Rows, bare arrays and bare frames are refused.
        y
            Ignored.

        Raises
        ------
        NotAReport
            If the reports are none, or were made by another mechanism.
        TooFewRows
            If there are fewer reports than clusters.
        """
        if isinstance(reports, FrameReports):
            reports = reports.gather(self.random_state)
        k, own = (
            self._checked_n_clusters(),
            check_reports(reports, self.mechanism, self.method == "plain"),
        )
        refuse_too_few(own, k)
        name = choose_method(own, k) if self.method == "auto" else self.method
        learn = method_by_name(name)
        self.units_ = distance_units(self.scale, own)
        rng = Randomness(self.random_state)
        progress = increasing_progress(self.progress)
        result = learn(own, k, rng, self.units_, lambda share: progress(0.9 * share))  # [P1]
        result = result.by_size(self.units_)
        self.cluster_centers_, self.is_certain_, self.evidence_ = result.centers, None, None
        self.density_ = Prior(result.points, result.weights)
        self.report_labels_ = self._report_labels(own, result)
        self.method_, self.n_reports_ = name, len(own)
        self.n_used_ = len(own) if result.counted else len(own.values)
        self.n_features_in_ = result.centers.shape[1]
        self.guarantee_: Guarantee = own.guarantee  # [P1] nothing else was spent
        progress(1.0)
        return self

    @property
    def n_clusters_(self) -> int:
        """The number of clusters."""
        check_is_fitted(self)
        return len(self.cluster_centers_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns of the records."""
        check_is_fitted(self)
        return np.array(saving.column_names(self.domain, self.n_features_in_), dtype=object)

    @property
    def cluster_sizes_(self) -> Floats:
        """About how many reports belong to each cluster, by its share of the density."""
        from shoal.cluster.local._intervals import sizes_by_density

        check_is_fitted(self)
        return sizes_by_density(self, self.n_reports_)

    def fit_predict(self, reports: Reports, y: None = None) -> Integers:
        """Learn the centres, and return the cluster that each report most likely came from.

        These are ``report_labels_``: nobody holds the records, which ``predict`` labels.

        Parameters
        ----------
        reports
            Made by the mechanism, and in memory: those of a Spark frame have no labels here.
        y
            Ignored.
        """
        if isinstance(reports, FrameReports):
            raise InvalidSetting(
                "Reports in a Spark frame are not labelled.",
                "Call fit(reports), then predict on each client's own record.",
                setting="reports",
            )
        labels = self.fit(reports).report_labels_
        assert labels is not None
        return labels

    def predict(self, X: Any) -> Any:
        """Return the nearest centre of each record; run it on the client and keep the result there.

        Columns of a table are picked by name, those of an array taken in order. Records outside the
        box are moved into it, and NaN to its middle: on a client nothing may fail by its value.
        Nothing is sent and nothing is spent.

        Parameters
        ----------
        X
            The client's own records, or a Spark frame of a holder of true records.

        Returns
        -------
        An array of cluster numbers; a Spark frame comes back with a column ``label``.
        """
        check_is_fitted(self)
        kernel = NearestCenter(self.cluster_centers_, self.units_)
        return by_engine(
            X,
            embedded=lambda X: self._nearest(records(X, self.domain, self.n_features_in_)),
            distributed=lambda table: self._with_columns(table, kernel, ["label"]),
        )

    def transform(self, X: Any) -> Any:
        """Return the distance of each record to each centre in ``units_``, for the client only.

        Nothing is sent and nothing is spent.

        Parameters
        ----------
        X
            The client's own records, or a Spark frame of a holder of true records.

        Returns
        -------
        An array; a Spark frame comes back with columns ``distance0``, ``distance1``, ...
        """
        check_is_fitted(self)
        kernel = CenterDistances(self.cluster_centers_, self.units_)
        names = [f"distance{i}" for i in range(len(self.cluster_centers_))]
        return by_engine(
            X,
            embedded=self._distances,
            distributed=lambda table: self._with_columns(table, kernel, names),
        )

    def control(
        self, n: int | None = None, *, at: ArrayLike | None = None, random_state: Seed = None
    ) -> Self:
        """Fit the same learner to reports that carry no information: all people report one point.

        Labels by almost any centres agree with the plain ones where clusters lie in a row. A score
        says something about reports only as far as it is above that of this model.

        Parameters
        ----------
        n
            The number of people; None takes as many as this model was fitted to.
        at
            The point; None takes the centre of the box, or without a box the mean of the learnt
            density.
        random_state
            The seed of its noise and its restarts.

        Returns
        -------
        A fitted model to compare scores with.
        """
        people = self._number_of_people(n)
        rng = Randomness(random_state)
        point = self._public_point() if at is None else np.asarray(at, dtype=np.float64)
        own = self._reports_mechanism
        reports = own.release(np.tile(point, (people, 1)), rng.noise)
        copy = unfitted(self, random_state=rng.seed(), progress=self.progress, mechanism=own)
        control: Self = refit(copy, reports).model
        return control

    def evidence(self, reports: Reports | FrameReports, *, random_state: Seed = None) -> Evidence:
        """Test whether these reports show groups, or noise alone would look like them.

        Centres learnt from one half of the reports are tried on the other half, beside what the
        same learner makes of people without groups: ten more fits, and nothing is spent.

        Parameters
        ----------
        reports
            The reports that the model is fitted to.
        random_state
            The seed of the halves and of the made-up reports.

        Returns
        -------
        Evidence
            ``evidence.is_certain`` is the verdict. Of reports in a Spark frame a sample is tested.
        """
        if isinstance(reports, FrameReports):
            reports = reports.gather(self.random_state)
        own = check_reports(reports, self.mechanism, self.method == "plain")
        values = own.sample(random_state) if isinstance(own, GatheredReports) else own.values
        evidence = evidence_of(self, Reports(values, own.mechanism, own.remap), random_state)
        if hasattr(self, "cluster_centers_"):
            self._set_evidence(evidence)
        return evidence

    def _set_evidence(self, evidence: Evidence | None) -> None:
        self.evidence_ = evidence
        self.is_certain_ = (
            None if evidence is None else np.full(self.n_clusters_, evidence.is_certain)
        )

    def label_mechanism(self, epsilon: Number) -> RandomizedResponse:
        """Return the k-ary randomised response by which clients may send their labels.

        Parameters
        ----------
        epsilon
            The promise of one sent label.

        Raises
        ------
        InvalidSetting
            If there is only one cluster.
        """
        fitted = getattr(self, "cluster_centers_", None)
        k = self._checked_n_clusters() if fitted is None else len(fitted)
        if k == 1:
            raise InvalidSetting(
                "With one cluster every label is the same.", "There is nothing to send back."
            )
        return RandomizedResponse(epsilon, k)

    def answered_guarantee(self, epsilon: Number) -> LocalDP:
        """Return what a client is promised once it has sent both a report and a label.

        Parameters
        ----------
        epsilon
            The promise of the label alone.
        """
        label = self.label_mechanism(epsilon).guarantee  # [P3]
        seeded = hasattr(self, "guarantee_") and self.guarantee_.simulation
        return local_guarantee(self.mechanism).simulated(seeded) + label  # [P3]

    def answer(
        self,
        X: Any,
        epsilon: Number,
        *,
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> Reports:
        """Return randomised labels of records, which may be sent: a second, paid release.

        ``label_mechanism(epsilon).frequencies(answers)`` are the shares of the clusters, unbiased;
        ``answered_guarantee(epsilon)`` is what report and answer promise together.

        Parameters
        ----------
        X
            The client's own records. Those of a Spark frame are labelled by ``predict``, and
            their labels reported by ``Perturb``.
        epsilon
            The promise of the label alone.
        ledger
            Where the promise is recorded: a ``Ledger`` or the path of its file; None keeps no
            record.
        random_state
            A seed makes a simulation, marked as such; None draws real noise.
        """
        check_is_fitted(self)
        refuse_frame(X)
        mechanism = self.label_mechanism(epsilon)
        # It raises where the two promises cannot be added, before anything is paid.
        self.answered_guarantee(epsilon)
        page = Ledger.of(ledger).open(
            mechanism.guarantee,
            by="LocalClusterer.answer",
            of=f"labels among {mechanism.size} groups",
        )
        rng = Randomness(random_state)
        return page.release(mechanism, self.predict(X), rng.noise, of="labels")  # [P2]

    @property
    def domain(self) -> Box | None:
        """The mechanism's public box, or None if it has none."""
        return box_of(self.mechanism)

    def plot(self, columns: Sequence[str] | None = None) -> Figure:
        """Draw the centres over two columns of the box, or along the only one, and the density.

        Parameters
        ----------
        columns
            The names of the two; None takes those in which centres are the most distant.
        """
        check_is_fitted(self)
        return center_map(self.domain, self.cluster_centers_, self._counts_over, columns, "reports")

    def to_result(self) -> Result:
        """Return the settings, which are public, and what was learnt from reports, for a report."""
        check_is_fitted(self)
        public = {
            "n_clusters": self.n_clusters,
            "mechanism": self._reports_mechanism,
            "method": self.method_,
        }
        settings = {name: Public(value) for name, value in public.items()}
        names = ("cluster_centers_", "density_", "n_reports_", "n_used_", "units_")
        released = {name: Released(getattr(self, name)) for name in names}
        return Result("clusters of reports", self.guarantee_, settings, released)

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Save the model to a folder, from which clients read it with ``shoal.load_model``.

        Parameters
        ----------
        folder
            The folder to write.
        overwrite
            Whether a model that is already there may be replaced; other folders never are.
        """
        check_is_fitted(self)
        return save_model(self, folder, overwrite)

    def _document(self) -> dict[str, Any]:
        return saving.document(self)

    def _tables(self) -> dict[str, Any]:
        return saving.tables(self)

    @classmethod
    def _restore(cls, document: Any, tables: Any) -> Self:
        model = cls(**saving.settings(document))
        saving.restore(model, document, tables)
        return model

    def _checked_n_clusters(self) -> int:
        k = whole_number(self.n_clusters)
        if k is None or k < 1:
            raise InvalidSetting.of(
                "n_clusters", "must be a whole number of 1 or more", 5, self.n_clusters
            )
        return k

    def _report_labels(self, own: Reports, result: LearningResult) -> Integers | None:
        if isinstance(own, GatheredReports):
            return None  # they stay where the reports are
        return self._nearest(own.values) if result.labels is None else result.labels

    def _with_columns(self, table: FrameTable, kernel: Mapper, names: list[str]) -> Any:
        return with_columns(table, self.domain, self.n_features_in_, kernel, names)

    def _distances(self, X: Any) -> Floats:
        own = records(X, self.domain, self.n_features_in_)
        return np.column_stack(distances(own, self.cluster_centers_, self.units_))

    @property
    def _reports_mechanism(self) -> Any:
        """The mechanism of the reports: a grid after the fit has the cells chosen for them."""
        if self._is_grid and hasattr(self, "n_reports_"):
            return self.mechanism.with_cells_for(self.n_reports_)
        return self.mechanism

    @property
    def _is_grid(self) -> bool:
        """Whether the reports are cells of a public grid."""
        return isinstance(self.mechanism, LocalGrid)

    @property
    def _is_coarse(self) -> bool:
        """Whether the cells of a grid are so coarse that rounds of reports come nearer."""
        return self._is_grid and self.n_features_in_ >= ROUNDS_FROM

    def _counts_over(self, at: list[int], total: int | None = None) -> Integers:
        """Return the density on a grid of one or two columns, given by their places.

        Parameters
        ----------
        total
            What the counts add up to; None takes the number of reports.
        """
        assert self.domain is not None
        within = np.stack([self.domain.low[at], self.domain.high[at]])
        people = self.density_.weights * (self.n_reports_ if total is None else total)
        points, parts = self.density_.atoms[:, at], self._map_parts(at)
        return raster_of_points(points, people, within=within, parts=parts)

    def _map_parts(self, at: list[int]) -> int:
        """Return how many parts of a map fit cells or lattice nodes, so that no stripes show."""
        if self._is_grid:
            sides = [int(self._reports_mechanism.grid.shape[i]) for i in at]
        else:
            sides = [len(np.unique(self.density_.atoms[:, i].round(9))) for i in at]
        side = max(min(sides), 2)
        return -(-side // -(-side // MAP_PARTS))

    def _group_values(self) -> dict[str, list[float]]:
        return dict(zip(self.feature_names_in_, self.cluster_centers_.T.tolist(), strict=True))

    def _nearest(self, points: Floats) -> Integers:
        return nearest_centers(points, self.cluster_centers_, self.units_)

    def _number_of_people(self, n: int | None) -> int:
        people = getattr(self, "n_used_", None) if n is None else whole_number(n)
        if people is None or people < 1:
            raise InvalidSetting(
                "The number of people is not known.", "Give n, e.g. control(20_000)."
            )
        return int(people)

    def _public_point(self) -> Floats:
        if self.domain is not None:
            middle: Floats = (self.domain.low + self.domain.high) / 2
            return middle
        check_is_fitted(self)
        return np.asarray(self.density_.weights @ self.density_.atoms)


def distance_units(scale: Any, reports: Reports) -> Floats:
    """Return how much of each column, in raw units, counts as one unit of distance.

    Parameters
    ----------
    scale
        ``None``, ``"box"``, ``"spread"`` or a positive number a column, as of ``LocalClusterer``.
    reports
        Their mechanism and number of columns decide what ``None`` means; only ``"spread"`` reads
        their values.
    """
    box = box_of(reports.mechanism)
    d = reports.values.shape[1] if box is None else box.d
    if isinstance(scale, str) and scale == "spread":
        return _spread(reports)
    space = getattr(reports.mechanism, "space", None)
    if scale is None and isinstance(space, Scaling):
        return space.units(d)
    return Scaling.of("box" if scale is None and box is not None else scale, box).units(d)


def _spread(reports: Reports) -> Floats:
    """Estimate the standard deviation of the records in each column, above a floor.

    The variance of n coordinates of noise has a standard error of sqrt(2 (d + 4) / ((d + 1) n)) of
    itself. Less than that cannot be distinguished from none, and would give a column too much
    weight.
    """
    mechanism, (n, d) = laplace_of(reports), reports.values.shape
    least = noise_variance(mechanism, d) * np.sqrt(2 * (d + 4) / ((d + 1) * n))
    variances = np.diag(debiased_covariance(reports)) / mechanism.space.units(d) ** 2
    return np.asarray(np.sqrt(np.maximum(variances, least)) * mechanism.space.units(d))
