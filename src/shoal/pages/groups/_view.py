"""The page of groups, whatever found them: what it asks of a model, and the one builder."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from shoal.arrays import Floats
from shoal.cluster.group_sizes import NO_GROUP_CERTAIN, NO_ROWS_DETECTED, whole_shares
from shoal.errors import quantity
from shoal.pages._release_texts import (
    ROW_IS_PERSON,
    exact_promise_lines,
    has_no_person_column,
    promise_values,
    release_settings,
    unit_of,
)
from shoal.pages.groups._cards import (
    CARD_ROWS,
    TITLES_NOTE,
    UNSTABLE_CARD,
    UNSTABLE_ROWS,
    Card,
    CardRow,
    ColumnText,
    Groups,
    Matrix,
    column_texts,
    replace_titles,
    title_columns,
)
from shoal.pages.groups._code import USUAL_FILES, CodeFiles
from shoal.pages.groups._number_of_groups import count_reason
from shoal.pages.groups._numeric_profiles import NumericProfiles
from shoal.pages.page import (
    WITHHELD,
    CountReason,
    Fact,
    Line,
    Page,
    Table,
    WithoutGroups,
    name_list,
)

if TYPE_CHECKING:
    from shoal.figures import Figure
    from shoal.privacy import Guarantee, Result


NO_CLEAR_GROUPS = "No clear groups"
UNCERTAIN_NOTE = "(uncertain): noise alone may count as many where nobody is."
UNSTABLE = "unstable"
# docs/decisions/bounds.md
_AT_EDGE = 0.005
_LEAST_AT_EDGE = 0.05


@runtime_checkable
class FittedGroups(Protocol):
    """What every fitted or loaded clusterer answers; all of it is released, so it may be shown.

    Parameters
    ----------
    feature_names_in_
        The columns.
    cluster_sizes_
        About how many rows or reports belong to each group.
    is_certain_
        Whether each group is distinguishable from noise; None where that was not tested.
    """

    domain: Any
    guarantee_: Any
    n_clusters_: Any
    feature_names_in_: Any
    cluster_sizes_: Any
    is_certain_: Any

    def to_result(self) -> "Result":
        """Return settings and released values, each marked by who may see it."""
        ...


@dataclass(frozen=True, eq=False)
class GroupsView(ABC):
    """The groups of a fitted model as a page shows them, from released numbers alone.

    Columns, sizes, centres, intervals and certainty have the same names for every kind of
    clustering, and ``page`` says what they say. A kind adds what is true of it alone. Group i is
    label i - 1 of ``predict``.

    Parameters
    ----------
    names
        The publisher's name of each group; None makes titles of what stands out.
    """

    model: Any
    names: Sequence[str] | None = field(default=None, kw_only=True)

    method: ClassVar[str]
    proofs: ClassVar[str]
    files_apart: ClassVar[tuple[str, ...]] = ()  # released values that are files of their own
    most_cards: ClassVar[int | None] = None
    has_curve: ClassVar[bool] = True
    unstable_warning: ClassVar[str] = UNSTABLE_CARD
    titles_note: ClassVar[str] = TITLES_NOTE
    shows_reach: ClassVar[bool] = False  # whether a card shows where a group ends, not intervals

    def page(self, title: str | None = None, publisher: str | None = None) -> Page:
        """Return all that is said of the groups.

        Parameters
        ----------
        title
            None names groups and columns.
        """
        return Page(
            result=self.result(),
            settings=self.settings(
                title or f"{self.heading} by {title_columns(self.columns)}", publisher
            ),
            summary=self.summary,
            facts=self.facts(),
            figures=self.maps(),
            tables=self.tables(),
            limits=self.limits(),
            groups=self.cards(),
            budgets=self.budgets(),
            curve=self.curve(),
            lines=self.lines(),
            values=promise_values(self.guarantee) | self.bounds_values() | self.values(),
            without_groups=None if self.is_distinct else self.without_groups(),
        )

    @property
    def guarantee(self) -> "Guarantee":
        """The promise of the release, or of the reports."""
        guarantee: Guarantee = self.model.guarantee_
        return guarantee

    @property
    def box(self) -> Any:
        """The public bounds of columns of numbers."""
        return self.model.domain

    @property
    def centers(self) -> Any:
        """What stands for each group, one row for each."""
        return self.model.cluster_centers_

    @cached_property
    def intervals(self) -> Any:
        """Intervals of centres and sizes."""
        return self.model.intervals_

    @property
    def k(self) -> int:
        """The number of groups."""
        return int(self.model.n_clusters_)

    @cached_property
    def columns(self) -> list[ColumnText]:
        """What the columns are called on the page."""
        return column_texts(self.model.domain, list(self.box.names))

    @property
    @abstractmethod
    def unit(self) -> str:
        """What is counted."""

    @property
    @abstractmethod
    def sizes(self) -> list[int]:
        """About how many belong to each group."""

    @property
    def by_size(self) -> list[int]:
        """The groups, the largest first."""
        return sorted(range(self.k), key=lambda i: -self.sizes[i])

    @property
    @abstractmethod
    def is_distinct(self) -> bool:
        """Whether a group is distinguishable from noise, so that a public page may show them."""

    @property
    def heading(self) -> str:
        """The groups, as the title counts them."""
        return count_text(self.k) if self.is_distinct else NO_CLEAR_GROUPS

    @property
    @abstractmethod
    def counted(self) -> str:
        """The sentence about how many are in how many groups."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The sentence under the title."""

    def size_ends(self, i: int) -> tuple[int, int] | None:
        """Return the ends of the interval of a group's size, rounded outwards; None without one."""
        low, high = self.intervals.sizes_low[i], self.intervals.sizes_high[i]
        return None if math.isnan(low) else (math.floor(low), math.ceil(high))

    def is_stable(self, i: int) -> bool:
        """Whether refits find a group again, or that was not tried."""
        return self.intervals.missing is not None or self.size_ends(i) is not None

    def result(self) -> "Result":
        """Return the result without values that are files of their own."""
        made: Result = self.model.to_result()
        shown = {name: leaf for name, leaf in made.released.items() if name not in self.files_apart}
        return replace(made, released=shown)

    @abstractmethod
    def settings(self, title: str, publisher: str | None) -> dict[str, Any]:
        """Return the public settings of the page."""

    @abstractmethod
    def facts(self) -> list[Fact]:
        """Return the few numbers that matter most."""

    def maps(self) -> "Sequence[Figure]":
        """Draw the groups over pairs of columns."""
        return []

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the groups in numbers."""

    @abstractmethod
    def limits(self) -> list[str]:
        """Return what the groups do not say, and how far they may be off."""

    def without_groups(self) -> WithoutGroups:
        """Return what a page says that does not show the groups."""
        counts = ("Reports", f"{self.unit.capitalize()}, about")
        facts = [fact for fact in self.facts() if fact.name in counts]
        summary = " ".join([*self.bounds_texts(), self.counted, self.why_withheld])
        return WithoutGroups(summary, facts, self.limits_without_groups())

    @property
    def why_withheld(self) -> str:
        """The sentence that says why a page does not show the groups."""
        return WITHHELD

    @abstractmethod
    def limits_without_groups(self) -> list[str]:
        """Return why a page does not show the groups; nothing of where they lie."""

    @abstractmethod
    def values(self) -> dict[str, Any]:
        """Return what ``--json`` prints besides the promise."""

    def budgets(self) -> Table | None:
        """Return what another budget would do; None if that was not tried."""
        return None

    def curve(self) -> CountReason | None:
        """Return why there are so many groups, from the model's description."""
        from shoal.planning import describe

        if not self.has_curve:
            return None
        return count_reason(describe(self.model).curve, self.k, self.model.n_clusters)

    def lines(self) -> list[Line | Table]:
        """Return what a terminal shows: the promise, and the groups."""
        return [
            *(Line("Bounds", text) for text in self.bounds_texts()),
            *self.promise_lines(),
            Line("Found", self.counted),
            *(Line("", text) for text in (*self.counts(), *self.cautions(), *self.edge_texts())),
            *self.group_lines(),
        ]

    def promise_lines(self) -> list[Line]:
        """Return what a terminal says first."""
        return exact_promise_lines(self.guarantee)

    def counts(self) -> list[str]:
        """Return what else was counted and is no group."""
        return []

    def cautions(self) -> list[str]:
        """Return warnings to read before anything else."""
        return []

    def bounds_texts(self) -> list[str]:
        """Return that rows were moved to the bounds, where that was accepted."""
        return []

    def edge_texts(self) -> list[str]:
        """Return which groups lie at the edge of the bounds."""
        return []

    def bounds_values(self) -> dict[str, Any]:
        """Return what ``--json`` prints of the bounds."""
        return {}

    @abstractmethod
    def group_lines(self) -> Sequence[Line | Table]:
        """Return what a terminal shows of the groups."""

    # The cards.

    def cards(self) -> Groups | None:
        """Return a card for each group: what is typical of it, beside everyone."""
        if not self.k:
            return None
        titles = replace_titles(self.titles(), self.names)[: self.most_cards]
        more = "" if len(titles) == self.k else f" The largest {len(titles)} groups are shown."
        return Groups(
            cards=[self._card(i, title) for i, title in enumerate(titles)],
            unit=self.unit,
            interval=self.interval_note,
            note=(self.titles_note if self.names is None else "The publisher named the groups.")
            + more,
            matrix=self.matrix(),
        )

    def matrix(self) -> Matrix | None:
        """Return all groups side by side; None where a table shows them."""
        return None

    @property
    def interval_note(self) -> str:
        """What the interval on a card is."""
        return f"where the value lies, {round(10 * self.intervals.rate)} times in 10"

    def _card(self, i: int, title: str) -> Card:
        low, high = self.size_ends(i) or (None, None)
        return Card(
            number=i + 1,
            title=self._card_title(i, title),
            size=self.sizes[i],
            low=low,
            high=high,
            rows=self.card_rows(i),
            warning=self.warning(i),
        )

    def _card_title(self, i: int, title: str) -> str:
        return title

    def warning(self, i: int) -> str:
        """Return why not to rely on a group; empty for a stable one."""
        return "" if self.is_stable(i) else self.unstable_warning

    @property
    def means(self) -> Any:
        """What is typical of each group, as cards show it."""
        return self.centers

    def ends(self) -> tuple[Floats, Floats]:
        """Return where each mean lies."""
        return self.intervals.centers_low, self.intervals.centers_high

    @cached_property
    def profiles(self) -> Any:
        """What is typical of each group beside everyone."""
        weights = np.asarray(self.sizes, dtype=np.float64) + 1e-9
        everyone = np.average(self.centers, axis=0, weights=weights)
        within = np.stack([self.box.low, self.box.high])
        low, high = self.ends()
        return NumericProfiles(
            self.columns, within, self.means, low, high, everyone, self.shows_reach
        )

    def titles(self) -> list[str]:
        """Return a title for each group, of what stands out."""
        titles: list[str] = self.profiles.titles()
        return titles

    def card_rows(self, i: int) -> list[CardRow]:
        """Return the lines of a group's card, the strongest difference first."""
        most = CARD_ROWS if self.is_stable(i) else UNSTABLE_ROWS
        rows: list[CardRow] = self.profiles.rows(i, most)
        return rows

    def frame(self, at: list[int]) -> dict[str, Any]:
        """Return what every map over two columns is given."""
        low, high = self.box.low[at], self.box.high[at]
        names = [self.columns[i].axis for i in at]
        return {"names": names, "low": low, "high": high, "of": self.unit}

    def columns_left_out(self, most: int) -> str:
        """Return the end of a table's note, if it has no place for all columns."""
        more = len(self.columns) - most
        note = f" {quantity(more, 'more column is', 'more columns are')} in centers.csv."
        return note if more > 0 else ""


