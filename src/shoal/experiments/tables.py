"""Tables and leading sentences of a page, in the form that all documents share."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from shoal.report import Claim
from shoal.report.reproduction import CANNOT_TEST, DOES_NOT_HOLD, HOLDS

__all__ = ["NOT_RUN", "lead_of", "table_of"]

NOT_RUN = "The part was not run, or its table is not here."


def table_of(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = ""
) -> dict[str, Any]:
    """Return a table as a page shows it.

    Parameters
    ----------
    title
        What it shows.
    columns
        Their names.
    rows
        Cells as text.
    note
        How to read it.
    """
    shown = {"title": title, "columns": list(columns), "rows": [list(row) for row in rows]}
    return {**shown, "note": note, "marked": False}


def lead_of(claims: Sequence[Claim]) -> str:
    """Return how many claims hold, in a sentence.

    Parameters
    ----------
    claims
        The claims.

    Examples
    --------
    >>> lead_of([Claim("1", "a", "holds"), Claim("2", "b", "does not hold")])
    'Of 2 claims 1 holds, 1 does not hold and 0 cannot be tested here.'
    """
    counts = Counter(claim.verdict for claim in claims)
    holds = counts[HOLDS]
    verb = "holds" if holds == 1 else "hold"
    fails = counts[DOES_NOT_HOLD]
    not_verb = "does" if fails == 1 else "do"
    return (
        f"Of {len(claims)} claims {holds} {verb}, {fails} {not_verb} not hold "
        f"and {counts[CANNOT_TEST]} cannot be tested here."
    )
