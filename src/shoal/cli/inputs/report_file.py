"""Where reports go: a file of this machine, or a folder that Spark writes; whole or not at all."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting
from shoal.files import not_written

if TYPE_CHECKING:
    from shoal.perturb.draft import Draft

__all__ = ["Place", "check_format", "place_of", "sidecar_of"]

FORMATS = (".csv", ".csv.gz", ".parquet")


class Place(Protocol):
    """Reports under way."""

    @property
    def made(self) -> Any:
        """Where to write them; its name tells the format."""

    def digest(self) -> str:
        """The checksum of what was written."""

    def finish(self, about: str) -> None:
        """Give reports and the text about them their names."""


def sidecar_of(output: str) -> str:
    """The file that says what made the reports."""
    return f"{output}.json"


def check_format(output: str) -> None:
    """Refuse a name that tells no format."""
    if not output.endswith(FORMATS):
        raise CannotWrite(
            f"{output.rsplit('/', 1)[-1]} names no format this writes.",
            f"End it in {' or '.join(FORMATS)}.",
        )


def place_of(
    output: str, source: Any, overwrite: bool, draft: "Draft | None"
) -> AbstractContextManager[Place]:
    """A place for the reports of a table: on Spark for a frame of Spark's, else on this machine.

    Parameters
    ----------
    output
        What it will be called.
    source
        The table: the path of a file, or a frame.
    overwrite
        Whether what is there may be replaced.
    draft
        Where reports of a file are kept until they are whole.
    """
    if draft is not None:
        return _near(Path(output), source, overwrite, draft)
    return _far(output, source, overwrite)


@contextmanager
def _near(output: Path, source: str, overwrite: bool, draft: "Draft") -> Iterator[Place]:
    """A file, and another about it beside it."""
    from shoal.data import whole_file

    if output.exists() and Path(source).exists() and output.samefile(source):
        raise _replacing()
    with (
        whole_file(sidecar_of(str(output)), overwrite) as about,
        whole_file(output, overwrite) as part,
        _named_like(output, draft),
    ):
        yield _Near(output.name, draft, part, about)


@contextmanager
def _far(output: str, frame: Any, overwrite: bool) -> Iterator[Place]:
    """A folder at any path that Spark can reach, and a file about it beside it."""
    from shoal.engine.spark.files import beside, files_of, refuse_pattern, same_place, uri_of

    session, uri = frame.sparkSession, uri_of(output)
    refuse_pattern(uri)
    if any(same_place(file, uri) for file in frame.inputFiles()):
        raise _replacing()
    files = files_of(session)
    taken = [place for place in (uri, sidecar_of(uri)) if files.exists(place)]
    if taken and not overwrite:
        raise AlreadyExists(
            f"{taken[0]} exists already.", "Choose another name, or replace it with --overwrite."
        )
    folder = beside(uri)
    ending = next(kind for kind in (".csv.gz", ".csv", ".parquet") if uri.endswith(kind))
    try:
        files.make_private(folder)
        yield _Far(session, files, uri, folder, f"{folder}/reports{ending}")
    finally:
        files.delete(folder)


def _replacing() -> InvalidSetting:
    return InvalidSetting(
        "The reports would replace the table itself.",
        "Write them to another place.",
        setting="--output",
    )


@dataclass(frozen=True)
class _Near:
    name: str
    draft: "Draft"
    part: Path
    about: Path

    @property
    def made(self) -> Path:
        return self.draft.place_for(self.name)

    def digest(self) -> str:
        with self.made.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()

    def finish(self, about: str) -> None:
        self.about.write_text(about)
        os.replace(self.made, self.part)


@dataclass(frozen=True, eq=False)
class _Far:
    session: Any
    files: Any
    uri: str
    folder: str
    made: str

    def digest(self) -> str:
        from shoal.engine.spark.files import digest_of

        return digest_of(self.session, self.made)

    def finish(self, about: str) -> None:
        self.files.write(f"{self.folder}/about.json", about)
        self.files.rename(f"{self.folder}/about.json", sidecar_of(self.uri))
        self.files.rename(self.made, self.uri)


@contextmanager
def _named_like(output: Path, draft: "Draft") -> Iterator[None]:
    """Errors name the output itself, not where it is being written."""
    try:
        yield
    except CannotWrite as error:
        made = draft.folder / "output" / output.name
        if error.facts.get("path") != os.path.abspath(made):
            raise
        raise not_written(output, str(error.facts["cause"])) from None
