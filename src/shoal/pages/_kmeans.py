"""Build the page of a private k-means model, from released numbers only."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Floats
from shoal.cluster.figures import cells_of_synopsis, column_pairs
from shoal.cluster.kmeans import strength
from shoal.cluster.kmeans._plan import hardness
from shoal.cluster.totals import whole_shares
from shoal.errors import quantity
from shoal.figures import cell_map
from shoal.figures.text import count_decimals, format_number, shorten
from shoal.pages._cluster_parts import (
    ROW_IS_PERSON,
    USUAL_FILES,
    CodeFiles,
    count_text,
    estimator_code,
    exact_promise_lines,
    has_no_person_column,
    no_group_text,
    promise_values,
    release_settings,
    unit_of,
    without_values,
)
from shoal.pages._group_count import count_reason
from shoal.pages._groups import (
    CARD_ROWS,
    TITLES_NOTE,
    UNSTABLE_CARD,
    UNSTABLE_ROWS,
    Card,
    Groups,
    column_texts,
    replace_titles,
    title_columns,
)
from shoal.pages._numeric_profiles import NumericProfiles
from shoal.pages._what_if import budgets_table, what_if_values
from shoal.pages.page import Fact, Line, Page, Table, name_list

if TYPE_CHECKING:
    from shoal.cluster.intervals import Intervals
    from shoal.domain import Box
    from shoal.figures import CellMap
    from shoal.privacy import Guarantee


# Below this strength no method does well: docs/decisions/private-kmeans.md.
WEAK_STRENGTH = 4
EVIDENCE = "proofs beside the code: shoal/cluster/kmeans/estimator.proof.md and those it names"
WEAK = (
    "There are so few rows in a group that noise decides much at this epsilon: centres may "
    "lie far from their rows. Use fewer groups, fewer columns or a larger epsilon."
)
NOT_TOLD = "(uncertain): noise alone may count as many where nobody is."
UNSTABLE = "unstable"
UNSTABLE_NOTE = (
    "Between simulated fits an unstable group moves to another place: its centre and size are "
    "given no interval."
)
UNREACHED = (
    "Where groups have long tails, no gaps between them or few rows, fewer intervals held when "
    "this was measured."
)
LINE_COLUMNS = 8  # columns that fit a line of a terminal
PAGE_COLUMNS = 12  # columns that fit a page
_NAMED = 4  # groups named in a map's description


class KMeansGroups:
    """Centres and about how many rows belong to each, with their intervals.

    Only released numbers of a fitted model are read. Group i is label i - 1 of ``predict``.

    Parameters
    ----------
    model
        A fitted ``PrivateKMeans``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.guarantee: Guarantee = model.guarantee_
        self.box: Box = model.box
        self.names: tuple[str, ...] = self.box.names
        self.columns = column_texts(model.domain, self.names)
        self.centers: Floats = model.cluster_centers_
        self.k = len(self.centers)
        self.n_rows = int(model.n_rows_)
        self.rows_within = int(model.n_rows_within_)  # 95 releases in 100; 0 if it is public
        self.unit = unit_of(model)
        self.sizes: list[int] = whole_shares(model.cluster_sizes_, self.n_rows)
        self.certain = [bool(each) for each in model.is_certain_]
        self.intervals: Intervals = model.intervals_
        self.stable = [not each for each in self.intervals.unstable]
        # Half of each interval, in the column's units; none for a group that is unstable.
        self.reach = np.nan_to_num(self.intervals.half_widths)
        # The widest of each group, as a share of its column's range.
        self.relative = (self.reach / (self.box.high - self.box.low)).max(axis=1).tolist()

    @property
    def is_weak(self) -> bool:
        """Whether noise has more influence than the rows."""
        budget, d = self.model._promise().per_row(), self.box.d
        hard = hardness(d, budget)
        return strength(self.n_rows, float(budget.epsilon), d, self.k, hard) < WEAK_STRENGTH

    def size_text(self, group: int) -> str:
        """Return about how many belong to a group with its interval, marked if it may be empty.

        Parameters
        ----------
        group
            The number of the group, from 0.
        """
        known = self.stable[group]
        interval = f" ({self.size_interval(group)})" if known else f" ({UNSTABLE})"
        return f"{self.sizes[group]:,}{interval}{'' if self.certain[group] else ' (uncertain)'}"

    def size_interval(self, group: int) -> str:
        """Return the ends of the interval of a group's size, rounded outwards.

        Parameters
        ----------
        group
            The number of the group, from 0, which is stable.
        """
        low, high = self.intervals.sizes_low[group], self.intervals.sizes_high[group]
        return f"{math.floor(low):,} to {math.ceil(high):,}"

    def center_text(self, group: int) -> list[str]:
        """Return each number of a centre with half its interval, to the digits that this leaves.

        Parameters
        ----------
        group
            The number of the group, from 0.
        """
        sides = self.box.high - self.box.low
        each = zip(self.centers[group], self.reach[group], sides, strict=True)
        if not self.stable[group]:
            return [f"{format_number(float(value), count_decimals(float(side)) + 1)} ({UNSTABLE})"
                    for value, _, side in each]  # fmt: skip
        return [
            _with_interval(float(value), float(half), float(side)) for value, half, side in each
        ]


