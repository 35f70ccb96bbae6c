"""Storage of a ledger's entries: in memory, or in an SQLite file shared by processes.

Both do one thing: `append`, which checks and writes in a single step nobody can come between.
"""

import errno
import glob
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from shoal.documents import parse_json
from shoal.errors import (
    LedgerError,
    LedgerLocked,
    LedgerNotWritable,
    NotALedger,
    UnsafeLedgerPlace,
)
from shoal.files import file_lock, take_lock
from shoal.privacy import sqlite_file
from shoal.privacy._journal import ReleaseRecord, Run, StoredRun
from shoal.privacy.guarantees import Budget, Guarantee, guarantee_of
from shoal.privacy.sqlite_file import SqliteFile

Limits = tuple[Budget, ...]


@dataclass(frozen=True)
class Entry:
    """One promise in the ledger, with the total of its kind so far."""

    at: str
    by: str
    what: str
    guarantee: Guarantee
    total: Guarantee


Check = Callable[[Guarantee | None, Limits], Entry]
"""From the last total of a kind and the limits to the entry to write; raises to refuse."""

Release = tuple[Run, ReleaseRecord]
"""A run, and what it has just released."""


class EntryStore(Protocol):
    """What both storages can do; the ledger makes one call at a time."""

    def append(self, kind: str, check: Check, release: "Release | None" = None) -> None:
        """Check and write an entry in one step, with the released arrays if they are stored."""

    def state(self, kind: str) -> tuple[Guarantee | None, Limits]:
        """Return the total of a kind, if any entry has it, and the limits."""

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first."""

    def limits(self) -> Limits:
        """Return the limits in force; empty for none."""

    def set_limits(self, limits: Limits, *, if_new: bool = False) -> Limits:
        """Replace the limits and return those now in force."""


class MemoryStore:
    """Entries of a ledger in memory, gone with the process."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._entries: list[tuple[str, Entry]] = []
        self._limits: Limits = ()

    def append(self, kind: str, check: Check, release: Release | None = None) -> None:
        """Check and write an entry in one step; ``release`` is not stored."""
        if os.getpid() != self._owner:
            raise LedgerNotWritable.unspent(
                "This private ledger could not be shared with a forked process.",
                "Name a file, Ledger('table.ledger'), or set TMPDIR to a folder you may write to.",
            )
        self._entries.append((kind, check(*self.state(kind))))

    def state(self, kind: str) -> tuple[Guarantee | None, Limits]:
        """Return the total of a kind, if any entry has it, and the limits."""
        total = next((entry.total for k, entry in reversed(self._entries) if k == kind), None)
        return total, self._limits

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first."""
        return [entry for _, entry in self._entries]

    def limits(self) -> Limits:
        """Return the limits in force; empty for none."""
        return self._limits

    def set_limits(self, limits: Limits, *, if_new: bool = False) -> Limits:
        """Replace the limits, with ``if_new`` those of an empty ledger only.

        Returns
        -------
            The limits now in force.
        """
        if not if_new or not (self._limits or self._entries):
            self._limits = limits
        return self._limits

    def copied_to(self, path: Path) -> "FileStore":
        """Copy entries and limits to a new file."""
        store = FileStore(path)
        store.set_limits(self._limits)
        for kind, entry in self._entries:
            store.append(kind, lambda _total, _limits, entry=entry: entry)  # type: ignore[misc]
        return store


_APPLICATION = 0x73_68_6F_61  # "shoa", in the file's header
_VERSION = 1
_SCHEMA = (
    """CREATE TABLE entries (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, by TEXT NOT NULL, what TEXT NOT NULL,
        kind TEXT NOT NULL, guarantee TEXT NOT NULL, total TEXT NOT NULL)""",
    "CREATE INDEX entries_by_kind ON entries (kind, id)",
    "CREATE TABLE limits (guarantee TEXT NOT NULL)",
    """CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END""",
    """CREATE TRIGGER entries_remain BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)


_JOURNAL = (
    """CREATE TABLE IF NOT EXISTS runs (
        name TEXT PRIMARY KEY, work TEXT NOT NULL, at TEXT NOT NULL, by TEXT NOT NULL,
        compute_seed INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS released (
        run TEXT NOT NULL, number INTEGER NOT NULL, part INTEGER NOT NULL, what TEXT NOT NULL,
        content BLOB, PRIMARY KEY (run, number, part))""",
)
_PART_BYTES = 2**28  # SQLite takes no more than about 10**9 in one cell


