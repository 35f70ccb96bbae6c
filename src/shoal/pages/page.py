"""The data of a page, which its HTML file, a terminal and JSON share.

One builder for each kind of result (``kmeans.page``, ``wave.page``, ``table.page``, ...) reads a
result once and returns a ``Page``. ``report`` writes the HTML file; the command line prints its
``lines``, or its ``values`` with ``--json``, and adds where the files are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from shoal.domain import Box, Schema
    from shoal.figures import Figure
    from shoal.pages._verdicts import Verdicts
    from shoal.pages.groups._cards import Groups
    from shoal.privacy import Guarantee, Result


WITHHELD = "Noise alone would look like these groups, so they are not shown here."
UNTESTED = (
    "Whether noise alone would look like these groups was not tested, so they are not shown here."
)
NOT_PUBLISHED = (
    "Noise alone would look like these groups: the page for the public does not show them, and the "
    "other files are for you alone. To publish them all the same: --publish-anyway."
)

UNTESTED_NOT_PUBLISHED = (
    "Whether noise alone would look like these groups was not tested: the page for the public does "
    "not show them. Test them with their reports, in Python: model.evidence(reports), then save "
    "the model. To publish them all the same: --publish-anyway."
)


class Fact(NamedTuple):
    """A large number on a page, with its name and a short explanation."""

    name: str
    value: str
    detail: str


class Line(NamedTuple):
    """A labelled sentence, as a terminal shows it: ``Found     About 10,012 students, ...``.

    Parameters
    ----------
    label
        One or two words; empty for a sentence that goes on under the label above.
    is_literal
        Whether it is there to be copied, as a path or a command is, and so never folded.
    """

    label: str
    text: str
    is_literal: bool = False


@dataclass(frozen=True)
class Table:
    """A small table.

    Parameters
    ----------
    marked
        Whether the first cell of a row names a mark on a map: ``Group 1``.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    marked: bool = False
    note: str = ""
    left: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the table as ``report`` and its JSON have it."""
        shown = {"title": self.title, "columns": list(self.columns), "rows": list(self.rows)}
        return shown | {"marked": self.marked, "note": self.note}


@dataclass(frozen=True)
class CountReason:
    """Why a page shows so many groups, and not more or fewer."""

    figure: "Figure"
    lines: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as ``report`` and its JSON have it."""
        return {"figure": self.figure.to_dict(), "lines": list(self.lines)}


@dataclass(frozen=True)
class Extra:
    """A section that only one kind of page has."""

    title: str
    text: str
    figures: Sequence["Figure"]

    def to_dict(self) -> dict[str, Any]:
        """Return the section as ``report`` and its JSON have it."""
        figures = [figure.to_dict() for figure in self.figures]
        return {"title": self.title, "text": self.text, "figures": figures}