def _with_interval(value: float, half: float, side: float) -> str:
    """Format ``12.30 ± 0.42``: two digits of half a width, and the value to the same place.

    The half is rounded up, so that what is shown is no narrower than the interval.
    """
    if not side * 1e-6 < half < math.inf:
        return format_number(value, count_decimals(side) + 4)
    decimals = 1 - math.floor(math.log10(half))
    step = 10.0**-decimals
    outwards = math.ceil(half / step - 1e-9) * step
    shown = [f"{round(each, decimals):,.{max(decimals, 0)}f}" for each in (value, outwards)]
    return " ± ".join(shown)


def page(
    model: Any,
    *,
    title: str | None = None,
    publisher: str | None = None,
    names: Sequence[str] | None = None,
    files: CodeFiles = USUAL_FILES,
) -> Page:
    """Build the page of a fitted ``PrivateKMeans``.

    Parameters
    ----------
    model
        A fitted ``PrivateKMeans``.
    title
        Of the page; None names groups and columns.
    names
        The publisher's name of each group; None makes titles of what stands out.
    """
    from shoal.planning import describe

    description, groups = describe(model), KMeansGroups(model)
    result = without_values(
        model.to_result(), "synopsis_", "cost_curve_"
    )  # cells are files of their own
    counted, table = _counted(groups), _table(groups)
    tried = description.what_if
    heading = count_text(groups.k) if any(groups.certain) else "No clear groups"
    settings = release_settings(
        groups.box,
        groups.guarantee,
        publisher,
        title=title or f"{heading} by {title_columns(groups.columns)}",
        method="Private k-means",
        algorithm=model.method,
        evidence=EVIDENCE,
        code=code(model, groups.k, files),
    )
    return Page(
        result=result,
        settings=settings,
        summary=f"{counted} Each centre carries noise, so one {_one(groups)} more or less changes "
        "little of what you see.",
        facts=_facts(groups),
        figures=maps(groups),
        tables=[table],
        limits=_limits(groups),
        groups=_cards(groups, names),
        budgets=None if tried is None else budgets_table(tried),
        curve=count_reason(description.curve, groups.k, model.n_clusters),
        values=_values(groups) | ({} if tried is None else {"what_if": what_if_values(tried)}),
        lines=_lines(groups, counted, table),
        is_distinct=any(groups.certain),
    )


def _cards(groups: KMeansGroups, names: Sequence[str] | None) -> Groups:
    """Return a card for each group: its centre beside everyone's average."""
    intervals, box = groups.intervals, groups.box
    weights = np.asarray(groups.sizes, dtype=np.float64) + 1e-9
    profiles = NumericProfiles(
        groups.columns,
        np.stack([box.low, box.high]),
        groups.centers,
        intervals.centers_low,
        intervals.centers_high,
        np.average(groups.centers, axis=0, weights=weights),
    )
    titles = replace_titles(profiles.titles(), names)
    cards = [_card(groups, profiles, i, titles[i]) for i in range(groups.k)]
    in_ten = round(10 * intervals.rate)
    return Groups(
        cards=cards,
        unit=groups.unit,
        interval=f"where the value lies, {in_ten} times in 10",
        note=TITLES_NOTE if names is None else "The publisher named the groups.",
    )


def _card(groups: KMeansGroups, profiles: NumericProfiles, i: int, title: str) -> Card:
    stable = groups.stable[i]
    low, high = groups.intervals.sizes_low[i], groups.intervals.sizes_high[i]
    return Card(
        number=i + 1,
        title=title,
        size=groups.sizes[i],
        low=math.floor(low) if stable else None,
        high=math.ceil(high) if stable else None,
        rows=profiles.rows(i, CARD_ROWS if stable else UNSTABLE_ROWS),
        warning="" if stable else UNSTABLE_CARD,
    )


