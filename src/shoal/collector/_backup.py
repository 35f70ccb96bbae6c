"""Copy the database of a campaign while it is used, and put a copy in its place again.

    database ─► copy, one moment of it      SQLite: its online backup; PostgreSQL: pg_dump
    copy ─► checks ─► a database that was not there

A copy does not know what was released after it was made. Where a second release would cost people
more than they were promised, a copy from before the first is put back only on the operator's word
that there was none. The ids of a campaign that is over do not come back with it.
"""

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from shoal.collector._campaign import Campaign
from shoal.collector._databases import is_postgres, load_psycopg, open_store, sqlite_path
from shoal.collector._storage import Store
from shoal.errors import (
    AlreadyExists,
    CannotWrite,
    InvalidSetting,
    NotInstalled,
    ReleasedBefore,
    sentence,
)
from shoal.files import atomic_file

# Of each setting where a second release costs, the document that says there was a first one.
_RELEASED_BY = {"two_aggregators": "opening", "shuffled": "close"}


class Restored(NamedTuple):
    """What a database holds after a copy was put in its place."""

    people: int
    has_ids: bool


def back_up(campaign: Campaign, url: str, path: Path) -> None:
    """Write one moment of a database to a new file, readable by its owner alone.

    Whoever writes to the database goes on, and its version stays what it is.

    Parameters
    ----------
    campaign
        The campaign that the database must belong to.
    url
        As for ``open_store``.
    path
        The file to write: a SQLite database, or an archive for ``pg_restore``.
    """
    _check_is_new(path)
    with atomic_file(path) as part:
        os.close(os.open(part, os.O_CREAT | os.O_WRONLY, 0o600))
        if is_postgres(url):
            _run_postgres("pg_dump", url, "--format=custom", f"--file={part}")
            name, _ = _read_archive(part)
        else:
            with _opened(sqlite_path(url)) as source, closing(sqlite3.connect(part)) as copy:
                name, _ = _read_tables(source)
                source.backup(copy)  # in one step: writers neither wait nor begin it anew
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
        _check_campaign(name, campaign)


def restore(
    campaign: Campaign, path: Path, url: str, *, nothing_released: bool = False
) -> Restored:
    """Make a database of a copy, where none is.

    Parameters
    ----------
    campaign
        The campaign that the copy must belong to.
    path
        What ``back_up`` wrote.
    url
        As for ``open_store``.
    nothing_released
        Whether the operator says that nothing was opened or released since the copy was made.

    Raises
    ------
    ReleasedBefore
        If that is not said, and a second release of these people would break their promise.
    """
    if is_postgres(url):
        _check_campaign_and_releases(_read_archive(path), campaign, nothing_released)
        database = _empty_database(url)
        options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
        _run_postgres("pg_restore", url, *options, f"--dbname={database}", str(path))
        return _settle(campaign, url)
    place = sqlite_path(url)
    # SQLite would read the log of another database into the copy.
    for suffix in ("", "-wal", "-shm"):
        _check_is_new(place.with_name(f"{place.name}{suffix}"))
    with atomic_file(place) as part, _opened(path) as source:
        _check_campaign_and_releases(_read_tables(source), campaign, nothing_released)
        os.close(os.open(part, os.O_CREAT | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(part)) as new:
            source.backup(new)
        return _settle(campaign, str(part))


def _settle(campaign: Campaign, url: str) -> Restored:
    """Bring a restored database up to this version, without ids if the campaign is over."""
    store = open_store(url, campaign.id, campaign.envelope, has_tokens=campaign.has_tokens)
    try:
        is_over = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) > campaign.document["closes"]
        if is_over and not _waits_for_opening(campaign, store):
            store.forget_people(len(campaign.shares))
            return Restored(store.count(), has_ids=False)
        return Restored(store.count(), has_ids=True)
    finally:
        store.close()


def _waits_for_opening(campaign: Campaign, store: Store) -> bool:
    return bool(campaign.aggregators) and ("opening", 0) not in store.documents()


def _check_is_new(path: Path) -> None:
    """Refuse to write where something is: it may be all that is left of a database."""
    if path.exists():
        raise AlreadyExists(
            f"{path} exists already.", "Move it away first, or choose another name."
        )


# ---- what a copy is of, and what it knows of releases

