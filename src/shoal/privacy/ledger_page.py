"""A page of the ledger: one promise, and the gate that every release passes through.

A page of a run that may be resumed keeps what it releases in the ledger's file, so that whoever
starts the run again after a crash reads it for nothing. A simulated page belongs to no ledger: it
takes made-up rows and seeded noise only. See ``ledger_page.proof.md``.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, Self, SupportsIndex, TypeVar, cast

import numpy as np

from shoal.errors import (
    BudgetExceeded,
    IncomparableGuarantees,
    InvalidSetting,
    PageMisused,
    RunChanged,
)
from shoal.privacy._gaussian_share import PageTotal, check_kind
from shoal.privacy._journal import (
    ReleaseRecord,
    Run,
    arrays_of,
    output_of,
    pack_arrays,
    unpack_arrays,
)
from shoal.privacy.guarantees import ApproxDP, Budget, Guarantee, PureDP

Cost = Callable[[], Guarantee | None]
Write = Callable[[Guarantee, Guarantee, str, "ReleaseRecord | None"], None]
Value = TypeVar("Value", contravariant=True)
Output = TypeVar("Output", covariant=True)

# Reentrant: paying for a part takes it inside the block that pays for the page.
_lock = threading.RLock()


class Mechanism(Protocol[Value, Output]):
    """Randomises a value and states the guarantee of doing so.

    A mechanism may also have ``check(value)``, which raises on a value it cannot take; the gate
    calls it before anything is written. One whose output is more than an array or a whole number
    has ``to_arrays(output)`` and ``from_arrays(arrays)``, so that a run can be resumed. One that
    reads rows between its draws, or whose output's length is drawn, says ``pays_first``. One whose
    output draws when it is read, and keeps what it drew beside the ledger, names the run it is
    kept for: ``draft_run``. One whose fits ``shoal.audit.replay`` can follow knows its law:
    ``log_ratio(output, value, other)`` and ``worst_ratio(value, other)``, the largest of them.
    """

    @property
    def guarantee(self) -> Guarantee:
        """What one ``release`` promises."""

    def release(self, value: Value, rng: np.random.Generator) -> Output:
        """Draw noise and return the randomised value.

        Parameters
        ----------
        value
            The exact value.
        rng
            The noise stream.
        """


@dataclass
class _Entry:
    """An entry of the ledger that releases are charged to, written at the first of them.

    Parameters
    ----------
    promise
        What it says that they promise together.
    of
        What it says that they are; None for what the first of them is called.
    """

    promise: Guarantee
    of: str | None
    is_written: bool = False
    spent: PageTotal = field(default_factory=PageTotal)

    def after(self, more: Guarantee | None) -> PageTotal:
        """Return what its releases will have received after one more; refuse if too much."""
        return self.spent if more is None else self.spent.after(more, _per_row(self.promise))


class Page:
    """One promise in the ledger, written at the first release and drawn on by later ones.

    Releases of an ``entry`` block are charged to an entry of their own, so that a method which
    stops after them has spent that part alone.

    What mechanisms receive is held against the promise, so a budget split the wrong way round
    is refused rather than overspent. A page stays in the process that opened it: a copy would
    spend the rest a second time.

    Parameters
    ----------
    promise
        What all releases of the page promise together.
    write
        Checks the limit and writes an entry, with the released arrays if they are stored: it is
        given what the entry promises and what the page may promise from there on, entry included.
    run
        The resumable run it belongs to, if any.
    of
        What all releases are, for the ledger; None for what the first of them is called.
    """

    def __init__(
        self,
        promise: Guarantee,
        write: Write,
        run: Run | None = None,
        of: str | None = None,
    ) -> None:
        self.promise = promise
        # What promises nothing may be as exact as the rows: none of it is kept.
        self.run = run if isinstance(promise, Budget) else None
        # Pages are numbered in the order they open, which a resumed run repeats.
        self._number = 0 if self.run is None else self.run.next_page()
        self._write = write
        self._process = os.getpid()
        self._written: Guarantee | None = None
        self._spent = PageTotal()
        self._entry = self._rest = _Entry(promise, of)
        self._made_up_rows: object = None
        self.releases: list[str] = []

    @classmethod
    def simulated(cls, promise: Guarantee, rows: object, rng: np.random.Generator) -> Self:
        """Return a page for a fit of made-up rows, which no ledger adds up.

        Parameters
        ----------
        promise
            What the fit to be simulated promised.
        rows
            The rows of the fit; they say ``is_made_up``, and the page serves no others.
        rng
            The noise stream of the fit; each of its releases must draw from a seeded one.

        Raises
        ------
        PageMisused
            If rows or noise are real: what reads people's rows is paid for in a ledger.

        Examples
        --------
        >>> from shoal.privacy import PureDP
        >>> from shoal.randomness import Randomness
        >>> Page.simulated(PureDP(1), np.zeros((2, 1)), Randomness(7).noise)
        Traceback (most recent call last):
        ...
        shoal.errors.PageMisused: A simulated page takes made-up rows; got a ndarray.
        Open a page of a ledger for people's rows: Ledger().open(...).
        """
        if getattr(rows, "is_made_up", False) is not True:  # [P7]
            raise _real_rows_error(rows)
        _check_seeded(rng)
        page = cls(promise, lambda made, needed, of, record: None)
        page._made_up_rows = rows
        return page

    @property
    def is_simulated(self) -> bool:
        """Whether the page is for made-up rows, and belongs to no ledger."""
        return self._made_up_rows is not None

    def check_rows(self, rows: object) -> None:
        """Refuse rows that a simulated page was not made for; a ledger's page takes any."""
        if self.is_simulated and rows is not self._made_up_rows:  # [P7]
            raise _real_rows_error(rows)

    @property
    def budget(self) -> Any:
        """What mechanisms may spend in all, stated for one row added or removed."""
        return _per_row(self.promise)

    @property
    def gaussian_left(self) -> Fraction:
        """What is left of the budget that Gaussian releases share: 1 before the first of them."""
        part = self._spent.gaussian
        return Fraction(1) if part is None else 1 - part.fraction

    @property
    def compute_seed(self) -> int | None:
        """The seed of the compute stream for ``Randomness``; None unless the run is resumable."""
        return None if self.run is None else self.run.compute_seed

    def release(
        self,
        mechanism: Mechanism[Value, Output],
        value: Value,
        rng: np.random.Generator,
        *,
        of: str,
    ) -> Output:
        """Release a value through a mechanism: check the budget, write the entry, then draw.

        In a run that can be resumed, entry and output are written together before any is returned.

        Parameters
        ----------
        mechanism
            Adds the noise and says what it promises.
        value
            The exact value, which the mechanism can take.
        rng
            The noise stream.
        of
            What this is, for the ledger: "cell counts".

        Returns
        -------
            What ``mechanism.release(value, rng)`` returns; in a resumed run, what it returned
            before.

        Raises
        ------
        PromiseExceeded
            If the page's promise does not cover this release.
        """
        # Read once: what is checked and what is written must be the same.
        made = mechanism.guarantee
        _check_call(mechanism, value, rng)
        what = ledger_text(of, "of")
        if self.run is not None and not _is_seeded(rng):
            with self.run.lock:
                _check_run_open(self.run)
                return self._release_in_run(self.run, mechanism, value, rng, what)
        self._pay(lambda: made, rng, what)  # [P1]
        return mechanism.release(value, rng)

    @contextmanager
    def entry(self, fraction: Fraction, *, of: str) -> Iterator[None]:
        """Charge the releases of this block to an entry of their own, before all others.

        What the page may spend after it is that much less. Once the rest of the page is paid for,
        or where its promise does not divide, the block changes nothing.

        Parameters
        ----------
        fraction
            The part of the promise's epsilon; a delta stays with the rest.
        of
            What they are, for the ledger.
        """
        rest, promise = self._rest, self.promise
        if rest.is_written or not isinstance(promise, PureDP | ApproxDP):
            yield
            return
        part = promise.epsilon * fraction
        no_delta: dict[str, Any] = {"delta": Fraction(0)} if isinstance(promise, ApproxDP) else {}
        own = _Entry(replace(promise, epsilon=part, **no_delta), ledger_text(of, "of"))
        self._entry = own
        try:
            yield
        finally:
            self._entry = rest
            if own.is_written:  # [P9] written or not follows from the method's steps
                left = cast("Any", rest.promise)
                rest.promise = replace(left, epsilon=left.epsilon - part)

    @contextmanager
    def parallel(self, *, of: str) -> Iterator["Parts"]:
        """Yield gates for parts of disjoint rows, which together cost as much as one part.

        ``with page.parallel(of="regions") as part: part("north").release(...)``. Which part a
        row belongs to must depend on that row and on public things alone.

        Parameters
        ----------
        of
            What this is, for the ledger.
        """
        if not isinstance(self.promise, PureDP):
            raise IncomparableGuarantees(
                f"Parts of disjoint rows were declared on a page of {self.promise}.",
                "They are counted on pages of PureDP only; release one after the other.",
            )
        if self.run is not None:
            raise InvalidSetting(
                "Parts of disjoint rows were declared in a run that may be resumed.",
                "A person could be in one part before a crash and in another after it: release "
                "one after the other, or outside of Ledger.resumable.",
            )
        yield Parts(self, ledger_text(of, "of"))

    def total(self) -> Guarantee:
        """Return what mechanisms received so far, as a guarantee of the page's kind."""
        if self._written is None:
            raise InvalidSetting("Nothing was released on this page.", "Release something first.")
        spent = self._spent.total
        received: Guarantee = self._written if spent is None else spent
        if spent is not None and isinstance(self.promise, PureDP | ApproxDP):
            received = self.promise.for_all_rows(cast("Any", spent))
        return received.simulated(self._written.simulation)

    def _release_in_run(
        self,
        run: Run,
        mechanism: Mechanism[Value, Output],
        value: Value,
        rng: np.random.Generator,
        of: str,
    ) -> Output:
        """Release in a resumable run: store what is drawn, or return what was stored before."""
        made, what = mechanism.guarantee, self._release_text(mechanism, value, of)
        recorded = run.recorded()
        if recorded is not None:
            return self._release_again(run, mechanism, value, rng, of, what, recorded)
        if getattr(mechanism, "draft_run", None) == run.name:
            self._pay(lambda: made, rng, of, run.next_record(what, pack_arrays([])))  # [P5]
            return mechanism.release(value, rng)
        if getattr(mechanism, "pays_first", False):
            begun = run.next_record(what, None)
            self._pay(lambda: made, rng, of, begun)  # [P6]
            output = mechanism.release(value, rng)
            run.store.add_record(run, replace(begun, content=_content(mechanism, output)))
            return output
        self._check_affordable(made)
        output = mechanism.release(value, rng)  # [P2] in memory: nobody has it yet
        record = run.next_record(what, _content(mechanism, output))
        self._pay(lambda: made, rng, of, record)  # [P3] on disk, both or none
        return output

    def _release_again(
        self,
        run: Run,
        mechanism: Mechanism[Value, Output],
        value: Value,
        rng: np.random.Generator,
        of: str,
        what: str,
        recorded: ReleaseRecord,
    ) -> Output:
        """Return what an earlier process of this run released: no draw, and nothing to pay."""
        # Another request in this place means that the work is not the same after all.
        if recorded.what != what or recorded.content is None:
            run.forget()
            raise RunChanged(
                "What this run released before it was stopped cannot be used: it was stopped in "
                "the middle of a release, or asks for something else now.",
                "Run it again: it will spend its budget again.",
            )
        made = mechanism.guarantee
        self._pay(lambda: made, rng, of, paid=True)  # [P4] held against the promise all the same
        if getattr(mechanism, "draft_run", None) == run.name:
            return mechanism.release(value, rng)
        return cast("Output", output_of(mechanism, unpack_arrays(recorded.content)))

    def _release_text(self, mechanism: Mechanism[Value, Any], value: Value, of: str) -> str:
        """Describe a release: a resumed run must ask for the same, at the same cost."""
        shape = getattr(value, "shape", "") if isinstance(value, np.ndarray) else ""
        name = f"{type(mechanism).__name__}, {mechanism.guarantee}"
        return f"page {self._number}, {self.promise}: {of} {shape}: {name}"

    def _check_affordable(self, more: Guarantee) -> None:
        """Refuse a release the promise does not cover, before anything is drawn."""
        with process_lock():
            self._check_process()
            self._spent.after(more, self.budget)
            self._entry.after(more)

    def _pay(
        self,
        cost: Cost,
        rng: np.random.Generator,
        of: str,
        record: ReleaseRecord | None = None,
        paid: bool = False,
    ) -> None:
        """Check the cost against the promise, and write the entry unless it was ``paid`` before."""
        if self.is_simulated:
            _check_seeded(rng)  # [P8]
        with process_lock():
            self._check_process()
            more = cost()
            entry = self._entry
            spent = self._spent if more is None else self._spent.after(more, self.budget)
            of_entry = entry.after(more)  # [P9]
            # Real noise protects nobody either where a mechanism's bounds were not public.
            simulation = _is_seeded(rng) or (more is not None and more.simulation)
            if self._written is not None and simulation and not self._written.simulation:
                raise PageMisused(
                    "This page was recorded with real noise; this release is a simulation.",
                    "Use one Randomness for the whole page, and bounds that are public.",
                    reason="simulation",
                )
            if not entry.is_written:
                made = entry.promise.simulated(simulation)
                if not paid:
                    self._write_entry(made, entry.of or of, record)
                entry.is_written, self._written = True, self._written or made
            elif record is not None and self.run is not None:
                self.run.store.add_record(self.run, record)
            self._spent, entry.spent = spent, of_entry
            self.releases.append(of)
            if self.run is not None and (paid or record is not None):
                self.run.advance()

    def _write_entry(self, made: Guarantee, of: str, record: ReleaseRecord | None) -> None:
        """Write an entry; a limit that was reached meanwhile says what is spent already."""
        needed = self._rest.promise.simulated(made.simulation)  # entries before it are taken off
        try:
            self._write(made, needed, of, record)
        except BudgetExceeded as error:
            if self._written is None:
                raise
            spent = f" {self.total()} of this release is spent, on: {', '.join(self.releases)}."
            raise error.changed(message=error.texts[0] + spent) from None

    def _check_process(self) -> None:
        """Refuse a page in another process than the one that opened it."""
        if os.getpid() != self._process:
            raise _copied_error()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        raise _copied_error()


