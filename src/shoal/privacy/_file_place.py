"""Check where a file shared through SQLite lies: under one name, on a disk of this machine.

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

Refusal = Callable[[str, str], ShoalError]
"""Makes the error from what came and the next step."""

TEMPORARY_SUFFIX = (
    ".new"  # how the name ends under which a file is made: ``.table.ledger.k2x9_3ab.new``
)

_SHARED_DISKS = (
    "nfs nfs3 nfs4 cifs smb2 smb3 smbfs smbnetfs ncpfs afs coda 9p v9fs virtiofs ceph ceph-fuse "
    "glusterfs lustre gpfs beegfs gfs gfs2 ocfs2 orangefs pvfs2 panfs acfs davfs davfs2 sshfs s3fs "
    "mount-s3 gcsfuse goofys rclone blobfuse blobfuse2 juicefs mfs moosefs seaweedfs curlftpfs "
    "vboxsf vmhgfs vmhgfs-fuse prl_fs drvfs grpcfuse osxfs"
)
SHARED_DISKS = frozenset(_SHARED_DISKS.split())
"""File systems that other machines, or the host of this one, write to as well."""

_PATH_ONLY: int = getattr(os, "O_PATH", 0)  # only Linux has it, and tells mounts


@dataclass(frozen=True)
class Place:
    """The identity of a file at a path: inode, number of hard links, and mounts if known.

    Parameters
    ----------
    links
        How many names (hard links) it has.
    mount
        The number of the mount it was reached through; None where the system does not say.
    """

    device: int
    inode: int
    links: int
    mount: int | None
    folder_mount: int | None


def check_place(path: Path, refusal: Refusal) -> Place:
    """Return where the file lies; refuse a second hard link and a disk shared by several machines.

    Parameters
    ----------
    path
        The file, symbolic links resolved. What is no regular file is left for SQLite to refuse.
    """
    place = place_of(path)
    # The creator of a new file may not have removed its temporary name yet.
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
    """Refuse a file that was moved, linked or mounted over since ``check_place``.

    Parameters
    ----------
    place
        What ``check_place`` returned.
    """
    if place_of(path) != place:
        raise refusal(
            f"'{path.name}' was linked, replaced or mounted over in the middle of a write.",
            "Let it lie under one name, and try again.",
        )


def check_folder(folder: Path, name: str, refusal: Refusal) -> None:
    """Refuse a folder on a disk shared by several machines, before a file is made in it."""
    if not _PATH_ONLY:
        return
    with _path_descriptor(folder, os.O_DIRECTORY) as handle:
        _check_disk(folder / name, _mount_of(handle), refusal)


def place_of(path: Path) -> Place:
    """Look up the identity of the file that is at a path now.

    Examples
    --------
    >>> place_of(Path(__file__)).links
    1
    """
    if not _PATH_ONLY:
        return _place(os.lstat(path), None, None)
    with (
        _path_descriptor(path.parent, os.O_DIRECTORY) as folder,
        _path_descriptor(path.name, os.O_NOFOLLOW, within=folder) as file,
    ):
        return _place(os.fstat(file), _mount_of(file), _mount_of(folder))


def _place(status: os.stat_result, mount: int | None, folder_mount: int | None) -> Place:
    links = status.st_nlink if stat.S_ISREG(status.st_mode) else 1
    return Place(status.st_dev, status.st_ino, links, mount, folder_mount)


@contextmanager
def _path_descriptor(path: str | Path, flags: int, within: int | None = None) -> Iterator[int]:
    """Open a descriptor without read access: closing a readable one would drop SQLite's locks."""
    handle = os.open(path, flags | _PATH_ONLY, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


def _mount_of(handle: int) -> int | None:
    """Return the number of a descriptor's mount; None where the system does not say."""
    try:
        lines = Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines()
    except FileNotFoundError:  # another error must not pass for a file that was moved
        return None
    mounts = (line for line in lines if line.startswith("mnt_id:"))
    return next((int(line.removeprefix("mnt_id:")) for line in mounts), None)


def _check_disk(path: Path, mount: int | None, refusal: Refusal) -> None:
    # File systems of FUSE are listed under their own names.
    kind = file_system(mount)
    if kind is not None and kind.removeprefix("fuse.") in SHARED_DISKS:
        raise refusal(
            f"'{path.name}' lies on a disk that other machines may write to ({kind}), where locks "
            "cannot be relied on.",
            "Keep it on a disk of the machine that releases, or in a container on a volume.",
        )


def file_system(mount: int | None, mounts: bytes | None = None) -> str | None:
    """Return the type of a mount's file system, such as "ext4"; None where it is unknown.

    Parameters
    ----------
    mounts
        The mount table in the form of ``/proc/self/mountinfo``, which is read if this is None.
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
    """Remove the temporary name of a file whose creator was stopped before doing so.

    A file gets its own name when it is whole and nobody has it open; all that is then left is to
    remove the first one, which a process that was killed never does.
    """
    for other in path.parent.glob(f".{_escape_pattern(path.name)}.*{TEMPORARY_SUFFIX}"):
        with suppress(OSError):
            status, log = other.lstat(), Path(f"{other}-wal")
            same = (status.st_dev, status.st_ino) == (place.device, place.inode)
            if same and not log.exists():  # with a log, somebody used it as a name
                other.unlink()


def _escape_pattern(name: str) -> str:
    """Escape a name so that it matches only itself as a glob pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