Known = tuple[bytes, set[str]]  # the campaign's id, and the kinds of documents in it


def _check_campaign_and_releases(known: Known, campaign: Campaign, nothing_released: bool) -> None:
    name, kinds = known
    _check_campaign(name, campaign)
    released_by = _RELEASED_BY.get(campaign.document["setting"])
    if released_by is None or released_by in kinds or nothing_released:
        return
    raise ReleasedBefore(
        "This copy was made before anything was released, and could release it a second time.",
        sentence(
            "If these people's sums were opened or released since, do not put it back: keep what "
            "was released. If they never were, say so: {nothing_released}."
        ),
    )


def _check_campaign(name: bytes, campaign: Campaign) -> None:
    if name != campaign.id:
        raise InvalidSetting(
            "The database belongs to another campaign.", "Give the campaign that it was made for."
        )


def _no_copy() -> InvalidSetting:
    return InvalidSetting(
        "This is no whole database of a collector.",
        "Give the file that `shoal collect backup` wrote, for the same kind of database.",
    )


# ---- SQLite


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Read a SQLite file, which must be there and is not changed."""
    if not path.is_file():
        raise InvalidSetting(f"There is no file {path}.", "Check its name.")
    try:
        # Not read-only: a log that a killed server left beside it must be read, too.
        uri = f"{path.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=20)) as connection:
            yield connection
    except sqlite3.OperationalError:
        raise CannotWrite(
            f"{path} cannot be read or copied now.", "Check who may read it, and the free space."
        ) from None


def _read_tables(source: sqlite3.Connection) -> Known:
    try:
        (result,) = source.execute("PRAGMA integrity_check(1)").fetchone()
        (name,) = source.execute("SELECT campaign FROM meta").fetchone()
        kinds = {kind for (kind,) in source.execute("SELECT kind FROM document")}
    except (sqlite3.DatabaseError, TypeError):
        raise _no_copy() from None
    if result != "ok":
        raise _no_copy()
    return bytes(name), kinds


# ---- PostgreSQL


def _run_postgres(program: str, url: str | None, *arguments: str) -> str:
    """Run a program of PostgreSQL; the password goes by the environment, which others cannot read.

    Parameters
    ----------
    url
        The database; None for what asks none.
    """
    found = shutil.which(program)
    if found is None:
        raise NotInstalled(
            f"PostgreSQL's program {program} is missing.",
            "Install the clients of PostgreSQL, of the server's version or a later one.",
        )
    given: list[Any] = load_psycopg().pq.Conninfo.parse(url.encode()) if url else []
    names = {one.envvar.decode(): one.val.decode() for one in given if one.val and one.envvar}
    environment = {**os.environ, **names}
    command = [found, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [""])[0]
        raise CannotWrite(f"{program} failed: {reason}", "Nothing was kept of it.")
    return done.stdout


def _read_archive(path: Path) -> Known:
    if not path.is_file():
        raise InvalidSetting(f"There is no file {path}.", "Check its name.")
    meta, documents = (_rows_in(path, table) for table in ("meta", "document"))
    if len(meta) != 1:
        raise _no_copy()
    return bytes.fromhex(meta[0][1].removeprefix("\\\\x")), {row[0] for row in documents}


def _rows_in(path: Path, table: str) -> list[list[str]]:
    """Return the rows of a small table in an archive, each as its written columns."""
    options = ("--data-only", f"--table={table}", "--file=-", str(path))
    try:
        lines = _run_postgres("pg_restore", None, *options).splitlines()
    except CannotWrite:
        raise _no_copy() from None
    starts = [i for i, line in enumerate(lines) if line.startswith("COPY ")]
    if len(starts) != 1:
        raise _no_copy()
    rows = lines[starts[0] + 1 :]
    return [row.split("\t") for row in rows[: rows.index("\\.")]]


def _empty_database(url: str) -> str:
    """Return the name of a database that holds no campaign yet."""
    psycopg = load_psycopg()
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            row = connection.execute("SELECT current_database(), to_regclass('meta')").fetchone()
    except psycopg.Error:
        raise CannotWrite(
            "The database cannot be opened.", "Make an empty one first: createdb NAME."
        ) from None
    if row[1] is not None:
        raise AlreadyExists(
            "This database holds a campaign already.", "Make an empty one first: createdb NAME."
        )
    return str(row[0])