@dataclass(frozen=True, eq=False)
class ReleasedView(GroupsView):
    """Groups of a table that one holder has, released with noise.

    Parameters
    ----------
    files
        The files that the code on the page names.
    """

    files: CodeFiles = field(default=USUAL_FILES, kw_only=True)

    noisy: ClassVar[str] = "Every number"  # what carries noise, at the start of a sentence

    @property
    def unit(self) -> str:
        """What is counted: people where each is known and has one row, else rows."""
        return unit_of(self.model)

    @property
    def one(self) -> str:
        """One of what is counted."""
        return "person" if self.unit == "people" else "row"

    @cached_property
    def sizes(self) -> list[int]:
        """About how many rows belong to each group: whole numbers that add up to all."""
        return whole_shares(self.model.cluster_sizes_, int(self.model.n_rows_))

    @cached_property
    def certain(self) -> list[bool]:
        """Whether each group is distinguishable from noise."""
        return [bool(each) for each in self.model.is_certain_]

    @property
    def is_distinct(self) -> bool:
        return any(self.certain)

    @property
    def summary(self) -> str:
        noise = (
            f"{self.noisy} carries noise, so one {self.one} more or less changes little of what "
            "you see."
        )
        return " ".join([*self.bounds_texts(), self.counted, noise])

    def bounds_texts(self) -> list[str]:
        check = self.model.bounds_check_
        if check is None or not check.is_alarm:
            return []
        return [
            f"{check.share_text} lie outside the bounds and were moved to the edge: groups may be "
            f"those of the bounds. {' '.join(check.side_texts)}"
        ]

    def edge_texts(self) -> list[str]:
        groups: dict[tuple[str, float], list[str]] = {}
        for edge in self.edges:
            groups.setdefault((edge.column, edge.bound), []).append(str(edge.group + 1))
        return [
            f"{'Group' if len(at) == 1 else 'Groups'} {name_list(at)} "
            f"{'lies' if len(at) == 1 else 'lie'} at the edge of the bounds of {column} "
            f"({bound:,.12g}): they may cut {'it' if len(at) == 1 else 'them'} off."
            for (column, bound), at in groups.items()
        ]

    @cached_property
    def edges(self) -> "list[GroupAtEdge]":
        """The sides of the bounds that certain groups of some size lie at."""
        few = _LEAST_AT_EDGE * sum(self.sizes)
        shown = [i for i in range(self.k) if self.certain[i] and self.sizes[i] > few]
        return [edge for edge in self.at_bounds() if edge.group in shown]

    def at_bounds(self) -> "Iterator[GroupAtEdge]":
        """Yield where a centre lies at a bound; kinds without centres have none."""
        yield from ()

    def bounds_values(self) -> dict[str, Any]:
        check = self.model.bounds_check_
        released = None if check is None else check.to_dict()
        at_edge = [edge._asdict() | {"group": edge.group + 1} for edge in self.edges]
        return {"bounds_check": released, "groups_at_bounds": at_edge}

    @property
    def no_groups(self) -> str:
        """The sentence for a release in which no group is more than noise."""
        return NO_GROUP_CERTAIN if self.model.rows_detected_ else NO_ROWS_DETECTED

    def size_text(self, i: int) -> str:
        """Format ``1,230 (1,150 to 1,310)``; marked if the group is unstable or may be empty."""
        mark = "" if self.certain[i] else " (uncertain)"
        return f"{self.sizes[i]:,}{self._spread_text(i)}{mark}"

    def _spread_text(self, i: int) -> str:
        if self.intervals.missing is not None:
            return ""
        ends = self.size_ends(i)
        return f" ({UNSTABLE})" if ends is None else f" ({ends[0]:,} to {ends[1]:,})"

    def settings(self, title: str, publisher: str | None) -> dict[str, Any]:
        own = {"title": title, "method": self.method, "algorithm": self.algorithm}
        own |= {"evidence": self.proofs, "code": self.code()}
        return release_settings(self.box, self.guarantee, publisher, **own)

    @property
    def algorithm(self) -> str:
        """How the groups were found, by the name that the estimator takes."""
        named: str = self.model.method
        return named

    @abstractmethod
    def code(self) -> str:
        """Return Python code that does the same with a table of one's own."""

    def limits(self) -> list[str]:
        first = self.first_limits() if self.is_distinct else [self.no_groups]
        return [*first, *self.edge_texts(), *self.own_limits(), *self.row_limits()]

    def limits_without_groups(self) -> list[str]:
        return [self.no_groups, *self.counts(), *self.row_limits()]

    def row_limits(self) -> list[str]:
        """Return what is said where no column says whose a row is."""
        return [ROW_IS_PERSON] if has_no_person_column(self.model) else []

    def first_limits(self) -> list[str]:
        return self.cautions()

    @abstractmethod
    def own_limits(self) -> list[str]:
        """Return the limits of this kind of groups."""

    def counted_values(self) -> dict[str, Any]:
        """Return what ``--json`` prints of how many rows there are, and of how many groups."""
        return {
            "n_clusters": self.k,
            "certain_groups": sum(self.certain),
            "counted": self.unit,
            "rows_about": int(self.model.n_rows_),
            "rows_within_95_in_100": int(self.model.n_rows_within_),
            "rows_detected": self.model.rows_detected_,
            "interval_rate": self.intervals.rate,
            "rows_interval": [self.intervals.total_low, self.intervals.total_high],
        }

    def certainty_values(self, i: int) -> dict[str, Any]:
        """Return what ``--json`` prints of how sure a group is."""
        return {"certain": self.certain[i], "noise_reach": float(self.model.noise_sizes_[i])}


class GroupAtEdge(NamedTuple):
    """A group whose centre lies at a bound of a column.

    Parameters
    ----------
    group
        Its index.
    bound
        The bound.
    """

    group: int
    column: str
    bound: float


def centers_at_bounds(centers: Floats, box: Any, names: Sequence[str]) -> Iterator[GroupAtEdge]:
    """Yield each centre that lies within half a hundredth of a column's range of a bound.

    Parameters
    ----------
    names
        What the columns are called.
    """
    near = _AT_EDGE * (box.high - box.low)
    for i, center in enumerate(centers):
        for j in map(int, np.flatnonzero((center - box.low <= near) | (box.high - center <= near))):
            is_low = center[j] - box.low[j] <= near[j]
            yield GroupAtEdge(i, names[int(j)], float(box.low[j] if is_low else box.high[j]))


def count_text(groups: int) -> str:
    """Return the number of groups in words."""
    return quantity(groups, "group") if groups else "No groups"