def code(model: Any, n_clusters: int, files: CodeFiles = USUAL_FILES) -> str:
    """Return Python code that does the same with a table of one's own.

    Parameters
    ----------
    model
        A fitted ``PrivateKMeans``.
    """
    method = None if model.method == "auto" else model.method
    return estimator_code(model, f"{n_clusters}, ", files, method=method)


def _rate_text(groups: KMeansGroups) -> str:
    """Return the sentence that says what an interval is."""
    in_ten = round(10 * groups.intervals.rate)
    number = {9: "Nine"}.get(in_ten, str(in_ten))
    return (
        f"{number} in ten of the intervals (±, or from and to) hold what plain k-means of the "
        "rows would find, as far as fits of made-up rows like the released ones tell."
    )


def _lines(groups: KMeansGroups, counted: str, table: Table) -> list[Line | Table]:
    """Return what a terminal shows: the promise, and the groups."""
    fits = any(groups.certain) and len(groups.names) <= LINE_COLUMNS
    return [
        *exact_promise_lines(groups.guarantee),
        Line("Found", counted),
        *(Line("", text) for text in _cautions(groups)),
        *([table] if fits else []),
    ]


def _values(groups: KMeansGroups) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return promise_values(groups.guarantee) | {
        "n_clusters": groups.k,
        "certain_groups": sum(groups.certain),
        "counted": groups.unit,
        "rows_about": groups.n_rows,
        "rows_within_95_in_100": groups.rows_within,
        "rows_detected": groups.model.rows_detected_,
        "interval_rate": groups.intervals.rate,
        "rows_interval": [groups.intervals.total_low, groups.intervals.total_high],
        "groups": [_group_values(groups, i) for i in range(groups.k)],
    }


def _group_values(groups: KMeansGroups, group: int) -> dict[str, Any]:
    """Return what ``--json`` prints of a group; no interval of one that is unstable."""
    model, intervals, stable = groups.model, groups.intervals, groups.stable[group]
    last_step = model.expected_error_[group] / math.sqrt(groups.box.d) / 2
    noise = last_step * (groups.box.high - groups.box.low)
    ends = np.column_stack([intervals.centers_low[group], intervals.centers_high[group]]).tolist()
    sizes = [float(intervals.sizes_low[group]), float(intervals.sizes_high[group])]
    return {
        "center": dict(zip(groups.names, groups.centers[group].tolist(), strict=True)),
        "interval": dict(zip(groups.names, ends, strict=True)) if stable else None,
        "expected_error": dict(zip(groups.names, noise.tolist(), strict=True)),
        "rows_about": groups.sizes[group],
        "rows_interval": sizes if stable else None,
        "stable": stable,
        "told": groups.certain[group],
        "noise_reach": float(model.noise_sizes_[group]),
    }


def _counted(groups: KMeansGroups) -> str:
    """Return the sentence about how many rows were counted in how many groups."""
    about = "About " if groups.rows_within else ""
    within = f", give or take {groups.rows_within:,}" if groups.rows_within else ""
    rows = f"{quantity(groups.n_rows, _one(groups), groups.unit)}{within}"
    if not any(groups.certain):
        return f"{no_group_text(groups.model)} Counted: {about.lower()}{rows}."
    return f"{about}{rows}{',' if within else ''} in {count_text(groups.k)}."


def _cautions(groups: KMeansGroups) -> list[str]:
    """Return warnings to read before anything else."""
    missed = groups.certain.count(False)
    if missed == groups.k:
        return []
    uncertain = (
        f"{missed} of the {groups.k} groups cannot be distinguished from noise: noise alone counts "
        "as many in one of 1,000 releases."
    )
    return [
        *([uncertain] if missed else []),
        *([WEAK] if groups.is_weak else []),
        *([_unstable_text(groups)] if not all(groups.stable) else []),
    ]


def _unstable_text(groups: KMeansGroups) -> str:
    """Return which groups are unstable, or that they are too many for the budget."""
    unstable = [i + 1 for i, stable in enumerate(groups.stable) if not stable]
    if len(unstable) > groups.k / 2:
        return (
            f"{len(unstable)} of the {groups.k} groups are unstable: so many groups are more than "
            f"this budget can tell apart. {UNSTABLE_NOTE}"
        )
    which = "Group" if len(unstable) == 1 else "Groups"
    verb = "is" if len(unstable) == 1 else "are"
    return f"{which} {name_list([str(i) for i in unstable])} {verb} unstable. {UNSTABLE_NOTE}"


