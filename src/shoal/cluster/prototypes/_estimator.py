"""Private groups of a table of numbers and categories, and their profiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Floats
from shoal.bounds_check import Clipping
from shoal.cluster._description_cache import ComputedOnce
from shoal.cluster._groups_display import GroupsMixin
from shoal.cluster.choose import CostCurve
from shoal.cluster.figures import profile_of_group
from shoal.cluster.kmeans._settings import check_delta, cluster_numbers
from shoal.cluster.model_folder import save_model
from shoal.cluster.prototypes._group_measurements import (
    Assignment,
    Costs,
    GroupCounter,
    NearestPrototypes,
    group_blocks,
    measure,
    total_cost,
)
from shoal.cluster.prototypes._mixed_rows import (
    MixedRows,
    Prototypes,
    even_rows,
    every_row,
    prototype_table,
)
from shoal.cluster.prototypes._number_of_groups import choose_groups
from shoal.cluster.prototypes._plain_comparison import ScoredPrototypes
from shoal.cluster.prototypes._profile_estimates import (
    measured_profiles,
    modelled_profiles,
)
from shoal.cluster.prototypes._profiles import Profiles
from shoal.cluster.prototypes._search import (
    bend_rows,
    find_prototypes,
    move_prototypes,
    reach_of,
)
from shoal.domain import Schema
from shoal.engine import Rows, rows_of
from shoal.errors import InvalidSetting
from shoal.estimator import MIXED_ROW_COUNT_SHARE, RowCount, Spending, promise_to_settings
from shoal.figures import Figure
from shoal.mechanisms import Geometric
from shoal.privacy import ApproxDP, LedgerOrPath, Public, PureDP, Released, Result, whole_number
from shoal.randomness import Seed
from shoal.synopsis.mixed import MixedColumns, MixedEstimator, MixedSynopsis, read_counts

_MOST_CLUSTERS = 256

# Shares of the budget and the strength from which on a step pays: measured on four tables, see
# docs/decisions/mixed-tables.md.
_SMALL_GROUPS_FROM, _MOVE_FROM, _PROFILE_FROM = 9.0, 10.0, 4.0
SMALL_GROUPS_EACH = 3


class PrivateKPrototypes(
    GroupsMixin,
    ComputedOnce,
    ScoredPrototypes,
    TransformerMixin,  # type: ignore[misc]
    MixedEstimator,
):
    r"""Groups of a table with numbers and categories, whose profiles may be published.

    A tree of noisy two-way tables gives synthetic rows, in which prototypes (means and modes) are
    sought. Where rows are many, small groups are measured on the rows themselves, and prototypes
    move once. Then they are fixed, and one profile of each group is released. Row labels are not
    published: the holder of the rows calls ``predict``.

    Guarantee
    ---------
    :math:`\varepsilon`-DP when a row is added or removed, or as ``privacy`` and the schema say;
    with ``privacy=ApproxDP(...)``, :math:`(\varepsilon, \delta)`-DP. See ``estimator.proof.md``.

    Parameters
    ----------
    n_clusters
        How many groups, or several numbers to choose among, e.g. ``range(2, 13)``: at no further
        cost, by ``shoal.choose.k`` on the released tables.
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``; the publisher's to defend.
    privacy
        The whole promise, where more than epsilon is to be said. ``ApproxDP(1, 1e-6)`` lets the
        measurements of groups share one Gaussian budget where that is less noise. Give one of the
        two.
    domain
        A schema: bounds of numbers, lists of categories, levels in their order, what missing values
        become, the weight of each column, whose each row is. Never read it off the rows.
    n_init
        How many times prototypes are sought in synthetic rows; the cheapest are kept.
    n_synthetic
        How many synthetic rows they are sought in.
    clipping, n_public, nonfinite, ledger, random_state
        As for every private estimator: see ``shoal.synopsis.PrivateEstimator``.

    Attributes
    ----------
    prototypes_
        The mean of each number and the mode of each category, as a table with a line for each
        group, in the columns' own units.
    profiles_
        Sizes, shares and means of each group beside everyone's, with intervals, and titles.
    intervals_
        The intervals of sizes and means.
    cluster_sizes_
        About how many rows each group has; together all rows.
    is_certain_
        Whether the interval of each group's size leaves out 0, at the rate of ``intervals_``.
    synopsis_
        The tables it began with: publishable, and free to use again.
    level_
        What the rows allowed: 2, 1 or 0 steps on the rows before the profile, or "weak", where only
        the sizes of groups are measured and shares come from the model.
    n_rows_, n_clusters_
        The noisy or public number of rows; how many groups.
    cost_curve_
        The cost of each number of groups that was tried, with the noise in it: a
        ``choose.CostCurve``. None for a single number.
    guarantee_
        What was promised to each person.

    Examples
    --------
    >>> schema = Schema.of({"version": 1, "columns": {
    ...     "age": {"low": 0, "high": 100}, "level": {"values": ["basic", "middle", "higher"]}}})
    >>> people = {"age": [20.0] * 900 + [70.0] * 900, "level": ["basic"] * 900 + ["higher"] * 900}
    >>> model = PrivateKPrototypes(2, epsilon=1, domain=schema, random_state=7).fit(people)
    >>> sorted(model.prototypes_["level"].to_pylist())
    ['basic', 'higher']
    >>> model.predict({"age": [25.0], "level": ["basic"]}).shape
    (1,)

    References
    ----------
    Huang, Extensions to the k-means algorithm for clustering large data sets with categorical
    values, 1998 (k-prototypes); McKenna, Miklau, Sheldon, Winning the NIST contest, 2021 (the tree
    of tables); Hardt, Talwar, On the geometry of differential privacy, STOC 2010 (the noise).
    """

    cost_curve_: CostCurve | None = None

    _made_by_fit = "synopsis_"
    _promises = (PureDP, ApproxDP)

    def __init__(
        self,
        n_clusters: int | Sequence[int] = 8,
        *,
        epsilon: Any = None,
        privacy: PureDP | ApproxDP | None = None,
        domain: Schema | None = None,
        n_init: int = 10,
        n_synthetic: int = 6000,
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
        self.n_init = n_init
        self.n_synthetic = n_synthetic
        self.clipping = clipping
        self.n_public = n_public
        self.nonfinite = nonfinite
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find groups and release their profiles, once paid for.

        Parameters
        ----------
        X
            Rows: a data frame, an Arrow table, a dictionary of columns, a file's path, a Spark
            frame or ``Rows``.
        y
            Ignored.
        """
        super().fit(X)
        # Released on one page.
        self.synopsis_.guarantee_ = self.guarantee_
        self.synopsis_.bounds_check_ = self.bounds_check_
        return self

    def spend(self, spending: Spending) -> Self:
        """Do the work of ``fit`` on somebody's page, for this share of its budget."""
        candidates, columns, rng = self._checked_settings(), self.columns, spending.rng.compute
        check_delta(spending.budget)
        domain = self.domain
        assert isinstance(domain, Schema)

        # 1. One pass counts every column and pair; the number of rows decides what follows.
        counts = read_counts(spending, columns)
        row_count = self._count_rows(spending, MIXED_ROW_COUNT_SHARE)  # [P1]
        n_rows, spare = row_count.value, MIXED_ROW_COUNT_SHARE - row_count.cost
        spending = replace(spending, n_rows=n_rows)
        plan = make_plan(columns, n_rows, spending.budget, candidates[-1], spare)  # [P2]

        # 2. A tree of noisy tables, and synthetic rows of it: searching there is free.
        synopsis = MixedSynopsis(domain=domain, n_public=self.n_public)
        self.synopsis_ = synopsis.spend_counts(spending.share(plan.model), counts)  # [P3]
        self.synopsis_.guarantee_ = spending.budget.simulated(spending.rng.noise.simulation)
        spending = share_gaussian(spending, plan, columns)  # [P7] the tables are pure
        k = self._choose_k(candidates, rng)
        numbers, codes = self.synopsis_.synthetic_rows(max(self.n_synthetic, k), rng)
        rows = MixedRows(columns, numbers, codes)

        # 3. Many rows: small groups are measured, and synthetic rows bent to what they show.
        if plan.small_groups:
            small = find_prototypes(rows, SMALL_GROUPS_EACH * k, rng, max(1, self.n_init // 3))
            measured = measure(
                spending.share(plan.small_groups), domain, small,
                reach=reach_of(rows, small), of="small groups",
            )  # [P4]  # fmt: skip
            rows = bend_rows(rows, small, measured, rng)
        prototypes = find_prototypes(rows, k, rng, self.n_init)

        # 4. One step towards what is measured of the groups themselves.
        if plan.move:
            measured = measure(
                spending.share(plan.move), domain, prototypes,
                reach=reach_of(rows, prototypes), of="one step of the groups",
            )  # [P5]  # fmt: skip
            prototypes = move_prototypes(prototypes, measured)

        # 5. Prototypes stay as they are now; one profile of each group.
        self._prototypes = prototypes
        profiles = self._profile(spending.share(plan.profile), plan, rows, row_count)  # [P6]
        # 6. Groups are numbered by their released sizes, the largest first.
        order = profiles.by_size()
        self._prototypes = Prototypes(prototypes.numbers[order], prototypes.codes[order])
        return self._publish(profiles.reordered(order), n_rows, plan.level)

    def _profile(
        self, spending: Spending, plan: "BudgetPlan", rows: MixedRows, row_count: RowCount
    ) -> Profiles:
        """Release the last measurement, from which profiles are made."""
        assert isinstance(self.domain, Schema)
        if not plan.sizes_only:
            measured = measure(
                spending, self.domain, self._prototypes, reach=None, of="profiles of the groups"
            )
            return measured_profiles(self.synopsis_, rows, self._prototypes, measured, row_count)
        noise = Geometric(spending.budget)
        (exact,) = spending.sum(GroupCounter(Assignment(self.domain, self._prototypes)))
        noisy = spending.release(noise, exact, of="sizes of the groups").astype(np.float64)
        return modelled_profiles(
            self.synopsis_, rows, self._prototypes, noisy, float(noise.step), row_count
        )

    def _publish(self, profiles: Profiles, n_rows: int, level: int | str) -> Self:
        self.profiles_, self.intervals_ = profiles, profiles.intervals
        self.cluster_sizes_, self.n_rows_ = profiles.sizes, n_rows
        self.n_clusters_, self.level_ = profiles.n_groups, level
        self.prototypes_ = prototype_table(self.columns, self._prototypes)
        self.is_certain_ = profiles.intervals.is_certain
        assert isinstance(self.domain, Schema)
        self.feature_names_in_ = np.array(self.domain.columns, dtype=object)
        self.n_features_in_ = self.columns.d
        return self

    def _choose_k(self, counts: Sequence[int], rng: np.random.Generator) -> int:
        """Choose the number of groups on the released tables, if several were given."""
        self.cost_curve_ = None
        if len(counts) == 1:
            return counts[0]
        choice = choose_groups(self.synopsis_, counts, rng)
        self.cost_curve_ = choice.costs
        return choice.value

    def _checked_settings(self) -> tuple[int, ...]:
        """Return the numbers of groups; refuse settings before a row is read."""
        counts = cluster_numbers(self.n_clusters)
        if counts[-1] > _MOST_CLUSTERS:
            raise InvalidSetting.of(
                "n_clusters",
                f"must be a whole number from 1 to {_MOST_CLUSTERS}, or several",
                6,
                self.n_clusters,
            )
        for name, example in (("n_init", 10), ("n_synthetic", 6000)):
            value = whole_number(getattr(self, name))
            if value is None or value < 1:
                raise InvalidSetting.of(
                    name, "must be a whole number of 1 or more", example, getattr(self, name)
                )
        return counts

    # For the holder of rows.

    def predict(self, X: Any) -> Any:
        """Return the nearest prototype of each row: for the holder, not to be published.

        Parameters
        ----------
        X
            Rows; a Spark frame comes back with a column ``label``.
        """
        return self._holder_rows(X).map(self._labels(), ["label"]).like_input(squeeze=True)

    def transform(self, X: Any) -> Any:
        """Return the cost of each row to each prototype: for the holder.

        Parameters
        ----------
        X
            Rows; a Spark frame comes back with columns ``cost0``, ``cost1``, ...
        """
        kernel = Costs(self._assignment())
        names = [f"cost{i}" for i in range(self.n_clusters_)]
        return self._holder_rows(X).map(kernel, names).like_input()

    def score(self, X: Any, y: None = None) -> float:
        """Return minus the cost of all rows to their nearest prototypes: for the holder.

        Parameters
        ----------
        X
            Rows.
        y
            Ignored.
        """
        return -total_cost(self._holder_rows(X), self._assignment())

    def control(self, *, random_state: int = 0) -> "PrivateKPrototypes":
        """Return the same method fitted to rows that know nothing: evenly spread over the domain.

        Parameters
        ----------
        random_state
            The seed of the rows and of the noise.
        """
        from shoal.cluster._simulate import refit, unfitted

        check_is_fitted(self)
        people = even_rows(self.domain, self.n_rows_, random_state)
        control: PrivateKPrototypes = refit(unfitted(self, random_state=random_state), people).model
        return control

    def name_groups(self, names: Sequence[str] | None) -> Self:
        """Replace the titles of the groups by the publisher's own; None makes them again.

        Parameters
        ----------
        names
            A title for each group, in the order of their numbers.
        """
        check_is_fitted(self)
        self.profiles_ = self.profiles_.with_titles(names)
        return self

    def _group_values(self) -> dict[str, Sequence[Any]]:
        values: dict[str, Sequence[Any]] = self.prototypes_.to_pydict()
        return values

    def _labels(self) -> NearestPrototypes:
        """Return the kernel that gives each row its nearest prototype."""
        return NearestPrototypes(self._assignment())

    def _assignment(self) -> Assignment:
        check_is_fitted(self)
        assert isinstance(self.domain, Schema)
        return Assignment(self.domain, self._prototypes)

    def _holder_rows(self, X: Any) -> Rows:
        assert isinstance(self.domain, Schema)
        return rows_of(X, every_row(self.domain))

    # How it is told and kept.

    def plot(self, group: int | None = None) -> Figure:
        """Draw the profile of a group beside everyone.

        Parameters
        ----------
        group
            Its number, from 1; None takes the largest group.
        """
        check_is_fitted(self)
        return profile_of_group(self.profiles_, group)

    def to_result(self) -> Result:
        """Return what a report shows: settings, which are public, and what was released."""
        check_is_fitted(self)
        settings = {"domain": Public(self.domain)}
        settings |= {name: Public(value) for name, value in self._settings().items()}
        names = ("prototypes_", "profiles_", "intervals_", "cluster_sizes_", "n_rows_",
                 "n_clusters_", "level_")  # fmt: skip
        released = {name: Released(getattr(self, name)) for name in names}
        released["synopsis_"] = Released(self.synopsis_.to_dict())
        if self.cost_curve_ is not None:
            released["cost_curve_"] = Released(self.cost_curve_)
        return Result("private k-prototypes", self.guarantee_, settings, released)

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Keep it in a folder: ``shoal.load_model`` takes it back.

        Parameters
        ----------
        folder
            Where to.
        overwrite
            Whether a model that is there may be replaced; nothing else ever is.
        """
        check_is_fitted(self)
        return save_model(self, folder, overwrite)

    def _settings(self) -> dict[str, Any]:
        names = ("clipping", "n_clusters", "n_init", "n_public", "n_synthetic", "nonfinite")
        params = {name: getattr(self, name) for name in names}
        if isinstance(self.n_clusters, range | tuple):
            params["n_clusters"] = list(self.n_clusters)
        return dict(sorted((params | promise_to_settings(self)).items()))

    def _document(self) -> dict[str, Any]:
        from shoal.cluster.prototypes._saving import document

        return document(self)

    def _tables(self) -> dict[str, Any]:
        from shoal.cluster.prototypes._saving import tables

        return tables(self)

    @classmethod
    def _restore(cls, document: Mapping[str, Any], tables: Mapping[str, Any]) -> Self:
        from shoal.cluster.prototypes._saving import restore

        model: Self = restore(cls, document, tables)
        return model

    def _release_name(self, rows: Rows) -> str:
        counts = self._checked_settings()
        if len(counts) > 1:
            return f"{counts[0]} to {counts[-1]} groups"
        return f"{counts[0]} {'group' if counts[0] == 1 else 'groups'}"


@dataclass(frozen=True)
class BudgetPlan:
    """The share of each step; 0 for one that is left out.

    Parameters
    ----------
    level
        2, 1, 0, or "weak": how much is measured on the rows besides the model.
    """

    level: int | str
    model: Fraction
    small_groups: Fraction
    move: Fraction
    profile: Fraction

    @property
    def sizes_only(self) -> bool:
        """Whether the profile has the sizes of groups alone."""
        return self.level == "weak"


def share_gaussian(spending: Spending, plan: BudgetPlan, columns: MixedColumns) -> Spending:
    """Fix the budget that all measurements of groups share, if a delta makes their noise less.

    The largest share gains least by it, so it decides.
    """
    if not isinstance(spending.budget, ApproxDP) or plan.sizes_only:
        return spending
    shares = (plan.small_groups, plan.move, plan.profile)
    shared, blocks = spending.with_gaussian(sum(shares, Fraction(0))), group_blocks(columns)
    largest = shared.share(max(shares))
    pure = _mean_deviation(blocks.deviations(largest.epsilon))
    return shared if blocks.gaussian_deviation(largest.gaussian_share) < pure else spending


def make_plan(
    columns: MixedColumns, n_rows: int, budget: PureDP | ApproxDP, k: int, spare: Fraction
) -> BudgetPlan:
    """Return the plan for so many rows.

    Parameters
    ----------
    spare
        The share that counting rows did not cost; it goes to the model.
    """
    blocks, epsilon = group_blocks(columns), float(budget.epsilon)
    noise = _mean_deviation(blocks.deviations(1.0))
    if isinstance(budget, ApproxDP):
        noise = min(noise, epsilon * blocks.gaussian_deviation(budget))

    def strength(groups: int, share: float) -> float:
        """A mean group over the noise of one count."""
        return n_rows * epsilon * share / (groups * noise)

    if k > 1 and strength(SMALL_GROUPS_EACH * k, 0.20) >= _SMALL_GROUPS_FROM:
        return BudgetPlan(2, _percent(30) + spare, _percent(20), _percent(23), _percent(25))
    if k > 1 and strength(k, 0.15) >= _MOVE_FROM:
        return BudgetPlan(1, _percent(58) + spare, _percent(0), _percent(15), _percent(25))
    if strength(k, 0.25) >= _PROFILE_FROM:
        return BudgetPlan(0, _percent(73) + spare, _percent(0), _percent(0), _percent(25))
    return BudgetPlan("weak", _percent(88) + spare, _percent(0), _percent(0), _percent(10))


def _mean_deviation(deviations: Floats) -> float:
    return float(np.sqrt(np.mean(deviations**2)))


def _percent(number: int) -> Fraction:
    return Fraction(number, 100)
