"""Turn results into pages: what may be said (``findings``), then how it looks (``render``).

The words of this package:

- *result*: what a method returns, its values marked as public, released or protected.
- *findings*: all that a page may say, as one plain dictionary; also written as ``report.json``.
- *audience*: a page is for the *public*, or for the *curator*, who holds the rows.
- *promise*: a guarantee in words. *Lead*: its main sentence.
- *belief*: how likely somebody thinks something; a guarantee limits how far it can move.
- *advantage*: how much better than chance an attack can be at most.
- *limits*: what follows from epsilon alone: beliefs, odds, advantage.
- *account*: what the ledger says: spent earlier, here, in all, and what is left.
- *label*: eight facts in one order on every page.
- *verdict*: what an audit or an attack concluded about a claim.
- *exhibit*: a figure or table of a document that is run again, by its number there.

The package can be called: ``shoal.report(model, "page.html")`` writes the page of a model.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from shoal.privacy.wording._guarantee_text import Promise
from shoal.privacy.wording._promise import promise
from shoal.privacy.wording.amounts import Belief, account_values, belief, in_100, remaining
from shoal.report.findings import findings
from shoal.report.render import render, texts, write
from shoal.report.reproduction import (
    CANNOT_TEST,
    DOES_NOT_HOLD,
    HOLDS,
    Claim,
    Exhibit,
    Reproduction,
    reproduction_page,
)
from shoal.report.verdicts import Detail, Verdicts, verdict_page

__all__ = [
    "CANNOT_TEST",
    "DOES_NOT_HOLD",
    "HOLDS",
    "Belief",
    "Claim",
    "Detail",
    "Exhibit",
    "Promise",
    "Reproduction",
    "Verdicts",
    "account_values",
    "belief",
    "findings",
    "in_100",
    "promise",
    "remaining",
    "render",
    "reproduction_page",
    "texts",
    "verdict_page",
    "write",
]


class _CallableModule(ModuleType):
    """The package, which is also the function that writes a page."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Write a page; see ``shoal.pages.report.report``."""
        # By name: what builds pages imports this package, and reads what this must not know.
        return import_module("shoal.pages.report").report(*args, **options)


sys.modules[__name__].__class__ = _CallableModule
