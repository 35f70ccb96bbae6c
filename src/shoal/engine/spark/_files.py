"""Files on the paths that Spark writes to: any Hadoop path, or what a Connect client can reach."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol
from urllib.parse import unquote

from pyarrow import ArrowException, fs

from shoal.engine.spark._failures import translate_errors
from shoal.errors import CannotWrite


class Files(Protocol):
    """The file operations that a release needs; paths are URIs."""

    def exists(self, uri: str) -> bool:
        """Whether there is a file or folder."""

    def make_private(self, uri: str) -> None:
        """Make a folder that its owner alone can enter."""

    def write(self, uri: str, text: str, private: bool = False) -> None:
        """Write a text file; ``private`` makes it readable by its owner alone."""

    def rename(self, old: str, new: str) -> None:
        """Rename a file or folder, replacing what has the new name.

        Parameters
        ----------
        new
            The new name; what has it is deleted first.
        """

    def delete(self, uri: str) -> None:
        """Delete a file or folder, if it is there."""

    def upload(self, folder: Path, uri: str) -> None:
        """Copy a local folder to a place where nothing is."""

    def download(self, uri: str, folder: Path) -> None:
        """Copy a folder to a local place where nothing is."""


def uri_of(path: str) -> str:
    """Return a path as the URI Spark takes; one without a scheme is on this machine.

    Parameters
    ----------
    path
        A path or URI.

    Examples
    --------
    >>> uri_of("hdfs://names/visits.parquet"), uri_of("/data/visits.csv")
    ('hdfs://names/visits.parquet', 'file:///data/visits.csv')
    """
    return path if "://" in path or path.startswith("file:") else f"file://{os.path.abspath(path)}"


def is_at_or_below(file: str, uri: str) -> bool:
    """Whether a file that Spark reads is at this place or below it.

    In doubt it is: a cluster's name may be left out, its port too, and a folder of this machine
    may have several names.

    Parameters
    ----------
    file
        The file as Spark names it, with letters such as blanks encoded.
    uri
        The place as it was given.

    Examples
    --------
    >>> is_at_or_below("hdfs://names:8020/my%20rows/part-0", "hdfs:///my rows")
    True
    """
    return any(_within(_parts(name), _parts(uri)) for name in (file, unquote(file)))


def check_no_pattern(uri: str) -> None:
    """Refuse to write to a path that Spark would read as a pattern.

    Parameters
    ----------
    uri
        The path.

    Examples
    --------
    >>> check_no_pattern("hdfs:///data/released.parquet")
    """
    if any(mark in uri for mark in "*?[]{}\\"):
        raise CannotWrite(
            "The path to write to holds one of * ? [ ] { } \\, which Spark reads as a pattern.",
            "Choose another name.",
        )


def hidden_name_beside(uri: str) -> str:
    """Return an unused hidden name in the same folder.

    Parameters
    ----------
    uri
        A path in that folder.
    """
    folder, slash, _ = uri.rstrip("/").rpartition("/")
    return f"{folder}{slash}.shoal-{token_hex(8)}"


def digest_of(session: Any, uri: str) -> str:
    """Return a checksum of a folder: a hash of its files' sorted hashes.

    Parameters
    ----------
    session
        The session that reads them.
    uri
        The folder.
    """
    files = session.read.format("binaryFile").load(uri)
    with translate_errors("hashing what was written"):
        # Hashed where the files are: their content does not come to the driver.
        hashes = files.selectExpr("sha2(content, 256) AS hash").toArrow()["hash"].to_pylist()
    # Sorted: Spark lists files in no fixed order.
    return hashlib.sha256("".join(f"{one}\n" for one in sorted(hashes)).encode()).hexdigest()


def files_of(session: Any) -> Files:
    """Return the files a session reaches: through its JVM, or with Spark Connect through Arrow.

    Parameters
    ----------
    session
        The session.
    """
    far: Files = _HadoopFiles(session) if hasattr(session, "_jsc") else _ArrowFiles()
    return _LocalOrRemoteFiles(far)


class _LocalOrRemoteFiles:
    """Handles local files with Arrow, without Hadoop's checksum files, and others as given."""

    def __init__(self, far: Files) -> None:
        self._local, self._remote = _ArrowFiles(), far

    def exists(self, uri: str) -> bool:
        return self._of(uri).exists(uri)

    def make_private(self, uri: str) -> None:
        self._of(uri).make_private(uri)

    def write(self, uri: str, text: str, private: bool = False) -> None:
        self._of(uri).write(uri, text, private)

    def rename(self, old: str, new: str) -> None:
        self._of(new).rename(old, new)

    def delete(self, uri: str) -> None:
        self._of(uri).delete(uri)

    def upload(self, folder: Path, uri: str) -> None:
        self._of(uri).upload(folder, uri)

    def download(self, uri: str, folder: Path) -> None:
        self._of(uri).download(uri, folder)

    def _of(self, uri: str) -> Files:
        return self._local if uri.startswith("file:") else self._remote


