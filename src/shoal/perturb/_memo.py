"""Permanent reports: a person's first report is stored and sent again ever after.

token ── keyed hash ──► who ─┐
                             ├─► the one report of this person in this collection
mechanism, columns ──► collection ─┘
"""

import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from shoal.errors import CannotWrite, InvalidSetting
from shoal.privacy.ledger_page import process_lock
from shoal.privacy.sqlite_file import SqliteFile

_APPLICATION = 0x73_68_6F_6D  # "shom", in the file's header
_SCHEMA = (
    "CREATE TABLE secret (key BLOB NOT NULL)",
    """CREATE TABLE reports (collection BLOB NOT NULL, who BLOB NOT NULL, report BLOB NOT NULL,
        PRIMARY KEY (collection, who)) WITHOUT ROWID""",
    f"PRAGMA application_id = {_APPLICATION}",
)


class Notes(Protocol):
    """The stored reports of one collection, open for one writer at a time."""

    def find(self, people: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the reports of those people who have one."""

    def add(self, reports: Mapping[bytes, bytes]) -> None:
        """Store new reports permanently."""


class Memo:
    """Stores one report for each person and collection, found by a keyed hash of the token.

    Tokens are never stored. The key lies in the memo: whoever holds the file can ask whether a
    token they know is in it, so it belongs to the holder of the rows (it is readable by them
    alone).

    Parameters
    ----------
    path
        A file, made if it is not there, shared by the processes of one machine. ``None`` keeps
        the reports in memory; a pickled copy then goes its own way.

    Examples
    --------
    >>> memo = Memo()
    >>> ada, = memo.hashed(["ada"])
    >>> with memo.open(b"trips") as notes:
    ...     notes.add({ada: b"report"})
    >>> with memo.open(b"trips") as notes:
    ...     list(notes.find([ada]).values())
    [b'report']
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._store: _MemoryStore | _FileStore = (
            _MemoryStore() if path is None else _FileStore(Path(path))
        )

    def hashed(self, tokens: Iterable[str]) -> list[bytes]:
        """Return each token's hash under the memo's own key.

        Parameters
        ----------
        tokens
            The tokens.
        """
        # Keyed once and copied: setting up the key would cost more than hashing a token.
        keyed = hashlib.blake2b(key=self._store.key, digest_size=16, person=b"shoal.memo")
        hashes = []
        for token in tokens:
            one = keyed.copy()
            one.update(token.encode())
            hashes.append(one.digest())
        return hashes

    @contextmanager
    def open(self, collection: bytes) -> Iterator[Notes]:
        """Yield the reports of a collection to look up and add; an error adds none.

        Parameters
        ----------
        collection
            A digest of mechanism and columns.
        """
        with self._store.open(collection) as notes:
            yield notes

    def __copy__(self) -> "Memo":
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "Memo":
        # A memo is itself wherever it goes: a second one would draw second reports.
        return self


class _MemoryStore:
    def __init__(self) -> None:
        self.key = secrets.token_bytes(32)
        self._collections: dict[bytes, dict[bytes, bytes]] = {}

    @contextmanager
    def open(self, collection: bytes) -> Iterator[Notes]:
        with process_lock():
            yield _MemoryNotes(self._collections.setdefault(collection, {}))


class _MemoryNotes:
    def __init__(self, reports: dict[bytes, bytes]) -> None:
        self._reports = reports

    def find(self, people: Iterable[bytes]) -> dict[bytes, bytes]:
        return {who: self._reports[who] for who in people if who in self._reports}

    def add(self, reports: Mapping[bytes, bytes]) -> None:
        self._reports.update(reports)


class _FileStore:
    """Stores reports in SQLite, on disk before anybody sees them."""

    def __init__(self, path: Path) -> None:
        with _named_errors(path):
            # Written with the schema, so that no process ever sees a memo without its key.
            key = secrets.token_bytes(32).hex()
            self._file = SqliteFile(path, (*_SCHEMA, f"INSERT INTO secret VALUES (x'{key}')"))
            with self._file.open() as db:
                if db.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
                    raise _not_a_memo(path)
                (self.key,) = db.execute("SELECT key FROM secret").fetchone()

    @contextmanager
    def open(self, collection: bytes) -> Iterator[Notes]:
        with _named_errors(self._file.path), self._file.open(write=True) as db:
            yield _FileNotes(db, collection)


class _FileNotes:
    def __init__(self, db: sqlite3.Connection, collection: bytes) -> None:
        self._db = db
        self._collection = collection

    def find(self, people: Iterable[bytes]) -> dict[bytes, bytes]:
        query = "SELECT report FROM reports WHERE collection = ? AND who = ?"
        rows = ((who, self._db.execute(query, (self._collection, who))) for who in people)
        return {who: row[0] for who, cursor in rows if (row := cursor.fetchone())}

    def add(self, reports: Mapping[bytes, bytes]) -> None:
        lines = ((self._collection, who, report) for who, report in reports.items())
        self._db.executemany("INSERT INTO reports VALUES (?, ?, ?)", lines)


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
            raise _not_a_memo(path) from None
        raise _not_writable(path) from None
    except OSError:
        raise _not_writable(path) from None


def _not_a_memo(path: Path) -> InvalidSetting:
    return InvalidSetting(
        f"'{path.name}' is not a memo of shoal.",
        "Name another file; a new one is created if it does not exist.",
    )


def _not_writable(path: Path) -> CannotWrite:
    return CannotWrite(
        f"The memo '{path.name}' cannot be written to.",
        "Check that its folder exists, that you may write there, that the disk has room, and "
        "that no other process uses it.",
    )
