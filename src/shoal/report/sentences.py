"""One guarantee in words, and the sentences that several guarantees share."""

from dataclasses import dataclass

__all__ = ["GROUPS", "KEPT", "LATER", "OTHERS", "REPORTED", "TABLE_TERMS", "Promise"]

GROUPS = (
    "Facts about groups stay visible. What is common among many may be true of you too, whether or "
    "not you took part."
)
OTHERS = "People whose rows say something about you count for themselves: family, friends, twins."
REPORTED = "Worked out from reports that were changed at random one by one; none is listed here."
KEPT = "Whoever collected the rows still holds them. This page does not cover how they are kept."
LATER = "Other releases from the same rows add up. Only those in this table's ledger are counted."

_TERMS = (
    ("ε (epsilon)", "is the budget: smaller means more noise and a tighter limit."),
    ("Odds", "set the chance for against the chance against: 10 in 100 is 1 to 9."),
    ("Cell", "means a rectangle in which rows are counted, with noise added to the count."),
    ("The ledger", "adds up what was promised about one table."),
)
TABLE_TERMS = (
    ("Quasi-identifier", "means a column others may know of you: age, place, occupation."),
    ("Group", "means the rows that show the same in all of these columns."),
    ("Detail kept", "is 100 % for single values, 0 % for a column that only shows *."),
    ("Suppressed", "rows are left out, since no group was large enough for them."),
)


@dataclass(frozen=True)
class Promise:
    """One guarantee in words.

    ``lead`` is the sentence to set large; ``before`` and ``after`` are the chances in it, where
    it has any ("10" and "24" in 100), and ``guessed`` is what they are about. ``head`` goes above
    it, ``found`` above what was found, ``costs`` and ``costs_from`` above what it costs; ``terms``
    explains words of the page.
    """

    lead: str
    more: tuple[str, ...]
    exact: str
    holds: tuple[str, ...]
    fails: tuple[str, ...]
    name: str
    protects: str
    compared: str
    before: str | None = None
    after: str | None = None
    guessed: str | None = None
    head: str = "The promise to you"
    found: str = "What you see carries noise, and no row of the table is drawn or listed here."
    costs: str = "How much the noise costs"
    costs_from: str = "Worked out from the promise and the released numbers alone."
    terms: tuple[tuple[str, str], ...] = _TERMS
