"""Keep reports as sums, each counted once: in SQLite, or in PostgreSQL by its URL.

    accept:  who ─► seen ┐ one transaction: a code is in a part if and only if its person is in
             code ─► part ┘ seen; answered only after the commit
    fold:    parts ─► sums  one transaction

No row joins a person to a report: ``part.codes`` are sorted, and ``seen`` holds hashes of keys. See
``storage.proof.md`` for why every acknowledged report is counted exactly once.
"""

import hashlib
import json
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.collector.client import LABEL_ROUND, canonical
from shoal.errors import CannotWrite, InvalidSetting, NotInstalled

__all__ = ["Accepted", "Arrival", "Store", "Unavailable", "open_store"]

VERSION = 1
_MIGRATIONS: dict[int, str] = {}  # from a version to the next, in SQL of both databases
_FOLD_PARTS = 4_096
_TABLES = """
CREATE TABLE meta (version {integer} NOT NULL, campaign {bytes} NOT NULL, envelope TEXT NOT NULL);
CREATE TABLE enrolled (who {bytes} PRIMARY KEY, revoked {integer} NOT NULL DEFAULT 0) {lean};
CREATE TABLE seen (who {bytes} PRIMARY KEY) {seen};
CREATE TABLE part (id {identity}, round {integer} NOT NULL, epoch {integer} NOT NULL,
    n {integer} NOT NULL, codes {bytes} NOT NULL);
CREATE TABLE sums (round {integer}, epoch {integer}, code {integer}, n {integer} CHECK (n > 0),
    PRIMARY KEY (round, epoch, code)) {lean};
CREATE TABLE epoch (round {integer}, epoch {integer}, n {integer}, digest {bytes},
    PRIMARY KEY (round, epoch));
CREATE TABLE document (kind TEXT, round {integer}, envelope TEXT, PRIMARY KEY (kind, round));
"""


class Unavailable(Exception):
    """The database cannot take anything now: full, read-only, or gone. Nothing was written."""


class Arrival(NamedTuple):
    """Checked reports of one request.

    Parameters
    ----------
    round
        The round.
    whos
        Of each person, the hash of the key.
    codes
        The report of each.
    """

    round: int
    whos: Sequence[bytes]
    codes: Sequence[int]


class Accepted(NamedTuple):
    """What became of one request.

    Parameters
    ----------
    accepted
        How many reports were new.
    repeated
        How many were there already.
    problem
        ``"unknown"`` if a key is not enrolled, ``"closed"`` if the round is: nothing was taken.
    """

    accepted: int
    repeated: int
    problem: str | None = None


