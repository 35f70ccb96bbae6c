"""From results to pages: what may be said (``findings``), then how it looks (``render``)."""

from shoal.report.findings import findings
from shoal.report.guarantee_text import Promise
from shoal.report.promise import promise
from shoal.report.render import render, texts, write
from shoal.report.verdicts import Detail, Verdicts, verdict_page

__all__ = [
    "Detail",
    "Promise",
    "Verdicts",
    "findings",
    "promise",
    "render",
    "texts",
    "verdict_page",
    "write",
]
