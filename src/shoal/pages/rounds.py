"""Build the page of groups learnt in rounds of reports, beside what is learnt without data."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.domain import Box
from shoal.errors import quantity
from shoal.pages._cluster_parts import (
    count_text,
    exact_promise_lines,
    promise_values,
    without_values,
)
from shoal.pages._groups import column_texts, replace_titles
from shoal.pages.local import CLIENTS, NOTHING_SPENT
from shoal.pages.page import Fact, Line, Page, Table, bounds_origin, bounds_text, name_list
from shoal.pages.reports import coarse_note

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.cluster import RoundsModel


EVIDENCE = "proofs beside the code: shoal/cluster/local/transcript.proof.md and those it names"
NOT_TRIED = (
    "Whether noise alone would look like these groups was not tried; compare them with those found "
    "without data."
)
_CONTROL_PEOPLE = 50_000
_COLUMNS = 12  # that fit a page


def page(
    model: "RoundsModel",
    *,
    table: str = "reports.parquet",
    protects: str = "a row",
    seed: int | None = None,
    title: str | None = None,
    publisher: str | None = None,
    names: Sequence[str] | None = None,
) -> Page:
    """Build the page of what rounds of reports say.

    Parameters
    ----------
    protects
        What one report is about: "a row", or a person.
    seed
        The seed of the rounds without data.
    title
        Of the page; None names groups and columns.
    names
        The publisher's name of each group; None numbers them.
    """
    titles = replace_titles([f"Group {i + 1}" for i in range(model.n_clusters_)], names)
    control = model.control(min(model.n_reports_, _CONTROL_PEOPLE), random_state=seed or 0)
    shown = _table(model, titles)
    headline = (
        f"{count_text(model.n_clusters_)}, learnt from {quantity(model.n_reports_, 'report')} in "
        f"{quantity(model.state.n_rounds, 'round')}."
    )
    return Page(
        result=replace(without_values(model.to_result(), "prototypes_"), settings={}),
        settings=_settings(model, title, publisher, protects) | {"code": _code(table)},
        summary=f"{headline} Only reports were read, and each carries noise of its own.",
        facts=_facts(model),
        figures=[],
        tables=[shown, _table_without_data(control)],
        limits=_limits(model, protects),
        lines=_lines(model, headline, shown),
        values=_values(model, control),
        is_distinct=bool(model.is_certain_.any()),
    )


def _facts(model: "RoundsModel") -> list[Fact]:
    error = f"{100 * model.share_error_:.2g} %"
    return [
        Fact("Reports", f"{model.n_reports_:,}", "one a person, counted"),
        Fact("Groups", str(model.n_clusters_), "as many as the rounds asked about"),
        Fact("Error of a share", error, "of everybody: its standard error by noise"),
    ]


def _table(model: "RoundsModel", titles: Sequence[str]) -> Table:
    order = sorted(range(model.n_clusters_), key=lambda i: -model.shares_[i])
    lines = _texts(model)
    rows = [[titles[i], *lines[i], _share_text(model, i)] for i in order]
    columns = ["Group", *_headings(model), "Share, about"]
    note = "A number is a mean, a category the most common one."
    return Table("What stands for each group", columns, rows, marked=True, note=note)


def _table_without_data(control: "RoundsModel") -> Table:
    rows = [[f"Centre {i}", *line] for i, line in enumerate(_texts(control), 1)]
    note = f"From {control.n_reports_:,} people spread evenly over the domain, asked the same way."
    return Table("The same without data", ["Centre", *_headings(control)], rows, note=note)


def _headings(model: "RoundsModel") -> list[str]:
    names = model.prototypes_.column_names[:_COLUMNS]
    return [column.axis for column in column_texts(model.domain, names)]


def _texts(model: "RoundsModel") -> list[list[str]]:
    """Return the cells of each group's line."""
    table: pa.Table = model.prototypes_
    chosen = [table[name].to_pylist() for name in table.column_names[:_COLUMNS]]
    return [[_cell(value) for value in line] for line in zip(*chosen, strict=True)]


