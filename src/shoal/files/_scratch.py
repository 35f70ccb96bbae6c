"""One private place for rows on disk: only its owner can read it, and it goes with the work.

    TMPDIR/shoal-scratch-1000-4f0c.../     for one user
        marker                             says whose place this is; held while folders come and go
        run-9f2c81d0/                      of one block of work
            lock                           held by the process that works there

A process that is killed cannot tidy up, so the next one does: a folder here whose lock nobody
holds was left by a process that is gone. Nothing outside of the place is ever removed. See
docs/decisions/crash-safety.md.
"""

import hashlib
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from shoal.files._locks import is_still, take_lock, wait_for_lock

_MARKER, _LOCK, _RUN = "marker", "lock", "run-"
_MAGIC = b"shoal scratch 1: rows of unfinished work; shoal removes what is left here\n"
_TRIES = 100  # another process may remove the empty place each time
_HERE = threading.local()  # whether this thread holds the place, or is about to
_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder in the private place, removed when the block ends.

    Examples
    --------
    >>> with scratch() as folder:
    ...     oct(folder.stat().st_mode & 0o777)
    '0o700'
    """
    owner = os.getpid()
    with ExitStack() as stack:
        folder = _new_folder(stack)
        try:
            yield folder
        finally:
            if os.getpid() == owner:  # a forked child leaves it to its parent
                shutil.rmtree(folder, ignore_errors=True)
                stack.close()
                _remove_empty_place(folder.parent)


def sweep_scratch() -> None:
    """Remove what processes that are gone have left in the private place."""
    path = _temporary_folder() / _place_name()
    if path.is_dir():
        with suppress(OSError), _held_place() as place:
            if place is not None:
                _sweep(place)
        _remove_empty_place(path)


def private_file(path: Path) -> Path:
    """An empty file that only its owner can read, to be written over.

    Parameters
    ----------
    path
        The file, which is returned.

    Examples
    --------
    >>> import tempfile
    >>> oct(private_file(Path(tempfile.mkdtemp()) / "rows.csv").stat().st_mode & 0o777)
    '0o600'
    """
    path.touch(mode=0o600)
    return path


@contextmanager
def nameless_file(name: str) -> Iterator[tuple[Path, IO[bytes]]]:
    """A file without a name on disk, so that a killed process leaves nothing of it.

    Yields a path that opens it, and the open file to write to. Where the system cannot do that,
    it is a file in a scratch folder.

    Parameters
    ----------
    name
        What the path ends in.
    """
    with scratch() as folder:
        path = folder / name
        with private_file(path).open("w+b") as file:
            link = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
            if link.exists():
                path.unlink()  # before a byte is written
                path.symlink_to(link)
            yield path, file


def _new_folder(stack: ExitStack) -> Path:
    """Make a folder and hold its lock until the stack is closed; sweep what others left."""
    with _held_place() as place:
        if place is None:  # somebody else has the name: work there, but sweep nothing
            return Path(tempfile.mkdtemp(prefix="shoal-scratch-", dir=_temporary_folder()))
        _sweep(place)
        folder = Path(tempfile.mkdtemp(prefix=_RUN, dir=place))
        handle = os.open(folder / _LOCK, _OPEN, 0o600)
        stack.callback(os.close, handle)
        take_lock(handle)
        return folder


@contextmanager
def _held_place() -> Iterator[Path | None]:
    """The user's place, while no other process changes it; None where there can be none."""
    path = _temporary_folder() / _place_name()
    marker = None
    _HERE.holds = True  # before it is held: the garbage collector may run at any step
    try:
        marker = _held_marker(path)
        yield None if marker is None else path
    finally:
        if marker is not None:
            os.close(marker)
        _HERE.holds = False


def _held_marker(path: Path) -> int | None:
    """The open and locked marker of a place, which is made if need be."""
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if not _may_be_ours(path):
            return None
        with suppress(FileNotFoundError):
            handle = os.open(path / _MARKER, _OPEN, 0o600)
            if not _is_locked(handle) or not _is_marked(handle, path):
                os.close(handle)
                return None
            if is_still(handle, path / _MARKER):
                return handle
            os.close(handle)
    return None


def _temporary_folder() -> Path:
    """The system's temporary folder, told without a trial file, which a kill would leave there."""
    if tempfile.tempdir is not None:
        return Path(os.fsdecode(tempfile.tempdir))
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    for path in [*named, "/tmp"]:
        if path and os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK):
            return Path(os.path.abspath(path))
    return Path(tempfile.gettempdir())


def _place_name() -> str:
    """A name nobody gives by chance, the same in every process of a user."""
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    return f"shoal-scratch-{user}-{hashlib.sha256(_MAGIC).hexdigest()[:12]}"


def _may_be_ours(path: Path) -> bool:
    """Whether it is an owner's own folder, empty or with a marker; nothing is written to others."""
    try:
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o077:
            return False
        if not hasattr(os, "geteuid") or status.st_uid != os.geteuid():
            return False
        names = os.listdir(path)
        return not names or _MARKER in names
    except FileNotFoundError:  # removed by another process that was done
        return True


def _is_locked(handle: int) -> bool:
    try:
        wait_for_lock(handle)
    except OSError:  # where nothing can be locked, nothing is swept either
        return False
    return True


def _is_marked(handle: int, path: Path) -> bool:
    """Whether the place has our marker; one that is new is written into an otherwise empty one."""
    content = os.pread(handle, len(_MAGIC) + 1, 0)
    if content == _MAGIC:
        return True
    if not _MAGIC.startswith(content) or os.listdir(path) != [_MARKER]:
        return False
    os.pwrite(handle, _MAGIC, 0)
    return True


def _sweep(place: Path) -> None:
    """Remove what processes that are gone have left; the place must be held."""
    for folder in place.glob(f"{_RUN}*"):
        with suppress(OSError):
            if not folder.is_symlink() and not _is_held(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    """Whether a process works there. Without a lock it is being removed, or was never used."""
    try:
        with (folder / _LOCK).open("rb") as lock:
            return not take_lock(lock.fileno())
    except FileNotFoundError:
        return False


def _remove_empty_place(path: Path) -> None:
    """Remove the place with its marker, if no other work goes on there.

    Work that was dropped without its end is tidied up by the garbage collector, also while this
    very thread holds the place. It would wait for itself; whoever holds the place removes it later.
    """
    if getattr(_HERE, "holds", False):
        return
    with suppress(OSError), _held_place() as place:
        if place == path and os.listdir(path) == [_MARKER]:
            (path / _MARKER).unlink()
            path.rmdir()
