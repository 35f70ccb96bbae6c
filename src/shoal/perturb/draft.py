"""Reports under way, kept on disk block by block until their file is whole.

A second report of a row whose first one lies on a disk is twice the promise. So a run that was
killed goes on from the blocks it had drawn, and whatever else it left is removed before anything
is drawn again.
"""

import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import CannotWrite
from shoal.files import file_lock, whole_file

__all__ = ["Draft", "draft_of"]

Columns = Sequence[NDArray[Any]]
_RUN = "run.json"
_BLOCKS = "block-*.arrow"


@dataclass(frozen=True)
class Draft:
    """The blocks one run has drawn so far, in a folder that only its owner can read.

    Parameters
    ----------
    folder
        Beside the output, so that it is on the same disk.
    work
        A digest of what decides the reports.
    run
        The run's name.
    selection_key
        Picks the row by which a person of several rows is reported: the same one after a crash.
    """

    folder: Path
    work: str
    run: str
    selection_key: str

    def begin(self) -> None:
        """Make the folder, unless an earlier process did; before anything is paid."""
        if self.folder.exists():
            return
        self.folder.mkdir(mode=0o700)
        about = {"work": self.work, "run": self.run, "selection_key": self.selection_key}
        with whole_file(self.folder / _RUN) as part:
            part.write_text(json.dumps(about))

    def block(self, number: int, rows: int, draw: Callable[[], Columns]) -> Columns:
        """The reports of a block: those drawn before, or new ones, on disk when this returns.

        Parameters
        ----------
        number
            The block's place in the table.
        rows
            How many rows it has.
        draw
            Draws its reports.
        """
        path = self.folder / f"block-{number:08d}.arrow"
        if path.exists():
            return self._drawn_before(path, rows)
        columns = draw()
        names = [str(place) for place in range(len(columns))]
        batch = pa.record_batch([np.ascontiguousarray(column) for column in columns], names=names)
        with whole_file(path) as part, pa.ipc.new_file(part, batch.schema) as writer:
            writer.write(batch)
        return columns

    def place_for(self, name: str) -> Path:
        """Where to write the whole output, under its own name, before it is moved there."""
        folder = self.folder / "output"
        folder.mkdir(exist_ok=True)
        return folder / name

    def remove(self) -> None:
        """Take it away: the output is whole."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _drawn_before(self, path: Path, rows: int) -> Columns:
        with pa.ipc.open_file(path) as reader:
            table = reader.read_all()
        if table.num_rows != rows:
            raise CannotWrite(
                f"The reports drawn before do not fit the table: {table.num_rows} in a block of "
                f"{rows} rows.",
                f"Remove {self.folder}, which holds them, and run again: it is a new release.",
            )
        return [column.to_numpy() for column in table.columns]


@contextmanager
def draft_of(output: Path, work: str) -> Iterator[Draft]:
    """The draft of an output: that of a run of the same work that was stopped, or a new one.

    What a run of other work left for this output is removed: whoever starts another run gives the
    older one up.

    Parameters
    ----------
    output
        The file to be written in the end.
    work
        A digest of what decides the reports: table, settings, versions.
    """
    folder = output.absolute().with_name(f".{output.name}.draft")
    with _named_failure(output), file_lock(folder.with_suffix(".lock")) as alone:
        if not alone:
            raise CannotWrite(
                f"Another run is writing {output}.", "Wait for it, or choose another name."
            )
        draft = _left_behind(folder, work)
        if draft is None:
            shutil.rmtree(folder, ignore_errors=True)
            draft = Draft(folder, work, secrets.token_hex(16), secrets.token_hex(16))
        yield draft


@contextmanager
def _named_failure(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(
            f"{output} cannot be written: {error.strerror or type(error).__name__}.",
            "Check that its folder exists, is yours to write to, and has room.",
        ) from None


def _left_behind(folder: Path, work: str) -> Draft | None:
    """What a run of the same work left, less what it had not finished writing."""
    try:
        left = json.loads((folder / _RUN).read_text())
        same = left["work"] == work
        draft = Draft(folder, work, str(left["run"]), bytes.fromhex(left["selection_key"]).hex())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not same:
        return None
    whole = {folder / _RUN, *folder.glob(_BLOCKS)}
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path not in whole:
            path.unlink()
    return draft
