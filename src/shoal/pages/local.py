"""Build the page of groups learnt from reports, beside what is learnt without data."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.figures import MAP_PARTS, column_pairs
from shoal.cluster.intervals import Intervals
from shoal.cluster.local import ROUNDS_FROM
from shoal.cluster.totals import NO_GROUP, whole_shares
from shoal.errors import InvalidSetting, quantity, setting
from shoal.evaluate import ami, normalised_inertia
from shoal.figures import cell_map, raster_of_points
from shoal.figures.text import count_decimals, format_number
from shoal.mechanisms import LocalGrid
from shoal.pages._cluster_parts import (
    count_text,
    exact_promise_lines,
    learner_code,
    promise_values,
    without_values,
)
from shoal.pages._group_count import count_reason
from shoal.pages._groups import (
    CARD_ROWS,
    TITLES_NOTE,
    UNSTABLE_CARD,
    UNSTABLE_ROWS,
    Card,
    ColumnText,
    Groups,
    column_texts,
    replace_titles,
    title_columns,
)
from shoal.pages._numeric_profiles import NumericProfiles
from shoal.pages.page import Fact, Line, Page, Table, bounds_origin, bounds_text

if TYPE_CHECKING:
    from shoal.cluster.local import Evidence
    from shoal.domain import Box
    from shoal.figures import CellMap
    from shoal.privacy import Guarantee


EVIDENCE = (
    "proofs beside the code: shoal/cluster/local/estimator.proof.md and that of the mechanism"
)
NOTHING_SPENT = "nothing was spent here: the promise is the reports' own"
NO_GROUPS = (
    f"{NO_GROUP}: centres learnt from one half of the reports fit the "
    "other half no better than what the same learner finds where there are no groups. "
    "Collect more reports, look for fewer groups, or use a larger epsilon."
)
NOT_TRIED = (
    "Whether noise alone would look like these groups was not tried: that takes two halves of the "
    "reports, and they were not at hand."
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
class LocalGroups:
    """Centres and about how many belong to each, and what the same learner finds without data.

    All of it is computed from reports, so it is as public as they are. Group i is label i - 1 of
    ``predict``.

    Parameters
    ----------
    model
        A fitted ``LocalClusterer``.
    protects
        What one report is about: "a row", or a person.
    evidence
        Whether the reports show groups; None if that was not tested.
    """

    model: Any
    control: Any
    box: "Box"
    guarantee: "Guarantee"
    total: int
    protects: str = "a row"
    evidence: "Evidence | None" = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the records."""
        return self.box.names

    @property
    def columns(self) -> list[ColumnText]:
        """What the columns are called on the page."""
        return column_texts(self.box, self.names)

    @property
    def centers(self) -> Floats:
        """The centres, one row for each group."""
        centers: Floats = self.model.cluster_centers_
        return centers

    @property
    def k(self) -> int:
        """The number of groups."""
        return len(self.centers)

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
    def unit(self) -> str:
        """What is counted: people where each was reported once, else reports."""
        return "reports" if self.protects == "a row" else "people"

    @property
    def may_be_noise(self) -> bool | None:
        """Whether noise alone would look like these groups; None if that was not tested."""
        return None if self.evidence is None else not self.evidence.is_certain

    @property
    def needed(self) -> int | None:
        """The number of people that the rule of thumb asks for; None where there is no rule."""
        from shoal.cluster import LocalClusterer

        mechanism = self.model.mechanism
        if not isinstance(mechanism, LocalGrid) or self.box.d > 4:
            return None
        return LocalClusterer.needs(
            _LARGEST_RATIO, n_clusters=self.k, d=self.box.d, epsilon=mechanism.epsilon
        )

    @cached_property
    def _points(self) -> Floats:
        """Points drawn from the density by weight, always the same ones."""
        density = self.model.density_
        chances = density.weights / density.weights.sum()
        at = np.random.default_rng(0).choice(len(density.atoms), _POINTS, p=chances)
        return np.asarray(density.atoms[at])


def groups_of(model: Any) -> LocalGroups:
    """Return what can be said of a fitted model alone, without its reports.

    Parameters
    ----------
    model
        A fitted ``LocalClusterer``, or one that was loaded.

    Raises
    ------
    InvalidSetting
        If its mechanism has no public box, so that nobody can say where groups may lie.
    """
    if model.domain is None:
        raise InvalidSetting(
            "The mechanism of these reports has no public box, which a page is drawn in.",
            "Give it one: " + setting("domain", "Box(...)") + ".",
            setting="domain",
        )
    # The same centres without data on every page of a model.
    control = model.control(min(model.n_used_, _CONTROL_REPORTS), random_state=0)
    return LocalGroups(model, control, model.domain, model.guarantee_, model.n_reports_)


