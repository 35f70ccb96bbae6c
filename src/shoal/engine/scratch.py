"""Temporary folders for rows on disk: readable by their owner alone, removed after use.

A process that is killed cannot tidy up, so the next one does: a folder whose lock nobody holds
was left by a process that is gone.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.files import take_lock

__all__ = ["private_file", "scratch"]

_PREFIX, _LOCK = "shoal-", "lock"


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new private folder, removed when the block ends.

    Examples
    --------
    >>> with scratch() as folder:
    ...     oct(folder.stat().st_mode & 0o777)
    '0o700'
    """
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = private_file(folder / "new").open("rb")
    try:
        with suppress(OSError):  # where nothing can be locked, nothing is swept either
            take_lock(lock.fileno())
        (folder / "new").rename(folder / _LOCK)  # by this name it has been locked ever since
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def private_file(path: Path) -> Path:
    """Create an empty file that only its owner can read, and return its path.

    Parameters
    ----------
    path
        The file.
    """
    path.touch(mode=0o600)
    return path


def _sweep(parent: Path) -> None:
    """Remove folders left by processes that died; keep any that may be in use."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("rb") as lock:
                if take_lock(lock.fileno()):
                    shutil.rmtree(folder, ignore_errors=True)
