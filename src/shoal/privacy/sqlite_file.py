"""An SQLite file shared by processes: created atomically, one connection for each call.

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
from shoal.files import take_lock
from shoal.privacy._file_place import (
    TEMPORARY_SUFFIX,
    Refusal,
    check_folder,
    check_place,
    check_unmoved,
)
from shoal.privacy.ledger_page import process_lock

# A transaction takes milliseconds: who waits this long has met a process that hangs.
TIMEOUT_SECONDS = 60
_TRIES = 3
_RANDOM_LETTERS = 8  # what tempfile puts into a name


class SqliteFile:
    """An SQLite file of a known schema, safe to share between processes.

    Parameters
    ----------
    path
        The file; created, readable by its owner alone, if it does not exist.
    refusal
        Makes the error for a file that SQLite cannot lock: one with two hard links, or on a network
        share.
    """

    def __init__(self, path: Path, schema: Sequence[str], refusal: Refusal = CannotWrite) -> None:
        self.path = path.absolute()  # whatever folder the process goes to later
        self._refusal = refusal
        # The disk is checked before creation: on a share even the first write could race.
        if not self.path.exists():
            check_folder(self._resolved_path().parent, self.path.name, refusal)
            _create(self._resolved_path(), schema)

    @contextmanager
    def open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield a connection for one call; for writing, inside a transaction.

        Parameters
        ----------
        write
            Whether to open a transaction, committed when the block ends without an error.
        """
        with process_lock():
            real = self._resolved_path()
            place = check_place(real, self._refusal)
            with closing(self._connect(real, write)) as db:
                if write:
                    db.execute("BEGIN IMMEDIATE")
                yield db  # an exception here closes the connection, which rolls back
                if write:
                    check_unmoved(real, place, self._refusal)
                    db.execute("COMMIT")

    def _resolved_path(self) -> Path:
        """Return the path with symbolic links resolved: SQLite's log and locks lie beside that."""
        return Path(os.path.realpath(self.path))

    def _connect(self, real: Path, write: bool) -> sqlite3.Connection:
        how = "mode=rw"  # never makes a file that is gone anew
        if not write and not os.access(real.parent, os.W_OK):
            # Where no log can be kept beside it, nobody writes: it may be read as it is.
            how = "mode=ro" if Path(f"{real}-wal").exists() else "mode=ro&immutable=1"
        where = f"{real.as_uri()}?{how}"
        db = sqlite3.connect(where, uri=True, timeout=TIMEOUT_SECONDS, isolation_level=None)
        try:
            # An entry must survive a power cut before anything it pays for leaves.
            db.execute("PRAGMA synchronous = FULL")
        except BaseException:
            db.close()  # nobody else has it; from Python 3.13 on one left open is warned about
            raise
        return db


def _create(path: Path, schema: Sequence[str]) -> None:
    """Create the file under a temporary name and link it, so that it never exists half made."""
    for _ in range(_TRIES):
        with process_lock(), suppress(FileNotFoundError):  # swept in the moment before its lock
            _remove_unmade(path)
            _make_once(path, schema)
        if path.exists():
            return


def _make_once(path: Path, schema: Sequence[str]) -> None:
    handle, name = tempfile.mkstemp(
        prefix=f".{path.name}.", suffix=TEMPORARY_SUFFIX, dir=path.parent
    )
    try:
        with suppress(OSError):  # where nothing can be locked, nothing is swept either
            take_lock(handle)  # SQLite takes locks of another kind
        _fill(name, schema)
        # A link, not a rename: it fails where a file is, so nobody's ledger is replaced.
        with suppress(FileExistsError):  # another process was quicker: use its file
            os.link(name, path)
    finally:
        Path(name).unlink(missing_ok=True)  # whoever saw the second name may have removed it
        os.close(handle)


def _remove_unmade(path: Path) -> None:
    """Remove what killed processes left while they made the file."""
    temporary = f".{glob.escape(path.name)}.{'?' * _RANDOM_LETTERS}{TEMPORARY_SUFFIX}"
    for part in path.parent.glob(temporary):
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
