"""A file shared by processes: made whole or not at all, one connection a call, quiet in a fork.

SQLite must not be in the middle of a call when the process forks: the child would inherit its
locks without holding them. So all calls of a process are made under one lock, `process_lock`,
which a fork takes too.
"""

import glob
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from shoal.errors import CannotWrite
from shoal.locks import take_lock
from shoal.privacy.file_place import NEW, Refusal, check_folder, check_place, check_unmoved
from shoal.privacy.page import process_lock

__all__ = ["SqliteFile"]

PATIENCE_SECONDS = 60
_TRIES = 3
_RANDOM_LETTERS = 8  # what tempfile puts into a name


class SqliteFile:
    """An SQLite file of a known schema.

    Parameters
    ----------
    path
        Made, for its owner alone, if it is not there.
    schema
        The statements that make an empty one.
    refusal
        The error for a file that SQLite cannot lock: one of two names, or on a network share.
    """

    def __init__(self, path: Path, schema: Sequence[str], refusal: Refusal = CannotWrite) -> None:
        self.path = path.absolute()  # whatever folder the process goes to later
        self._refusal = refusal
        if not self.path.exists():
            check_folder(self._real().parent, self.path.name, refusal)
            _create(self._real(), schema)

    @contextmanager
    def open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection for one call; to write, in a transaction of its own."""
        with process_lock():
            real = self._real()
            place = check_place(real, self._refusal)
            with closing(self._connect(real, write)) as db:
                if write:
                    db.execute("BEGIN IMMEDIATE")
                yield db  # an exception here closes the connection, which rolls back
                if write:
                    check_unmoved(real, place, self._refusal)
                    db.execute("COMMIT")

    def _real(self) -> Path:
        """Where it lies, whatever symbolic links lead there: log and locks lie beside that."""
        return Path(os.path.realpath(self.path))

    def _connect(self, real: Path, write: bool) -> sqlite3.Connection:
        how = "mode=rw"  # never makes a file that is gone anew
        if not write and not os.access(real.parent, os.W_OK):
            # Where no log can be kept beside it, nobody writes: it may be read as it is.
            how = "mode=ro" if Path(f"{real}-wal").exists() else "mode=ro&immutable=1"
        where = f"{real.as_uri()}?{how}"
        db = sqlite3.connect(where, uri=True, timeout=PATIENCE_SECONDS, isolation_level=None)
        db.execute("PRAGMA synchronous = FULL")
        return db


def _create(path: Path, schema: Sequence[str]) -> None:
    """Make it under a temporary name and link it, so that it is there whole."""
    for _ in range(_TRIES):
        with process_lock(), suppress(FileNotFoundError):  # swept in the moment before its lock
            _remove_unmade(path)
            _make_once(path, schema)
        if path.exists():
            return


def _make_once(path: Path, schema: Sequence[str]) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=NEW, dir=path.parent)
    try:
        with suppress(OSError):  # where nothing can be locked, nothing is swept either
            take_lock(handle)  # SQLite takes locks of another kind
        _fill(name, schema)
        with suppress(FileExistsError):  # another process was quicker: use its file
            os.link(name, path)
    finally:
        Path(name).unlink(missing_ok=True)  # whoever saw the second name may have removed it
        os.close(handle)


def _remove_unmade(path: Path) -> None:
    """Remove what processes left that were killed while they made the file."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.{'?' * _RANDOM_LETTERS}{NEW}"):
        with suppress(OSError), part.open("rb") as file:
            status = os.fstat(file.fileno())
            ours = status.st_uid == os.geteuid() and not status.st_mode & 0o077
            if ours and status.st_nlink == 1 and take_lock(file.fileno()):
                for ending in ("-wal", "-shm", "-journal", ""):
                    Path(f"{part}{ending}").unlink(missing_ok=True)


def _fill(name: str, schema: Sequence[str]) -> None:
    with process_lock(), closing(sqlite3.connect(name, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        for statement in schema:
            db.execute(statement)
        db.execute("COMMIT")
