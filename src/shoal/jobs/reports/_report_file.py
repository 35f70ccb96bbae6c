"""Write reports to a file of this machine or a folder of a cluster, completely or not at all."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import CannotWrite, InvalidSetting
from shoal.files import named_failure, write_error

if TYPE_CHECKING:
    from shoal.engine.table import OutputPlace
    from shoal.files import FileSet
    from shoal.perturb.report_draft import Draft


_SIDECAR = ".json"
FORMATS = (".csv", ".csv.gz", ".parquet")


def sidecar_of(output: str) -> str:
    """Return the path of the file that says what made the reports."""
    return f"{output}{_SIDECAR}"


def check_format(output: str) -> None:
    """Refuse a file name without a known format."""
    if not output.endswith(FORMATS):
        raise CannotWrite(
            f"{output.rsplit('/', 1)[-1]} does not end like a format that can be written.",
            f"Use a name that ends in {' or '.join(FORMATS)}.",
        )


def output_place(
    output: str, source: Any, overwrite: bool, files: "tuple[FileSet, Draft] | None"
) -> "AbstractContextManager[OutputPlace]":
    """Return the place for the reports of a table: on its cluster for a frame, else here.

    Parameters
    ----------
    files
        On this machine: the files that get their names together, and where reports are kept until
        they are whole.
    """
    if files is not None:
        return _local_place(Path(output), *files)
    from shoal.engine import frame_table

    return frame_table(source).output(output, _SIDECAR, overwrite)


def check_apart(output: str, source: str) -> None:
    """Refuse an output that would overwrite the table."""
    if Path(output).exists() and Path(source).exists() and Path(output).samefile(source):
        raise InvalidSetting(
            "The reports would overwrite the table.",
            "Write them to another path.",
            setting="output",
        )


@contextmanager
def _local_place(output: Path, files: "FileSet", draft: "Draft") -> "Iterator[OutputPlace]":
    """Yield a file for the reports, with a sidecar that gets its name first."""
    part, about = files.file(output), files.file(sidecar_of(str(output)))
    with named_failure(output), _output_named_in_errors(output, draft):
        yield _LocalPlace(output.name, draft, part, about)
    files.publish()


@dataclass(frozen=True)
class _LocalPlace:
    """A file of this machine that gets its name once it is complete."""

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


@contextmanager
def _output_named_in_errors(output: Path, draft: "Draft") -> Iterator[None]:
    """Name the output in errors, not the temporary file."""
    try:
        yield
    except CannotWrite as error:
        made = draft.folder / "output" / output.name
        if error.facts.get("path") != os.path.abspath(made):
            raise
        raise write_error(output, str(error.facts["cause"])) from None
