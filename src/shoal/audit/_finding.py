"""The result of an audit, with all that is needed to judge and to repeat it.

Findings are for the holder of the rows; a public report leaves them out. Only a finding on made-up
inputs (``constructed``) says nothing about anyone and may be passed on.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from shoal.errors import InvalidSetting, quantity
from shoal.figures import Figure
from shoal.privacy import Guarantee
from shoal.privacy.guarantees import guarantee_of
from shoal.randomness import Seed


def verdict_of(value: float, claim: float | None, faults: tuple[str, ...] = ()) -> str:
    """Return the verdict: a violation proves a fault, the others prove nothing.

    Examples
    --------
    >>> verdict_of(1.3, 1.0), verdict_of(0.9, 1.0), verdict_of(0.9, None)
    ('violated', 'consistent', 'no claim')
    >>> verdict_of(0.0, 1.0, ("constant",))
    'broken'
    """
    if claim is not None and value > claim:
        return "violated"
    if faults:
        return "broken"
    return "no claim" if claim is None else "consistent"


def seed_of(random_state: Seed) -> int | None:
    """Return the seed to record, or None if none was given."""
    return int(random_state) if isinstance(random_state, int | np.integer) else None


@dataclass(frozen=True, kw_only=True)
class Finding(ABC):
    """Base of everything an audit finds; ``float()`` of it is the number found.

    Attributes
    ----------
    verdict
        ``"violated"``: the number exceeds the claim. ``"broken"``: it does not, but what was
        audited raises, returns NaN, changes shape or is not random; or draws depend on each other,
        so that no number is certified. ``"consistent"``: nothing of this was seen, which proves
        nothing. ``"no claim"``: measured, with nothing to hold it against.
    claim
        The number it is compared with.
    instrument
        The instrument that measured it.
    alpha
        The probability with which something correct may be called violated.
    draws
        Outputs of each side.
    pair
        The two inputs in words; those of others are not kept.
    constructed
        Whether the inputs were made up.
    seed
        The seed; ``None`` if none was given.
    guarantee
        The promise that the claim was read from.
    notes
        Further remarks.
    """

    verdict: str
    claim: float | None
    instrument: str
    alpha: float
    draws: int
    pair: str = ""
    constructed: bool = False
    seed: int | None = None
    guarantee: Guarantee | None = None
    notes: tuple[str, ...] = ()

    @property
    @abstractmethod
    def value(self) -> float:
        """The number found."""

    def __float__(self) -> float:
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; ``finding_of`` reads them back."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["guarantee"] = None if self.guarantee is None else self.guarantee.to_dict()
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
        return {"kind": type(self).__name__, **plain}

    def plot(self) -> Figure:
        """Draw the claim, the certified bound and the ceiling on one axis."""
        from shoal.figures import verdict_figure

        return verdict_figure(**self._drawn())

    def _drawn(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "measured": self.value,
            "claim": self.claim,
            "title": f"Audit: {self.verdict}",
            "unit": self.instrument,
        }

    def _lines(self) -> list[str]:
        claim = "no claim" if self.claim is None else f"claimed {self.claim:.4g}"
        head = f"{self.verdict}: {self.value:.4g} found by {self.instrument}, {claim}"
        pair = [f"pair: {self.pair}"] if self.pair else []
        seed = "" if self.seed is None else f", seed {self.seed}"
        return [head, *pair, f"alpha {self.alpha:g}, {self.draws:,} draws a side{seed}"]

    def __str__(self) -> str:
        return "\n".join([*self._lines(), *(f"note: {note}" for note in self.notes)])


@dataclass(frozen=True, kw_only=True)
class LowerBound(Finding):
    """A certified lower bound on epsilon.

    Attributes
    ----------
    epsilon
        The bound, which is at most the true epsilon with probability 1 - alpha; 0 if nothing was
        seen.
    event
        The event it was seen on, in words.
    ceiling
        The largest bound so many draws can show. A bound near it reads "as large as can be seen".
    counts
        How many outputs of the likelier side, of the other side, were in the event, and of how
        many each.
    delta
        The delta of a claim of (epsilon, delta).
    instrument
        ``"lower bound"``.
    """

    epsilon: float
    event: str
    ceiling: float
    counts: tuple[int, int, int]
    delta: float = 0.0
    instrument: str = "lower bound"

    @property
    def value(self) -> float:
        """Epsilon."""
        return self.epsilon

    def _drawn(self) -> dict[str, Any]:
        more = {"ceiling": self.ceiling, "event": self.event, "counts": self.counts}
        return {**super()._drawn(), **more, "unit": "epsilon"}

    def _lines(self) -> list[str]:
        head, *rest = super()._lines()
        often, seldom, of = self.counts
        event = f"event: {self.event}: {often:,} against {seldom:,} of {of:,}"
        return [f"{head}, at most {self.ceiling:.2f} could show", event, *rest]


@dataclass(frozen=True, kw_only=True)
class Measured(Finding):
    """The finding of another instrument: a sum, a sensitivity or a distance.

    Attributes
    ----------
    statistic
        The number found; above ``claim`` it is violated.
    """

    statistic: float

    @property
    def value(self) -> float:
        """The statistic."""
        return self.statistic

    def _lines(self) -> list[str]:
        *lines, last = super()._lines()
        if self.instrument != "replay":
            return [*lines, last]
        seed = "" if self.seed is None else f", seed {self.seed}"
        return [*lines, f"exact, {quantity(self.draws, 'pair')} of tables, both ways{seed}"]

    @classmethod
    def judge(cls, statistic: float, claim: float, faults: tuple[str, ...], **rest: Any) -> Self:
        """Return the finding with its verdict; NaN is no evidence for anything.

        Parameters
        ----------
        statistic
            The number found.
        claim
            The number it is compared with.
        faults
            What no working instrument does.
        """
        faults = (*faults, "NaN") if math.isnan(statistic) else faults
        verdict = verdict_of(statistic, claim, faults)
        return cls(statistic=statistic, claim=claim, verdict=verdict, notes=faults, **rest)


def finding_of(values: Mapping[str, Any]) -> Finding:
    """Rebuild a finding from ``to_dict``.

    Parameters
    ----------
    values
        The plain values.
    """
    rest = dict(values)
    kinds: dict[str, Any] = {"LowerBound": LowerBound, "Measured": Measured}
    kind = kinds.get(str(rest.pop("kind", "")))
    if kind is None or not rest.keys() <= {f.name for f in fields(kind)}:
        raise InvalidSetting(
            "This is not the finding of an audit.", "Pass what to_dict() returned."
        )
    promise = rest.get("guarantee")
    rest["guarantee"] = None if promise is None else guarantee_of(promise)
    finding: Finding = kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in rest.items()})
    return finding
