"""Groups learnt in rounds of reports, beside what is learnt without data."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from shoal.domain import Box
from shoal.errors import quantity
from shoal.pages.groups._cards import ColumnText, column_texts, replace_titles
from shoal.pages.groups._reports import CLIENTS, LearntView
from shoal.pages.page import Fact, Line, Table, bounds_text, name_list
from shoal.pages.reports import coarse_note

PLACES_NOT_TESTED = (
    "Only the sizes of the groups were tested against noise. Whether noise alone would put groups "
    "in these places was not; compare them with those found without data."
)
_CONTROL_PEOPLE = 50_000
_COLUMNS = 12  # that fit a page


@dataclass(frozen=True, eq=False)
class RoundGroups(LearntView):
    """What stands for each group, its share, and what the same rounds find without data."""

    method: ClassVar[str] = "Learnt from rounds of reports"
    proofs: ClassVar[str] = (
        "proofs beside the code: shoal/cluster/local/transcript.proof.md and those it names"
    )
    files_apart = ("prototypes_",)
    has_curve = False

    @property
    def total(self) -> int:
        """The number of reports."""
        return int(self.model.n_reports_)

    @cached_property
    def control(self) -> Any:
        """The same rounds among people spread evenly over the domain."""
        people = min(self.total, _CONTROL_PEOPLE)
        return self.model.control(people, random_state=self.seed or 0)

    @cached_property
    def columns(self) -> list[ColumnText]:
        return column_texts(self.model.domain, self.model.prototypes_.column_names)

    @property
    def sizes(self) -> list[int]:
        return [round(float(size)) for size in self.model.cluster_sizes_]

    @property
    def is_distinct(self) -> bool:
        """Whether a group has more people than noise alone would show."""
        return bool(self.model.is_certain_.any())

    @property
    def counted(self) -> str:
        return (
            f"{self.heading}, learnt from {quantity(self.total, 'report')} in "
            f"{quantity(self.model.state.n_rounds, 'round')}."
        )

    @property
    def bounds(self) -> str:
        if isinstance(self.model.domain, Box):
            return bounds_text(self.model.domain)
        return f"bounds and categories of {name_list(self.model.domain.columns)}"

    def own_settings(self) -> dict[str, Any]:
        return {"algorithm": type(self.model.state).__name__}

    def code(self) -> str:
        return (
            f"# shoal learn {self.table.rsplit('/', 1)[-1]} -o model\n"
            'import shoal\n\nmodel = shoal.load_model("model")\n'
            'labels = model.predict("records.csv")  # on each record\'s own client'
        )

    def cards(self) -> None:
        """Return nothing: groups of rounds are shown in a table alone."""

    def facts(self) -> list[Fact]:
        error = f"{100 * self.model.share_error_:.2g} %"
        return [
            Fact("Reports", f"{self.total:,}", "one a person, counted"),
            Fact("Groups", str(self.k), "as many as the rounds asked about"),
            Fact("Error of a share", error, "of everybody: its standard error by noise"),
        ]

    def tables(self) -> list[Table]:
        """Return what stands for each group, and the same without data."""
        rows = [[f"Centre {i}", *line] for i, line in enumerate(_texts(self.control), 1)]
        people = f"{self.control.n_reports_:,} people"
        note = f"From {people} spread evenly over the domain, asked the same way."
        columns = ["Centre", *self._axes]
        return [self._table, Table("The same without data", columns, rows, note=note)]

    @cached_property
    def _table(self) -> Table:
        titles = replace_titles([f"Group {i + 1}" for i in range(self.k)], self.names)
        lines, shares = _texts(self.model), self.model.shares_
        order = sorted(range(self.k), key=lambda i: -shares[i])
        rows = [[titles[i], *lines[i], self._share_text(i)] for i in order]
        columns = ["Group", *self._axes, "Share, about"]
        note = "A number is a mean, a category the most common one."
        return Table("What stands for each group", columns, rows, marked=True, note=note)

    @property
    def _axes(self) -> list[str]:
        return [column.axis for column in self.columns[:_COLUMNS]]

    def _share_text(self, i: int) -> str:
        share = f"{100 * max(float(self.model.shares_[i]), 0):.0f} %"
        return share if self.model.is_certain_[i] else f"{share}, may be noise"

    def limits(self) -> list[str]:
        return [PLACES_NOT_TESTED, *self._uncertain_sizes(), *self._of_rounds(), CLIENTS,
                self._per_report()]  # fmt: skip

    def limits_without_groups(self) -> list[str]:
        return [*self._uncertain_sizes(), *self._of_rounds(), self._per_report()]

    def _uncertain_sizes(self) -> list[str]:
        unsure = int((~self.model.is_certain_).sum())
        if not unsure:
            return []
        return [
            f"{quantity(unsure, 'group has', 'groups have')} no more people than noise alone "
            "would show. Collect more reports, look for fewer groups, or use a larger epsilon."
        ]

    def _of_rounds(self) -> list[str]:
        """Return what is true of every collection in rounds."""
        limits, domain = [], self.model.domain
        if isinstance(domain, Box) and (note := coarse_note(domain.d, in_rounds=True)):
            limits.append(note)
        limits.append(
            "The number of groups was fixed before the rounds, since they ask about so many; "
            "another number takes other reports."
        )
        return limits

    def _per_report(self) -> str:
        if self.protects == "a row":
            return "One report is one row. For whoever has several rows the limit counts each time."
        return "Each person was reported once."

    def group_lines(self) -> Sequence[Line | Table]:
        """Return the groups, how far shares are off, and what clients may do."""
        error = f"{100 * self.model.share_error_:.2g}"
        return [
            self._table,
            Line("Noise", f"A share is off by {error} % of everybody, usually."),
            Line("Clients", CLIENTS),
        ]

    def values(self) -> dict[str, Any]:
        model = self.model
        groups = zip(model.prototypes_.to_pylist(), model.shares_.tolist(), strict=True)
        return {
            "spent": None,
            "method": type(model.state).__name__,
            "n_clusters": self.k,
            "reports": self.total,
            "groups": [{"prototype": line, "share_about": share} for line, share in groups],
            "share_error": model.share_error_,
            "without_data": {
                "reports": self.control.n_reports_,
                "prototypes": self.control.prototypes_.to_pylist(),
            },
        }


def _texts(model: Any) -> list[list[str]]:
    """Return the cells of each group's line."""
    table = model.prototypes_
    chosen = [table[name].to_pylist() for name in table.column_names[:_COLUMNS]]
    return [[_cell(value) for value in line] for line in zip(*chosen, strict=True)]


def _cell(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
