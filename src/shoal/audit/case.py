"""Cases of the audit: a mechanism, two inputs and the claim about them.

Some instruments need no bound on epsilon: the ledger's sum, brute force, and the test of a law.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from shoal.audit._finding import Finding, Measured, seed_of
from shoal.audit.bound._pairs import epsilon_of
from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee
from shoal.randomness import Randomness, Seed


@dataclass(frozen=True, eq=False)
class Case:
    """What to audit and how, fixed before anything is drawn; ``run`` audits it.

    Parameters
    ----------
    mechanism
        For a lower bound: one of ours, or a function of an input, as of ``lower_bound``. For the
        other instruments a function ``(draws, rng)``: see ``instrument``.
    pair
        Two inputs the claim compares, made up for the purpose: no person's row.
    claim
        A guarantee or a number; ``None`` where nothing is promised.
    at_least
        The least value that the instrument should find at the case's own number of draws; ``None``
        for no such figure. A twin must exceed its claim, too.
    draws
        Outputs of each side.
    score
        As of ``lower_bound``. For the instrument ``"law"``, the claimed distribution function.
    event
        As of ``lower_bound``.
    delta
        As of ``lower_bound``.
    instrument
        ``"lower bound"``; ``"ledger"``: the mechanism returns the sum handed to the gate, the claim
        is the promise; ``"brute force"``: it returns the largest sensitivity found, the claim is
        the one stated; ``"law"``: it returns values, held against ``score`` by Kolmogorov's test.
    about
        The pair, and what it is meant to show, in words.

    Examples
    --------
    >>> from shoal.mechanisms import Geometric
    >>> from shoal.privacy import PureDP
    >>> case = Case(Geometric(PureDP(1)), (5, 6), PureDP(1), about="counts 5 and 6")
    >>> case.run(draws=4_000).verdict
    'consistent'
    """

    mechanism: Any
    pair: tuple[Any, Any] | None
    claim: Guarantee | float | None
    at_least: float | None = None
    draws: int = 200_000
    score: Callable[..., Any] | None = None
    event: Callable[..., Any] | None = None
    delta: float = 0.0
    instrument: str = "lower bound"
    about: str = ""

    def run(
        self,
        *,
        draws: int | None = None,
        alpha: float = 0.01,
        random_state: Seed = 0,
        progress: Callable[[str, float], None] | None = None,
    ) -> "Finding":
        """Audit the case; seeded, so that the finding can be repeated.

        Parameters
        ----------
        draws
            Outputs of each side; None takes the case's own number.
        alpha
            The probability of calling something correct violated.
        random_state
            The seed.
        progress
            Called with what is being done and how far it is, from 0 to 1.
        """
        draws = self.draws if draws is None else draws
        if self.instrument == "lower bound":
            return self._bounded(draws, alpha, random_state, progress)

        if self.instrument not in INSTRUMENTS:
            raise InvalidSetting(
                f"There is no instrument {self.instrument!r}.",
                f"Choose 'lower bound', {', '.join(map(repr, INSTRUMENTS))}.",
            )
        return INSTRUMENTS[self.instrument](self, draws, alpha, random_state)

    def _bounded(
        self,
        draws: int,
        alpha: float,
        random_state: Seed,
        progress: Callable[[str, float], None] | None,
    ) -> "Finding":
        from shoal.audit.bound._lower_bound import lower_bound

        return lower_bound(
            self.mechanism,
            self.pair,
            self.claim,
            draws=draws,
            alpha=alpha,
            delta=self.delta,
            score=self.score,
            event=self.event,
            random_state=random_state,
            progress=progress,
            constructed=self.about or True,
        )


class Twin(Case):
    """A broken mechanism: its claim is what its authors stated, ``at_least`` what must be found.

    An audit that finds less is broken itself, so the figure is part of the case.
    """


class Cases(Mapping[str, Case]):
    """Cases by name, built when first used."""

    def __init__(self, make: Callable[[], Mapping[str, Case]]) -> None:
        self._made = cache(make)

    def __getitem__(self, name: str) -> Case:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())

    def __repr__(self) -> str:
        return f"<{len(self)} cases: {', '.join(map(repr, self))}>"


def _compare_ledger_sum(case: Case, draws: int, alpha: float, random_state: Seed) -> Finding:
    """Compare what was handed to the gate with the promise; more breaks it, less wastes it.

    Less is a fault too: a budget split the wrong way round may spend too little here and too much
    there.
    """
    handed, promise = float(case.mechanism(draws, Randomness(random_state).noise)), _claim(case)
    faults = (f"{handed:.4g} of {promise:.4g} were handed out",) if handed < promise else ()
    return Measured.judge(handed, promise, faults, **_facts(case, draws, alpha, random_state))


def _compare_sensitivity(case: Case, draws: int, alpha: float, random_state: Seed) -> Finding:
    """Compare the largest sensitivity found with the one stated."""
    largest = float(case.mechanism(draws, Randomness(random_state).noise))
    stated = _claim(case) * (1 + 1e-9)  # float64 sums
    return Measured.judge(largest, stated, (), **_facts(case, draws, alpha, random_state))


def _test_law(case: Case, draws: int, alpha: float, random_state: Seed) -> Finding:
    """Compare the distance of the draws from the claimed law with Kolmogorov's at level alpha."""
    from scipy.stats import kstwo

    if case.score is None:
        raise InvalidSetting(
            "The distribution was not given.", "Give its distribution function: score=lambda r: ..."
        )
    values = np.sort(np.ravel(case.mechanism(draws, Randomness(random_state).noise)))
    below = np.asarray(case.score(values), dtype=float)
    steps = np.arange(values.size + 1) / values.size
    farthest = float(max(np.max(steps[1:] - below), np.max(below - steps[:-1])))
    allowed = float(kstwo.isf(alpha, values.size))
    return Measured.judge(farthest, allowed, (), **_facts(case, draws, alpha, random_state))


def _claim(case: Case) -> float:
    claim = epsilon_of(case.claim)
    if claim is None:
        raise InvalidSetting("There is no claim to measure against.", "Give the case one.")
    return claim


def _facts(case: Case, draws: int, alpha: float, random_state: Seed) -> dict[str, Any]:
    facts = {"instrument": case.instrument, "alpha": alpha, "draws": draws}
    return {**facts, "seed": seed_of(random_state), "pair": case.about, "constructed": True}


INSTRUMENTS: dict[str, Callable[[Case, int, float, Seed], Finding]] = {
    "ledger": _compare_ledger_sum,
    "brute force": _compare_sensitivity,
    "law": _test_law,
}
