"""A page of the ledger: one promise, and the only gate through which anything leaves.

A page of a run that may be resumed keeps what it releases in the ledger's file, so that whoever
starts the run again after a crash reads it for nothing. See ``page.proof.md``.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Protocol, SupportsIndex, TypeVar, cast

import numpy as np

from shoal.errors import (
    IncomparableGuarantees,
    InvalidSetting,
    PageCopied,
    PromiseExceeded,
    RunChanged,
    UnmarkedSimulation,
)
from shoal.privacy.guarantees import ApproxDP, Budget, Guarantee, PureDP, Unprotected
from shoal.privacy.journal import Record, Run, arrays_of, packed, unpacked, value_of
from shoal.privacy.sqlite_file import taking_turns

__all__ = ["Mechanism", "Page"]

Cost = Callable[[], Guarantee | None]
Value = TypeVar("Value", contravariant=True)
Output = TypeVar("Output", covariant=True)


class Mechanism(Protocol[Value, Output]):
    """Randomises one value and says what that promises.

    A mechanism may also have ``check(value)``, which raises on a value it cannot take; the gate
    calls it before anything is written. One whose output is more than an array or a whole number
    has ``to_arrays(output)`` and ``from_arrays(arrays)``, so that a run can be resumed; one whose
    output draws only when it is read, and keeps what it drew by itself, says ``draws_later``.
    """

    @property
    def guarantee(self) -> Guarantee:
        """What one ``release`` promises."""

    def release(self, value: Value, rng: np.random.Generator) -> Output:
        """Draw the noise and hand out the result."""


class Page:
    """One promise. The first release writes all of it; later ones draw on it.

    What mechanisms receive is held against the promise, so a budget split the wrong way round
    is refused rather than overspent. A page stays in the process that opened it: a copy would
    spend the rest a second time.

    Parameters
    ----------
    promise
        What all releases together promise.
    write
        Checks the limit and writes the entry, with what was released if that is kept.
    run
        The run it belongs to, if that may be resumed.
    """

    def __init__(
        self,
        promise: Guarantee,
        write: Callable[[Guarantee, str, Record | None], None],
        run: Run | None = None,
    ) -> None:
        self.promise = promise
        self.run = run
        self._write = write
        self._home = os.getpid()
        self._written: Guarantee | None = None
        self._spent: Budget | None = None

    @property
    def budget(self) -> Any:
        """What mechanisms may spend in all, stated for one row added or removed."""
        promise = self.promise
        return promise.per_row() if isinstance(promise, PureDP | ApproxDP) else promise

    @property
    def compute_seed(self) -> int | None:
        """Of the compute stream, for ``Randomness``; None unless the run may be resumed."""
        return None if self.run is None else self.run.compute_seed

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
        made = mechanism.guarantee
        return self._release(mechanism, value, rng, text_of(of, "of"), lambda: made)

    @contextmanager
    def parallel(self, *, of: str) -> Iterator["Parts"]:
        """Releases about disjoint rows: together they cost what the dearest part costs.

        ``with page.parallel(of="regions") as part: part("north").release(...)``. Which part a
        row belongs to must depend on that row and on public things alone.
        """
        if not isinstance(self.promise, PureDP):
            raise IncomparableGuarantees(
                f"Parts of disjoint rows were declared on a page of {self.promise}.",
                "They are counted on pages of PureDP only; release one after the other.",
            )
        yield Parts(self, text_of(of, "of"))

    def total(self) -> Guarantee:
        """What mechanisms received, as a promise of the page's kind."""
        if self._written is None:
            raise InvalidSetting("Nothing was released on this page.", "Release something first.")
        received: Guarantee = self._written if self._spent is None else self._spent
        if self._spent is not None and isinstance(self.promise, PureDP | ApproxDP):
            received = self.promise.for_all_rows(cast("Any", self._spent))
        return received.simulated(self._written.simulation)

    def _release(
        self,
        mechanism: Mechanism[Value, Output],
        value: Value,
        rng: np.random.Generator,
        of: str,
        cost: Cost,
    ) -> Output:
        """The gate itself: what is paid for leaves, and what was paid for before leaves again."""
        _check_call(mechanism, value, rng)
        if self.run is None or _is_seeded(rng):
            self._pay(cost, rng, of)  # [P1]
            return mechanism.release(value, rng)
        recorded = self.run.recorded()
        if recorded is not None:
            return self._release_again(mechanism, value, rng, of, cost, recorded)
        what = _asked(mechanism, of)
        if getattr(mechanism, "draws_later", False):
            self._pay(cost, rng, of, self.run.next_record(what, None))
            return mechanism.release(value, rng)
        self._check_affordable(cost)
        output = mechanism.release(value, rng)  # [P2] in memory: nobody has it yet
        arrays = arrays_of(mechanism, output)
        content = None if arrays is None else packed(arrays)
        self._pay(cost, rng, of, self.run.next_record(what, content))  # [P3] on disk, both or none
        return output

    def _release_again(
        self,
        mechanism: Mechanism[Value, Output],
        value: Value,
        rng: np.random.Generator,
        of: str,
        cost: Cost,
        recorded: Record,
    ) -> Output:
        """What an earlier process of this run released here: no draw, and nothing to pay."""
        assert self.run is not None
        later = bool(getattr(mechanism, "draws_later", False))
        if recorded.what != _asked(mechanism, of) or later != (recorded.content is None):
            self.run.forget()
            raise RunChanged(
                "What this run released before it was stopped does not fit what it asks for now.",
                "Run it again: it will be paid for anew.",
            )
        self._pay(cost, rng, of, paid=True)  # [P4] held against the promise all the same
        if recorded.content is None:
            return mechanism.release(value, rng)
        return cast("Output", value_of(mechanism, unpacked(recorded.content)))

    def _check_affordable(self, cost: Cost) -> None:
        """Refuse a release the promise does not cover, before anything is drawn."""
        with taking_turns():
            self._check_home()
            more = cost()
            if more is not None:
                _added(self._spent, more, self.budget)

    def _pay(
        self,
        cost: Cost,
        rng: np.random.Generator,
        of: str,
        record: Record | None = None,
        paid: bool = False,
    ) -> None:
        """Hold the cost against the promise, and write unless it was ``paid`` before."""
        with taking_turns():
            self._check_home()
            more = cost()
            spent = self._spent if more is None else _added(self._spent, more, self.budget)
            simulation = _is_seeded(rng)
            if self._written is None:
                made = self.promise.simulated(simulation)
                if not paid:
                    self._write(made, of, record)
                self._written = made
            elif simulation and not self._written.simulation:
                raise UnmarkedSimulation(
                    "This page was written as real; the generator that came is seeded.",
                    "Use one Randomness for the whole page.",
                )
            elif record is not None and self.run is not None:
                self.run.store.add_record(self.run, record)
            self._spent = spent
            if self.run is not None:
                self.run.advance()

    def _check_home(self) -> None:
        if os.getpid() != self._home:
            raise _copied()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        raise _copied()