def _one(groups: KMeansGroups) -> str:
    return "person" if groups.unit == "people" else "row"


def _facts(groups: KMeansGroups) -> list[Fact]:
    off = f"off by at most {groups.rows_within:,} in 95 of 100 releases"
    worst = 100 * max(groups.relative, default=0.0)
    which = "of a column's range: the widest interval of a stable group"
    value = f"± {format_number(float(f'{worst:.2g}'))} %" if any(groups.stable) else UNSTABLE
    return [
        Fact(
            f"{groups.unit.capitalize()}, about",
            f"{groups.n_rows:,}",
            off if groups.rows_within else "known without the rows",
        ),
        Fact("Groups", str(groups.k), "centres, numbered on the map"),
        Fact("Centres", value, which if any(groups.stable) else "no interval can be given"),
    ]


def _table(groups: KMeansGroups) -> Table:
    shown = [column.axis for column in groups.columns[:PAGE_COLUMNS]]
    rows = [
        [f"Group {i + 1}", *groups.center_text(i)[: len(shown)], groups.size_text(i)]
        for i in sorted(range(groups.k), key=lambda i: -groups.sizes[i])
    ]
    note = _rate_text(groups)
    if not all(groups.certain):
        note += f" {NOT_TOLD}"
    if len(shown) < len(groups.names):
        note += (
            " "
            f"{quantity(len(groups.names) - len(shown), 'more column is', 'more columns are')} "
            "in centers.csv."
        )
    columns = ["Group", *shown, f"{groups.unit.capitalize()}, about"]
    return Table("Centres of the groups", columns, rows, marked=True, note=note)


def _limits(groups: KMeansGroups) -> list[str]:
    """Return what the centres do not say, and how far they may be off."""
    model = groups.model
    worst = max(range(groups.k), key=lambda i: (not groups.stable[i], groups.relative[i]))
    names = [column.within for column in groups.columns[:4]]
    where = zip(names, groups.center_text(worst), strict=False)
    limits = [
        f"Least certain is group {worst + 1}: {', '.join(f'{n} {v}' for n, v in where)}.",
        UNREACHED,
        "Other people in the table would have moved the centres too.",
        "A pale cell that stands alone may hold nobody: empty cells carry noise as well.",
    ]
    if isinstance(model.n_clusters, Sequence):
        low, high = model.n_clusters[0], model.n_clusters[-1]
        limits.append(
            f"The number of groups, {groups.k}, was chosen among {low} to {high} from released "
            f"numbers ({model.choose}), which spends no budget."
        )
    if has_no_person_column(model):
        limits.append(ROW_IS_PERSON)
    first = _cautions(groups) if any(groups.certain) else [no_group_text(model)]
    return [*first, *limits]


def maps(groups: KMeansGroups) -> list["CellMap"]:
    """Draw a map of each pair of columns, those with the most distant centres first."""
    return [_map(groups, pair) for pair in column_pairs(groups.box, groups.centers)]


def _map(groups: KMeansGroups, pair: Sequence[int]) -> "CellMap":
    at = list(pair)
    names = [groups.columns[i].axis for i in at]
    across, upwards = (groups.columns[i].within for i in at)
    title = "Groups" if any(groups.certain) else "No clear groups"
    return cell_map(
        cells_of_synopsis(getattr(groups.model, "synopsis_", None), groups.box, at, groups.n_rows),
        names=names,
        low=groups.box.low[at],
        high=groups.box.high[at],
        title=f"{title} by {across} and {upwards}: centres numbered, noisy counts of the released "
        "cells spread over an even grid",
        finding=_description(groups, at),
        centers=groups.centers[:, at],
        reach=groups.reach[:, at],
        of=groups.unit,
    )


def _description(groups: KMeansGroups, at: list[int]) -> str:
    names = [shorten(groups.columns[i].label, 80) for i in at]
    each = []
    for i in sorted(range(groups.k), key=lambda i: -groups.sizes[i])[:_NAMED]:
        texts = groups.center_text(i)
        place = ", ".join(f"{n} {texts[j]}" for n, j in zip(names, at, strict=True))
        each.append(f"{place} (group {i + 1})")
    which = "Centres" if groups.k <= _NAMED else f"The {_NAMED} largest groups' centres"
    return f"{which}: {'; '.join(each)}. Rings show the intervals."
