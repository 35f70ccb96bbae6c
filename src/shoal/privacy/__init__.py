"""Guarantees, the ledger that adds them up, and results marked by who may see them.

The words of this package:

- *guarantee* or *promise*: what a release protects, and how well: ``PureDP(1)``.
- *budget*: a guarantee measured by *epsilon*; budgets of one *kind* add up.
- *neighbours*: two tables that must be hard to tell apart, such as with and without one person.
- *slack*: a constant that ``MetricDP`` adds for rounding reports to a lattice.
- *simulation*: a release whose noise was seeded; it protects nobody and is marked so.
- *mechanism*: randomises one value and states its guarantee.
- *ledger*: what was promised about one table so far, and the *limit* it must not exceed.
- *page*: one promise in the ledger, opened by a method; ``page.release`` is the only way out.
- *gate*: ``page.release``: checks the budget, writes the entry, then draws.
- *entry*: a line of the ledger. *Store*: where entries are kept, in memory or in a file.
- *run*: work that can be resumed after a crash; its *journal* keeps what it released.
- *leaf*: a value of a result: public, released, or protected (for the holder of the rows).
"""

from shoal.privacy._exact_numbers import Number, exact, exact_budget, exact_text, whole_number
from shoal.privacy._gaussian_share import GaussianShare
from shoal.privacy._journal import work_digest
from shoal.privacy._ledger import Ledger, LedgerOrPath
from shoal.privacy.guarantees import (
    ApproxDP,
    Budget,
    Guarantee,
    KAnonymity,
    KMap,
    LocalDP,
    MetricDP,
    PureDP,
    Unprotected,
    guarantee_of,
)
from shoal.privacy.ledger_page import Mechanism, Page
from shoal.privacy.ledger_summary import Account, account_of, existing_ledger
from shoal.privacy.results import Protected, Public, Released, Result

__all__ = [
    "Account",
    "ApproxDP",
    "Budget",
    "GaussianShare",
    "Guarantee",
    "KAnonymity",
    "KMap",
    "Ledger",
    "LedgerOrPath",
    "LocalDP",
    "Mechanism",
    "MetricDP",
    "Number",
    "Page",
    "Protected",
    "Public",
    "PureDP",
    "Released",
    "Result",
    "Unprotected",
    "account_of",
    "exact",
    "exact_budget",
    "exact_text",
    "existing_ledger",
    "guarantee_of",
    "whole_number",
    "work_digest",
]
