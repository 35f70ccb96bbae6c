"""The two databases a campaign may be kept in: SQLite by default, PostgreSQL by its URL."""

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from shoal.collector._storage import Store, Unavailable
from shoal.errors import CannotWrite, InvalidSetting, NotInstalled, sentence


class SqliteStore(Store):
    """A campaign in one SQLite file, with a write-ahead log that is flushed at every commit."""

    _failures = (sqlite3.OperationalError, sqlite3.DatabaseError)
    _types: ClassVar = {
        "integer": "INTEGER",
        "bytes": "BLOB",
        "lean": "WITHOUT ROWID",
        "seen": "WITHOUT ROWID",
        "identity": "INTEGER PRIMARY KEY",
        "more": "",
    }

    def __init__(
        self, path: str, campaign: bytes, envelope: dict[str, Any], has_tokens: bool
    ) -> None:
        self._path = path
        super().__init__(campaign, envelope, has_tokens)

    def _connect(self) -> sqlite3.Connection:
        # Made for its owner alone; SQLite gives the files beside it the same mode.
        with suppress(OSError):
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            self._path, timeout=20, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # whatever SQLite was built with
        return connection

    def _has_tables(self, cursor: Any) -> bool:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'")
        return cursor.fetchone() is not None

    def _begin(self, cursor: Any) -> None:
        cursor.execute("BEGIN IMMEDIATE")

    def _insert_new(self, cursor: Any, whos: Sequence[bytes]) -> set[bytes]:
        # Most requests are new: one statement for all, and one by one only after a conflict.
        cursor.execute("SAVEPOINT people")
        try:
            cursor.executemany("INSERT INTO seen VALUES (?)", zip(whos, strict=True))
            new = set(whos)
        except sqlite3.IntegrityError:
            cursor.execute("ROLLBACK TO people")
            new = {who for who in whos if self._insert_one(cursor, who)}
        cursor.execute("RELEASE people")
        return new

    @staticmethod
    def _insert_one(cursor: Any, who: bytes) -> bool:
        cursor.execute("INSERT OR IGNORE INTO seen VALUES (?)", (who,))
        return bool(cursor.rowcount == 1)

    def _enrolled(self, cursor: Any, whos: Sequence[bytes], purpose: str) -> int:
        marks = ", ".join("?" * len(whos))
        select = "SELECT COUNT(*) FROM enrolled WHERE revoked = 0"
        cursor.execute(f"{select} AND {purpose} AND who IN ({marks})", whos)
        return int(cursor.fetchone()[0])

    def _empty(self, cursor: Any, table: str) -> None:
        cursor.execute(f"DELETE FROM {table}")

    def _overwrite_deleted(self) -> None:
        with self._lock:
            try:
                self._connection.execute("VACUUM")
                cursor = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                is_busy = cursor.fetchone()[0]
            except self._failures as error:
                raise Unavailable(type(error).__name__) from None
        if is_busy:  # somebody reads, so what was deleted is still in the log
            raise Unavailable("busy")

    def _lock_fold(self, cursor: Any) -> None:
        """Nothing to do: only one transaction writes at a time."""

    def _lock_rounds(self, cursor: Any, shared: bool) -> None:
        """Nothing to do: only one transaction writes at a time."""

    def _lock_reserve(self, cursor: Any, number: int) -> None:
        """Nothing to do: only one transaction writes at a time."""