class Store(ABC):
    """The database of one campaign; safe to use from several threads and processes.

    Parameters
    ----------
    campaign
        Its id; a database of another campaign is refused.
    envelope
        The signed campaign, kept beside the sums.
    has_tokens
        Whether only enrolled people may report.
    """

    _failures: tuple[type[Exception], ...]

    def __init__(self, campaign: bytes, envelope: dict[str, Any], has_tokens: bool) -> None:
        self._campaign, self._has_tokens = campaign, has_tokens
        self._lock = threading.RLock()
        self._connection: Any = None
        try:
            self._migrate(json.dumps(envelope))
        except BaseException:
            self.close()
            raise

    # ---- what the two databases do differently

    @abstractmethod
    def _connect(self) -> Any:
        """Open a connection in which transactions begin when they are told to."""

    @abstractmethod
    def _tables(self) -> str:
        """Return the statements that make the tables."""

    @abstractmethod
    def _begin(self, cursor: Any) -> None:
        """Begin a transaction that writes."""

    @abstractmethod
    def _insert_new(self, cursor: Any, whos: Sequence[bytes]) -> set[bytes]:
        """Insert people into ``seen``; return those who were not there."""

    @abstractmethod
    def _enrolled(self, cursor: Any, whos: Sequence[bytes]) -> int:
        """Return how many of these people are enrolled and not revoked."""

    @abstractmethod
    def _lock_fold(self, cursor: Any) -> None:
        """Keep any other process from folding until the transaction ends."""

    @abstractmethod
    def _lock_rounds(self, cursor: Any, shared: bool) -> None:
        """Keep rounds from closing while reports are counted (shared), and the other way."""

    def _sql(self, text: str) -> str:
        return text

    # ---- transactions

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """Yield a cursor; commit at the end, or undo everything and say it is unavailable."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                cursor = self._connection.cursor()
                self._begin(cursor)
                yield cursor
                cursor.execute("COMMIT")
            except self._failures as error:
                self._undo()
                raise Unavailable(type(error).__name__) from None
            except BaseException:
                self._undo()
                raise

    def _undo(self) -> None:
        """Roll back; if even that fails, drop the connection, which does the same."""
        if self._connection is None:
            return
        try:
            self._connection.cursor().execute("ROLLBACK")
        except Exception:
            with suppress(Exception):
                self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _migrate(self, envelope: str) -> None:
        with self._transaction() as cursor:
            if not self._has_tables(cursor):
                for statement in self._tables().split(";\n"):
                    if statement.strip():
                        cursor.execute(statement)
                row = VERSION, self._campaign, envelope
                cursor.execute(self._sql("INSERT INTO meta VALUES (?, ?, ?)"), row)
            cursor.execute("SELECT version, campaign FROM meta")
            version, campaign = cursor.fetchone()
            for step in range(version, VERSION):  # one transaction: all of it, or none
                for statement in _MIGRATIONS[step].split(";\n"):
                    cursor.execute(statement)
                cursor.execute(self._sql("UPDATE meta SET version = ?"), (step + 1,))
        if version > VERSION:
            raise InvalidSetting(
                f"The database has version {version}; this program knows {VERSION}.",
                "Use the newer program that wrote it.",
                setting="--db",
            )
        if bytes(campaign) != self._campaign:
            raise InvalidSetting(
                "The database belongs to another campaign.",
                "Give each campaign a database of its own.",
                setting="--db",
            )

    @abstractmethod
    def _has_tables(self, cursor: Any) -> bool:
        """Whether the tables are there already."""

    # ---- people

    def enrol(self, whos: Iterable[bytes]) -> None:
        """Let these people report.

        Parameters
        ----------
        whos
            Hashes of their keys.
        """
        rows = [(who,) for who in whos]
        insert = "INSERT INTO enrolled (who) VALUES (?) ON CONFLICT DO NOTHING"
        with self._transaction() as cursor:
            cursor.executemany(self._sql(insert), rows)

    def revoke(self, who: bytes) -> bool:
        """Keep one person from reporting; a report that was counted stays in the sums.

        Parameters
        ----------
        who
            The hash of the key.

        Returns
        -------
        Whether that person was enrolled and had not reported yet.
        """
        update = (
            "UPDATE enrolled SET revoked = 1 WHERE who = ? "
            "AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.who = enrolled.who)"
        )
        with self._transaction() as cursor:
            cursor.execute(self._sql(update), (who,))
            return bool(cursor.rowcount == 1)

    # ---- reports

    def accept(self, arrivals: Sequence[Arrival], epoch: int) -> list[Accepted]:
        """Count the new reports of several requests in one transaction, each request whole.

        Parameters
        ----------
        arrivals
            Checked requests.
        epoch
            The number of the present epoch.

        Raises
        ------
        Unavailable
            If nothing could be written.
        """
        results: list[Accepted] = []
        parts: dict[int, list[int]] = {}
        with self._transaction() as cursor:
            self._lock_rounds(cursor, shared=True)
            problems = self._problems(cursor, arrivals)
            good = [a for a, problem in zip(arrivals, problems, strict=True) if problem is None]
            # One sorted insert for all requests: two workers can never wait for each other.
            whos = sorted({who for arrival in good for who in arrival.whos})
            new = self._insert_new(cursor, whos)  # [P1]
            for arrival, problem in zip(arrivals, problems, strict=True):
                codes = _take_new(arrival, new) if problem is None else []
                parts.setdefault(arrival.round, []).extend(codes)
                repeated = len(arrival.whos) - len(codes) if problem is None else 0
                results.append(Accepted(len(codes), repeated, problem))
            for number, codes in parts.items():
                self._write_part(cursor, number, epoch, codes)  # [P2]
        return results  # [P3]

    def _problems(self, cursor: Any, arrivals: Sequence[Arrival]) -> list[str | None]:
        """Return why each request cannot be taken, or None."""
        closed = self._closed_rounds(cursor)
        problems: list[str | None] = []
        for arrival in arrivals:
            if arrival.round in closed:
                problems.append("closed")
            elif self._has_tokens and self._enrolled(cursor, arrival.whos) < len(arrival.whos):
                problems.append("unknown")
            else:
                problems.append(None)
        return problems

    def _write_part(self, cursor: Any, number: int, epoch: int, codes: list[int]) -> None:
        if codes:
            row = number, epoch, len(codes), np.sort(np.array(codes, dtype="<u4")).tobytes()  # [P4]
            insert = "INSERT INTO part (round, epoch, n, codes) VALUES (?, ?, ?, ?)"
            cursor.execute(self._sql(insert), row)

    def _closed_rounds(self, cursor: Any) -> set[int]:
        cursor.execute("SELECT round FROM document WHERE kind = 'close'")
        return {row[0] for row in cursor.fetchall()}

    def fold(self) -> int:
        """Move parts into sums, at most some thousand at a time; return how many."""
        with self._transaction() as cursor:
            self._lock_fold(cursor)
            return self._fold(cursor)

    def _fold(self, cursor: Any) -> int:
        select = "SELECT id, round, epoch, codes FROM part ORDER BY id LIMIT ?"
        cursor.execute(self._sql(select), (_FOLD_PARTS,))
        rows = cursor.fetchall()
        parts: dict[tuple[int, int], list[bytes]] = {}
        for _, number, epoch, codes in rows:
            parts.setdefault((number, epoch), []).append(bytes(codes))
        lines = [(*at, *line) for at, part in parts.items() for line in _tally(part).items()]
        upsert = (
            "INSERT INTO sums (round, epoch, code, n) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (round, epoch, code) DO UPDATE SET n = sums.n + excluded.n"
        )
        cursor.executemany(self._sql(upsert), lines)
        delete = self._sql("DELETE FROM part WHERE id = ?")
        cursor.executemany(delete, [(row[0],) for row in rows])  # [P5]
        return len(rows)

    def close_round(self, number: int, envelope: dict[str, Any] | None = None) -> str:
        """Take no more reports of a round; return the digest of its sums.

        Parameters
        ----------
        number
            The round.
        envelope
            A signed statement to keep with it.
        """
        with self._transaction() as cursor:
            self._lock_rounds(cursor, shared=False)
            self._lock_fold(cursor)
            while self._fold(cursor):
                pass
            insert = "INSERT INTO document VALUES ('close', ?, ?) ON CONFLICT DO NOTHING"
            cursor.execute(self._sql(insert), (number, json.dumps(envelope or {})))
            self._write_epochs(cursor, number)
            return self._digest(self._read_sums(cursor, number))

    def _write_epochs(self, cursor: Any, number: int) -> None:
        select = "SELECT epoch, code, n FROM sums WHERE round = ? ORDER BY epoch, code"
        cursor.execute(self._sql(select), (number,))
        epochs: dict[int, dict[int, int]] = {}
        for epoch, code, n in cursor.fetchall():
            epochs.setdefault(epoch, {})[code] = n
        insert = self._sql("INSERT INTO epoch VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
        for epoch, sums in epochs.items():
            digest = bytes.fromhex(self._digest(sums))
            cursor.execute(insert, (number, epoch, sum(sums.values()), digest))

    def sums(self, number: int) -> dict[int, int]:
        """Return how often each report of a round was counted, in one snapshot.

        Parameters
        ----------
        number
            The round.
        """
        with self._transaction() as cursor:
            return self._read_sums(cursor, number)

    def _read_sums(self, cursor: Any, number: int) -> dict[int, int]:
        select = "SELECT code, SUM(n) FROM sums WHERE round = ? GROUP BY code"
        cursor.execute(self._sql(select), (number,))
        sums = Counter({code: int(n) for code, n in cursor.fetchall()})
        cursor.execute(self._sql("SELECT codes FROM part WHERE round = ?"), (number,))
        sums.update(_tally([bytes(codes) for (codes,) in cursor.fetchall()]))
        return dict(sorted(sums.items()))

    @staticmethod
    def _digest(sums: dict[int, int]) -> str:
        lines: Any = [[code, n] for code, n in sorted(sums.items())]
        return hashlib.sha256(canonical(lines)).hexdigest()

    def count(self) -> int:
        """Return how many people have reported, whether or not their ids are still there."""
        with self._transaction() as cursor:
            cursor.execute("SELECT COUNT(*) FROM seen")
            people = int(cursor.fetchone()[0])
            if people == 0:
                select = "SELECT COALESCE(SUM(n), 0) FROM sums WHERE round < ?"
                cursor.execute(self._sql(select), (LABEL_ROUND,))
                people = int(cursor.fetchone()[0])
            return people

    def forget_people(self, rounds: int) -> None:
        """Close every round and delete all ids: nothing is left but sums.

        Parameters
        ----------
        rounds
            How many rounds the campaign has.
        """
        for number in (*range(rounds), LABEL_ROUND):
            self.close_round(number)
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM seen")
            cursor.execute("DELETE FROM enrolled")

    def part_count(self) -> int:
        """Return how many parts wait to be folded."""
        with self._transaction() as cursor:
            cursor.execute("SELECT COUNT(*) FROM part")
            return int(cursor.fetchone()[0])

    # ---- documents

    def publish(self, kind: str, number: int, envelope: dict[str, Any]) -> None:
        """Keep a signed document for everybody to read; a newer one replaces it.

        Parameters
        ----------
        kind
            ``model`` or ``round``.
        number
            The round; 0 for a model.
        envelope
            The signed document.
        """
        insert = (
            "INSERT INTO document VALUES (?, ?, ?) "
            "ON CONFLICT (kind, round) DO UPDATE SET envelope = excluded.envelope"
        )
        with self._transaction() as cursor:
            cursor.execute(self._sql(insert), (kind, number, json.dumps(envelope)))

    def documents(self) -> dict[tuple[str, int], dict[str, Any]]:
        """Return every signed document, by kind and round."""
        with self._transaction() as cursor:
            cursor.execute("SELECT kind, round, envelope FROM document")
            return {(kind, number): json.loads(text) for kind, number, text in cursor.fetchall()}


def _take_new(arrival: Arrival, new: set[bytes]) -> list[int]:
    """Return the codes of the people who are new, who are so no longer: each counts once."""
    codes = []
    for who, code in zip(arrival.whos, arrival.codes, strict=True):
        if who in new:
            new.discard(who)
            codes.append(code)
    return codes


def _tally(contents: list[bytes]) -> dict[int, int]:
    """Count how often each code stands in parts."""
    joined: NDArray[np.uint32] = np.frombuffer(b"".join(contents), dtype="<u4")
    codes, counts = np.unique(joined, return_counts=True)
    return dict(zip(codes.tolist(), counts.tolist(), strict=True))


class SqliteStore(Store):
    """A campaign in one SQLite file, with a write-ahead log that is flushed at every commit.

    Parameters
    ----------
    path
        The file.
    campaign
        The campaign's id.
    envelope
        The signed campaign.
    has_tokens
        Whether only enrolled people may report.
    """

    _failures = (sqlite3.OperationalError, sqlite3.DatabaseError)

    def __init__(
        self, path: str, campaign: bytes, envelope: dict[str, Any], has_tokens: bool
    ) -> None:
        self._path = path
        super().__init__(campaign, envelope, has_tokens)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=20, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _tables(self) -> str:
        return _TABLES.format(
            integer="INTEGER",
            bytes="BLOB",
            lean="WITHOUT ROWID",
            seen="WITHOUT ROWID",
            identity="INTEGER PRIMARY KEY",
        )

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

    def _enrolled(self, cursor: Any, whos: Sequence[bytes]) -> int:
        marks = ", ".join("?" * len(whos))
        select = f"SELECT COUNT(*) FROM enrolled WHERE revoked = 0 AND who IN ({marks})"
        cursor.execute(select, whos)
        return int(cursor.fetchone()[0])

    def _lock_fold(self, cursor: Any) -> None:
        """Nothing to do: only one transaction writes at a time."""

    def _lock_rounds(self, cursor: Any, shared: bool) -> None:
        """Nothing to do: only one transaction writes at a time."""


class PostgresStore(Store):
    """A campaign in a PostgreSQL database, for several workers at once.

    Parameters
    ----------
    url
        E.g. ``postgresql://user@host/name``.
    campaign
        The campaign's id.
    envelope
        The signed campaign.
    has_tokens
        Whether only enrolled people may report.
    """

    _FOLD, _MAKE, _ROUNDS = (
        5_404_319,
        5_404_320,
        5_404_321,
    )  # numbers of advisory locks, of this program alone

    def __init__(
        self, url: str, campaign: bytes, envelope: dict[str, Any], has_tokens: bool
    ) -> None:
        try:
            import psycopg
        except ImportError:
            raise NotInstalled(
                "PostgreSQL needs the package psycopg.", "pip install 'shoal[collector]'"
            ) from None
        self._url, self._psycopg = url, psycopg
        self._failures = (psycopg.Error,)
        super().__init__(campaign, envelope, has_tokens)

    def _connect(self) -> Any:
        connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        connection.execute("SET synchronous_commit = on")
        return connection

    def _sql(self, text: str) -> str:
        return text.replace("?", "%s")

    def _tables(self) -> str:
        parts = "".join(
            f"CREATE TABLE seen_{i} PARTITION OF seen "
            f"FOR VALUES WITH (MODULUS 16, REMAINDER {i});\n"
            for i in range(16)
        )
        tables = _TABLES.format(
            integer="bigint",
            bytes="bytea",
            lean="",
            seen="PARTITION BY HASH (who)",
            identity="bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        )
        return tables + parts

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

    def _enrolled(self, cursor: Any, whos: Sequence[bytes]) -> int:
        select = "SELECT COUNT(*) FROM enrolled WHERE revoked = 0 AND who = ANY(%s::bytea[])"
        cursor.execute(select, (list(whos),))
        return int(cursor.fetchone()[0])

    def _lock_fold(self, cursor: Any) -> None:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (self._FOLD,))

    def _lock_rounds(self, cursor: Any, shared: bool) -> None:
        kind = "_shared" if shared else ""
        cursor.execute(f"SELECT pg_advisory_xact_lock{kind}(%s)", (self._ROUNDS,))


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
        if url.startswith(("postgresql://", "postgres://")):
            return PostgresStore(url, campaign, envelope, has_tokens)
        path = url.removeprefix("sqlite:///")
        if "://" in path:
            raise InvalidSetting(
                "The database must be SQLite or PostgreSQL.",
                "E.g. --db sqlite:///walk.sqlite or --db postgresql://localhost/walk.",
                setting="--db",
            )
        return SqliteStore(str(Path(path).expanduser()), campaign, envelope, has_tokens)
    except Unavailable:
        raise CannotWrite(
            "The database cannot be opened.", "Check that it is there and can be written."
        ) from None
