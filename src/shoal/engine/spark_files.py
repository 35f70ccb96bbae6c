"""Files where Spark writes them: on any Hadoop path, or where a Connect client can reach."""

import os
from typing import Any, Protocol

from pyarrow import ArrowException, fs

from shoal.engine.spark_failures import guarded
from shoal.errors import CannotWrite

__all__ = ["Files", "files_of"]


class Files(Protocol):
    """What a release asks of a file system; paths are URIs."""

    def exists(self, uri: str) -> bool:
        """Whether there is something."""

    def make_private(self, uri: str) -> None:
        """Make a folder that its owner alone can enter."""

    def write(self, uri: str, text: str, private: bool = False) -> None:
        """Write a file of text; ``private``: for its owner alone."""

    def rename(self, old: str, new: str) -> None:
        """Give a file or folder its name; what had it goes first."""

    def delete(self, uri: str) -> None:
        """Remove a file or folder, if it is there."""


def files_of(session: Any) -> Files:
    """The files of a session: through its JVM, or with Spark Connect through Arrow."""
    far: Files = _Hadoop(session) if hasattr(session, "_jsc") else _Arrow()
    return _LocalOr(far)


class _LocalOr:
    """Local files as this machine writes them, Hadoop's checksums left out; others as they are."""

    def __init__(self, far: Files) -> None:
        self._near, self._far = _Arrow(), far

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

    def _of(self, uri: str) -> Files:
        return self._near if uri.startswith("file:") else self._far


class _Hadoop:
    def __init__(self, session: Any) -> None:
        self._conf = session._jsc.hadoopConfiguration()
        self._java = session._jvm.org.apache.hadoop.fs

    def exists(self, uri: str) -> bool:
        with guarded("looking for files"):
            system, path = self._at(uri)
            return bool(system.exists(path))

    def make_private(self, uri: str) -> None:
        with guarded("making a folder"):
            system, path = self._at(uri)
            system.mkdirs(path)
            system.setPermission(path, self._java.permission.FsPermission("700"))

    def write(self, uri: str, text: str, private: bool = False) -> None:
        with guarded("writing a file"):
            system, path = self._at(uri)
            stream = system.create(path, True)
            try:
                if private:
                    system.setPermission(path, self._java.permission.FsPermission("600"))
                stream.write(bytearray(text, "utf-8"))
            finally:
                stream.close()

    def rename(self, old: str, new: str) -> None:
        with guarded("renaming files"):
            self.delete(new)
            system, path = self._at(new)
            system.mkdirs(path.getParent())
            if not system.rename(self._at(old)[1], path):
                raise CannotWrite("A file could not get its name.", "Check who may write there.")

    def delete(self, uri: str) -> None:
        with guarded("removing files"):
            system, path = self._at(uri)
            system.delete(path, True)

    def _at(self, uri: str) -> tuple[Any, Any]:
        path = self._java.Path(uri)
        return path.getFileSystem(self._conf), path


class _Arrow:
    """What Arrow can reach from here: local files, and all there is for Connect."""

    def exists(self, uri: str) -> bool:
        system, path = _reached(uri)
        return bool(system.get_file_info(path).type != fs.FileType.NotFound)

    def make_private(self, uri: str) -> None:
        system, path = _reached(uri)
        system.create_dir(path, recursive=True)
        if isinstance(system, fs.LocalFileSystem):
            os.chmod(path, 0o700)

    def write(self, uri: str, text: str, private: bool = False) -> None:
        system, path = _reached(uri)
        if private and not isinstance(system, fs.LocalFileSystem):
            raise CannotWrite(
                "A page for its holder alone came, to a place where that cannot be promised.",
                "Name a local path for the report.",
            )
        with system.open_output_stream(path) as stream:
            if private:
                os.chmod(path, 0o600)
            stream.write(text.encode())

    def rename(self, old: str, new: str) -> None:
        self.delete(new)
        system, path = _reached(new)
        system.move(_reached(old)[1], path)

    def delete(self, uri: str) -> None:
        system, path = _reached(uri)
        kind = system.get_file_info(path).type
        if kind == fs.FileType.Directory:
            system.delete_dir(path)
        elif kind == fs.FileType.File:
            system.delete_file(path)


def _reached(uri: str) -> tuple[Any, str]:
    try:
        system, path = fs.FileSystem.from_uri(uri)
    except (ArrowException, OSError):
        scheme = uri.split(":", 1)[0]
        raise CannotWrite(
            f"A {scheme} path came, which this client of Spark Connect cannot reach itself.",
            "Name one it can (file, s3, gs, hdfs), or run where the cluster's own session is.",
        ) from None
    return system, path