def page(
    groups: Any,
    *,
    table: str = "reports.parquet",
    n_clusters: Sequence[int] = (),
    choose: str = "elbow",
    seed: int | None = None,
    is_distributed: bool = False,
    title: str | None = None,
    publisher: str | None = None,
    names: Sequence[str] | None = None,
) -> Page:
    """Build the page of what was learnt from reports.

    Parameters
    ----------
    groups
        The ``LocalGroups``; or a fitted ``LocalClusterer``, of which less can be said.
    title
        Of the page; None names groups and columns.
    names
        The publisher's name of each group; None makes titles of what stands out.
    """
    from shoal.planning import describe

    groups = groups if isinstance(groups, LocalGroups) else groups_of(groups)
    code = learner_code(
        groups.model,
        table,
        groups.names,
        control_reports=groups.control_reports,
        seed=seed,
        is_distributed=is_distributed,
    )
    headline, centers = _headline(groups), _table(groups)
    settings = _settings(groups, title, publisher) | {"code": code}
    fitted = without_values(groups.model.to_result(), "density_")  # a file of its own
    return Page(
        result=replace(fitted, guarantee=groups.guarantee, settings={}),
        settings=settings,
        summary=f"{headline} Only reports were read, and each carries noise of its own.",
        facts=_facts(groups),
        figures=maps(groups),
        tables=[centers, _table_without_data(groups)],
        limits=_limits(groups, n_clusters, choose),
        groups=_cards(groups, names),
        curve=count_reason(describe(groups.model).curve, groups.k, groups.model.n_clusters),
        lines=_lines(groups, headline, centers),
        values=_values(groups),
        is_distinct=not groups.may_be_noise,
    )


def _cards(groups: LocalGroups, names: Sequence[str] | None) -> Groups:
    """Return a card for each group: its centre beside everyone's average."""
    box = groups.box
    profiles = NumericProfiles(
        groups.columns,
        np.stack([box.low, box.high]),
        box.clip(groups.centers),
        groups.intervals.centers_low,
        groups.intervals.centers_high,
        np.average(groups.centers, axis=0, weights=np.asarray(groups.sizes) + 1e-9),
    )
    titles = replace_titles(profiles.titles(), names)
    return Groups(
        cards=[_card(groups, profiles, i, titles[i]) for i in range(groups.k)],
        unit=groups.unit,
        interval=f"where the value lies, {round(10 * groups.intervals.rate)} times in 10",
        note=TITLES_NOTE if names is None else "The publisher named the groups.",
    )


def _card(groups: LocalGroups, profiles: NumericProfiles, i: int, title: str) -> Card:
    low, high = groups.intervals.sizes_low[i], groups.intervals.sizes_high[i]
    stable = not math.isnan(low)
    warning = "" if stable or groups.intervals.missing else UNSTABLE_CARD
    return Card(
        number=i + 1,
        title=title,
        size=groups.sizes[i],
        low=math.floor(low) if stable else None,
        high=math.ceil(high) if stable else None,
        rows=profiles.rows(i, CARD_ROWS if stable else UNSTABLE_ROWS),
        warning=MAY_BE_NOISE if groups.may_be_noise else warning,
    )


def _lines(groups: LocalGroups, headline: str, centers: Table) -> list[Line | Table]:
    """Return what a terminal shows: the promise, the groups, and those without data."""
    return [
        *exact_promise_lines(groups.guarantee, by_holder=True),
        Line("Spent", f"{NOTHING_SPENT[0].upper()}{NOTHING_SPENT[1:]}."),
        Line("Found", headline),
        *(Line("", text) for text in _verdict(groups)),
        *([centers] if len(groups.names) <= LINE_COLUMNS else []),
        Line("No data", _without_data(groups)),
        Line("Clients", CLIENTS),
    ]


def _values(groups: LocalGroups) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    named, nothing = (
        [dict(zip(groups.names, center, strict=True)) for center in centers.tolist()]
        for centers in (groups.centers, groups.control.cluster_centers_)
    )
    return promise_values(groups.guarantee) | {
        "spent": None,
        "method": groups.model.method_,
        "n_clusters": groups.k,
        "reports": groups.total,
        "reports_used": groups.used,
        "groups": [
            {"center": center, "reports_about": size}
            for center, size in zip(named, groups.sizes, strict=True)
        ],
        "without_data": {
            "reports": groups.control_reports,
            "centers": nothing,
            "agreement": groups.agreement,
            "inertia_ratio": groups.ratio,
        },
        "may_be_noise": groups.may_be_noise,
        "evidence": None if groups.evidence is None else asdict(groups.evidence),
    }