def _cell(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


def _share_text(model: "RoundsModel", i: int) -> str:
    share = f"{100 * max(float(model.shares_[i]), 0):.0f} %"
    return share if model.is_certain_[i] else f"{share}, may be noise"


def _limits(model: "RoundsModel", protects: str) -> list[str]:
    limits = [NOT_TRIED]
    unsure = int((~model.is_certain_).sum())
    if unsure:
        limits.append(
            f"{quantity(unsure, 'group has', 'groups have')} no more people than noise alone would "
            "show. Collect more reports, look for fewer groups, or use a larger epsilon."
        )
    if isinstance(model.domain, Box) and (note := coarse_note(model.domain.d, in_rounds=True)):
        limits.append(note)
    limits.append(
        "The number of groups was fixed before the rounds, since they ask about so many; another "
        "number takes other reports."
    )
    whose = "Each person was reported once."
    if protects == "a row":
        whose = "One report is one row. For whoever has several rows the limit counts each time."
    return [*limits, CLIENTS, whose]


def _lines(model: "RoundsModel", headline: str, shown: Table) -> list[Line | Table]:
    """Return what a terminal shows."""
    return [
        *exact_promise_lines(model.guarantee_, by_holder=True),
        Line("Spent", f"{NOTHING_SPENT[0].upper()}{NOTHING_SPENT[1:]}."),
        Line("Found", headline),
        shown,
        Line("Noise", f"A share is off by {100 * model.share_error_:.2g} % of everybody, usually."),
        Line("Clients", CLIENTS),
    ]


def _values(model: "RoundsModel", control: "RoundsModel") -> dict[str, Any]:
    """Return what ``--json`` prints."""
    groups = zip(model.prototypes_.to_pylist(), model.shares_.tolist(), strict=True)
    return promise_values(model.guarantee_) | {
        "spent": None,
        "method": type(model.state).__name__,
        "n_clusters": model.n_clusters_,
        "reports": model.n_reports_,
        "groups": [{"prototype": line, "share_about": share} for line, share in groups],
        "share_error": model.share_error_,
        "without_data": {
            "reports": control.n_reports_,
            "prototypes": control.prototypes_.to_pylist(),
        },
    }


def _settings(
    model: "RoundsModel", title: str | None, publisher: str | None, protects: str
) -> dict[str, Any]:
    """Return the settings that a page shows."""
    source = "from a seed" if model.guarantee_.simulation else "from a cryptographic source"
    named = {"publisher": publisher} if publisher else {}
    columns = name_list(model.prototypes_.column_names)
    return named | {
        "title": title or f"{count_text(model.n_clusters_)} by {columns}",
        "method": "Learnt from rounds of reports",
        "holder": "whoever made the reports; what learnt this read reports alone",
        "bounds": f"{bounds_origin(model.domain)}: {_bounds(model)}",
        "noise": f"in every report, {source}; none was added here",
        "releases": NOTHING_SPENT,
        "evidence": EVIDENCE,
        "context": {"by_holder": True, "dimensions": len(model.prototypes_.column_names)},
        "algorithm": type(model.state).__name__,
        "protects": protects,
        "n_clusters": model.n_clusters_,
    }


def _bounds(model: "RoundsModel") -> str:
    if isinstance(model.domain, Box):
        return bounds_text(model.domain)
    return f"bounds and categories of {name_list(model.domain.columns)}"


def _code(table: str) -> str:
    """Return Python code that labels records with the model; it is learnt by ``shoal learn``."""
    return (
        f"# shoal learn {table.rsplit('/', 1)[-1]} -o model\n"
        'import shoal\n\nmodel = shoal.load_model("model")\n'
        'labels = model.predict("records.csv")  # on each record\'s own client'
    )
