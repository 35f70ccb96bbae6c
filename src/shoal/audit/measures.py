"""Instruments that need no bound on epsilon: the ledger's sum, brute force, the test of a law."""

from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.audit.case import Case
from shoal.audit.finding import Finding, Measured, seed_of
from shoal.audit.pairs import epsilon_of
from shoal.errors import InvalidSetting
from shoal.randomness import Randomness, Seed

__all__ = ["measures"]


def ledger_sum(case: Case, draws: int, alpha: float, random_state: Seed) -> Finding:
    """What was handed to the gate, against the promise: more breaks it, less wastes it.

    Less is a fault too: a split the wrong way round may spend too little here and too much there.
    """
    handed, promise = float(case.mechanism(draws, Randomness(random_state).noise)), _claim(case)
    faults = (f"{handed:.4g} of {promise:.4g} were handed out",) if handed < promise else ()
    return Measured.judge(handed, promise, faults, **_told(case, draws, alpha, random_state))


def brute_force(case: Case, draws: int, alpha: float, random_state: Seed) -> Finding:
    """The largest sensitivity found, against the one stated."""
    found = float(case.mechanism(draws, Randomness(random_state).noise))
    stated = _claim(case) * (1 + 1e-9)  # float64 sums
    return Measured.judge(found, stated, (), **_told(case, draws, alpha, random_state))


def law(case: Case, draws: int, alpha: float, random_state: Seed) -> Finding:
    """The distance of the draws from the claimed law, against Kolmogorov's at level alpha."""
    from scipy.stats import kstwo

    if case.score is None:
        raise InvalidSetting(
            "The law was not given.", "Give its distribution function: score=lambda r: ..."
        )
    values = np.sort(np.ravel(case.mechanism(draws, Randomness(random_state).noise)))
    below = np.asarray(case.score(values), dtype=float)
    steps = np.arange(values.size + 1) / values.size
    farthest = float(max(np.max(steps[1:] - below), np.max(below - steps[:-1])))
    allowed = float(kstwo.isf(alpha, values.size))
    return Measured.judge(farthest, allowed, (), **_told(case, draws, alpha, random_state))


def _claim(case: Case) -> float:
    claim = epsilon_of(case.claim)
    if claim is None:
        raise InvalidSetting("There is no claim to measure against.", "Give the case one.")
    return claim


def _told(case: Case, draws: int, alpha: float, random_state: Seed) -> dict[str, Any]:
    told = {"instrument": case.instrument, "alpha": alpha, "draws": draws}
    return {**told, "seed": seed_of(random_state), "pair": case.about, "constructed": True}


measures: dict[str, Callable[[Case, int, float, Seed], Finding]] = {
    "ledger": ledger_sum,
    "brute force": brute_force,
    "law": law,
}