class FileStore:
    """Entries in an SQLite file with a write-ahead log; an entry counts once it is on disk.

    Parameters
    ----------
    path
        The file; created unless it must exist.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        if must_exist and not path.exists():
            raise LedgerNotWritable(
                f"The ledger '{path.name}' was removed.",
                "Restore it: a new one would not know what was spent.",
            )
        with _named_errors(path):
            self._file = SqliteFile(path, _SCHEMA, UnsafeLedgerPlace.unspent)
            with self._file.open() as db:
                _check_is_ledger(db, path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def append(self, kind: str, check: Check, release: Release | None = None) -> None:
        """Check and write an entry in one step, with the released arrays if they are stored."""
        with self._open(write=True) as db:
            entry = check(*_state(db, kind))
            values = (entry.at, entry.by, entry.what, kind, _text(entry.guarantee))
            db.execute(
                "INSERT INTO entries (at, by, what, kind, guarantee, total) VALUES (?,?,?,?,?,?)",
                (*values, _text(entry.total)),
            )
            if release is not None:
                _add_record(db, *release)

    def add_record(self, run: Run, record: ReleaseRecord) -> None:
        """Store one release of a run, replacing one of its number; on disk when this returns."""
        with _after_payment(), self._open(write=True) as db:
            _add_record(db, run, record)

    def find_runs(self, work: str) -> list[str]:
        """Return the names of the unfinished runs of this work, oldest first."""
        query = "SELECT name FROM runs WHERE work = ? ORDER BY rowid"
        with self._open() as db:
            rows = db.execute(query, (work,)).fetchall() if _has_journal(db) else []
        return [name for (name,) in rows]

    def load_run(self, run: str) -> StoredRun | None:
        """Return a run with all its records; ``None`` if it has ended."""
        query = "SELECT at, compute_seed FROM runs WHERE name = ?"
        with self._open() as db:
            row = db.execute(query, (run,)).fetchone() if _has_journal(db) else None
            return None if row is None else StoredRun(run, row[0], row[1], _records(db, run))

    @contextmanager
    def lock_of(self, run: str) -> Iterator[bool]:
        """Yield whether this process alone works on a run, until the block ends."""
        with ExitStack() as stack:
            with _named_errors(self.path):
                held = stack.enter_context(file_lock(self._lock_file(run)))
            yield held

    def sweep_locks(self) -> None:
        """Delete the lock files of processes that died before their run released anything."""
        with self._open() as db:
            rows = db.execute("SELECT name FROM runs").fetchall() if _has_journal(db) else []
        in_use = {self._lock_file(name) for (name,) in rows}
        stem = glob.escape(self._lock_file("").stem)
        for path in set(self._lock_file("").parent.glob(f"{stem}*.lock")) - in_use:
            with suppress(OSError), file_lock(path):
                pass  # whoever holds it removes it

    def _lock_file(self, run: str) -> Path:
        real = Path(os.path.realpath(self.path))  # one lock, whatever link leads to the file
        return real.with_name(f".{real.name}.run-{run}.lock")

    def stopped_runs(self) -> list[tuple[str, str]]:
        """List the runs no living process works on: when each began, and its task; oldest first."""
        query = "SELECT name, at, by FROM runs ORDER BY rowid"
        with self._open() as db:
            rows = db.execute(query).fetchall() if _has_journal(db) else []
        return [(at, by) for name, at, by in rows if not self._is_held(name)]

    def _is_held(self, run: str) -> bool:
        """Whether a process works on a run; does not create its lock file."""
        try:
            with self._lock_file(run).open("rb") as lock:
                return not take_lock(lock.fileno())
        except OSError:
            return False

    def forget_run(self, run: str) -> None:
        """Delete a run and all its records."""
        with _after_payment(), self._open(write=True) as db:
            if _has_journal(db):
                db.execute("DELETE FROM released WHERE run = ?", (run,))
                db.execute("DELETE FROM runs WHERE name = ?", (run,))

    def state(self, kind: str) -> tuple[Guarantee | None, Limits]:
        """Return the total of a kind, if any entry has it, and the limits."""
        with self._open() as db:
            return _state(db, kind)

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first."""
        query = "SELECT at, by, what, guarantee, total FROM entries ORDER BY id"
        with self._open() as db:
            return [
                Entry(at, by, what, _guarantee(made), _guarantee(total))
                for at, by, what, made, total in db.execute(query).fetchall()
            ]

    def limits(self) -> Limits:
        """Return the limits in force; empty for none."""
        with self._open() as db:
            return _limits(db)

    def set_limits(self, limits: Limits, *, if_new: bool = False) -> Limits:
        """Replace the limits, with ``if_new`` those of an empty ledger only.

        Parameters
        ----------
        if_new
            Replace them only if the ledger has neither entries nor limits.

        Returns
        -------
            The limits now in force.
        """
        with self._open(write=True) as db:
            if if_new and (_limits(db) or db.execute("SELECT 1 FROM entries LIMIT 1").fetchone()):
                return _limits(db)
            db.execute("DELETE FROM limits")
            db.executemany("INSERT INTO limits VALUES (?)", [(_text(each),) for each in limits])
            return limits

    @contextmanager
    def _open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        with _named_errors(self.path), self._file.open(write=write) as db:
            yield db


