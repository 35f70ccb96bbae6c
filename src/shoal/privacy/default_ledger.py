"""The ledger of a call that was given none, and what all such calls of a process promise together.

Each call promises what its ``guarantee_`` says; promises about the same people add up. So releases
with real noise are added up in memory, and from the second on a warning says the sum. A process to
which an estimator is pickled, as joblib's workers are, adds to the sum of the one that sent it.
Simulations promise nothing and are not counted, which leaves out every fit of made-up rows.
"""

import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from shoal.errors import ChoiceNotCovered, InvalidBudget, LedgerError, PromisesAddUp
from shoal.privacy._journal import ReleaseRecord
from shoal.privacy._ledger import Ledger, LedgerOrPath
from shoal.privacy.guarantees import Budget, Guarantee
from shoal.privacy.ledger_page import process_lock

_CONTINUED = "further entry of one release"  # of the sum alone, which nobody reads
_CALLED_FOR_THE_USER = ("shoal", "sklearn", "joblib")


class UnkeptLedger(Ledger):
    """A ledger that nobody passed and nobody reads: its promises count in the process's sum.

    Parameters
    ----------
    columns
        The columns that are read: the warning is given once for each set of them.
    """

    def __init__(self, columns: Iterable[str] = ()) -> None:
        super().__init__()
        self._goes_on = False  # whether the release of the last entry has more entries
        self._columns = frozenset(map(str, columns))

    def _write(
        self,
        made: Guarantee,
        needed: Guarantee,
        by: str,
        what: str,
        record: ReleaseRecord | None,
    ) -> None:
        if isinstance(made, Budget) and not made.simulation:
            _process.add(made, needed, by, _CONTINUED if self._goes_on else what, self._columns)
            self._goes_on = made.epsilon != getattr(needed, "epsilon", None)
        super()._write(made, needed, by, what, record)


class _ProcessSum:
    """What this process, and those it sent estimators to, released without a ledger."""

    def __init__(self) -> None:
        self.ledger: Ledger | None = None
        self.clones: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._warned: set[tuple[frozenset[str], Any]] = set()
        # Kinds of promises whose deltas reached 1: nothing that is written adds up to that.
        self._broken: dict[Any, int] = {}

    def add(self, made: Budget, needed: Any, by: str, what: str, columns: frozenset[str]) -> None:
        """Add an entry that is about to be made; from the second release on, warn first."""
        with process_lock():
            self.ledger = self.ledger or Ledger()
            if made.kind in self._broken:
                self._warn_of_nothing(made)
                return
            try:
                if what != _CONTINUED:
                    self._warn(needed, columns)
                self.ledger._write(made, made, by, what, None)
            except LedgerError:
                # Its file went with the process that shared it: this one goes on by itself.
                self.ledger = Ledger()
                self.ledger._write(made, made, by, what, None)
            except InvalidBudget:
                self._warn_of_nothing(made)

    def _warn(self, made: Budget, columns: frozenset[str]) -> None:
        """Say once for these columns and this kind of promise what all releases promise."""
        if self.ledger is None or (columns, made.kind) in self._warned:
            return
        totals = {total.kind: total for total in self.ledger.totals() if isinstance(total, Budget)}
        if not totals:
            return
        totals[made.kind] = totals[made.kind] + made if made.kind in totals else made
        self._warn_of_sum(made, f"they promise {' and '.join(map(str, totals.values()))}")
        # Only now: where warnings are errors, the next fit without a ledger is refused too.
        self._warned.add((columns, made.kind))

    def _warn_of_nothing(self, made: Budget) -> None:
        """Say at every release that deltas add up to 1, since no entry can hold that."""
        self._warn_of_sum(made, "they promise nothing: their deltas add up to 1 or more")
        self._broken[made.kind] = self._broken.get(made.kind, 0) + 1

    def _warn_of_sum(self, made: Budget, together: str) -> None:
        """Say what this release and those before it promise together."""
        entries = [] if self.ledger is None else self.ledger.entries()["what"].to_pylist()
        written = sum(what != _CONTINUED for what in entries)
        n_before = written + sum(self._broken.values())
        _warn_caller(
            f"This release promises {made}. With it, this process and its workers make "
            f"{n_before + 1} without a ledger: if they are about the same people, together "
            f"{together}. Pass all of them one ledger, which adds them up and stops at a limit: "
            "ledger=shoal.Ledger('table.ledger', limit=...).",
            PromisesAddUp,
        )


_process = _ProcessSum()


class ProcessSumLink:
    """Goes with an estimator to another process, whose releases then count in this one's sum."""

    def __reduce__(self) -> tuple[Any, ...]:
        with process_lock():
            ledger = _process.ledger = _process.ledger or Ledger()
        # Without a place for the file, the other process adds up its own releases.
        with suppress(LedgerError, OSError):
            return _join_sum, (str(ledger._share()),)
        return ProcessSumLink, ()

    def __deepcopy__(self, memo: dict[int, object]) -> "ProcessSumLink":
        return self


def _join_sum(path: str) -> ProcessSumLink:
    """Let a process that has no sum of its own add to the one in a file, if it is still there."""
    with process_lock(), suppress(LedgerError, OSError):
        if _process.ledger is None and Path(path).exists():
            _process.ledger = Ledger._reopen(path)
    return ProcessSumLink()


_inside = threading.local()


@contextmanager
def unnoted_clones() -> Iterator[None]:
    """Leave out the clones that a method makes of itself, in this thread."""
    before, _inside.method = getattr(_inside, "method", False), True
    try:
        yield
    finally:
        _inside.method = before


def note_clone(estimator: Any, ledger: LedgerOrPath | None) -> None:
    """Warn when an estimator with real noise is cloned a second time, as a search does.

    Clones are made where the search is called, also if other processes fit them.
    """
    if getattr(_inside, "method", False):
        return
    with process_lock():
        _process.clones[estimator] = n_clones = _process.clones.get(estimator, 0) + 1
    if n_clones != 2:
        return
    paid = (
        "every fit of a clone is a release of its own, and no ledger adds them up"
        if ledger is None
        else "every fit of a clone is a release of its own, which the ledger pays"
    )
    _warn_caller(
        f"A {type(estimator).__name__} with real noise is cloned again, as searches and "
        f"cross-validation do: {paid}. A choice by `score` on the rows is covered by no epsilon "
        "at all, with a ledger or without. Choose by shoal.choose or shoal.plan, or on made-up "
        "rows with a seed (guide: With scikit-learn).",
        ChoiceNotCovered,
    )


def _warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line that called shoal, or scikit-learn, which called shoal."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_called_for_the_user(frame.f_globals["__name__"]):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_called_for_the_user(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in _CALLED_FOR_THE_USER
