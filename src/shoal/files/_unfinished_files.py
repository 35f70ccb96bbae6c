"""The record of a set of files under way: what a killed process left, and how far it had come.

It lies beside the set's main file as ``.<name>.shoal``, for its owner alone, and is locked while a
process writes the set. A record that nobody holds was left by a process that is gone. See
docs/decisions/crash-safety.md.
"""

import json
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.files._locks import is_still, take_lock

_MAGIC = b"shoal files 1\n"
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)

Identity = tuple[int, int, int]
"""Device, number and time of the last change of a file, which it keeps when it is renamed."""


class Busy(Exception):
    """A living process writes the set."""


@dataclass(frozen=True)
class Finished:
    """A set that got its names for a run which did not come to its end."""

    run: str
    files: dict[str, Identity]


@dataclass
class Stage:
    """How far a process had come.

    Parameters
    ----------
    planned
        What the new ones are, by the names they were about to get; None before that.
    run
        The run it works for, if that can be resumed.
    """

    token: str
    members: list[str] = field(default_factory=list)
    planned: dict[str, Identity] | None = None
    run: str | None = None
    finished: Finished | None = None


class Record:
    """An open record.

    Parameters
    ----------
    handle
        The open and locked file; None where none can be kept, so that nothing is swept either.

    Attributes
    ----------
    earlier
        How far the process that left it had come; None if there was none.
    key
        32 random bytes that last as long as the record, over all attempts to write the set.
    """

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path = path
        self._handle = handle
        self.earlier, key = _parse(b"" if handle is None else _content(handle))
        self.key = key or secrets.token_bytes(32)

    def begin(self, token: str, finished: Finished | None) -> None:
        """Note that a new attempt begins; what came before it is settled."""
        done = None if finished is None else {"run": finished.run, "files": finished.files}
        self._add({"begin": token, "key": self.key.hex(), "finished": done})

    def add_member(self, path: Path) -> None:
        """Note a file or folder of the set, before anything is made for it."""
        self._add({"member": str(path)})

    def plan(self, files: dict[str, Identity], run: str | None) -> None:
        """Note that everything is written and gets its names from here on."""
        self._add({"plan": files, "run": run})

    def remove(self) -> None:
        """Take it away, while it is held."""
        if self._handle is not None:
            self.path.unlink(missing_ok=True)

    def _add(self, line: dict[str, Any]) -> None:
        if self._handle is None:
            return
        start = b"" if os.fstat(self._handle).st_size else _MAGIC
        # A line break first: the last line of a killed process may have none.
        os.lseek(self._handle, 0, os.SEEK_END)
        os.write(self._handle, start + b"\n" + json.dumps(line).encode() + b"\n")
        os.fsync(self._handle)


@contextmanager
def record_of(main: Path) -> Iterator[Record]:
    """The record of a set, which no other process has while the block lasts.

    Raises
    ------
    Busy
        If another process has it.
    """
    path = main.with_name(f".{main.name}.shoal")
    handle = _held(path)
    try:
        yield Record(path, handle)
    finally:
        if handle is not None:
            os.close(handle)


def _held(path: Path) -> int | None:
    """The record, open and locked; None where it cannot be ours, or nothing can be locked."""
    if sys.platform == "win32" or path.is_symlink():
        return None
    while True:
        handle = os.open(path, _FLAGS, 0o600)
        try:
            locked = take_lock(handle)
        except OSError:  # a file system without locks
            os.close(handle)
            return None
        if locked and is_still(handle, path):
            if _is_ours(handle):
                return handle
            os.close(handle)
            return None
        os.close(handle)
        if not locked:
            raise Busy


def _is_ours(handle: int) -> bool:
    """Whether nobody but this user can have written it, and shoal did."""
    status = os.fstat(handle)
    private = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077
    start = os.pread(handle, len(_MAGIC), 0)
    return private and status.st_uid == os.geteuid() and _MAGIC.startswith(start)


def _content(handle: int) -> bytes:
    return os.pread(handle, os.fstat(handle).st_size, 0)


def _parse(content: bytes) -> tuple[Stage | None, bytes | None]:
    """How far the last attempt had come, and the record's key; half a line is no line."""
    stage, key = None, None
    for line in content.removeprefix(_MAGIC).splitlines():
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if "begin" in note:
            key = key or bytes.fromhex(note["key"])
            stage = Stage(note["begin"], finished=_finished(note["finished"]))
        elif stage is not None and "member" in note:
            stage.members.append(note["member"])
        elif stage is not None and "plan" in note:
            stage.planned, stage.run = _identities(note["plan"]), note["run"]
    return stage, key


def _finished(note: dict[str, Any] | None) -> Finished | None:
    return None if note is None else Finished(note["run"], _identities(note["files"]))


def _identities(files: dict[str, list[int]]) -> dict[str, Identity]:
    return {path: (device, number, time) for path, (device, number, time) in files.items()}