class Parts:
    """The parts of a ``parallel`` block; ``parts(name)`` is a gate for the rows of one part."""

    def __init__(self, page: Page, of: str) -> None:
        self._page = page
        self._of = of
        self._received: dict[str, Fraction] = {}

    def __call__(self, name: object) -> "Part":
        return Part(self, f"{type(name).__name__} {name!r}")  # alike in print is the same part

    def release(
        self,
        name: str,
        mechanism: Mechanism[Value, Output],
        value: Value,
        rng: np.random.Generator,
    ) -> Output:
        """Charge the page with what makes this part dearer than the dearest so far."""
        made = mechanism.guarantee

        def cost() -> Guarantee | None:
            _check_kind(made, self._page.budget)
            more = cast("PureDP", made)
            dearest = max(self._received.values(), default=Fraction(0))
            growth = self._received.get(name, Fraction(0)) + more.epsilon - dearest
            return more * (growth / more.epsilon) if growth > 0 else None

        with taking_turns():
            output = self._page._release(mechanism, value, rng, self._of, cost)
            received = self._received.get(name, Fraction(0))
            self._received[name] = received + cast("PureDP", made).epsilon
            return output


class Part:
    """The gate for one part: like the page's own, held against the same promise."""

    def __init__(self, parts: Parts, name: str) -> None:
        self._parts = parts
        self._name = name

    def release(
        self, mechanism: Mechanism[Value, Output], value: Value, rng: np.random.Generator
    ) -> Output:
        """As ``Page.release``."""
        return self._parts.release(self._name, mechanism, value, rng)


def text_of(value: object, name: str) -> str:
    """Words for the ledger."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidSetting(
            f"{name} is what the ledger shows; a {type(value).__name__} that is no text came.",
            f"E.g. {name}='cell counts'.",
        )
    return value.encode("utf-8", "replace").decode()


def _check_call(mechanism: Mechanism[Value, Any], value: Value, rng: np.random.Generator) -> None:
    """All that can be told wrong before anything is written."""
    if not isinstance(rng, np.random.Generator):
        raise InvalidSetting(
            f"A {type(rng).__name__} came where a stream of noise belongs.",
            "Pass the noise of a Randomness: rng = Randomness(), then rng.noise.",
        )
    if hasattr(mechanism, "check"):
        mechanism.check(value)


def _is_seeded(rng: np.random.Generator) -> bool:
    return bool(getattr(rng, "simulation", True))  # a bare generator: who vouches for it?


def _asked(mechanism: Mechanism[Any, Any], of: str) -> str:
    """What a release is, for the journal: a run that goes on must ask for the same."""
    return f"{of}: {type(mechanism).__name__}, {mechanism.guarantee}"


def _check_kind(more: Guarantee, budget: Guarantee) -> None:
    same = more.kind == budget.kind if isinstance(budget, Budget) else more == budget
    if not same and not isinstance(budget, Unprotected):
        raise IncomparableGuarantees(
            f"A mechanism of {more} came to a page of {budget}.",
            "Give the mechanism a share of page.budget.",
        )


def _added(spent: Budget | None, more: Guarantee, budget: Guarantee) -> Budget | None:
    """What will have been spent after a release of ``more``; refused if too much."""
    if isinstance(budget, ApproxDP) and isinstance(more, PureDP):
        more = more.as_approx()
    _check_kind(more, budget)
    if not isinstance(budget, Budget):
        return None
    after = cast("Budget", more) if spent is None else spent + more
    if not after.within(budget):
        raise PromiseExceeded(
            f"The page promised {budget}; with this release mechanisms would have {after}.",
            "This is a fault in the method: its shares must sum to page.budget.",
        )
    return after


def _copied() -> PageCopied:
    return PageCopied(
        "A page came to another process, or was about to be copied: each copy would spend what is "
        "left of it.",
        "Release where the page was opened, or open a page of its own in each process.",
    )
