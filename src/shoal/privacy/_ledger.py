"""The ledger of a table: adds up what was promised about it and enforces a limit.

Ledger ── open(promise) ──► Page ── release(mechanism, value, rng) ──► what left
  checks the limit            writes the promise and draws
"""

import atexit
import html
import json
import os
import secrets
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.errors import BudgetExceeded, InvalidSetting, LimitMismatch, setting, value_text
from shoal.files import scratch
from shoal.privacy._entry_store import Entry, EntryStore, FileStore, Limits, MemoryStore
from shoal.privacy._exact_numbers import exact_text
from shoal.privacy._gaussian_share import GaussianShare
from shoal.privacy._journal import ReleaseRecord, Run, work_digest
from shoal.privacy.guarantees import Budget, Guarantee
from shoal.privacy.ledger_page import Page, ledger_text, process_lock
from shoal.privacy.notebook_html import table_html

if TYPE_CHECKING:
    import pyarrow as pa


Limit = Budget | Sequence[Budget] | None


class Ledger:
    """Add up what was promised about one table, and refuse to go past a limit.

    A ledger is itself wherever it goes: ``sklearn.base.clone``, ``copy.deepcopy``, joblib and a
    forked process all write to the same one.

    Parameters
    ----------
    path
        A file, made if it is not there, shared by any number of processes on one machine: under
        one name, on a local disk (see ``UnsafeLedgerPlace``).
        ``None`` keeps the entries in memory (and, once the ledger is pickled or the process
        forks, in a temporary file that only its owner can read).
    limit
        The most that may be promised: a guarantee, or one for each kind. It is stored in the
        file; a limit given later must be equal to it. A limit on ``MetricDP`` that names no slack
        allows 0.01 of it in all.

    Examples
    --------
    >>> from shoal.privacy import PureDP
    >>> ledger = Ledger(limit=PureDP(2))
    >>> page = ledger.open(PureDP(1), by="example")
    >>> ledger.totals()  # nothing is spent until something is released
    []
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, limit: Limit = None) -> None:
        if path is not None and not isinstance(path, str | os.PathLike):
            raise InvalidSetting(
                f"The ledger's file must be a path; got {value_text(path)}.",
                "E.g. Ledger('table.ledger', limit=PureDP(3)).",
            )
        self.run: Run | None = None
        # Called with what an entry promises once it is written; it must not raise.
        self.on_entry: Callable[[Guarantee], None] | None = None
        self._store: EntryStore = MemoryStore() if path is None else FileStore(Path(path))
        if limit is not None:
            self._store_first_limits(_limits_of(limit))
        # A fork shares every ledger of the process first: see _before_fork.
        _open_ledgers.add(self)

    @classmethod
    def of(
        cls, ledger: "Ledger | str | os.PathLike[str] | None", *, columns: Iterable[str] = ()
    ) -> "Ledger":
        """Return the given ledger, or for None one whose promises the process adds up by itself.

        Parameters
        ----------
        ledger
            A ledger, the path of its file, which is made if it is not there, or None.
        columns
            The columns that will be read; without a ledger, a second release of the process
            warns once for each set of them.
        """
        if isinstance(ledger, str | os.PathLike):
            return cls(ledger)
        if ledger is not None and not isinstance(ledger, cls):
            raise InvalidSetting(
                setting("ledger")
                + f" must be a shoal.Ledger or the path of its file; got {value_text(ledger)}.",
                "Pass a Ledger, e.g. Ledger('table.ledger'), or leave it out.",
            )
        # Imported here, since it is a ledger itself.
        from shoal.privacy.default_ledger import UnkeptLedger

        return UnkeptLedger(columns) if ledger is None else ledger

    @property
    def path(self) -> Path | None:
        """The ledger's file; None for a ledger in memory."""
        return self._store.path if isinstance(self._store, FileStore) else None

    @property
    def limits(self) -> Limits:
        """The limits in force; empty for none."""
        return self._store.limits()

    def set_limit(self, limit: Limit) -> None:
        """Replace the limit; ``None`` removes it. What was spent stays spent.

        Parameters
        ----------
        limit
            A guarantee, or one for each kind.
        """
        with process_lock():
            self._store.set_limits(() if limit is None else _limits_of(limit))

    def open(self, promise: Guarantee, *, by: str, of: str | None = None) -> Page:
        """Open a page for one promise: check the limit, read no row, write nothing.

        Parameters
        ----------
        promise
            What the releases of the page will promise together, e.g. ``PureDP(1.0)``.
        by
            Who releases: the name of a method or of a task.
        of
            What leaves in all, for the ledger: "4 groups". Left out, what the first release is
            called.

        Raises
        ------
        BudgetExceeded
            If the limit does not allow the promise.
        """
        # A part of a Gaussian budget is held together by its page, and is no promise without one.
        if not isinstance(promise, Guarantee) or isinstance(promise, GaussianShare):
            raise InvalidSetting(
                f"A page needs a promise; got {value_text(promise)}.",
                "E.g. ledger.open(PureDP(1.0), by='autumn report').",
            )
        by, whole = ledger_text(by, "by"), None if of is None else ledger_text(of, "of")
        # A resumed release was counted against the limit when it was first made.
        if self.run is None or self.run.recorded() is None:  # else it is paid for
            _total_within_limits(promise, *self._store.state(_kind_text(promise)))

        def write(
            made: Guarantee, needed: Guarantee, what: str, record: ReleaseRecord | None
        ) -> None:
            self._write(made, needed, by, what, record)

        return Page(promise, write, self.run, whole)

    @contextmanager
    def resumable(
        self, work: Mapping[str, Any], *, by: str, name: str | None = None
    ) -> Iterator["Ledger"]:
        """Yield this ledger for a run that can be restarted after a crash without paying twice.

        Until the block ends well, the ledger's file keeps what pages opened on the yielded ledger
        release. A later block of the same work goes on from there: what was released is read
        again, and only the rest is drawn. Simulations and ledgers without a file keep nothing.

        Parameters
        ----------
        work
            All that decides what is released, as JSON has it: input files with their sizes and
            times, settings, versions. Equal work is resumed; anything else is paid for.
        by
            The name of the task, for people.
        name
            The run's name, where files beside the ledger belong to it; only a run of this name is
            resumed then. Left out, the oldest run that no living process works on.
        """
        if not isinstance(self._store, FileStore):
            yield self
            return
        owner = os.getpid()
        with ExitStack() as held:
            # A second object on the same file: only pages opened on it belong to the run.
            same = Ledger._reopen(str(self._store.path))
            same.on_entry = self.on_entry
            run = same.run = _run_of(self._store, work_digest(work), by, name, held)
            try:
                yield same
                if os.getpid() == owner:  # a forked child has not come to the end of the run
                    run.forget()
            finally:
                run.has_ended = True

    def unfinished(self) -> list[tuple[datetime, str]]:
        """List the runs that paid and did not end: when each began, and its task."""
        if not isinstance(self._store, FileStore):
            return []
        return [(datetime.fromisoformat(at), by) for at, by in self._store.stopped_runs()]

    def totals(self) -> list[Guarantee]:
        """Return what was promised so far, one total for each kind of guarantee.

        What was simulated is totalled apart, marked, after the rest. A limit binds what was
        promised and simulated of its kind together.
        """
        totals: dict[tuple[str, bool], Guarantee] = {}
        for made in (entry.guarantee for entry in self._store.entries()):
            # Apart by simulation, so that a test run never hides what was really spent.
            kind = _kind_text(made), made.simulation
            add = isinstance(made, Budget) and kind in totals
            totals[kind] = totals[kind] + made if add else made
        return sorted(totals.values(), key=lambda total: total.simulation)

    def entries(self) -> "pa.Table":
        """Return all entries as a table, oldest first, with the total of their kind after each."""
        import pyarrow as pa

        rows = [
            {"id": number, **_row(entry)}
            for number, entry in enumerate(self._store.entries(), start=1)
        ]
        return pa.Table.from_pylist(rows, schema=_schema())

    def _repr_html_(self) -> str:
        """Return the entries and totals as a table for notebooks."""
        heads = {"at": "When", "by": "Who", "what": "What", "guarantee": "Promise"}
        lines = [[entry[name] for name in heads] for entry in self.entries().to_pylist()]
        limits = ", ".join(map(str, self.limits)) or "none"
        totals = ", ".join(map(str, self.totals())) or "nothing"
        sums = html.escape(f"In all {totals}; limit {limits}.")
        return f"{table_html(heads.values(), lines)}<p>{sums}</p>"

    def _write(
        self,
        made: Guarantee,
        needed: Guarantee,
        by: str,
        what: str,
        record: ReleaseRecord | None,
    ) -> None:
        """Append one entry, refused if what its page needs from here on would exceed a limit."""

        def check(total: Guarantee | None, limits: Limits) -> Entry:
            _total_within_limits(needed, total, limits)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            return Entry(now, by, what, made, _total_within_limits(made, total, limits))

        with process_lock():
            release = None if record is None or self.run is None else (self.run, record)
            self._store.append(_kind_text(made), check, release)
        if self.on_entry is not None:
            self.on_entry(made)

    def _store_first_limits(self, limits: Limits) -> None:
        """Store the limits of a new ledger; refuse others than those already stored."""
        stored = self._store.set_limits(limits, if_new=True)
        if {*map(str, stored)} != {*map(str, limits)}:
            raise LimitMismatch(
                f"The ledger's limit is {_join(stored)}; {_join(limits)} was given.",
                "Leave the limit out to use the stored one; `shoal ledger limit` changes it.",
            )

    def _share(self) -> Path:
        """Move a ledger in memory to a file, so that other processes can write to it too."""
        with process_lock():
            if isinstance(self._store, MemoryStore):
                folder = _folder_until_exit()
                self._store = self._store.copied_to(folder / "ledger.sqlite")
            return cast("FileStore", self._store).path

    @classmethod
    def _reopen(cls, path: str) -> "Ledger":
        """Open the ledger of a file that must exist: an empty one must not replace it."""
        ledger = cls()
        ledger._store = FileStore(Path(path), must_exist=True)
        return ledger

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._reopen, (str(self._share()),)

    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "Ledger":
        return self

    def __repr__(self) -> str:
        where = "private" if self.path is None else str(self.path.name)
        return f"Ledger({where}, totals: {_join(self.totals())}, limit: {_join(self.limits)})"


