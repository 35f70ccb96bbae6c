"""A folder of Spark's and a text beside it, written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from shoal.engine.spark.files import (
    Files,
    check_no_pattern,
    digest_of,
    files_of,
    hidden_name_beside,
    is_at_or_below,
    uri_of,
)
from shoal.errors import AlreadyExists, InvalidSetting

__all__ = ["FolderOutput", "folder_output"]

_FORMATS = (".csv.gz", ".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class FolderOutput:
    """A table under way to its folder.

    Parameters
    ----------
    session
        Spark's, which writes it.
    files
        The file systems that the session reaches.
    uri
        What the folder will be called.
    sidecar
        What the text beside it will be called.
    folder
        A private folder for what is not whole yet.
    made
        Where to write the table, in that folder.
    """

    session: Any
    files: Files
    uri: str
    sidecar: str
    folder: str
    made: str

    def digest(self) -> str:
        """The checksum of what was written."""
        return digest_of(self.session, self.made)

    def finish(self, about: str) -> None:
        """Give the table and the text about it their names, the table's last."""
        self.files.write(f"{self.folder}/about.json", about)
        self.files.rename(f"{self.folder}/about.json", self.sidecar)
        self.files.rename(self.made, self.uri)


@contextmanager
def folder_output(frame: Any, path: str, sidecar: str, overwrite: bool) -> Iterator[FolderOutput]:
    """A place for a table made of a frame; what is not finished leaves nothing behind.

    Parameters
    ----------
    frame
        What the table is made of: it is not written over.
    path
        Ends in .csv, .csv.gz or .parquet; anywhere the frame's session can write.
    sidecar
        Added to the path, the name of the text beside it.
    overwrite
        Whether what is there may be replaced.
    """
    session, uri = frame.sparkSession, uri_of(path)
    check_no_pattern(uri)
    if any(is_at_or_below(file, uri) for file in frame.inputFiles()):
        raise InvalidSetting(
            "The reports would overwrite the table.", "Write them to another path."
        )
    files = files_of(session)
    taken = [place for place in (uri, f"{uri}{sidecar}") if files.exists(place)]
    if taken and not overwrite:
        raise AlreadyExists(f"{taken[0]} exists already.", "Choose another name, or overwrite it.")
    folder = hidden_name_beside(uri)
    ending = next(kind for kind in _FORMATS if uri.endswith(kind))
    try:
        files.make_private(folder)
        made = f"{folder}/reports{ending}"
        yield FolderOutput(session, files, uri, f"{uri}{sidecar}", folder, made)
    finally:
        files.delete(folder)
