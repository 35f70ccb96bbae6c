"""A file shared by processes: made whole or not at all, one connection a call, quiet in a fork.

SQLite must not be in the middle of a call when the process forks: the child would inherit its
locks without holding them. So all calls of a process take turns under one lock, which a fork
takes too.
"""

import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

__all__ = ["SqliteFile", "taking_turns"]

PATIENCE_SECONDS = 60

_turn = threading.RLock()


def taking_turns() -> AbstractContextManager[bool]:
    """The lock under which a process writes; ``with taking_turns(): ...``."""
    return _turn


def _before_fork() -> None:
    _turn.acquire()


def _in_parent() -> None:
    _turn.release()


def _in_child() -> None:
    global _turn  # noqa: PLW0603 - the threads that may have waited for the old one are gone
    _turn = threading.RLock()


os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)


class SqliteFile:
    """An SQLite file of a known schema.

    Parameters
    ----------
    path
        Made, for its owner alone, if it is not there.
    schema
        The statements that make an empty one.
    """

    def __init__(self, path: Path, schema: Sequence[str]) -> None:
        self.path = path.absolute()  # whatever folder the process goes to later
        if not self.path.exists():
            _create(self.path, schema)

    @contextmanager
    def open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection for one call; to write, in a transaction of its own."""
        with taking_turns(), closing(self._connect(write)) as db:
            if write:
                db.execute("BEGIN IMMEDIATE")
            yield db  # an exception here closes the connection, which rolls back
            if write:
                db.execute("COMMIT")

    def _connect(self, write: bool) -> sqlite3.Connection:
        how = "mode=rw"  # never makes a file that is gone anew
        if not write and not os.access(self.path.parent, os.W_OK):
            # Where no log can be kept beside it, nobody writes: it may be read as it is.
            how = "mode=ro" if Path(f"{self.path}-wal").exists() else "mode=ro&immutable=1"
        where = f"{self.path.as_uri()}?{how}"
        db = sqlite3.connect(where, uri=True, timeout=PATIENCE_SECONDS, isolation_level=None)
        db.execute("PRAGMA synchronous = FULL")
        return db


def _create(path: Path, schema: Sequence[str]) -> None:
    """Make it under a temporary name and link it, so that it is there whole."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        with taking_turns(), closing(sqlite3.connect(name, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            for statement in schema:
                db.execute(statement)
            db.execute("COMMIT")
        with suppress(FileExistsError):  # another process was quicker: use its file
            os.link(name, path)
    finally:
        os.unlink(name)
