"""Groups learnt from reports, beside what is learnt without data."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.arrays import Floats
from shoal.cluster.figures import column_pairs
from shoal.cluster.group_sizes import NO_GROUP, whole_shares
from shoal.cluster.intervals import Intervals
from shoal.errors import InvalidSetting, quantity, setting
from shoal.evaluate import ami, normalised_inertia
from shoal.figures import cell_map
from shoal.figures.text import count_decimals, format_number
from shoal.pages._release_texts import exact_promise_lines
from shoal.pages.groups._code import learner_code
from shoal.pages.groups._view import GroupsView, count_text
from shoal.pages.page import UNTESTED, Fact, Line, Table, bounds_origin, bounds_text

if TYPE_CHECKING:
    from shoal.figures import CellMap
    from shoal.privacy import Result


NOTHING_SPENT = "nothing was spent here: the promise is the reports' own"
NO_GROUPS = (
    f"{NO_GROUP}: centres learnt from one half of the reports fit the "
    "other half no better than what the same learner finds where there are no groups. "
    "Collect more reports, look for fewer groups, or use a larger epsilon."
)
UNTESTED_GROUPS = "Untested groups"
NOT_TESTED = (
    "Whether noise alone would look like these groups was not tested. Whoever has the reports can "
    "test them, model.evidence(reports), or show them all the same: publish_anyway."
)
MAY_BE_NOISE = "Noise alone would look like this. Plan nothing on it."
CLIENTS = (
    "A client may label its own record with these centres, as often as it likes, and keep "
    "the label: that reveals nothing to anybody. A label that is sent, or acted on for all "
    "to see, is a second release and costs its own epsilon."
)
PLAIN = (
    "These are centres of the noisy reports: the distribution of the noise was not used, so "
    "it spreads them apart."
)
COARSE = (
    "In {} the cells of a grid are coarse, so that centres come out less exact; in eight columns "
    "they stay off however many people report. A collection in rounds (shoal.cluster.LocalRounds) "
    "asks again about the centres found, and comes nearer; or report fewer columns."
)
LINE_COLUMNS = 8  # columns that fit a line of a terminal
PAGE_COLUMNS = 12  # columns that fit a page
_POINTS = 20_000  # drawn from the density, to compare centres on
_CONTROL_REPORTS = 200_000  # of a page made from the model alone
_LARGEST_RATIO = 2.0
_PAIRS = 2  # of columns, each drawn twice


@dataclass(frozen=True, eq=False)
class LearntView(GroupsView):
    """Groups of people whose records only they see: reports alone were read, and nothing spent.

    Parameters
    ----------
    protects
        What one report is about: "a row", or a person.
    table
        The file of the reports, for the code on the page.
    seed
        The seed of the learner; None if it had none.
    """

    protects: str = field(default="a row", kw_only=True)
    table: str = field(default="reports.parquet", kw_only=True)
    seed: int | None = field(default=None, kw_only=True)

    @property
    def unit(self) -> str:
        """What is counted: people where each was reported once, else reports."""
        return "reports" if self.protects == "a row" else "people"

    @property
    def summary(self) -> str:
        return f"{self.counted} Only reports were read, and each carries noise of its own."

    def result(self) -> "Result":
        return replace(super().result(), settings={})

    def settings(self, title: str, publisher: str | None) -> dict[str, Any]:
        source = "from a seed" if self.guarantee.simulation else "from a cryptographic source"
        named = {"publisher": publisher} if publisher else {}
        return named | {
            "title": title,
            "method": self.method,
            "holder": "whoever made the reports; what learnt this read reports alone",
            "bounds": f"{bounds_origin(self.model.domain)}: {self.bounds}",
            "noise": f"in every report, {source}; none was added here",
            "releases": NOTHING_SPENT,
            "evidence": self.proofs,
            "context": {"by_holder": True, "dimensions": len(self.columns)},
            **self.own_settings(),
            "protects": self.protects,
            "n_clusters": self.k,
            "code": self.code(),
        }

    @property
    @abstractmethod
    def bounds(self) -> str:
        """What is public, as text."""

    @abstractmethod
    def own_settings(self) -> dict[str, Any]:
        """Return the settings of this kind of reports."""

    @abstractmethod
    def code(self) -> str:
        """Return Python code for whoever has the reports, or the model."""

    def promise_lines(self) -> list[Line]:
        """Return what a terminal says first: the reports' promise, and that none was spent."""
        spent = Line("Spent", f"{NOTHING_SPENT[0].upper()}{NOTHING_SPENT[1:]}.")
        return [*exact_promise_lines(self.guarantee, by_holder=True), spent]


