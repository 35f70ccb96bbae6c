"""What every collection in rounds does: draw who reports when, and take reports of one round."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from shoal.arrays import Integers
from shoal.errors import NotAReport
from shoal.mechanisms import Reports
from shoal.mechanisms.local import as_raw_reports

Mechanism = TypeVar("Mechanism")


def draw_rounds(n: int, shares: Sequence[float], rng: np.random.Generator) -> Integers:
    """Draw the round in which each of ``n`` people reports.

    Examples
    --------
    >>> draw_rounds(4, (0.5, 0.5), np.random.default_rng(1)).tolist()
    [1, 1, 0, 1]
    """
    return np.asarray(np.searchsorted(np.cumsum(shares)[:-1], rng.random(n), "right"))


def reports_of_round(
    reports: Reports, mechanism: Mechanism | None, number: int
) -> tuple[Reports, Mechanism]:
    """Return reports and the mechanism of a round, once both are seen to fit.

    Parameters
    ----------
    mechanism
        The mechanism of the round; None if there is none to come.
    Raises
    ------
    NotAReport
        If the reports were made by another mechanism.
    """
    own = as_raw_reports(reports)
    if mechanism is None or own.mechanism != mechanism:
        raise NotAReport(
            f"These reports were made by a different {type(own.mechanism).__name__} than "
            f"round {number} needs.",
            "Give reports made by the mechanism of this state.",
        )
    return own, mechanism
