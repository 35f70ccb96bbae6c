"""Build what each kind of result says, as data, for HTML page, terminal and JSON alike.

``page`` holds the data classes: ``Page``, ``VerdictPage``, ``Line``, ``Table``, ``Fact``. The other
files build one from a result: ``kmeans``, ``wave`` and ``local`` for clusterings (``cluster`` is
what they share; ``groups``, ``numeric_profiles`` and ``group_count`` are the cards, titles and
curve of their groups), ``synopsis`` for counts of cells, ``reports`` for what is written beside
reports, ``table`` and ``table_explanation`` for k-anonymous tables, ``audit``, ``attack`` and
``evaluation`` for verdicts,
``plan`` for what to expect of a budget and ``what_if`` for its part of a model's page, ``demo``.
``report`` writes the page of any of them.

Words: a *page* is all that is said of a release; *lines* are what a terminal shows, *values* what
``--json`` prints; a *fact* is one of the few large numbers of a page; *limits* say what the numbers
do not; a *group* is a cluster as readers see it, numbered from 1; a *verdict* is the outcome of an
audit, attack or evaluation; the *holder* or *curator* has the rows, the *publisher* releases the
result.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.pages.reports import sidecar

_MODULE_OF = {"sidecar": "reports"}

__all__ = ["sidecar"]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
