"""Write a folder with Spark and a text beside it, whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from shoal.engine.spark._files import (
    Files,
    check_no_pattern,
    digest_of,
    files_of,
    hidden_name_beside,
    is_at_or_below,
    uri_of,
)
from shoal.errors import AlreadyExists, InvalidSetting

_FORMATS = (".csv.gz", ".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class FolderOutput:
    """A table being written by Spark to a folder."""

    session: Any
    files: Files
    uri: str
    sidecar: str
    folder: str
    made: str

    def digest(self) -> str:
        """Return the checksum of what was written."""
        return digest_of(self.session, self.made)

    def finish(self, about: str) -> None:
        """Give the text and then the table their final names."""
        self.files.write(f"{self.folder}/about.json", about)
        # The table last: whoever sees it finds the text about it too.
        self.files.rename(f"{self.folder}/about.json", self.sidecar)
        self.files.rename(self.made, self.uri)


@contextmanager
def folder_output(frame: Any, path: str, sidecar: str, overwrite: bool) -> Iterator[FolderOutput]:
    """Yield a place for a table made from a frame; if not finished, nothing is left behind.

    Parameters
    ----------
    frame
        What the table is made from: it is never overwritten.
    path
        Ends in .csv, .csv.gz or .parquet; anywhere the frame's session can write.
    """
    session, uri = frame.sparkSession, uri_of(path)
    check_no_pattern(uri)
    # Spark reads lazily: writing over the input would destroy rows not read yet.
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
