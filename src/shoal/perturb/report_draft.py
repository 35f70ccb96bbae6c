"""Store drawn reports on disk block by block until their file is complete.

A second report of a row whose first one lies on a disk is twice the promise. So a run that was
killed goes on from the blocks it had drawn, and whatever else it left is removed before anything
is drawn again. It goes on with the same rows only: the draft holds a keyed digest of every block of
rows, taken before anything is paid.
"""

import glob
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.documents import parse_json
from shoal.engine import Block, Rows
from shoal.engine.local import LocalRows
from shoal.errors import CannotWrite, RunChanged
from shoal.files import file_lock, write_error

Columns = Sequence[NDArray[Any]]
_RUN_FILE = "run.json"
_BLOCK_FILES = "block-*.arrow"
_STORED = ("work", "run", "selection_key", "digest_key", "digests")


@dataclass(frozen=True)
class Draft:
    """The blocks one run has drawn so far, in a folder that only its owner can read.

    Parameters
    ----------
    output
        The file to be written in the end; the folder is beside it, on the same disk.
    selection_key
        The key that picks the reported row of a person with several: the same after a crash.
    digest_key
        The key of digests of rows. It is of no other use and goes with the draft, so that whoever
        has a digest alone cannot try rows on it.
    digests
        Digests of the rows that are reported, in the table's order; known once it has begun.
    """

    output: Path
    work: str
    run: str
    selection_key: str
    digest_key: str
    is_new: bool
    digests: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of the blocks."""
        return self.output.with_name(f".{self.output.name}.draft")

    def begin(self, digests: Sequence[str]) -> "Draft":
        """Create the folder, unless an earlier process did; before anything is paid.

        What a run of other work left for this output is removed: whoever starts another run gives
        the older one up.

        Raises
        ------
        RunChanged
            If an earlier process began it with other rows.
        """
        with _named_failure(self.output):
            if not self.is_new:
                if self.digests != tuple(digests):
                    raise _changed_error()
                _remove_unfinished(self.folder)
                return self
            _remove(self.folder)
            self.folder.mkdir(mode=0o700)
            begun = replace(self, digests=tuple(digests))
            about = {name: getattr(begun, name) for name in _STORED}
            # A folder without this file counts as never begun.
            _write_whole(self.folder / _RUN_FILE, lambda part: part.write_text(json.dumps(about)))
            _flush(self.folder.parent)
        return begun

    def digest(self, *arrays: NDArray[Any]) -> str:
        """Return a digest of rows under this draft's key."""
        key = bytes.fromhex(self.digest_key)
        keyed = hashlib.blake2b(key=key, digest_size=32, person=b"shoal.draft")
        for array in arrays:
            # Kind and shape first, so that no two lists of arrays are the same bytes.
            keyed.update(f"{array.dtype.str}{array.shape}".encode())
            keyed.update(np.ascontiguousarray(array).reshape(-1).data)
        return keyed.hexdigest()

    def digests_of(self, rows: Rows) -> list[str]:
        """Return the digest of every block, in a full pass that also admits every row."""
        assert isinstance(rows, LocalRows)
        return list(rows.each(self._digest_of))

    def check_unchanged(self, number: int, block: Block) -> None:
        """Refuse a block of rows that is not the one of this number when the draft began."""
        if self.digests[number : number + 1] != (self._digest_of(block),):
            raise _changed_error()

    def block(self, number: int, rows: int | None, draw: Callable[[], Columns]) -> Columns:
        """Return the reports of a block: those drawn before, or new ones, stored on disk.

        Parameters
        ----------
        rows
            How many lines it has; None if only what was drawn tells.
        """
        path = self.folder / f"block-{number:08d}.arrow"
        with _named_failure(self.output):
            if path.exists():
                return self._drawn_before(path, rows)
        columns = draw()
        with _named_failure(self.output):
            _write_whole(path, lambda part: _write_arrow(part, columns))
        return columns

    def place_for(self, name: str) -> Path:
        """Return where to write the complete output before it is moved to its final name."""
        folder = self.folder / "output"
        with _named_failure(self.output):
            folder.mkdir(exist_ok=True)
        return folder / name

    def remove(self) -> None:
        """Delete the draft: the output is complete, or nothing was drawn."""
        with _named_failure(self.output):
            _remove(self.folder)

    def _digest_of(self, block: Block) -> str:
        return self.digest(block.numbers, block.codes)

    def _drawn_before(self, path: Path, rows: int | None) -> Columns:
        """Read the reports of a block that an earlier process drew."""
        with pa.ipc.open_file(path) as reader:
            table = reader.read_all()
        if rows not in (None, table.num_rows):
            raise CannotWrite(
                f"The reports drawn before do not fit the table: {table.num_rows} in a block of "
                f"{rows} rows.",
                f"Remove {self.folder}, which holds them, and run again: it is a new release.",
            )
        return [column.to_numpy() for column in table.columns]


