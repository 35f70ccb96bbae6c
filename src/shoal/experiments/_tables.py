"""Tables and leading sentences of a page, in the form that all documents share."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from scipy.stats import norm

from shoal.experiments._results import Mean
from shoal.pages import CANNOT_TEST, DOES_NOT_HOLD, HOLDS, Claim

NOT_RUN = "The part was not run, or its table is not here."


def table_of(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = ""
) -> dict[str, Any]:
    """Return a table as a page shows it."""
    shown = {"title": title, "columns": list(columns), "rows": [list(row) for row in rows]}
    return {**shown, "note": note, "marked": False}


def clear_errors(comparisons: int) -> float:
    """Return how many standard errors make a difference clear, where several are compared.

    Of equal means one in twenty such groups of comparisons has a difference that looks clear.

    Examples
    --------
    >>> round(clear_errors(1), 2), round(clear_errors(3), 2), round(clear_errors(7), 2)
    (1.96, 2.39, 2.69)
    """
    return float(norm.ppf(1 - 0.025 / max(comparisons, 1)))


def verdict_on(gaps: Sequence[Mean]) -> str:
    """Return whether a claim holds that all differences are above 0.

    One that is clearly below 0 refutes it; it holds if all are clearly above; else the draws
    cannot tell.

    Examples
    --------
    >>> verdict_on([Mean(0.2, 0.01, 9), Mean(0.3, 0.02, 9)])
    'holds'
    >>> verdict_on([Mean(0.2, 0.01, 9), Mean(-0.3, 0.02, 9)])
    'does not hold'
    >>> verdict_on([Mean(0.2, 0.01, 9), Mean(0.01, 0.02, 9)])
    'cannot be tested here'
    """
    limit = clear_errors(len(gaps))
    if any(gap.mean < -limit * gap.error for gap in gaps):
        return DOES_NOT_HOLD
    return HOLDS if all(gap.mean > limit * gap.error for gap in gaps) else CANNOT_TEST


def lead_of(claims: Sequence[Claim]) -> str:
    """Return how many claims hold, in a sentence.

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