def _settings(groups: LocalGroups, title: str | None, publisher: str | None) -> dict[str, Any]:
    """Return the settings that a page shows."""
    source = "from a seed" if groups.guarantee.simulation else "from a cryptographic source"
    named = {"publisher": publisher} if publisher else {}
    return named | {
        "title": title or f"{_heading(groups)} by {title_columns(groups.columns)}",
        "method": "Learnt from reports",
        "holder": "whoever made the reports; what learnt this read reports alone",
        "bounds": f"{bounds_origin(groups.box)}: {bounds_text(groups.box)}",
        "noise": f"in every report, {source}; none was added here",
        "releases": NOTHING_SPENT,
        "evidence": EVIDENCE,
        "context": {"by_holder": True, "dimensions": groups.box.d},
        "mechanism": groups.model.mechanism,
        "algorithm": groups.model.method_,
        "protects": groups.protects,
        "n_clusters": groups.k,
    }


def _heading(groups: LocalGroups) -> str:
    return "No clear groups" if groups.may_be_noise else count_text(groups.k)


def _headline(groups: LocalGroups) -> str:
    used = f"{groups.used:,} of " if groups.used < groups.total else ""
    return f"{_heading(groups)}, learnt from {used}{quantity(groups.total, 'report')}."


def _facts(groups: LocalGroups) -> list[Fact]:
    made_by = type(groups.model.mechanism).__name__
    alike = "of labels (AMI): near 1, labels would come out alike by chance"
    return [
        Fact("Reports", f"{groups.total:,}", f"of {made_by}, counted"),
        Fact("Groups", str(groups.k), "centres, numbered on the map"),
        Fact("Agreement without data", f"{max(groups.agreement, 0):.2f}", alike),
    ]


def _verdict(groups: LocalGroups) -> list[str]:
    """Return what must be known before anything else."""
    if groups.may_be_noise is None:
        return [NOT_TRIED]
    return [NO_GROUPS] if groups.may_be_noise else []


def _trial(groups: LocalGroups) -> list[str]:
    """Return what the verdict is based on."""
    if groups.evidence is None or not groups.evidence.margins:
        return []
    each = groups.evidence.margins.items()
    margins = ", ".join(f"{margin:.1f} ({name})" for name, margin in each)
    return [
        "Centres learnt from one half of the reports were tried on the other half, beside centres "
        f"learnt from people without groups: they fit better by {margins} deviations of those; "
        f"{groups.evidence.needed:.1f} of each are asked for."
    ]


def _without_data(groups: LocalGroups) -> str:
    """Return a sentence about the control."""
    return (
        "Had everybody reported the middle of the box, the same learner would have found centres "
        f"that leave {groups.ratio:.3g} times the inertia on this density, and whose labels agree "
        f"with these by {groups.agreement:.2f} (AMI).{_fewer(groups)}"
    )


def _fewer(groups: LocalGroups) -> str:
    """Return a sentence for a control of fewer reports than there are."""
    if groups.control_reports >= groups.used:
        return ""
    return (
        f" That was tried with {groups.control_reports:,} reports, as many as one machine holds; "
        f"with all {groups.used:,} there would be less noise."
    )


def _limits(groups: LocalGroups, n_clusters: Sequence[int], choose: str) -> list[str]:
    """Return what the groups do not say, and how far they may be off."""
    limits = [*_verdict(groups), *_trial(groups), _without_data(groups)]
    if groups.agreement > 0.7:
        limits.append(
            "Labels by centres that never saw data agree so well with these that a score of labels "
            "says little here; look at inertia."
        )
    if groups.model.method_ == "plain":
        limits.append(PLAIN)
    if isinstance(groups.model.mechanism, LocalGrid) and groups.box.d >= ROUNDS_FROM:
        limits.append(COARSE.format(quantity(groups.box.d, "column")))
    if groups.used < groups.total:
        limits.append(
            f"{groups.used:,} reports, drawn at random, were learnt from; all {groups.total:,} "
            "would be too many for the memory of one machine."
        )
    if len(n_clusters) > 1:
        limits.append(
            f"The number of groups, {groups.k}, was chosen among {n_clusters[0]} to "
            f"{n_clusters[-1]} from the density learnt from the reports ({choose}), which spends "
            "nothing."
        )
    return [*limits, *_people_needed(groups), CLIENTS, _per_report(groups)]