class WithoutGroups(NamedTuple):
    """What is said on a page that does not show the groups: none of it tells where one lies.

    Parameters
    ----------
    summary
        The sentence under the title; it ends with why they are not shown.
    """

    summary: str
    facts: Sequence[Fact]
    limits: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a terminal shows of a result, and what scripts read.

    Parameters
    ----------
    values
        For ``--json``.
    """

    lines: Sequence[Line | Table]
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Page(Summary):
    """All that is said of a release.

    Parameters
    ----------
    result
        The result itself, each value marked by who may see it; what follows is shown besides.
    settings
        Public: title, method, holder, bounds, code and so on, as ``report.findings`` names them.
    summary
        The sentence under the title.
    facts
        The few numbers that matter most.
    figures
        Maps and charts of released values.
    tables
        The same in numbers.
    limits
        What the numbers do not say, and how far they may be off.
    groups
        The groups, which then come first on the page; None where a result has none.
    budgets
        What another budget would do, from the release itself; None if that was not tried.
    curve
        Why this many groups: a figure over their number, and sentences; None if it was given.
    extra
        A section of its own; None for most pages.
    without_groups
        What a page for the public says instead of groups that are not distinguishable from noise,
        unless its publisher says so: docs/decisions/certain-groups.md. None if one is.
    """

    result: "Result"
    settings: Mapping[str, Any]
    summary: str
    facts: Sequence[Fact]
    figures: Sequence["Figure"]
    tables: Sequence[Table]
    limits: Sequence[str]
    groups: "Groups | None" = None
    budgets: Table | None = None
    curve: "CountReason | None" = None
    extra: Extra | None = None
    without_groups: WithoutGroups | None = None

    @property
    def is_distinct(self) -> bool:
        """Whether a group is distinguishable from noise."""
        return self.without_groups is None

    def to_result(self, *, publish_anyway: bool = False) -> "Result":
        """Return the result with the page's own text and figures, for ``report.findings``.

        Values of the result keep their marks; only what a builder wrote itself, from released
        numbers, is marked here.

        Parameters
        ----------
        publish_anyway
            Whether to show groups that are not distinguishable from noise.
        """
        from shoal.privacy import Public, Released

        if self.without_groups is not None and not publish_anyway:
            return self._with_promise_alone(self.without_groups).to_result()
        shown = {
            "summary": self.summary,
            "facts": [fact._asdict() for fact in self.facts],
            "figures": list(self.figures),
            "tables": [table.to_dict() for table in self.tables],
            "errors": list(self.limits),
            "groups": self.groups and self.groups.to_dict(),
            "budgets": self.budgets and self.budgets.to_dict(),
            "curve": self.curve and self.curve.to_dict(),
            "extra": self.extra and self.extra.to_dict(),
        }
        return replace(
            self.result,
            settings={**self.result.settings, **_marked(Public, self.settings)},
            released={**self.result.released, **_marked(Released, shown)},
        )

    def _with_promise_alone(self, shown: WithoutGroups) -> "Page":
        """Return the page that says that there is nothing to show: the promise, and why."""
        hidden: dict[str, Any] = dict.fromkeys(("figures", "tables"), ())
        hidden |= dict.fromkeys(("groups", "budgets", "curve", "extra"))
        return replace(
            self,
            result=replace(self.result, released={}),
            **shown._asdict(),
            without_groups=None,
            **hidden,
        )


def _marked(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: kind(value) for name, value in values.items()}


@dataclass(frozen=True, kw_only=True)
class VerdictPage(Summary):
    """All that is said of an audit, an attack or an evaluation."""

    verdicts: "Verdicts"


def labelled_lines(label: str, texts: Sequence[str]) -> list[Line]:
    """Return lines of which only the first has the label."""
    return [Line("" if i else label, text) for i, text in enumerate(texts)]


def promise_lines(guarantee: "Guarantee", **context: Any) -> list[Line]:
    """Return the promise in a sentence; a simulation says that it keeps none."""
    from shoal.privacy.wording import SIMULATION, promise

    lead = promise(guarantee, **context).lead
    if guarantee.simulation:
        return [Line("Note", SIMULATION), Line("Promised", f"Nothing. With real noise: {lead}")]
    return [Line("Promised", lead)]


def name_list(names: Sequence[str], most: int = 3) -> str:
    """Join names in a sentence, and say how many more there are.

    Examples
    --------
    >>> name_list(["a", "b"]), name_list(["a", "b", "c", "d"])
    ('a and b', 'a, b and 2 more columns')
    """
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more columns"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def bounds_origin(domain: "Box | Schema") -> str:
    """Return where bounds come from: chosen without the rows, or estimated with seeded noise."""
    if domain.simulation:
        return "estimated from the rows with noise from a seed, so not public"
    return "public, fixed beforehand"


def bounds_text(box: "Box") -> str:
    """Return the public bounds of the first columns as text."""
    from shoal.figures.text import format_number

    sides = zip(box.names, box.low, box.high, strict=True)
    each = [f"{name} {format_number(low)} to {format_number(high)}" for name, low, high in sides]
    return ", ".join(each[:4]) + (f" and {len(each) - 4} more" if len(each) > 4 else "")


def is_withheld(result: "Result") -> bool:
    """Whether the page of this result says that it does not show the groups."""
    return _summary_ends_with(result, WITHHELD, UNTESTED)


def withheld_line(result: "Result") -> Line:
    """Return what the holder is told of a page that does not show the groups."""
    is_untested = _summary_ends_with(result, UNTESTED)
    return Line("Withheld", UNTESTED_NOT_PUBLISHED if is_untested else NOT_PUBLISHED)


def _summary_ends_with(result: "Result", *endings: str) -> bool:
    summary = result.released.get("summary")
    return summary is not None and str(summary.value).endswith(endings)
