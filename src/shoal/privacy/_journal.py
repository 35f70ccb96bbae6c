"""The journal of a resumable run: what it released so far, kept until its output is written.

A run that is killed after it paid has released values that nobody got to see. They are kept here
with the payment, in one transaction, so that the same run started again reads them for nothing and
goes on. Only released values are kept, which the promise covers; never rows, keys or noise.
"""

import hashlib
import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Arrays = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class ReleaseRecord:
    """One release of a run, as the ledger's file stores it.

    Parameters
    ----------
    number
        Which release of the run it is, counted from 0.
    what
        What was released, and under which guarantee: a resumed run must ask for the same.
    content
        The released arrays as bytes; ``None`` for a release that cannot be read again.
    """

    number: int
    what: str
    content: bytes | None


@dataclass(frozen=True)
class StoredRun:
    """An unfinished run read from the ledger's file, with what it released."""

    run: str
    at: str
    compute_seed: int
    records: tuple[ReleaseRecord, ...]


class JournalStore(Protocol):
    """The part of a ledger's storage that keeps runs."""

    def find_runs(self, work: str) -> list[str]:
        """Return the names of the unfinished runs of this work, oldest first."""

    def load_run(self, run: str) -> StoredRun | None:
        """Return a run with all its records; ``None`` if it has ended."""

    def add_record(self, run: "Run", record: ReleaseRecord) -> None:
        """Store one release of a run, replacing one of its number; on disk when this returns."""

    def forget_run(self, run: str) -> None:
        """Delete a run and all its records."""


@dataclass(eq=False)
class Run:
    """One resumable run: what an earlier process released, and what this one releases.

    Parameters
    ----------
    compute_seed
        The seed of its compute stream. It protects nothing; what is computed between two releases
        must be equal in a resumed run.
    """

    name: str
    work: str
    by: str
    store: JournalStore
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    compute_seed: int = field(default_factory=lambda: secrets.randbits(63))
    records: tuple[ReleaseRecord, ...] = ()
    lock: threading.RLock = field(default_factory=threading.RLock)  # one release at a time
    has_ended: bool = False
    _pages: int = 0
    _released: int = 0

    @property
    def resumed(self) -> bool:
        """Whether an earlier process paid for it."""
        return bool(self.records)

    def next_page(self) -> int:
        """Number the page that is opened now; a resumed run opens the same pages again."""
        self._pages += 1
        return self._pages

    def next_record(self, what: str, content: bytes | None) -> ReleaseRecord:
        """Make the record of the current release.

        Parameters
        ----------
        content
            The released arrays as bytes, if they can be read again.
        """
        return ReleaseRecord(self._released, what, content)

    def recorded(self) -> ReleaseRecord | None:
        """Return the record of the current release if an earlier process made it."""
        return next((each for each in self.records if each.number == self._released), None)

    def advance(self) -> None:
        """Go on to the next release."""
        self._released += 1

    def forget(self) -> None:
        """Delete all records: the output is written, or the run cannot be resumed."""
        self.store.forget_run(self.name)


def work_digest(work: Mapping[str, Any]) -> str:
    """Return a digest of what decides a run's releases; equal for equal JSON.

    Parameters
    ----------
    work
        Input files, settings and versions, as JSON has them.
    """
    # Sorted, so that the order in which settings were given does not matter.
    text = json.dumps(work, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def arrays_of(mechanism: Any, output: Any) -> Arrays | None:
    """Return an output as arrays, or ``None`` if it cannot be stored so.

    Parameters
    ----------
    mechanism
        What made the output; its ``to_arrays`` is used if it has one.
    """
    if hasattr(mechanism, "to_arrays"):
        arrays: Arrays = mechanism.to_arrays(output)
        return arrays
    # Numbers only: objects could hold anything, and could not be read back without pickle.
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuf" and output.ndim:
        return [output]
    if isinstance(output, int | np.integer) and not isinstance(output, bool):
        return [np.array(output, dtype=np.int64)]
    return None


def output_of(mechanism: Any, arrays: Arrays) -> Any:
    """Rebuild an output from its arrays: ``arrays_of`` undone.

    Parameters
    ----------
    mechanism
        What made the output; its ``from_arrays`` is used if it has one.
    arrays
        What ``arrays_of`` returned.
    """
    if hasattr(mechanism, "from_arrays"):
        return mechanism.from_arrays(arrays)
    (array,) = arrays
    return array if array.ndim else int(array)


def pack_arrays(arrays: Arrays) -> bytes:
    """Write arrays as bytes: a line of JSON with types and shapes, then the numbers.

    Examples
    --------
    >>> [a.tolist() for a in unpack_arrays(pack_arrays([np.arange(3), np.array(True)]))]
    [[0, 1, 2], True]
    """
    header = [{"dtype": array.dtype.str, "shape": array.shape} for array in arrays]
    numbers = [np.ascontiguousarray(array).tobytes() for array in arrays]
    # Not compressed: how long it is must not depend on what was drawn.
    return b"".join([json.dumps(header).encode(), b"\n", *numbers])


def unpack_arrays(content: bytes) -> list[NDArray[Any]]:
    """Read the arrays that ``pack_arrays`` wrote."""
    header, _, numbers = content.partition(b"\n")
    arrays, place = [], 0
    for each in json.loads(header):
        kind, shape = np.dtype(each["dtype"]), tuple(each["shape"])
        length = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(numbers, kind, length, place).reshape(shape)
        arrays.append(array.copy())  # writable, as what a mechanism returns
        place += array.nbytes
    return arrays
