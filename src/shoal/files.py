"""Write files and folders atomically: whole or not at all."""

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.errors import AlreadyExists, CannotWrite, setting

__all__ = ["atomic_file", "atomic_folder", "file_lock", "take_lock", "write_error"]


@contextmanager
def atomic_file(path: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary path that is renamed to ``path`` when the block ends without an error.

    Whatever goes wrong, Ctrl-C included, leaves what was there before.

    Parameters
    ----------
    path
        The final name.
    overwrite
        Whether a file that is there may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_file(folder / "centers.csv") as part:
    ...     _ = part.write_text("x0,x1")
    >>> [file.name for file in folder.iterdir()]
    ['centers.csv']
    """
    final = _absolute(path)
    part = _beside(final)
    with _named_failure(final):
        _check_free(final, overwrite)
        try:
            yield part
            _flush(part)
            _check_free(final, overwrite)  # somebody may have been faster
            os.replace(part, final)
            _flush(final.parent)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to ``path`` when the block ends without an error.

    An old folder that is overwritten steps aside first, and comes back if the new one cannot take
    its place: for a moment there may be neither, but never half of one.

    Parameters
    ----------
    path
        The final name.
    overwrite
        Whether a folder that is there may be replaced.
    """
    final = _absolute(path)
    part = _beside(final)
    with _named_failure(final):
        _check_free(final, overwrite)
        _check_replaceable(final)
        try:
            part.mkdir()
            yield part
            for inside in sorted(part.rglob("*")):
                _flush(inside)
            _check_free(final, overwrite)
            _swap(part, final)
            _flush(final.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _named_failure(final: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise write_error(final, error.strerror or type(error).__name__) from None


def write_error(path: str | Path, cause: str) -> CannotWrite:
    """Return the error for a file or folder that cannot be written.

    Parameters
    ----------
    path
        Where it should have gone.
    cause
        Why it could not, as the operating system has it.
    """
    return CannotWrite(
        f"{path} cannot be written: {cause}.",
        "Check that its folder exists, that you may write there, and that the disk has room.",
        path=str(path),
        cause=cause,
    )


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(os.path.expanduser(path)))


def _beside(final: Path) -> Path:
    # In the same folder: a rename across file systems would be a copy.
    return final.parent / f".{final.name}.{secrets.token_hex(4)}.part"


def _check_free(final: Path, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(final):
        raise AlreadyExists(
            f"{final} exists already.",
            "Choose another name, or give " + setting("overwrite", True) + " to replace it.",
        )


def _check_replaceable(final: Path) -> None:
    if final.exists() and not final.is_dir():
        raise CannotWrite(f"{final} is a file, not a folder.", "Choose another name.")
    if Path.cwd().is_relative_to(final.resolve()):
        raise CannotWrite(
            f"{final} holds the current folder, which would be replaced.",
            "Name another folder.",
        )


def _swap(part: Path, final: Path) -> None:
    aside = _beside(final)
    try:
        if os.path.lexists(final):
            os.rename(final, aside)
        os.rename(part, final)
    finally:  # Ctrl-C may come between any two of these steps
        if os.path.lexists(aside) and not os.path.lexists(final):
            os.rename(aside, final)
        _remove(aside, final)


def _remove(aside: Path, final: Path) -> None:
    """Delete a replaced file or folder completely, even if interrupted on the way."""
    if aside.is_symlink():
        aside.unlink()
    try:
        shutil.rmtree(aside)
    except FileNotFoundError:
        return
    except (KeyboardInterrupt, SystemExit):
        shutil.rmtree(aside, ignore_errors=True)
        raise
    except OSError as error:
        raise CannotWrite(
            f"{final} was written, but the old version cannot be removed: {error.strerror}.",
            f"Remove {aside} yourself.",
        ) from None


def _flush(path: Path) -> None:
    """Flush a file or folder to disk, so that it is complete even if the machine stops."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def file_lock(path: Path) -> Iterator[bool]:
    """Take a lock file for the length of a block and yield whether this process alone holds it.

    The system frees the lock with the process, however that ends; the file may then stay, and the
    next holder removes it.

    Parameters
    ----------
    path
        The lock file, created for the block and deleted with it.

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
        holds = take_lock(handle) and _is_still(handle, path)
        try:
            yield holds
        finally:
            if holds and os.getpid() == owner:
                path.unlink(missing_ok=True)  # while it is held: nobody locks a name that is gone
    finally:
        os.close(handle)


def _is_still(handle: int, path: Path) -> bool:
    """Whether the path still names the open file; its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


if sys.platform == "win32":

    def take_lock(handle: int) -> bool:
        """No such locks: nobody is known to hold it alone."""
        return False

else:
    import fcntl

    def take_lock(handle: int) -> bool:
        """Whether an open file's lock is ours now; the system frees it with the process."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