def _check_is_ledger(db: sqlite3.Connection, path: Path) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise _not_a_ledger(path)
    if version != _VERSION:
        raise NotALedger(
            f"'{path.name}' is a ledger of format {version}; this version reads {_VERSION}.",
            "Use the version of shoal that wrote it.",
        )


def _not_a_ledger(path: Path) -> NotALedger:
    return NotALedger(
        f"'{path.name}' is not a ledger of shoal.",
        "Name another file; a new one is created if it does not exist.",
    )


def _damaged(path: Path) -> NotALedger:
    return NotALedger(
        f"'{path.name}' is damaged.",
        "Restore it from a copy; do not start a new one in its place.",
    )


class _Unreadable(Exception):
    """Raised for an entry or a limit that holds no guarantee."""


_BY_CODE: dict[int, Callable[[Path], LedgerError]] = {
    sqlite3.SQLITE_NOTADB: _not_a_ledger,
    sqlite3.SQLITE_BUSY: lambda path: LedgerLocked.unspent(
        f"'{path.name}' was held by another process for {sqlite_file.TIMEOUT_SECONDS} s.",
        "Wait for the other process, or end it, and try again.",
    ),
    sqlite3.SQLITE_CORRUPT: _damaged,
    sqlite3.SQLITE_ERROR: _damaged,  # a table or column is not there
    sqlite3.SQLITE_FULL: lambda path: LedgerNotWritable.unspent(
        f"No room is left on the disk of '{path.name}'.",
        "Free some space and try again.",
    ),
}


def _not_writable(path: Path) -> LedgerNotWritable:
    return LedgerNotWritable.unspent(
        f"'{path.name}' cannot be opened for writing.",
        "Check that its folder exists and that you may write there.",
    )


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except _Unreadable:
        raise _damaged(path) from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CANTOPEN) & 0xFF
        raise _BY_CODE.get(code, _not_writable)(path) from None
    except OSError as error:
        code = sqlite3.SQLITE_FULL if error.errno == errno.ENOSPC else sqlite3.SQLITE_CANTOPEN
        raise _BY_CODE.get(code, _not_writable)(path) from None


@contextmanager
def _after_payment() -> Iterator[None]:
    """Take "Nothing was spent" out of errors where it would be false."""
    try:
        yield
    except LedgerError as error:
        raise error.changed(hint=str(error.facts.get("reader_hint", error.hint))) from None


def _text(guarantee: Guarantee) -> str:
    return json.dumps(guarantee.to_dict())


def _guarantee(text: str) -> Guarantee:
    try:
        return guarantee_of(parse_json(text))
    except (ValueError, TypeError):
        raise _Unreadable from None


def _state(db: sqlite3.Connection, kind: str) -> tuple[Guarantee | None, Limits]:
    query = "SELECT total FROM entries WHERE kind = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(query, (kind,)).fetchone()
    return _guarantee(row[0]) if row else None, _limits(db)


def _limits(db: sqlite3.Connection) -> Limits:
    rows = db.execute("SELECT guarantee FROM limits").fetchall()
    return tuple(cast("Budget", _guarantee(row[0])) for row in rows)


def _has_journal(db: sqlite3.Connection) -> bool:
    """Whether the file has the tables of runs: older files do not."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'released'"
    return db.execute(query).fetchone() is not None


def _add_record(db: sqlite3.Connection, run: Run, record: ReleaseRecord) -> None:
    for statement in _JOURNAL:
        db.execute(statement)
    db.execute(
        "INSERT OR IGNORE INTO runs (name, work, at, by, compute_seed) VALUES (?,?,?,?,?)",
        (run.name, run.work, run.at, run.by, run.compute_seed),
    )
    content = record.content
    size = 1 if content is None else max(1, len(content))
    for part, start in enumerate(range(0, size, _PART_BYTES)):
        piece = None if content is None else content[start : start + _PART_BYTES]
        db.execute(
            "INSERT OR REPLACE INTO released VALUES (?,?,?,?,?)",
            (run.name, record.number, part, record.what, piece),
        )


def _records(db: sqlite3.Connection, run: str) -> tuple[ReleaseRecord, ...]:
    query = "SELECT number, what, content FROM released WHERE run = ? ORDER BY number, part"
    contents: dict[tuple[int, str], list[bytes | None]] = {}
    for number, what, content in db.execute(query, (run,)):
        contents.setdefault((number, what), []).append(content)
    return tuple(
        ReleaseRecord(number, what, None if parts[0] is None else b"".join(filter(None, parts)))
        for (number, what), parts in contents.items()
    )