class Parts:
    """The parts of a ``parallel`` block; ``parts(name)`` is the gate of one part."""

    def __init__(self, page: Page, of: str) -> None:
        self._page = page
        self._of = of
        self._received: dict[str, Fraction] = {}

    def __call__(self, name: object) -> "Part":
        """Return the part of this name."""
        # By type and text: 1 and "1" are two parts, and a part named twice is one.
        return Part(self, f"{type(name).__name__} {name!r}")  # alike in print is the same part

    def pay(self, name: str, made: Guarantee, rng: np.random.Generator) -> None:
        """Charge the page with what makes this part cost more than the costliest so far."""

        def cost() -> Guarantee | None:
            check_kind(made, self._page.budget)
            more = cast("PureDP", made)
            dearest = max(self._received.values(), default=Fraction(0))
            # Only what exceeds the costliest part so far is new cost: parts share no row.
            growth = self._received.get(name, Fraction(0)) + more.epsilon - dearest
            return more * (growth / more.epsilon) if growth > 0 else None

        with process_lock():
            self._page._pay(cost, rng, self._of)
            received = self._received.get(name, Fraction(0))
            self._received[name] = received + cast("PureDP", made).epsilon


class Part:
    """The gate of one part: as the page's own, and checked against the same promise."""

    def __init__(self, parts: Parts, name: str) -> None:
        self._parts = parts
        self._name = name

    def release(
        self, mechanism: Mechanism[Value, Output], value: Value, rng: np.random.Generator
    ) -> Output:
        """Release a value about the rows of this part, as ``Page.release`` does."""
        made = mechanism.guarantee
        _check_call(mechanism, value, rng)
        self._parts.pay(self._name, made, rng)
        return mechanism.release(value, rng)


