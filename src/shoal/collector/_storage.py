"""Keep reports as sums, each counted once; what all databases do alike.

    accept:  who ─► seen ┐ one transaction: a code is in a part if and only if its person is in
             code ─► part ┘ seen; answered only after the commit
    fold:    parts ─► sums  one transaction

No row joins a person to a report: ``part.codes`` are sorted, and ``seen`` holds hashes of keys.
What a database notes of the transaction that wrote a row (``xmin`` of PostgreSQL) does not join
them either: a new code is mixed with those of a thousand others before it is written. Reports on a
lattice do not add up: their parts stay as they are, sorted too. One of two aggregators keeps shares
instead, which tell nothing alone, by person until they are opened.
See ``storage.proof.md`` for why every acknowledged report is counted exactly once.
"""

import base64
import hashlib
import json
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.collector.client import LABEL_ROUND, canonical
from shoal.errors import InvalidSetting
from shoal.randomness import Randomness

VERSION = 3
_SHARES = "CREATE TABLE share (who {bytes} PRIMARY KEY, content {bytes} NOT NULL) {lean}"
# From a version to the next. The second did not say which keys are for labels.
_MIGRATIONS = {
    1: _SHARES,
    2: "ALTER TABLE enrolled ADD COLUMN label_of {bytes};\n"
    "ALTER TABLE part ADD COLUMN is_open {integer} NOT NULL DEFAULT 0",
}
_CHECK_BYTES = 65_536
_FOLD_PARTS = 4_096
_RESERVE = 1_000  # codes of a round that stay in its open part, for the next ones to mix with
_READ_SHARES = 1_000  # at a time: some megabytes
# What a key is for; an earlier version did not say.
_FOR_REPORTS = "(label_of IS NULL OR LENGTH(label_of) = 0)"
_FOR_LABELS = "(label_of IS NULL OR LENGTH(label_of) > 0)"
_TABLES = """
CREATE TABLE meta (version {integer} NOT NULL, campaign {bytes} NOT NULL, envelope TEXT NOT NULL);
CREATE TABLE enrolled (who {bytes} PRIMARY KEY, revoked {integer} NOT NULL DEFAULT 0,
    label_of {bytes}) {lean};
CREATE TABLE seen (who {bytes} PRIMARY KEY) {seen};
CREATE TABLE part (id {identity}, round {integer} NOT NULL, epoch {integer} NOT NULL,
    n {integer} NOT NULL, codes {bytes} NOT NULL, is_open {integer} NOT NULL DEFAULT 0);
CREATE TABLE sums (round {integer}, epoch {integer}, code {integer}, n {integer} CHECK (n > 0),
    PRIMARY KEY (round, epoch, code)) {lean};
CREATE TABLE epoch (round {integer}, epoch {integer}, n {integer}, digest {bytes},
    PRIMARY KEY (round, epoch));
CREATE TABLE document (kind TEXT, round {integer}, envelope TEXT, PRIMARY KEY (kind, round));
{shares};
{more}"""


class Unavailable(Exception):
    """The database cannot take anything now: full, read-only, or gone. Nothing was written."""


class Arrival(NamedTuple):
    """Checked reports of one request."""

    round: int
    whos: Sequence[bytes]
    codes: Sequence[int | bytes] = ()
    shares: Sequence[bytes] = ()