def _people_needed(groups: LocalGroups) -> list[str]:
    if groups.needed is None:
        return []
    return [
        f"By a rule of thumb {quantity(groups.needed, 'report')} find {count_text(groups.k)} in "
        f"{quantity(groups.box.d, 'column')} at this epsilon with an inertia at most twice that "
        "of plain k-means, if they are round, apart and of similar size."
    ]


def _per_report(groups: LocalGroups) -> str:
    if groups.protects == "a row":
        return (
            "One report is taken as one person. For whoever sent several the limit counts "
            "each time."
        )
    return "Each person was reported once."


def _table(groups: LocalGroups) -> Table:
    rows = [
        [f"Group {i + 1}", *_center_text(groups, groups.centers[i]), f"{groups.sizes[i]:,}"]
        for i in sorted(range(groups.k), key=lambda i: -groups.sizes[i])
    ]
    named = [column.axis for column in groups.columns[:PAGE_COLUMNS]]
    columns = ["Group", *named, f"{groups.unit.capitalize()}, about"]
    note = "Sizes are shares of the density times the number of reports."
    if len(groups.names) > PAGE_COLUMNS:
        note += (
            " "
            f"{quantity(len(groups.names) - PAGE_COLUMNS, 'more column is', 'more columns are')} "
            "in centers.csv."
        )
    return Table("Centres of the groups", columns, rows, marked=True, note=note)


def _table_without_data(groups: LocalGroups) -> Table:
    centers = groups.control.cluster_centers_
    named = [column.axis for column in groups.columns[:PAGE_COLUMNS]]
    rows = [[f"Centre {i}", *_center_text(groups, center)] for i, center in enumerate(centers, 1)]
    many = "the same number of"
    if groups.control_reports < groups.used:
        many = f"{groups.control_reports:,}"
    note = (
        f"The same learner, {many} reports, and everybody in the middle of the box: "
        "what noise alone looks like. It reads nobody's report."
    )
    return Table("Found without data", ["Centre", *named], rows, note=note)


def _center_text(groups: LocalGroups, center: Any) -> list[str]:
    """Return the numbers of a centre, to a thousandth of each column's range."""
    sides = groups.box.high - groups.box.low
    each = zip(center[:PAGE_COLUMNS], sides, strict=False)
    return [format_number(float(value), count_decimals(float(side)) + 2) for value, side in each]


def maps(groups: LocalGroups) -> list["CellMap"]:
    """Draw, for each pair of columns, what was found and what is found without data."""
    drawn = []
    for pair in column_pairs(groups.box, groups.centers)[:_PAIRS]:
        across, upwards = (groups.columns[i].within for i in pair)
        columns = f"by {across} and {upwards}"
        learnt = f"Groups {columns}: learnt from reports, centres numbered"
        nothing = f"Without data {columns}: everybody reports the middle of the box"
        drawn.append(_map(groups, groups.model, list(pair), learnt))
        drawn.append(_map(groups, groups.control, list(pair), nothing))
    return drawn


def _map(groups: LocalGroups, model: Any, at: list[int], title: str) -> "CellMap":
    box = groups.box
    return cell_map(
        _counts(groups, model, at),
        names=[groups.columns[i].axis for i in at],
        low=box.low[at],
        high=box.high[at],
        title=title,
        centers=box.clip(model.cluster_centers_)[:, at],
        of=groups.unit,
    )


def _counts(groups: LocalGroups, model: Any, at: list[int]) -> Integers:
    """Return the density on a grid of two columns."""
    box, density = groups.box, model.density_
    within = np.stack([box.low[at], box.high[at]])
    people = density.weights * groups.total
    parts = _parts(model, at)
    return raster_of_points(density.atoms[:, at], people, within=within, parts=parts)


def _parts(model: Any, at: list[int]) -> int:
    """Return a number of grid parts that fits cells or lattice nodes, so that no stripes show."""
    if isinstance(model.mechanism, LocalGrid):
        sides = [model.mechanism.grid.shape[i] for i in at]
    else:
        sides = [len(np.unique(model.density_.atoms[:, i].round(9))) for i in at]
    side = max(min(sides), 2)
    return -(-side // -(-side // MAP_PARTS))
