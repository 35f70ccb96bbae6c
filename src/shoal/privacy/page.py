"""A page of the ledger: one promise, and the only gate through which anything leaves."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from shoal.errors import (
    IncomparableGuarantees,
    InvalidSetting,
    PromiseExceeded,
    UnmarkedSimulation,
)
from shoal.privacy.guarantees import Budget, Guarantee, PureDP, Unprotected

__all__ = ["Mechanism", "Page"]

Value = TypeVar("Value", contravariant=True)
Output = TypeVar("Output", covariant=True)


class Mechanism(Protocol[Value, Output]):
    """Randomises one value and says what that promises.

    A mechanism may also have ``check(value)``, which raises on a value it cannot take; the gate
    calls it before anything is written.
    """

    @property
    def guarantee(self) -> Guarantee:
        """What one ``release`` promises."""

    def release(self, value: Value, rng: np.random.Generator) -> Output:
        """Draw the noise and hand out the result."""


class Page:
    """One promise. The first release writes all of it; later ones draw on it.

    What mechanisms receive is held against the promise, so a budget split the wrong way round
    is refused rather than overspent.
    """

    def __init__(self, promise: Guarantee, write: Callable[[Guarantee, str], None]) -> None:
        self.promise = promise
        self._write = write
        self._written: Guarantee | None = None
        self._spent: Budget | None = None

    @property
    def budget(self) -> Any:
        """What mechanisms may spend in all, stated for one row added or removed."""
        return self.promise.per_row() if isinstance(self.promise, PureDP) else self.promise

    def release(
        self,
        mechanism: Mechanism[Value, Output],
        value: Value,
        rng: np.random.Generator,
        *,
        of: str,
    ) -> Output:
        """Check, write, then draw: whatever leaves, leaves here.

        Parameters
        ----------
        mechanism, value, rng
            ``mechanism.release(value, rng)`` is what is returned.
        of
            What this is, for the ledger: "cell counts".
        """
        self._pay(mechanism.guarantee, mechanism, value, rng, of)
        return mechanism.release(value, rng)

    @contextmanager
    def parallel(self, *, of: str) -> Iterator["Parts"]:
        """Releases about disjoint rows: together they cost what the dearest part costs.

        ``with page.parallel(of="regions") as part: part("north").release(...)``. Which part a
        row belongs to must depend on that row and on public things alone.
        """
        if not isinstance(self.promise, PureDP):
            raise IncomparableGuarantees(
                f"Parts of disjoint rows were declared on a page of {self.promise}.",
                "They mean something under PureDP only; release one after the other.",
            )
        yield Parts(self, of)

    def total(self) -> Guarantee:
        """What mechanisms received, as a promise of the page's kind."""
        if self._written is None:
            raise InvalidSetting("Nothing was released on this page.", "Release something first.")
        if not isinstance(self.promise, Budget):
            return self._written
        budget: Budget = self.budget
        share = cast("Budget", self._spent).epsilon / budget.epsilon
        return (self.promise * share).simulated(self._written.simulation)

    def _pay(
        self,
        cost: Guarantee | None,
        mechanism: Mechanism[Value, Any],
        value: Value,
        rng: np.random.Generator,
        of: str,
    ) -> None:
        """All that can fail comes before the entry is written; after it only the draw is left."""
        spent = self._spent if cost is None else _added(self._spent, cost, self.budget)
        if hasattr(mechanism, "check"):
            mechanism.check(value)
        simulation = bool(getattr(rng, "simulation", True))  # nobody vouches for a bare generator
        if self._written is None:
            made = self.promise.simulated(simulation)
            self._write(made, of)
            self._written = made
        elif simulation and not self._written.simulation:
            raise UnmarkedSimulation(
                "This page was written as real; the generator that came is seeded.",
                "Use one Randomness for the whole page.",
            )
        self._spent = spent


class Parts:
    """The parts of a ``parallel`` block; ``parts(name)`` is a gate for the rows of one part."""

    def __init__(self, page: Page, of: str) -> None:
        self._page = page
        self._of = of
        self._received: dict[Hashable, Fraction] = {}

    def __call__(self, name: Hashable) -> "Part":
        return Part(self, name)

    def dearer(self, name: Hashable, more: Guarantee) -> Guarantee | None:
        """By how much the dearest part's cost grows if this one receives ``more``."""
        if not isinstance(more, PureDP):
            return more  # not of the page's kind: its gate refuses it
        before = max(self._received.values(), default=Fraction(0))
        growth = self._received.get(name, Fraction(0)) + more.epsilon - before
        return more * (growth / more.epsilon) if growth > 0 else None

    def note(self, name: Hashable, more: Guarantee) -> None:
        """Remember what a part received."""
        received = self._received.get(name, Fraction(0))
        self._received[name] = received + cast("PureDP", more).epsilon


class Part:
    """The gate for one part: like the page's own, held against the same promise."""

    def __init__(self, parts: Parts, name: Hashable) -> None:
        self._parts = parts
        self._name = name

    def release(
        self, mechanism: Mechanism[Value, Output], value: Value, rng: np.random.Generator
    ) -> Output:
        """As ``Page.release``."""
        parts, made = self._parts, mechanism.guarantee
        cost = parts.dearer(self._name, made)
        parts._page._pay(cost, mechanism, value, rng, parts._of)
        parts.note(self._name, made)
        return mechanism.release(value, rng)


def _added(spent: Budget | None, more: Guarantee, budget: Guarantee) -> Budget | None:
    if isinstance(budget, Unprotected):
        return None
    if not isinstance(more, Budget) or not isinstance(budget, Budget):
        if more == budget:
            return None
        raise _refused(more, budget)
    if more.kind != budget.kind:
        raise _refused(more, budget)
    after = more if spent is None else spent + more
    if not after.within(budget):
        raise PromiseExceeded(
            f"The page promised {budget}; with this release mechanisms would have {after}.",
            "This is a fault in the method: its shares must sum to page.budget.",
        )
    return after


def _refused(more: Guarantee, budget: Guarantee) -> IncomparableGuarantees:
    return IncomparableGuarantees(
        f"A mechanism of {more} came to a page of {budget}.",
        "Give the mechanism a share of page.budget.",
    )