class PostgresStore(Store):
    """A campaign in a PostgreSQL database, for several workers at once.

    Parameters
    ----------
    url
        E.g. ``postgresql://user@host/name``.
    """

    # Numbers of advisory locks, of this program alone.
    _FOLD, _MAKE, _ROUNDS, _RESERVE = 5_404_319, 5_404_320, 5_404_321, 5_404_322
    _types: ClassVar = {
        "integer": "bigint",
        "bytes": "bytea",
        "lean": "",
        "seen": "PARTITION BY HASH (who)",
        "identity": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "more": "".join(
            f"CREATE TABLE seen_{i} PARTITION OF seen "
            f"FOR VALUES WITH (MODULUS 16, REMAINDER {i});\n"
            for i in range(16)
        ),
    }

    def __init__(
        self, url: str, campaign: bytes, envelope: dict[str, Any], has_tokens: bool
    ) -> None:
        self._url, self._psycopg = url, load_psycopg()
        self._failures = (self._psycopg.Error,)
        super().__init__(campaign, envelope, has_tokens)

    def _connect(self) -> Any:
        connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        connection.execute("SET synchronous_commit = on")
        return connection

    def _sql(self, text: str) -> str:
        return text.replace("?", "%s")

    def _has_tables(self, cursor: Any) -> bool:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (self._MAKE,))
        cursor.execute("SELECT to_regclass('meta')")
        return cursor.fetchone()[0] is not None

    def _begin(self, cursor: Any) -> None:
        cursor.execute("BEGIN")

    def _insert_new(self, cursor: Any, whos: Sequence[bytes]) -> set[bytes]:
        insert = "INSERT INTO seen SELECT unnest(%s::bytea[]) ON CONFLICT DO NOTHING RETURNING who"
        cursor.execute(insert, (list(whos),), binary=True)
        return {bytes(row[0]) for row in cursor.fetchall()}

    def _enrolled(self, cursor: Any, whos: Sequence[bytes], purpose: str) -> int:
        select = "SELECT COUNT(*) FROM enrolled WHERE revoked = 0"
        cursor.execute(f"{select} AND {purpose} AND who = ANY(%s::bytea[])", (list(whos),))
        return int(cursor.fetchone()[0])

    def _empty(self, cursor: Any, table: str) -> None:
        cursor.execute(f"TRUNCATE {table}")  # a new file: nothing is left to be vacuumed

    def _overwrite_deleted(self) -> None:
        """Nothing to do: a table that was emptied has a new file."""

    def _lock_fold(self, cursor: Any) -> None:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (self._FOLD,))

    def _lock_rounds(self, cursor: Any, shared: bool) -> None:
        kind = "_shared" if shared else ""
        cursor.execute(f"SELECT pg_advisory_xact_lock{kind}(%s)", (self._ROUNDS,))

    def _lock_reserve(self, cursor: Any, number: int) -> None:
        # Not the row: whoever waits for that one does not see the row written in its place.
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", (self._RESERVE, number))


def wait_for_store(
    url: str,
    campaign: bytes,
    envelope: dict[str, Any],
    *,
    has_tokens: bool = False,
    seconds: float = 300,
    pause: Callable[[float], None] = time.sleep,
) -> Store:
    """Open the database of a campaign, and wait for a PostgreSQL server that does not answer yet.

    Parameters
    ----------
    seconds
        How long at most.
    pause
        Waits some seconds; replaced in tests.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return open_store(url, campaign, envelope, has_tokens=has_tokens)
        except CannotWrite:
            if not is_postgres(url) or time.monotonic() > until:
                raise
            pause(2)


def load_psycopg() -> Any:
    """Return the package that speaks to PostgreSQL."""
    try:
        import psycopg
    except ImportError:
        raise NotInstalled(
            "PostgreSQL needs the package psycopg.", "pip install 'shoal[collector]'"
        ) from None
    return psycopg


def is_postgres(url: str) -> bool:
    """Return whether a URL is of a PostgreSQL database."""
    return url.startswith(("postgresql://", "postgres://"))


def sqlite_path(url: str) -> Path:
    """Return the file that a URL of a SQLite database names."""
    path = url.removeprefix("sqlite:///")
    if "://" in path:
        raise InvalidSetting(
            "The database must be SQLite or PostgreSQL.",
            sentence("E.g. {db:sqlite:///walk.sqlite} or {db:postgresql://localhost/walk}."),
            setting="db",
        )
    return Path(path).expanduser()


def open_store(
    url: str, campaign: bytes, envelope: dict[str, Any], *, has_tokens: bool = False
) -> Store:
    """Open the database of a campaign, made if it is not there.

    Parameters
    ----------
    url
        ``sqlite:///path`` (four slashes for an absolute path), a path, or ``postgresql://...``.
    campaign
        The campaign's id.
    envelope
        The signed campaign.
    has_tokens
        Whether only enrolled people may report.
    """
    try:
        if is_postgres(url):
            return PostgresStore(url, campaign, envelope, has_tokens)
        return SqliteStore(str(sqlite_path(url)), campaign, envelope, has_tokens)
    except Unavailable:
        raise CannotWrite(
            "The database cannot be opened.", "Check that it is there and can be written."
        ) from None
