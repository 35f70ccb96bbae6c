"""The page of an audit or an attack: what was measured, against what was claimed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.figures import Figure
from shoal.pages._page_of_result import made_with
from shoal.pages._render import page_of


@dataclass(frozen=True)
class Detail:
    """One finding: its name and verdict, its figures, and the rest in sentences.

    Parameters
    ----------
    name
        What was tested.
    verdict
        The verdict, in a word.
    figures
        Its figures.
    lines
        Further sentences.
    open
        Whether it is unfolded at first.
    """

    name: str
    verdict: str
    figures: Sequence[Figure] = ()
    lines: Sequence[str] = ()
    open: bool = False


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """All that the page of an audit or an attack says.

    Parameters
    ----------
    title
        What was tested.
    lead
        The result, in a sentence.
    heading
        The title above the table.
    sub
        The sentence below that title.
    says
        What follows from the findings.
    says_not
        What does not follow from them.
    constructed
        Whether all inputs were made up: only then may the page be passed on.
    facts
        As on other pages: ``{"name", "value", "detail"}``.
    tables
        As on other pages: ``{"title", "columns", "rows", ...}``.
    details
        The findings, one by one.
    reading
        How to read their figures.
    again
        A command that repeats the test.
    gauge
        One bar against the claim, on the first screen: ``found`` and ``limit`` from 0 to 1, their
        ``words`` and ``limit_words``, and what the two ``ends`` mean. None for no bar.
    tag
        What may be done with the page; empty says whether its inputs were made up.
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
    gauge: Mapping[str, Any] | None = None
    tag: str = ""


def verdict_page(verdicts: Verdicts, *, made: str | None = None) -> str:
    """Return the page as one HTML file.

    Parameters
    ----------
    verdicts
        What the page says.
    made
        When it was made, for a page that must come out the same on any day; None says today.

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
    moment = {} if made is None else {"made": made}
    return page_of("verdict.html", {**values, **made_with(), **moment})


def _plain(detail: Detail) -> dict[str, Any]:
    figures = [figure.to_dict() for figure in detail.figures]
    return {**detail.__dict__, "figures": figures}
