"""From results to pages: what may be said (``findings``), then how it looks (``render``)."""

from shoal.report.findings import findings
from shoal.report.render import render, texts, write
from shoal.report.wording import Promise, promise

__all__ = ["Promise", "findings", "promise", "render", "texts", "write"]