# What a setting named ledger takes, besides None.
LedgerOrPath = Ledger | str | os.PathLike[str]
"""A ledger, or the path of its file."""


def _run_of(store: FileStore, work: str, by: str, name: str | None, held: ExitStack) -> Run:
    """Return the run to resume, or a new one, locked while ``held`` is open."""
    store.sweep_locks()
    for candidate in store.find_runs(work):
        if not held.enter_context(store.lock_of(candidate)):
            continue
        stored = store.load_run(candidate)  # none if the process that had it came to its end
        # A named run has files beside the ledger, so a run of another name cannot go on with them.
        if stored is not None and name in (None, candidate):
            return Run(candidate, work, by, store, stored.at, stored.compute_seed, stored.records)
        store.forget_run(candidate)  # what it kept beside the ledger is gone
    run = Run(name or secrets.token_hex(16), work, by, store)
    tries = (held.enter_context(store.lock_of(run.name)) for _ in range(3))
    any(tries)  # another process may have swept the lock just as it was made
    return run


_open_ledgers: "weakref.WeakSet[Ledger]" = weakref.WeakSet()


def _before_fork() -> None:
    for ledger in list(_open_ledgers):
        ledger._share()


os.register_at_fork(before=_before_fork)


def _folder_until_exit() -> Path:
    """Make a private folder for this process; swept by another one if this is killed."""
    held = ExitStack()
    atexit.register(held.close)
    return held.enter_context(scratch())