class _HadoopFiles:
    """Handles files through the Hadoop classes of the session's JVM."""

    def __init__(self, session: Any) -> None:
        self._conf = session._jsc.hadoopConfiguration()
        self._java = session._jvm.org.apache.hadoop.fs

    def exists(self, uri: str) -> bool:
        with translate_errors("looking for files"):
            system, path = self._at(uri)
            return bool(system.exists(path))

    def make_private(self, uri: str) -> None:
        with translate_errors("making a folder"):
            system, path = self._at(uri)
            system.mkdirs(path)
            system.setPermission(path, self._java.permission.FsPermission("700"))

    def write(self, uri: str, text: str, private: bool = False) -> None:
        with translate_errors("writing a file"):
            system, path = self._at(uri)
            stream = system.create(path, True)
            try:
                if private:
                    system.setPermission(path, self._java.permission.FsPermission("600"))
                stream.write(bytearray(text, "utf-8"))
            finally:
                stream.close()

    def rename(self, old: str, new: str) -> None:
        with translate_errors("renaming files"):
            self.delete(new)
            system, path = self._at(new)
            system.mkdirs(path.getParent())
            if not system.rename(self._at(old)[1], path):
                raise CannotWrite(
                    "A file could not be renamed to its final name.",
                    "Check that you may write there.",
                )

    def delete(self, uri: str) -> None:
        with translate_errors("removing files"):
            system, path = self._at(uri)
            system.delete(path, True)

    def upload(self, folder: Path, uri: str) -> None:
        with translate_errors("copying files"):
            system, path = self._at(uri)
            system.copyFromLocalFile(False, True, self._java.Path(uri_of(str(folder))), path)

    def download(self, uri: str, folder: Path) -> None:
        with translate_errors("copying files"):
            system, path = self._at(uri)
            system.copyToLocalFile(False, path, self._java.Path(uri_of(str(folder))), True)

    def _at(self, uri: str) -> tuple[Any, Any]:
        path = self._java.Path(uri)
        return path.getFileSystem(self._conf), path


class _ArrowFiles:
    """Handles files that Arrow reaches from here: local ones, and all of Spark Connect's."""

    def exists(self, uri: str) -> bool:
        system, path = _arrow_filesystem(uri)
        return bool(system.get_file_info(path).type != fs.FileType.NotFound)

    def make_private(self, uri: str) -> None:
        system, path = _arrow_filesystem(uri)
        system.create_dir(path, recursive=True)
        if isinstance(system, fs.LocalFileSystem):
            os.chmod(path, 0o700)

    def write(self, uri: str, text: str, private: bool = False) -> None:
        system, path = _arrow_filesystem(uri)
        if private and not isinstance(system, fs.LocalFileSystem):
            raise CannotWrite(
                "A page for the holder of the rows only can be kept private on a local path only.",
                "Name a local path for the report.",
            )
        with system.open_output_stream(path) as stream:
            if private:
                os.chmod(path, 0o600)
            stream.write(text.encode())

    def rename(self, old: str, new: str) -> None:
        self.delete(new)
        system, path = _arrow_filesystem(new)
        system.move(_arrow_filesystem(old)[1], path)

    def delete(self, uri: str) -> None:
        system, path = _arrow_filesystem(uri)
        kind = system.get_file_info(path).type
        if kind == fs.FileType.Directory:
            system.delete_dir(path)
        elif kind == fs.FileType.File:
            system.delete_file(path)

    def upload(self, folder: Path, uri: str) -> None:
        system, path = _arrow_filesystem(uri)
        system.create_dir(path, recursive=True)
        fs.copy_files(str(folder), path, fs.LocalFileSystem(), system)

    def download(self, uri: str, folder: Path) -> None:
        system, path = _arrow_filesystem(uri)
        folder.mkdir()
        fs.copy_files(path, str(folder), system, fs.LocalFileSystem())


def _parts(uri: str) -> tuple[str, str, str]:
    """Return scheme, host without its port, and path."""
    scheme, _, rest = uri.partition(":")
    host, _, path = rest.removeprefix("//").partition("/") if rest[:2] == "//" else ("", "", rest)
    return scheme, host.partition(":")[0], os.path.normpath(f"/{path.lstrip('/')}")


def _within(inner: tuple[str, str, str], outer: tuple[str, str, str]) -> bool:
    """Whether one place is another or lies below it."""
    (kind, host, path), (its_kind, its_host, its_path) = inner, outer
    if kind != its_kind or (host != its_host and host and its_host):
        return False
    real: Callable[[str], str] = os.path.realpath if kind == "file" else str
    return f"{real(path)}/".startswith(f"{real(its_path).rstrip('/')}/")


def _arrow_filesystem(uri: str) -> tuple[Any, str]:
    if uri.startswith("file:"):  # as it stands: in a name of Hadoop's nothing is encoded
        return fs.LocalFileSystem(), _parts(uri)[2]
    try:
        system, path = fs.FileSystem.from_uri(uri)
    except (ArrowException, OSError):
        scheme = uri.split(":", 1)[0]
        raise CannotWrite(
            f"This Spark Connect client cannot reach a {scheme} path itself.",
            "Use a path that Arrow reaches from here (file; s3, gs or hdfs with their "
            "libraries), or run inside the cluster's own session.",
        ) from None
    return system, path
