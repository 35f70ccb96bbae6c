"""Where a ledger keeps its entries: in memory, or in an SQLite file shared by processes.

Both do one thing: `append`, which checks and writes in a single step nobody can come between.
"""

import errno
import json
import os
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from shoal.errors import LedgerError, LedgerLocked, LedgerNotWritable, NotALedger
from shoal.privacy.guarantees import Budget, Guarantee, guarantee_of

__all__ = ["Entry", "FileStore", "Limits", "MemoryStore", "Store"]

Limits = tuple[Budget, ...]


@dataclass(frozen=True)
class Entry:
    """One promise made: when, by what method, of what; and the total of its kind so far."""

    at: str
    by: str
    what: str
    guarantee: Guarantee
    total: Guarantee


Check = Callable[[Guarantee | None, Limits], Entry]
"""From the last total of a kind and the limits to the entry to write; raises to refuse."""


class Store(Protocol):
    """What both kinds of storage can do."""

    def append(self, kind: str, check: Check) -> None:
        """Check and write in one step."""

    def state(self, kind: str) -> tuple[Guarantee | None, Limits]:
        """The total of a kind, if any entry has it, and the limits."""

    def entries(self) -> list[Entry]:
        """All entries, oldest first."""

    def limits(self) -> Limits:
        """The limits in force; empty for none."""

    def set_limits(self, limits: Limits) -> None:
        """Replace them."""


class MemoryStore:
    """Entries of a private ledger, gone with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[tuple[str, Entry]] = []
        self._limits: Limits = ()

    def append(self, kind: str, check: Check) -> None:
        """Check and write in one step."""
        with self._lock:
            self._entries.append((kind, check(*self.state(kind))))

    def state(self, kind: str) -> tuple[Guarantee | None, Limits]:
        """The total of a kind, if any entry has it, and the limits."""
        total = next((entry.total for k, entry in reversed(self._entries) if k == kind), None)
        return total, self._limits

    def entries(self) -> list[Entry]:
        """All entries, oldest first."""
        return [entry for _, entry in self._entries]

    def limits(self) -> Limits:
        """The limits in force; empty for none."""
        return self._limits

    def set_limits(self, limits: Limits) -> None:
        """Replace them."""
        self._limits = limits

    def move_to(self, path: Path) -> "FileStore":
        """Copy everything into a new file and go on there."""
        with self._lock:
            store = FileStore(path)
            store.set_limits(self._limits)
            for kind, entry in self._entries:
                store.append(kind, lambda _total, _limits, entry=entry: entry)  # type: ignore[misc]
            return store


_APPLICATION = 0x73_68_6F_61  # "shoa", in the file's header
_VERSION = 1
_PATIENCE_SECONDS = 60
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


class FileStore:
    """Entries in an SQLite file: write-ahead log, every append on disk before it counts.

    A connection lives for one call, so forks and threads share nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _named_errors(path):
            if not path.exists():
                _create(path)
            with closing(self._connect()) as db:
                _check_is_ledger(db, path)

    def append(self, kind: str, check: Check) -> None:
        """Check and write in one step."""
        with _named_errors(self.path), self._writing() as db:
            entry = check(*_state(db, kind))
            values = (entry.at, entry.by, entry.what, kind, _text(entry.guarantee))
            db.execute(
                "INSERT INTO entries (at, by, what, kind, guarantee, total) VALUES (?,?,?,?,?,?)",
                (*values, _text(entry.total)),
            )

    def state(self, kind: str) -> tuple[Guarantee | None, Limits]:
        """The total of a kind, if any entry has it, and the limits."""
        with _named_errors(self.path), closing(self._connect()) as db:
            return _state(db, kind)

    def entries(self) -> list[Entry]:
        """All entries, oldest first."""
        query = "SELECT at, by, what, guarantee, total FROM entries ORDER BY id"
        with _named_errors(self.path), closing(self._connect()) as db:
            rows = db.execute(query).fetchall()
        return [
            Entry(at, by, what, _guarantee(made), _guarantee(total))
            for at, by, what, made, total in rows
        ]

    def limits(self) -> Limits:
        """The limits in force; empty for none."""
        with _named_errors(self.path), closing(self._connect()) as db:
            return _limits(db)

    def set_limits(self, limits: Limits) -> None:
        """Replace them."""
        with _named_errors(self.path), self._writing() as db:
            db.execute("DELETE FROM limits")
            db.executemany("INSERT INTO limits VALUES (?)", [(_text(each),) for each in limits])

    def _connect(self) -> sqlite3.Connection:
        where = f"{self.path.absolute().as_uri()}?mode=rw"  # never makes a file that is gone anew
        db = sqlite3.connect(where, uri=True, timeout=_PATIENCE_SECONDS, isolation_level=None)
        db.execute("PRAGMA synchronous = FULL")
        return db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with closing(self._connect()) as db:
            db.execute("BEGIN IMMEDIATE")
            yield db  # an exception here closes the connection, which rolls back
            db.execute("COMMIT")


def _create(path: Path) -> None:
    """Make an empty ledger under a temporary name and link it, so that it is there whole."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute("COMMIT")
        with suppress(FileExistsError):  # another process was quicker: use its file
            os.link(name, path)
    finally:
        os.unlink(name)


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
        f"'{path.name}' is no ledger of shoal's.",
        "Name another file; a new one is made if there is none.",
    )


_BY_CODE: dict[int, Callable[[Path], LedgerError]] = {
    sqlite3.SQLITE_NOTADB: _not_a_ledger,
    sqlite3.SQLITE_BUSY: lambda path: LedgerLocked(
        f"'{path.name}' was held by another process for {_PATIENCE_SECONDS} seconds.",
        "Nothing was spent. Wait for the other process, or end it, and try again.",
    ),
    sqlite3.SQLITE_FULL: lambda path: LedgerNotWritable(
        f"No room is left on the disk of '{path.name}'.",
        "Nothing was spent. Free some space and try again.",
    ),
}


def _not_writable(path: Path) -> LedgerNotWritable:
    return LedgerNotWritable(
        f"'{path.name}' cannot be opened for writing.",
        "Nothing was spent. Check that its folder exists and that you may write there.",
    )


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CANTOPEN) & 0xFF
        raise _BY_CODE.get(code, _not_writable)(path) from None
    except OSError as error:
        code = sqlite3.SQLITE_FULL if error.errno == errno.ENOSPC else sqlite3.SQLITE_CANTOPEN
        raise _BY_CODE.get(code, _not_writable)(path) from None


def _text(guarantee: Guarantee) -> str:
    return json.dumps(guarantee.to_dict())


def _guarantee(text: str) -> Guarantee:
    return guarantee_of(json.loads(text))


def _state(db: sqlite3.Connection, kind: str) -> tuple[Guarantee | None, Limits]:
    query = "SELECT total FROM entries WHERE kind = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(query, (kind,)).fetchone()
    return _guarantee(row[0]) if row else None, _limits(db)


def _limits(db: sqlite3.Connection) -> Limits:
    rows = db.execute("SELECT guarantee FROM limits").fetchall()
    return tuple(cast("Budget", _guarantee(row[0])) for row in rows)