def _total_within_limits(made: Guarantee, total: Guarantee | None, limits: Limits) -> Guarantee:
    """Return the new total of the kind, if the limits allow it."""
    if not isinstance(made, Budget):
        return made
    # Simulations count too: a limit binds what was promised and simulated together.
    after = made if total is None else made + total
    limit = next((each for each in limits if each.kind == made.kind), None)
    if limits and limit is None:
        raise BudgetExceeded(
            f"The ledger's limit is {_join(limits)}; it covers no promise of the kind {made}.",
            "Make a promise of that kind, or add a limit for this one (`shoal ledger limit`).",
        )
    if limit is not None and not after.within(limit.with_some_slack()):
        raise BudgetExceeded(
            f"This needs {made}; {_spent_text(total)} of {limit} is spent"
            f"{', simulations included' if total is not None and total.simulation else ''}.",
            "Lower epsilon, reuse what was released (free), or raise the limit "
            "(`shoal ledger limit`).",
        )
    return after


def _spent_text(total: Guarantee | None) -> str:
    return "nothing" if total is None else str(replace(total, simulation=False))


def _limits_of(limit: Limit) -> Limits:
    limits = tuple(limit) if isinstance(limit, list | tuple) else (cast("Budget", limit),)
    if not all(isinstance(each, Budget) for each in limits) or not limits:
        raise InvalidSetting(
            "A limit must be a guarantee with an epsilon, or several of them.",
            "E.g. limit=PureDP(3).",
            setting="limit",
        )
    if len({each.kind for each in limits}) < len(limits):
        raise InvalidSetting("Two limits are of the same kind.", "Give one limit for each kind.")
    return limits


def _kind_text(guarantee: Guarantee) -> str:
    return json.dumps(guarantee.kind)


def _join(guarantees: Iterable[Guarantee]) -> str:
    return " and ".join(map(str, guarantees)) or "none"


def _row(entry: Entry) -> dict[str, Any]:
    return {
        "at": datetime.fromisoformat(entry.at),
        "by": entry.by,
        "what": entry.what,
        "guarantee": str(entry.guarantee),
        "kind": type(entry.guarantee).__name__,
        "epsilon": _epsilon(entry.guarantee),
        "total": _epsilon(entry.total),
        "simulation": entry.guarantee.simulation,
    }


def _epsilon(guarantee: Guarantee) -> str | None:
    return exact_text(guarantee.epsilon) if isinstance(guarantee, Budget) else None


def _schema() -> "pa.Schema":
    import pyarrow as pa

    text = {name: pa.string() for name in ("by", "what", "guarantee", "kind", "epsilon", "total")}
    at = {"id": pa.int64(), "at": pa.timestamp("s", tz="UTC")}
    return pa.schema({**at, **text, "simulation": pa.bool_()})