@dataclass(frozen=True, eq=False)
class LocalGroups(LearntView):
    """Centres and about how many belong to each, and what the same learner finds without data.

    All of it is computed from reports, so it is as public as they are.

    Parameters
    ----------
    control
        The same learner, fitted to reports without information.
    total
        The number of reports.
    n_clusters
        The numbers of groups that were chosen among.
    choose
        By which rule.
    """

    control: Any
    total: int
    n_clusters: Sequence[int] = field(default=(), kw_only=True)
    choose: str = field(default="elbow", kw_only=True)
    is_distributed: bool = field(default=False, kw_only=True)

    method: ClassVar[str] = "Learnt from reports"
    proofs: ClassVar[str] = (
        "proofs beside the code: shoal/cluster/local/estimator.proof.md and that of the mechanism"
    )
    files_apart = ("density_",)

    def __post_init__(self) -> None:
        _check_box(self.model)

    @classmethod
    def of(cls, model: Any, **about: Any) -> "LocalGroups":
        """Return what can be said of a fitted or loaded model alone, without its reports."""
        _check_box(model)
        # The same centres without data on every page of a model.
        control = model.control(min(model.n_used_, _CONTROL_REPORTS), random_state=0)
        return cls(model, control, model.n_reports_, **about)

    @property
    def means(self) -> Floats:
        """The centres, as far as they lie in the box."""
        return np.asarray(self.box.clip(self.centers))

    @cached_property
    def sizes(self) -> list[int]:
        """About how many reports belong to each group, by its share of the density."""
        density = self.model.density_
        labels = self.model.predict(density.atoms)
        shares = np.bincount(labels, weights=density.weights, minlength=self.k)
        return whole_shares(shares * (self.total / shares.sum()), self.total)

    @cached_property
    def intervals(self) -> Intervals:
        """Intervals of centres and sizes, from people drawn from the learnt density.

        Centres of noisy reports as they are have none: nothing was learnt of the records.
        """
        if self.model.method_ == "plain":
            unknown = np.full(self.centers.shape, np.nan)
            sizes = unknown[:, 0] if self.k else np.empty(0)
            return Intervals(unknown, unknown, sizes, sizes, self.total, self.total, missing=PLAIN)
        intervals: Intervals = self.model.intervals_
        return intervals

    @cached_property
    def agreement(self) -> float:
        """How far labels by the control's centres agree with those by the centres found (AMI)."""
        return float(ami(self.model.predict(self._points), self.control.predict(self._points)))

    @cached_property
    def ratio(self) -> float:
        """The inertia of the control's centres on the density over that of the centres found."""
        units = self.model.units_
        centers = self.control.cluster_centers_ / units
        return float(normalised_inertia(self._points / units, centers, self.centers / units))

    @property
    def used(self) -> int:
        """The number of reports that were learnt from."""
        return int(self.model.n_used_)

    @property
    def control_reports(self) -> int:
        """The number of reports of the control."""
        return int(self.control.n_reports_)

    @property
    def evidence(self) -> Any:
        """What a test of the groups found; None if they were not tested."""
        return self.model.evidence_

    @property
    def may_be_noise(self) -> bool | None:
        """Whether noise alone would look like these groups; None if that was not tested."""
        return None if self.evidence is None else not self.evidence.is_certain

    @property
    def is_distinct(self) -> bool:
        """Whether the groups may be shown to the public: they were tested, and passed."""
        return self.may_be_noise is False

    @property
    def heading(self) -> str:
        return UNTESTED_GROUPS if self.may_be_noise is None else super().heading

    @property
    def why_withheld(self) -> str:
        return UNTESTED if self.may_be_noise is None else super().why_withheld

    @property
    def needed(self) -> int | None:
        """The number of people that the rule of thumb asks for; None where there is no rule."""
        if not self.model._is_grid or self.box.d > 4:
            return None
        n: int = self.model.needs(
            _LARGEST_RATIO, n_clusters=self.k, d=self.box.d, epsilon=self.model.mechanism.epsilon
        )
        return n

    @cached_property
    def _points(self) -> Floats:
        """Points drawn from the density by weight, always the same ones."""
        density = self.model.density_
        chances = density.weights / density.weights.sum()
        at = np.random.default_rng(0).choice(len(density.atoms), _POINTS, p=chances)
        return np.asarray(density.atoms[at])

    @property
    def counted(self) -> str:
        used = f"{self.used:,} of " if self.used < self.total else ""
        return f"{self.heading}, learnt from {used}{quantity(self.total, 'report')}."

    def warning(self, i: int) -> str:
        """Return why not to rely on a group; empty for a stable one."""
        return MAY_BE_NOISE if self.may_be_noise else super().warning(i)

    @property
    def bounds(self) -> str:
        return bounds_text(self.box)

    def own_settings(self) -> dict[str, Any]:
        return {"mechanism": self.model._reports_mechanism, "algorithm": self.model.method_}

    def code(self) -> str:
        return learner_code(
            self.model,
            self.table,
            self.box.names,
            control_reports=self.control_reports,
            seed=self.seed,
            is_distributed=self.is_distributed,
        )

    def facts(self) -> list[Fact]:
        made_by = type(self.model.mechanism).__name__
        alike = "of labels (AMI): near 1, labels would come out alike by chance"
        return [
            Fact("Reports", f"{self.total:,}", f"of {made_by}, counted"),
            Fact("Groups", str(self.k), "centres, numbered on the map"),
            Fact("Agreement without data", f"{max(self.agreement, 0):.2f}", alike),
        ]

    def cautions(self) -> list[str]:
        if self.may_be_noise is None:
            return [NOT_TESTED]
        return [NO_GROUPS] if self.may_be_noise else []

    def _trial(self) -> list[str]:
        """Return what the verdict is based on."""
        if self.evidence is None or not self.evidence.margins:
            return []
        each = self.evidence.margins.items()
        margins = ", ".join(f"{margin:.1f} ({name})" for name, margin in each)
        return [
            "Centres learnt from one half of the reports were tried on the other half, beside "
            f"centres learnt from people without groups: they fit better by {margins} deviations "
            f"of those; {self.evidence.needed:.1f} of each are asked for."
        ]

    def _without_data(self) -> str:
        """Return a sentence about the control."""
        fewer = (
            f" That was tried with {self.control_reports:,} reports, as many as one machine holds; "
            f"with all {self.used:,} there would be less noise."
        )
        return (
            "Had everybody reported the middle of the box, the same learner would have found "
            f"centres that leave {self.ratio:.3g} times the inertia on this density, and whose "
            f"labels agree with these by {self.agreement:.2f} (AMI)."
            f"{fewer if self.control_reports < self.used else ''}"
        )

    def limits(self) -> list[str]:
        limits = [*self.cautions(), *self._trial(), self._without_data()]
        if self.agreement > 0.7:
            limits.append(
                "Labels by centres that never saw data agree so well with these that a score of "
                "labels says little here; look at inertia."
            )
        if self.model.method_ == "plain":
            limits.append(PLAIN)
        if self.model._is_coarse:
            limits.append(COARSE.format(quantity(self.box.d, "column")))
        if self.used < self.total:
            limits.append(
                f"{self.used:,} reports, drawn at random, were learnt from; all {self.total:,} "
                "would be too many for the memory of one machine."
            )
        if len(self.n_clusters) > 1:
            limits.append(
                f"The number of groups, {self.k}, was chosen among {self.n_clusters[0]} to "
                f"{self.n_clusters[-1]} from the density learnt from the reports ({self.choose}), "
                "which spends nothing."
            )
        return [*limits, *self._people_needed(), CLIENTS, self._per_report()]

    def limits_without_groups(self) -> list[str]:
        return [*self.cautions(), *self._trial(), *self._people_needed(), self._per_report()]

    def _people_needed(self) -> list[str]:
        if self.needed is None:
            return []
        return [
            f"By a rule of thumb {quantity(self.needed, 'report')} find {count_text(self.k)} in "
            f"{quantity(self.box.d, 'column')} at this epsilon with an inertia at most twice that "
            "of plain k-means, if they are round, apart and of similar size."
        ]

    def _per_report(self) -> str:
        if self.protects == "a row":
            return (
                "One report is taken as one person. For whoever sent several the limit counts "
                "each time."
            )
        return "Each person was reported once."

    def tables(self) -> list[Table]:
        """Return the centres, and those without data."""
        return [self._table, self._table_without_data()]

    @cached_property
    def _table(self) -> Table:
        rows = [
            [f"Group {i + 1}", *self._center_text(self.centers[i]), f"{self.sizes[i]:,}"]
            for i in self.by_size
        ]
        columns = ["Group", *self._axes, f"{self.unit.capitalize()}, about"]
        note = "Sizes are shares of the density times the number of reports."
        note += self.columns_left_out(PAGE_COLUMNS)
        return Table("Centres of the groups", columns, rows, marked=True, note=note)

    def _table_without_data(self) -> Table:
        centers = enumerate(self.control.cluster_centers_, 1)
        rows = [[f"Centre {i}", *self._center_text(center)] for i, center in centers]
        many = "the same number of"
        if self.control_reports < self.used:
            many = f"{self.control_reports:,}"
        note = (
            f"The same learner, {many} reports, and everybody in the middle of the box: "
            "what noise alone looks like. It reads nobody's report."
        )
        return Table("Found without data", ["Centre", *self._axes], rows, note=note)

    @property
    def _axes(self) -> list[str]:
        return [column.axis for column in self.columns[:PAGE_COLUMNS]]

    def _center_text(self, center: Floats) -> list[str]:
        """Return the numbers of a centre, to a thousandth of each column's range."""
        sides = self.box.high - self.box.low
        each = zip(center[:PAGE_COLUMNS], sides, strict=False)
        return [
            format_number(float(value), count_decimals(float(side)) + 2) for value, side in each
        ]

    def group_lines(self) -> Sequence[Line | Table]:
        """Return the groups, those without data, and what clients may do."""
        return [
            *([self._table] if len(self.columns) <= LINE_COLUMNS else []),
            Line("No data", self._without_data()),
            Line("Clients", CLIENTS),
        ]

    def values(self) -> dict[str, Any]:
        named, nothing = (
            [dict(zip(self.box.names, center, strict=True)) for center in centers.tolist()]
            for centers in (self.centers, self.control.cluster_centers_)
        )
        return {
            "spent": None,
            "method": self.model.method_,
            "n_clusters": self.k,
            "reports": self.total,
            "reports_used": self.used,
            "groups": [
                {"center": center, "reports_about": size}
                for center, size in zip(named, self.sizes, strict=True)
            ],
            "without_data": {
                "reports": self.control_reports,
                "centers": nothing,
                "agreement": self.agreement,
                "inertia_ratio": self.ratio,
            },
            "may_be_noise": self.may_be_noise,
            "evidence": None if self.evidence is None else asdict(self.evidence),
        }

    def maps(self) -> "list[CellMap]":
        """Draw, for each pair of columns, what was found and what is found without data."""
        drawn = []
        for pair in column_pairs(self.box, self.centers)[:_PAIRS]:
            across, upwards = (self.columns[i].within for i in pair)
            columns = f"by {across} and {upwards}"
            learnt = f"Groups {columns}: learnt from reports, centres numbered"
            nothing = f"Without data {columns}: everybody reports the middle of the box"
            drawn.append(self._map(self.model, list(pair), learnt))
            drawn.append(self._map(self.control, list(pair), nothing))
        return drawn

    def _map(self, model: Any, at: list[int], title: str) -> "CellMap":
        return cell_map(
            model._counts_over(at, self.total),
            title=title,
            centers=self.box.clip(model.cluster_centers_)[:, at],
            **self.frame(at),
        )


def _check_box(model: Any) -> None:
    if model.domain is None:
        raise InvalidSetting(
            "The mechanism of these reports has no public box, which a page is drawn in.",
            "Give it one: " + setting("domain", "Box(...)") + ".",
            setting="domain",
        )