class Accepted(NamedTuple):
    """What became of one request.

    Parameters
    ----------
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
        self._lattice_bytes = _lattice_bytes(envelope)
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

    _types: ClassVar[dict[str, str]]  # how the database writes what the tables are made of

    @abstractmethod
    def _has_tables(self, cursor: Any) -> bool:
        """Whether the tables are there already."""

    @abstractmethod
    def _begin(self, cursor: Any) -> None:
        """Begin a transaction that writes."""

    @abstractmethod
    def _insert_new(self, cursor: Any, whos: Sequence[bytes]) -> set[bytes]:
        """Insert people into ``seen``; return those who were not there."""

    @abstractmethod
    def _enrolled(self, cursor: Any, whos: Sequence[bytes], purpose: str) -> int:
        """Return how many of these people are enrolled for this purpose and not revoked."""

    @abstractmethod
    def _lock_fold(self, cursor: Any) -> None:
        """Keep any other process from folding until the transaction ends."""

    @abstractmethod
    def _lock_rounds(self, cursor: Any, shared: bool) -> None:
        """Keep rounds from closing while reports are counted (shared), and the other way."""

    @abstractmethod
    def _lock_reserve(self, cursor: Any, number: int) -> None:
        """Let one process at a time mix codes with the open part of a round."""

    @abstractmethod
    def _empty(self, cursor: Any, table: str) -> None:
        """Delete all rows of a table."""

    @abstractmethod
    def _overwrite_deleted(self) -> None:
        """Leave nothing in the database's files of what was deleted."""

    def _sql(self, text: str) -> str:
        return text

    # ---- transactions

    @contextmanager
    def _transaction(self, is_reading: bool = False) -> Iterator[Any]:
        """Yield a cursor; commit at the end, or undo everything and say it is unavailable."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                cursor = self._connection.cursor()
                if is_reading:  # waits for nobody who writes
                    cursor.execute("BEGIN")
                else:
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
                self._run(cursor, _TABLES.replace("{shares}", _SHARES))
                row = VERSION, self._campaign, envelope
                cursor.execute(self._sql("INSERT INTO meta VALUES (?, ?, ?)"), row)
            cursor.execute("SELECT version, campaign FROM meta")
            version, campaign = cursor.fetchone()
            for step in range(version, VERSION):  # one transaction: all of it, or none
                self._run(cursor, _MIGRATIONS[step])
                cursor.execute(self._sql("UPDATE meta SET version = ?"), (step + 1,))
        if version > VERSION:
            raise InvalidSetting(
                f"The database has version {version}; this program knows {VERSION}.",
                "Use the newer program that wrote it.",
                setting="db",
            )
        if bytes(campaign) != self._campaign:
            raise InvalidSetting(
                "The database belongs to another campaign.",
                "Give each campaign a database of its own.",
                setting="db",
            )

    def _run(self, cursor: Any, statements: str) -> None:
        for statement in statements.format(**self._types).split(";\n"):
            if statement.strip():
                cursor.execute(statement)

    def check_writable(self) -> None:
        """Write some pages and take them back: unavailable on a full or a read-only disk."""
        insert = "INSERT INTO document VALUES ('check', 0, ?) ON CONFLICT DO NOTHING"
        for statement, values in (
            (insert, ("x" * _CHECK_BYTES,)),
            ("DELETE FROM document WHERE kind = ?", ("check",)),
        ):
            with self._transaction() as cursor:
                cursor.execute(self._sql(statement), values)

    # ---- people

    def enrol(self, whos: Iterable[bytes], labels: Iterable[tuple[bytes, bytes]] = ()) -> None:
        """Let these people report.

        Parameters
        ----------
        labels
            For each person who may also send a label: the hash of the label's key, and theirs.
        """
        rows = [*((who, b"") for who in whos), *labels]
        insert = "INSERT INTO enrolled (who, label_of) VALUES (?, ?) ON CONFLICT DO NOTHING"
        with self._transaction() as cursor:
            cursor.executemany(self._sql(insert), rows)

    def revoke(self, who: bytes) -> bool:
        """Keep one person from reporting; a report that was counted stays in the sums.

        Returns
        -------
        Whether that person was enrolled and had not reported yet.
        """
        update = (
            "UPDATE enrolled SET revoked = 1 WHERE who = ? "
            "AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.who = enrolled.who)"
        )
        labels = update.replace("who = ?", "label_of = ?", 1)
        with self._transaction() as cursor:
            cursor.execute(self._sql(update), (who,))
            was_enrolled = bool(cursor.rowcount == 1)
            cursor.execute(self._sql(labels), (who,))
            return was_enrolled

    def is_known(self, who: bytes) -> bool:
        """Return whether a person may report: everybody may where there are no tokens."""
        with self._transaction(is_reading=True) as cursor:
            return not self._has_tokens or self._enrolled(cursor, [who], _FOR_REPORTS) == 1

    def has_reported(self, who: bytes) -> bool:
        """Return whether a person's report was counted."""
        with self._transaction(is_reading=True) as cursor:
            cursor.execute(self._sql("SELECT 1 FROM seen WHERE who = ?"), (who,))
            return cursor.fetchone() is not None

    def unmarked_keys(self) -> int:
        """Return how many keys an earlier version enrolled for a report and for a label alike."""
        with self._transaction() as cursor:
            cursor.execute("SELECT COUNT(*) FROM enrolled WHERE label_of IS NULL")
            return int(cursor.fetchone()[0])

    # ---- reports

    def accept(self, arrivals: Sequence[Arrival], epoch: int) -> list[Accepted]:
        """Count the new reports of several requests in one transaction, each request whole.

        Raises
        ------
        Unavailable
            If nothing could be written.
        """
        results: list[Accepted] = []
        parts: dict[int, list[int | bytes]] = {}
        shares: list[tuple[bytes, bytes]] = []
        with self._transaction() as cursor:
            self._lock_rounds(cursor, shared=True)
            problems = self._problems(cursor, arrivals)
            good = [a for a, problem in zip(arrivals, problems, strict=True) if problem is None]
            # One sorted insert for all requests: two workers can never wait for each other.
            whos = sorted({who for arrival in good for who in arrival.whos})
            new = self._insert_new(cursor, whos)  # [P1]
            for arrival, problem in zip(arrivals, problems, strict=True):
                places = _take_new(arrival.whos, new) if problem is None else []
                if arrival.shares:
                    shares += [(arrival.whos[i], arrival.shares[i]) for i in places]
                else:
                    parts.setdefault(arrival.round, []).extend(arrival.codes[i] for i in places)
                repeated = len(arrival.whos) - len(places) if problem is None else 0
                results.append(Accepted(len(places), repeated, problem))
            for number in sorted(parts):  # one order for all: two workers cannot block each other
                self._write_part(cursor, number, epoch, parts[number])  # [P2]
            if shares:
                cursor.executemany(self._sql("INSERT INTO share VALUES (?, ?)"), shares)
        return results  # [P3]

    def _problems(self, cursor: Any, arrivals: Sequence[Arrival]) -> list[str | None]:
        """Return why each request cannot be taken, or None."""
        closed = self._closed_rounds(cursor)
        problems: list[str | None] = []
        for arrival in arrivals:
            if arrival.round in closed:
                problems.append("closed")
            elif self._has_tokens and not self._are_enrolled(cursor, arrival):
                problems.append("unknown")
            else:
                problems.append(None)
        return problems

    def _are_enrolled(self, cursor: Any, arrival: Arrival) -> bool:
        """Whether everybody may report in this round: a key is for a report or for a label."""
        purpose = _FOR_LABELS if arrival.round == LABEL_ROUND else _FOR_REPORTS
        if self._enrolled(cursor, arrival.whos[:1], purpose) == 0:
            return False  # a stranger's ten thousand keys cost one look
        return self._enrolled(cursor, arrival.whos, purpose) == len(arrival.whos)

    def _kind(self, number: int) -> str:
        """Return how the reports of a round are kept: as codes, or as places on a lattice."""
        is_lattice = self._lattice_bytes and number != LABEL_ROUND
        return f"S{self._lattice_bytes}" if is_lattice else "<u4"

    def _write_part(self, cursor: Any, number: int, epoch: int, codes: list[int | bytes]) -> None:
        """Mix new codes with those of an open part, and write what is more than its reserve."""
        if not codes:
            return
        new = np.array(codes, dtype=self._kind(number))
        if len(codes) >= _RESERVE:  # enough of them to hide among
            self._insert_part(cursor, number, epoch, new, is_open=False)
            return
        mixed = np.concatenate([new, self._take_reserve(cursor, number)])
        Randomness(None).compute.shuffle(mixed)  # [P4]
        n_open = len(mixed) if len(mixed) <= 2 * _RESERVE else _RESERVE
        self._insert_part(cursor, number, epoch, mixed[:n_open], is_open=True)
        if len(mixed) > n_open:
            self._insert_part(cursor, number, epoch, mixed[n_open:], is_open=False)

    def _take_reserve(self, cursor: Any, number: int) -> NDArray[Any]:
        """Delete the open part of a round, and return its codes; a second worker waits for it."""
        self._lock_reserve(cursor, number)
        select = "SELECT id, codes FROM part WHERE round = ? AND is_open = 1"
        cursor.execute(self._sql(select), (number,))
        rows = cursor.fetchall()  # several where an earlier version's workers did not wait
        delete = self._sql("DELETE FROM part WHERE id = ?")
        cursor.executemany(delete, [(row[0],) for row in rows])
        return np.frombuffer(b"".join(bytes(row[1]) for row in rows), dtype=self._kind(number))

    def _insert_part(
        self, cursor: Any, number: int, epoch: int, codes: NDArray[Any], is_open: bool
    ) -> None:
        row = number, epoch, len(codes), np.sort(codes).tobytes(), int(is_open)
        insert = "INSERT INTO part (round, epoch, n, codes, is_open) VALUES (?, ?, ?, ?, ?)"
        cursor.execute(self._sql(insert), row)

    def _closed_rounds(self, cursor: Any) -> set[int]:
        cursor.execute("SELECT round FROM document WHERE kind = 'close'")
        return {row[0] for row in cursor.fetchall()}

    def fold(self) -> int:
        """Move parts that are not open into sums, at most some thousand; return how many."""
        with self._transaction() as cursor:
            self._lock_fold(cursor)
            return self._fold(cursor, "is_open = 0")

    def _fold(self, cursor: Any, which: str, *values: int) -> int:
        which = f"({which}) AND {self._add_up}"
        select = f"SELECT id, round, epoch, codes FROM part WHERE {which} ORDER BY id LIMIT ?"
        cursor.execute(self._sql(select), (*values, _FOLD_PARTS))
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

    @property
    def _add_up(self) -> str:
        """Which parts can be added up: of a campaign on a lattice the labels alone."""
        return f"round = {LABEL_ROUND}" if self._lattice_bytes else "round >= 0"

    def close_round(self, number: int, envelope: dict[str, Any] | None = None) -> str:
        """Take no more reports of a round; return the digest of its sums."""
        with self._transaction() as cursor:
            self._lock_rounds(cursor, shared=False)
            self._lock_fold(cursor)
            # The open parts of other rounds stay: their next reports mix with them.
            while self._fold(cursor, "(is_open = 0 OR round = ?)", number):
                pass
            insert = "INSERT INTO document VALUES ('close', ?, ?) ON CONFLICT DO NOTHING"
            cursor.execute(self._sql(insert), (number, json.dumps(envelope or {})))
            self._write_epochs(cursor, number)
            if self._kind(number) != "<u4":
                return hashlib.sha256(self._read_lattice(cursor, number)).hexdigest()
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
        """Return how often each report of a round was counted, in one snapshot."""
        with self._transaction() as cursor:
            # Nothing moves from a part to the sums, or from part to part, between two reads.
            self._lock_rounds(cursor, shared=False)
            self._lock_fold(cursor)
            return self._read_sums(cursor, number)

    def _read_sums(self, cursor: Any, number: int) -> dict[int, int]:
        select = "SELECT code, SUM(n) FROM sums WHERE round = ? GROUP BY code"
        cursor.execute(self._sql(select), (number,))
        sums = Counter({code: int(n) for code, n in cursor.fetchall()})
        cursor.execute(self._sql("SELECT codes FROM part WHERE round = ?"), (number,))
        sums.update(_tally([bytes(codes) for (codes,) in cursor.fetchall()]))
        return dict(sorted(sums.items()))

    def lattice_reports(self, number: int) -> bytes:
        """Return the reports of a round on a lattice one after the other, sorted, in one snapshot.

        Parameters
        ----------
        number
            The round.
        """
        with self._transaction() as cursor:
            self._lock_rounds(cursor, shared=False)
            return self._read_lattice(cursor, number)

    def _read_lattice(self, cursor: Any, number: int) -> bytes:
        cursor.execute(self._sql("SELECT codes FROM part WHERE round = ?"), (number,))
        joined = b"".join(bytes(codes) for (codes,) in cursor.fetchall())
        return np.sort(np.frombuffer(joined, dtype=self._kind(number))).tobytes()

    @staticmethod
    def _digest(sums: dict[int, int]) -> str:
        lines: Any = [[code, n] for code, n in sorted(sums.items())]
        return hashlib.sha256(canonical(lines)).hexdigest()

    def count(self) -> int:
        """Return how many people have reported, whether or not their ids are still there.

        A label is no person: whoever sends one has reported before, or has not.
        """
        select = (
            "SELECT COALESCE(SUM(n), 0) FROM (SELECT n FROM sums WHERE round < ? "
            "UNION ALL SELECT n FROM part WHERE round < ?) AS counted"
        )
        with self._transaction() as cursor:
            cursor.execute(self._sql(select), (LABEL_ROUND, LABEL_ROUND))
            people = int(cursor.fetchone()[0])
            if people == 0:  # shares of an aggregator are in no sum
                cursor.execute("SELECT COUNT(*) FROM seen")
                people = int(cursor.fetchone()[0])
                people -= sum(self._read_sums(cursor, LABEL_ROUND).values())
            return people

    def forget_people(self, rounds: int) -> None:
        """Close every round and delete all ids: nothing is left but sums."""
        for number in (*range(rounds), LABEL_ROUND):
            self.close_round(number)
        with self._transaction() as cursor:
            for table in ("seen", "enrolled", "share"):
                self._empty(cursor, table)
        self._overwrite_deleted()

    def part_count(self) -> int:
        """Return how many parts wait to be folded."""
        with self._transaction() as cursor:
            cursor.execute(f"SELECT COUNT(*) FROM part WHERE is_open = 0 AND {self._add_up}")
            return int(cursor.fetchone()[0])

    # ---- shares of one of two aggregators

    def shares(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield everybody's hash and share, some at a time, in the order of the hashes."""
        after = b""
        while True:
            select = "SELECT who, content FROM share WHERE who > ? ORDER BY who LIMIT ?"
            with self._transaction() as cursor:
                cursor.execute(self._sql(select), (after, _READ_SHARES))
                rows = [(bytes(who), bytes(content)) for who, content in cursor.fetchall()]
            if not rows:
                return
            yield from rows
            after = rows[-1][0]

    def keep_opening(self, envelope: dict[str, Any]) -> dict[str, Any]:
        """Keep what was opened and delete the shares; return the first opening ever kept."""
        insert = "INSERT INTO document VALUES ('opening', 0, ?) ON CONFLICT DO NOTHING"
        with self._transaction() as cursor:
            cursor.execute(self._sql(insert), (json.dumps(envelope),))
            cursor.execute("DELETE FROM share")
            cursor.execute("SELECT envelope FROM document WHERE kind = 'opening'")
            first: dict[str, Any] = json.loads(cursor.fetchone()[0])
            return first

    # ---- documents

    def publish(self, kind: str, number: int, envelope: dict[str, Any]) -> None:
        """Keep a signed document for everybody to read; a newer one replaces it.

        Parameters
        ----------
        kind
            ``model`` or ``round``.
        number
            The round; 0 for a model.
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
            cursor.execute("SELECT kind, round, envelope FROM document WHERE kind <> 'check'")
            return {(kind, number): json.loads(text) for kind, number, text in cursor.fetchall()}


def _lattice_bytes(envelope: dict[str, Any]) -> int:
    """Return how long a report of a campaign is if it is on a lattice, 8 bytes a column, else 0."""
    document = json.loads(base64.b64decode(envelope.get("payload") or "e30="))  # e30=: nothing
    question = document["rounds"][0]["question"] if "rounds" in document else {}
    on_lattice = question.get("mechanism") == "nd_laplace"
    return 8 * len(question["columns"]) if on_lattice else 0


def _take_new(whos: Sequence[bytes], new: set[bytes]) -> list[int]:
    """Return the places of the people who are new, who are so no longer: each counts once."""
    places = []
    for place, who in enumerate(whos):
        if who in new:
            new.discard(who)
            places.append(place)
    return places


def _tally(contents: list[bytes]) -> dict[int, int]:
    """Count how often each code stands in parts."""
    joined: NDArray[np.uint32] = np.frombuffer(b"".join(contents), dtype="<u4")
    codes, counts = np.unique(joined, return_counts=True)
    return dict(zip(codes.tolist(), counts.tolist(), strict=True))
