"""The page of an audit or an attack: what was found, against what was claimed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.figures import Figure
from shoal.report.findings import made_with
from shoal.report.render import page_of

__all__ = ["Detail", "Verdicts", "verdict_page"]


@dataclass(frozen=True)
class Detail:
    """One finding: its name and verdict, its figures, and the rest in sentences."""

    name: str
    verdict: str
    figures: Sequence[Figure] = ()
    lines: Sequence[str] = ()
    open: bool = False


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """All that such a page says.

    Parameters
    ----------
    title, lead, heading, sub
        What was looked at, what came of it, and the words above the table.
    facts, tables
        As on other pages: ``{"name", "value", "detail"}``, ``{"title", "columns", "rows", ...}``.
    details, reading
        Findings one by one, and how to read their figures.
    says, says_not
        What follows from the findings, and what does not.
    constructed
        Whether all inputs were made up: only then may the page be passed on.
    again
        A command that does the same.
    """

    title: str
    lead: str
    heading: str
    sub: str
    says: Sequence[str]
    says_not: Sequence[str]
    constructed: bool
    facts: Sequence[Mapping[str, str]] = ()
    tables: Sequence[Mapping[str, Any]] = ()
    details: Sequence[Detail] = field(default_factory=tuple)
    reading: str = ""
    again: str = ""


def verdict_page(verdicts: Verdicts) -> str:
    """The page as one HTML file.

    Examples
    --------
    >>> page = verdict_page(Verdicts(title="Audit of <x>", lead="", heading="Verdicts", sub="",
    ...                              says=["a"], says_not=["b"], constructed=True))
    >>> "Audit of &lt;x&gt;" in page, "CURATOR" in page, "<script" in page
    (True, False, False)
    """
    values = {name: getattr(verdicts, name) for name in verdicts.__dataclass_fields__}
    values["facts_"], values["tables_"] = values.pop("facts"), values.pop("tables")
    values["details"] = [_plain(each) for each in verdicts.details]
    return page_of("verdict.html", {**values, **made_with()})


def _plain(detail: Detail) -> dict[str, Any]:
    figures = [figure.to_dict() for figure in detail.figures]
    return {**detail.__dict__, "figures": figures}
