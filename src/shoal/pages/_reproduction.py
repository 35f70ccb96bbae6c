"""The page of a document run again: its claims first, then its figures and tables by number."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures import Figure
from shoal.pages._page_of_result import made_with
from shoal.pages._render import page_of

HOLDS = "holds"
"""The verdict on a claim that the run bears out."""
HOLDS_IN_PART = "holds in part"
"""The verdict on a claim that the run bears out in some cases only."""
DOES_NOT_HOLD = "does not hold"
"""The verdict on a claim that the run contradicts."""
CANNOT_TELL = "cannot be told here"
"""The verdict on a claim that the run can neither bear out nor contradict."""
NOT_JUDGED = "not judged"
"""No verdict: the part was not run, or the run was a quick one."""
VERDICTS = (HOLDS, HOLDS_IN_PART, DOES_NOT_HOLD, CANNOT_TELL)
"""The verdicts in the order in which pages list them."""
_SHOWN = (*VERDICTS, NOT_JUDGED)


@dataclass(frozen=True)
class Claim:
    """A claim of a document, and whether it holds here.

    Parameters
    ----------
    where
        The place in the document: a section, a figure, a hypothesis.
    text
        What was tested, in a sentence of ours.
    verdict
        "holds", "holds in part", "does not hold" or "cannot be told here"; "not judged" where the
        part was not run, or only in its quick form.
    document
        The number that the document gives, if any.
    ours
        The number measured here, with two standard errors.
    reason
        What the verdict rests on, in a sentence.
    exhibit
        The number of the figure or table on this page that shows it.
    quote
        The document's own words.
    source
        Which document they are from.
    margin
        The smallest difference that matters, in words.
    detail
        Where it holds and where not.
    """

    where: str
    text: str
    verdict: str
    document: str = ""
    ours: str = ""
    reason: str = ""
    exhibit: str = ""
    quote: str = ""
    source: str = ""
    margin: str = ""
    detail: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in _SHOWN:
            raise InvalidSetting(
                f"{self.verdict!r} is no verdict on a claim.",
                f"Choose one of {', '.join(map(repr, _SHOWN))}.",
                setting="verdict",
            )

    @property
    def anchor(self) -> str:
        """The id on the page of the figure or table that shows it; empty if there is none."""
        return anchor_of(self.exhibit) if self.exhibit else ""


@dataclass(frozen=True)
class Exhibit:
    """The counterpart of one or more figures and tables of a document.

    Parameters
    ----------
    number
        As the document numbers it, e.g. "Figure 6.20"; several are joined by commas.
    title
        What is shown here.
    figures
        Ours.
    tables
        As on other pages: ``{"title", "columns", "rows", "note"}``.
    lines
        Further sentences.
    missing
        Why there is no counterpart; such an entry has neither figures nor tables.
    """

    number: str
    title: str
    figures: Sequence[Figure] = ()
    tables: Sequence[Mapping[str, Any]] = ()
    lines: Sequence[str] = ()
    missing: str = ""

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return anchor_of(self.number)


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """All that the page of a document says.

    Parameters
    ----------
    title
        Which document was run again.
    lead
        The outcome, in a sentence.
    claims
        Its claims, in its order.
    exhibits
        Its figures and tables, in its order.
    setting
        Data, budgets, draws and what differs from the document, in sentences.
    again
        The command that repeats the run.
    quick
        Whether this was the small form of the run.
    """

    title: str
    lead: str
    claims: Sequence[Claim]
    exhibits: Sequence[Exhibit]
    setting: Sequence[str]
    again: str
    quick: bool = False

    def counts(self) -> dict[str, int]:
        """Return how many claims have each verdict, and how many were not judged, if any."""
        counted = Counter(claim.verdict for claim in self.claims)
        shown = [each for each in _SHOWN if each in VERDICTS or counted[each]]
        return {verdict: counted[verdict] for verdict in shown}


def anchor_of(number: str) -> str:
    """Return the id of a figure or table on a page.

    Examples
    --------
    >>> anchor_of("Figure 6.20"), anchor_of("Figures 6.2, 6.3")
    ('figure-6-20', 'figures-6-2-6-3')
    """
    return re.sub(r"[^a-z0-9]+", "-", number.lower()).strip("-")


def reproduction_page(reproduction: Reproduction) -> str:
    """Return the page as one HTML file.

    Parameters
    ----------
    reproduction
        What the page says.

    Examples
    --------
    >>> claim = Claim("Section 1", "Two is <more> than one.", "holds")
    >>> page = reproduction_page(Reproduction(title="Sums", lead="", claims=[claim], exhibits=[],
    ...                                       setting=["None."], again="shoal reproduce sums"))
    >>> "&lt;more&gt;" in page, "<script" in page
    (True, False)
    """
    values: dict[str, Any] = {
        name: getattr(reproduction, name) for name in reproduction.__dataclass_fields__
    }
    values["counts"] = reproduction.counts()
    values["exhibits"] = [_plain(each) for each in reproduction.exhibits]
    return page_of("reproduction.html", {**values, **made_with()})


def _plain(exhibit: Exhibit) -> dict[str, Any]:
    figures = [figure.to_dict() for figure in exhibit.figures]
    return {**exhibit.__dict__, "anchor": exhibit.anchor, "figures": figures}