def _per_row(promise: Guarantee) -> Any:
    """Return what mechanisms may spend of a promise, stated for one row added or removed."""
    return promise.per_row() if isinstance(promise, PureDP | ApproxDP) else promise


def ledger_text(value: object, name: str) -> str:
    """Return a text that the ledger can store, or refuse what is no text."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidSetting(
            f"{name} must be non-empty text, which the ledger shows.",
            f"E.g. {name}='cell counts'.",
        )
    # Half a character would make the file unreadable for others.
    return value.encode("utf-8", "replace").decode()


def _check_call(mechanism: Mechanism[Value, Any], value: Value, rng: np.random.Generator) -> None:
    """Refuse arguments that cannot be released, before anything is written."""
    if not isinstance(rng, np.random.Generator):
        raise InvalidSetting(
            f"A release needs a stream of noise; got a {type(rng).__name__}.",
            "Pass the noise of a Randomness: rng = Randomness(), then rng.noise.",
        )
    if hasattr(mechanism, "check"):
        mechanism.check(value)


def _is_seeded(rng: np.random.Generator) -> bool:
    return bool(getattr(rng, "simulation", True))  # a bare generator: who vouches for it?


def _check_seeded(rng: np.random.Generator) -> None:
    # A bare generator does not say that it is a simulation, so it will not do here.
    if getattr(rng, "simulation", False) is not True:
        raise PageMisused(
            "A simulated page draws from a seeded stream; real noise is for real rows.",
            "Give e.g. Randomness(7).noise.",
            reason="simulation",
        )


def _real_rows_error(rows: object) -> PageMisused:
    return PageMisused(
        f"A simulated page takes made-up rows; got a {type(rows).__name__}.",
        "Open a page of a ledger for people's rows: Ledger().open(...).",
        reason="real rows",
    )


def _check_run_open(run: Run) -> None:
    if run.has_ended:
        raise InvalidSetting(
            "This page belongs to a run that has ended.",
            "Release inside the block of Ledger.resumable, or open a page of the ledger itself.",
        )


def _content(mechanism: Mechanism[Any, Any], output: Any) -> bytes | None:
    arrays = arrays_of(mechanism, output)
    return None if arrays is None else pack_arrays(arrays)


def _copied_error() -> PageMisused:
    return PageMisused(
        "A page cannot be copied or passed to another process: each copy would spend what is "
        "left of it.",
        "Release where the page was opened, or open a page of its own in each process.",
        reason="copied",
    )


def process_lock() -> AbstractContextManager[bool]:
    """Return the lock under which this process pays and writes: ``with process_lock(): ...``.

    A fork takes it too: SQLite must not be in the middle of a call then, since the child would
    inherit its locks without holding them.
    """
    return _lock


def _before_fork() -> None:
    _lock.acquire()


def _in_parent() -> None:
    _lock.release()


def _in_child() -> None:
    global _lock  # noqa: PLW0603 - the threads that may have waited for the old one are gone
    _lock = threading.RLock()


os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
