"""Locks on files, which the operating system frees with the process that holds them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def file_lock(path: Path) -> Iterator[bool]:
    """Whether this block alone holds ``path``, a lock file that is made and goes with it.

    The system frees the lock with the process, however that ends; the file may then stay, and the
    next holder removes it.

    Parameters
    ----------
    path
        The lock file; its folder exists.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lock"
    >>> with file_lock(path) as first, file_lock(path) as second:
    ...     first, second
    (True, False)
    >>> path.exists()
    False
    """
    owner = os.getpid()
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        holds = take_lock(handle) and is_still(handle, path)
        try:
            yield holds
        finally:
            if holds and os.getpid() == owner:
                path.unlink(missing_ok=True)  # while it is held: nobody locks a name that is gone
    finally:
        os.close(handle)


def is_still(handle: int, path: Path) -> bool:
    """Whether a name stands for the open file: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


if sys.platform == "win32":

    def take_lock(handle: int) -> bool:
        """No such locks: nobody is known to hold it alone."""
        return False

    def wait_for_lock(handle: int) -> None:
        """Raise: there are no such locks."""
        raise OSError("no locks")

else:
    import fcntl

    def take_lock(handle: int) -> bool:
        """Whether an open file's lock is ours now; the system frees it with the process."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait_for_lock(handle: int) -> None:
        """Take an open file's lock, as soon as whoever holds it lets go."""
        fcntl.flock(handle, fcntl.LOCK_EX)
