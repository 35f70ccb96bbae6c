"""Audit a broken form, as a cell of any document."""

from shoal.audit.twins import twins
from shoal.experiments._cells import Row


def audits(twin: str, draws: int) -> list[Row]:
    """Audit a broken form: what it loses at least, where so much is claimed.

    Parameters
    ----------
    twin
        Its name in ``shoal.audit.twins``.
    """
    audit = twins[twin].run(draws=draws)
    claim = float(audit.claim or 0)
    return [{"bound": float(audit.value), "claim": claim, "verdict": audit.verdict}]
