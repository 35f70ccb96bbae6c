"""Which split to make next: scores of candidates, and how ties between them are settled.

A candidate is a node X on the cut of QID q. What it gains is measured in bits (``leteo``), in
normalised certainty penalty (``ncp``, ``ncp-rows``, ``ncp-bits``), in its square (``sq``) or in
information about a class column (``label-gain``); what it costs in lost anonymity, in rows to
suppress, or in bits. In the method of Fung, Wang and Yu (Top-down specialization for information
and privacy preservation, ICDE 2005) the gain is ``label-gain``.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InvalidSetting

__all__ = [
    "ASK_FOR_BITS",
    "ASK_FOR_SIZES",
    "PORTFOLIO",
    "SCORES",
    "Candidates",
    "LossUnit",
    "ScoreName",
    "best",
    "resolved",
    "scored",
]

ScoreName = Literal["leteo", "ncp", "sq", "ncp-rows", "ncp-bits", "label-gain"]
LossUnit = Literal["rows", "k", "bits"]
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)
PORTFOLIO: tuple[ScoreName, ...] = ("sq", "ncp", "ncp-rows", "ncp-bits")
ASK_FOR_BITS = ("leteo", "ncp-bits")
ASK_FOR_SIZES = ("leteo", "ncp", "sq", "label-gain")

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The valid splits, in the order of their QIDs and then of the tree.

    Parameters
    ----------
    gain
        What each gains, in the unit of the score.
    bits
        Entropy each adds, in bits times N; zeros unless the score is in ``ASK_FOR_BITS``.
    lost
        Rows each would suppress.
    before, after
        The smallest class now, and after each split; zeros unless in ``ASK_FOR_SIZES``.
    """

    gain: Floats
    bits: Floats
    lost: NDArray[np.int64]
    before: int
    after: NDArray[np.int64]


def resolved(score: str, suppression: float) -> ScoreName:
    """The score that ``auto`` stands for, or the one named.

    Examples
    --------
    >>> resolved("auto", 0), resolved("auto", 0.02), resolved("leteo", 0)
    ('sq', 'ncp-rows', 'leteo')
    """
    if score == "auto":
        return "ncp-rows" if suppression > 0 else "sq"
    for name in SCORES:
        if name == score:
            return name
    raise InvalidSetting(
        f"There is no score {score!r}.", f"Choose auto or one of {', '.join(SCORES)}."
    )


def scored(score: ScoreName, of: Candidates, unit: LossUnit, k: int) -> Floats:
    """The score of each candidate; the largest is split next.

    ``unit`` says in what lost anonymity is counted: ``rows`` (or people), ``k`` of them, or
    ``bits``, log2 of how many times smaller the smallest class becomes.

    Examples
    --------
    >>> two = Candidates(np.array([6.0, 4.0]), np.zeros(2), np.zeros(2, int), 9, np.array([4, 8]))
    >>> scored("sq", two, "rows", 2).tolist(), scored("sq", two, "k", 2).round(2).tolist()
    ([1.0, 2.0], [1.71, 2.67])
    """
    if unit not in get_args(LossUnit):
        raise InvalidSetting(f"There is no loss unit {unit!r}.", "Choose rows, k or bits.")
    if score == "ncp-rows":
        return of.gain / (1 + of.lost)
    if score == "ncp-bits":  # no class divides: nothing is spent, so it comes first
        free = np.full(len(of.gain), np.inf)
        return np.asarray(np.divide(of.gain, of.bits, out=free, where=of.bits > 0))
    return of.gain / (1 + _anonymity_lost(of, unit, k))


def _anonymity_lost(of: Candidates, unit: LossUnit, k: int) -> Floats:
    """Never below 0: to suppress the smallest class whole is no gain in anonymity."""
    if unit == "bits":
        return np.maximum(0.0, np.log2(of.before / of.after))
    lost = np.maximum(0, of.before - of.after)
    return np.asarray(lost / (k if unit == "k" else 1))


def best(scores: Floats, gain: Floats) -> int:
    """The candidate to split: by score, then gain, then order; twelve digits count.

    Engines that sum in another order differ in the last digits only, and so agree.

    Examples
    --------
    >>> best(np.array([0.3, 0.1 + 0.2, 0.1]), np.array([1.0, 2.0, 3.0]))
    1
    """
    top = scores.max()
    least = top - 1e-11 * abs(top) if np.isfinite(top) else top
    near = np.flatnonzero(scores >= least)
    return max(near.tolist(), key=lambda i: (_digits(scores, i), _digits(gain, i), -i))


def _digits(numbers: Floats, i: int) -> float:
    return float(f"{float(numbers[i]):.12g}")
