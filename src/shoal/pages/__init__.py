"""Build what each kind of result says, as data, and write it as HTML page, for a terminal, as JSON.

A result becomes a page in three steps: a builder of this package says all there is to say of it
(``page`` holds the data classes), ``findings`` picks what its audience may see, ``render`` draws
that. ``groups`` builds the page of every clustering, ``table`` that of a k-anonymous table,
``plan`` that of an expected error, ``audit``, ``attack`` and ``evaluation`` those of verdicts.
``report`` writes the page of any of them.

Glossary
--------
page
    All that is said of a release.
line, value
    What a terminal shows of it, and what ``--json`` prints.
fact
    One of the few large numbers of a page.
limits
    What the numbers of a page do not say; of a promise, what follows from epsilon alone.
group
    A cluster as readers see it, numbered from 1.
result
    What a method returns, its values marked as public, released or protected.
findings
    All that a page may say, as one plain dictionary; also written as ``report.json``.
audience
    A page is for the public, or for the curator, who holds the rows.
verdict
    What an audit, an attack or an evaluation concluded about a claim.
exhibit
    A figure or table of a document that is run again, by its number there.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.pages._page_of_result import findings
    from shoal.pages._render import render, texts, write
    from shoal.pages._reproduction import (
        CANNOT_TELL,
        DOES_NOT_HOLD,
        HOLDS,
        HOLDS_IN_PART,
        NOT_JUDGED,
        VERDICTS,
        Claim,
        Exhibit,
        Reproduction,
        reproduction_page,
    )
    from shoal.pages._verdicts import Detail, Verdicts, verdict_page
    from shoal.pages._write_page import report
    from shoal.pages.reports import sidecar

_MODULE_OF = {
    "CANNOT_TELL": "_reproduction",
    "DOES_NOT_HOLD": "_reproduction",
    "HOLDS": "_reproduction",
    "HOLDS_IN_PART": "_reproduction",
    "NOT_JUDGED": "_reproduction",
    "VERDICTS": "_reproduction",
    "Claim": "_reproduction",
    "Detail": "_verdicts",
    "Exhibit": "_reproduction",
    "Reproduction": "_reproduction",
    "Verdicts": "_verdicts",
    "findings": "_page_of_result",
    "render": "_render",
    "report": "_write_page",
    "reproduction_page": "_reproduction",
    "sidecar": "reports",
    "texts": "_render",
    "verdict_page": "_verdicts",
    "write": "_render",
}

__all__ = [
    "CANNOT_TELL",
    "DOES_NOT_HOLD",
    "HOLDS",
    "HOLDS_IN_PART",
    "NOT_JUDGED",
    "VERDICTS",
    "Claim",
    "Detail",
    "Exhibit",
    "Reproduction",
    "Verdicts",
    "findings",
    "render",
    "report",
    "reproduction_page",
    "sidecar",
    "texts",
    "verdict_page",
    "write",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