@contextmanager
def draft_of(output: Path, work: str) -> Iterator[Draft]:
    """Yield the draft of an output: of a stopped run of the same work, or a new one.

    Nothing is changed on disk until it begins. No other process has it while the block lasts.

    Parameters
    ----------
    output
        The file to be written in the end.
    work
        A digest of what decides the reports: table, settings, versions.
    """
    final = output.expanduser().absolute()
    with ExitStack() as stack:
        with _named_failure(final):
            alone = stack.enter_context(file_lock(final.with_name(f".{final.name}.draft.lock")))
        if not alone:
            raise CannotWrite(
                f"Another run is writing {output}.",
                "Wait until it is done, or choose another name.",
            )
        run, selection_key, digest_key = (secrets.token_hex(16) for _ in range(3))
        new = Draft(final, work, run, selection_key, digest_key, is_new=True)
        yield _stopped_draft(new) or new


@contextmanager
def _named_failure(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise write_error(output, error.strerror or type(error).__name__) from None


def _stopped_draft(new: Draft) -> Draft | None:
    """Return the draft that a run of the same work left, or None."""
    try:
        left = parse_json((new.folder / _RUN_FILE).read_text())
        draft = Draft(
            new.output,
            new.work,
            run=str(left["run"]),
            selection_key=bytes.fromhex(left["selection_key"]).hex(),
            digest_key=bytes.fromhex(left["digest_key"]).hex(),
            is_new=False,
            digests=tuple(left["digests"]),
        )
        return draft if left["work"] == new.work and not new.folder.is_symlink() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _changed_error() -> RunChanged:
    return RunChanged(
        "The table is not the one that this run began with, whatever its size and time of change "
        "say. What had been drawn of it is removed: going on could report somebody twice.",
        "Run it again: it is a new release, and spends a budget of its own.",
    )


def _remove_unfinished(folder: Path) -> None:
    """Delete what was being written when the process died, before drawing again."""
    whole = {folder / _RUN_FILE, *folder.glob(_BLOCK_FILES)}
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path not in whole:
            path.unlink()


def _remove(folder: Path) -> None:
    """Delete a draft, renamed first so that half of it cannot be resumed."""
    if folder.is_symlink():
        folder.unlink()
    with suppress(FileNotFoundError):
        folder.rename(folder.with_name(f"{folder.name}.old-{secrets.token_hex(4)}"))
        _flush(folder.parent)
    for old in folder.parent.glob(f"{glob.escape(folder.name)}.old-*"):
        shutil.rmtree(old)


def _write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under a temporary name and rename it once it is on disk."""
    part = path.with_name(f"{path.name}.part")
    write(part)
    _flush(part)
    part.rename(path)
    _flush(path.parent)


def _write_arrow(part: Path, columns: Columns) -> None:
    names = [str(place) for place in range(len(columns))]
    batch = pa.record_batch([np.ascontiguousarray(column) for column in columns], names=names)
    with pa.ipc.new_file(part, batch.schema) as writer:
        writer.write(batch)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
