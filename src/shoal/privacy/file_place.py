"""Where a file shared through SQLite may lie: under one name, on a disk of this machine.

SQLite keeps the locks and the log of a file beside its *name*. Under a second name of the same file
it finds neither, and two processes write as if each were alone. A symbolic link is no second name:
it is followed first. See ``docs/decisions/ledger-storage.md``.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import ShoalError

__all__ = [
    "NEW",
    "Place",
    "Refusal",
    "check_folder",
    "check_place",
    "check_unmoved",
    "file_system",
    "place_of",
]

Refusal = Callable[[str, str], ShoalError]
"""Makes the error from what came and the next step."""

NEW = ".new"  # how the name ends under which a file is made: ``.table.ledger.k2x9_3ab.new``

_SHARED_DISKS = (
    "nfs nfs3 nfs4 cifs smb2 smb3 smbfs smbnetfs ncpfs afs coda 9p v9fs virtiofs ceph ceph-fuse "
    "glusterfs lustre gpfs beegfs gfs gfs2 ocfs2 orangefs pvfs2 panfs acfs davfs davfs2 sshfs s3fs "
    "mount-s3 gcsfuse goofys rclone blobfuse blobfuse2 juicefs mfs moosefs seaweedfs curlftpfs "
    "vboxsf vmhgfs vmhgfs-fuse prl_fs drvfs grpcfuse osxfs"
)
SHARED_DISKS = frozenset(_SHARED_DISKS.split())
"""File systems that other machines, or the host of this one, write to as well."""

_POINTS: int = getattr(os, "O_PATH", 0)  # only Linux has it, and tells mounts


@dataclass(frozen=True)
class Place:
    """Which file is at a path, under how many names; its mount and its folder's, if told."""

    device: int
    inode: int
    links: int
    mount: int | None
    folder_mount: int | None


def check_place(path: Path, refusal: Refusal) -> Place:
    """Where the file lies; refused under a second name and on a disk of several machines.

    Parameters
    ----------
    path
        Without symbolic links. What is no file is left for SQLite to refuse.
    refusal
        The error to raise.
    """
    place = place_of(path)
    if place.links > 1:
        _finish_creation(path, place)
        place = place_of(path)
    if place.links > 1:
        raise refusal(
            f"'{path.name}' has {place.links} names (hard links). What is written under one is not "
            "seen under the other.",
            "Keep the name it was used under, with the files beside it that begin the same, and "
            "remove the other: find / -samefile FILE lists them.",
        )
    if place.mount != place.folder_mount:
        raise refusal(
            f"'{path.name}' is a mount point itself, so it has another name elsewhere. What is "
            "written under one is not seen under the other.",
            "Mount the folder it lies in, e.g. docker run -v /srv/ledgers:/data.",
        )
    _check_disk(path, place.mount, refusal)
    return place


def check_unmoved(path: Path, place: Place, refusal: Refusal) -> None:
    """Refuse a file that was moved, linked or mounted over since it was looked at."""
    if place_of(path) != place:
        raise refusal(
            f"'{path.name}' was linked, replaced or mounted over in the middle of a write.",
            "Let it lie under one name, and try again.",
        )


def check_folder(folder: Path, name: str, refusal: Refusal) -> None:
    """Refuse a disk of several machines before a file is made there."""
    if not _POINTS:
        return
    with _handle(folder, os.O_DIRECTORY) as handle:
        _check_disk(folder / name, _mount_of(handle), refusal)


def place_of(path: Path) -> Place:
    """Look at what lies at a path now.

    Examples
    --------
    >>> place_of(Path(__file__)).links
    1
    """
    if not _POINTS:
        return _place(os.lstat(path), None, None)
    with (
        _handle(path.parent, os.O_DIRECTORY) as folder,
        _handle(path.name, os.O_NOFOLLOW, within=folder) as file,
    ):
        return _place(os.fstat(file), _mount_of(file), _mount_of(folder))


def _place(status: os.stat_result, mount: int | None, folder_mount: int | None) -> Place:
    links = status.st_nlink if stat.S_ISREG(status.st_mode) else 1
    return Place(status.st_dev, status.st_ino, links, mount, folder_mount)


@contextmanager
def _handle(path: str | Path, flags: int, within: int | None = None) -> Iterator[int]:
    """A descriptor that only points: closing one that can read would drop SQLite's locks."""
    handle = os.open(path, flags | _POINTS, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


def _mount_of(handle: int) -> int | None:
    """The number of the mount it was reached through; None where the system does not say."""
    try:
        lines = Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines()
    except FileNotFoundError:  # another error must not pass for a file that was moved
        return None
    mounts = (line for line in lines if line.startswith("mnt_id:"))
    return next((int(line.removeprefix("mnt_id:")) for line in mounts), None)


def _check_disk(path: Path, mount: int | None, refusal: Refusal) -> None:
    kind = file_system(mount)
    if kind is not None and kind.removeprefix("fuse.") in SHARED_DISKS:
        raise refusal(
            f"'{path.name}' lies on a disk that other machines may write to ({kind}), where locks "
            "cannot be relied on.",
            "Keep it on a disk of the machine that releases, or in a container on a volume.",
        )


def file_system(mount: int | None, mounts: bytes | None = None) -> str | None:
    """The kind of a mount's file system, e.g. "ext4"; None where the system does not say.

    Parameters
    ----------
    mount
        Its number.
    mounts
        A line a mount, in the form of ``/proc/self/mountinfo``, which is read if none came.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_bytes()
        except OSError:
            return None
    for line in mounts.splitlines():
        number, *fields = line.split()
        if mount is not None and number == b"%d" % mount:
            return fields[fields.index(b"-") + 1].decode("ascii", "replace")
    return None


def _finish_creation(path: Path, place: Place) -> None:
    """Remove the name under which the file was made, if its maker has not come to that yet.

    A file gets its own name when it is whole and nobody has it open; all that is then left is to
    remove the first one, which a process that was killed never does.
    """
    for other in path.parent.glob(f".{_literal(path.name)}.*{NEW}"):
        with suppress(OSError):
            status, log = other.lstat(), Path(f"{other}-wal")
            same = (status.st_dev, status.st_ino) == (place.device, place.inode)
            if same and not log.exists():  # with a log, somebody used it as a name
                other.unlink()


def _literal(name: str) -> str:
    """The name as a pattern that stands for itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
