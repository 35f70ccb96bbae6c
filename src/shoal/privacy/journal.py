"""What a run has released so far, kept in the ledger's file until its output is written.

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

__all__ = [
    "JournalStore",
    "Record",
    "Run",
    "StoredRun",
    "arrays_of",
    "output_of",
    "pack_arrays",
    "unpack_arrays",
    "work_digest",
]  # fmt: skip

Arrays = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class Record:
    """One release of a run, as the ledger's file keeps it.

    Parameters
    ----------
    number
        The how-manieth release of the run it is, from 0.
    what
        What was released, and under which guarantee: a run that goes on must ask for the same.
    content
        The released arrays, packed; ``None`` for a release that cannot be read again.
    """

    number: int
    what: str
    content: bytes | None


@dataclass(frozen=True)
class StoredRun:
    """A run found in the ledger's file, with what it released before it was stopped."""

    run: str
    at: str
    compute_seed: int
    records: tuple[Record, ...]


class JournalStore(Protocol):
    """What the storage of a ledger does for runs."""

    def find_runs(self, work: str) -> list[str]:
        """The names of the unfinished runs of this work, oldest first."""

    def load_run(self, run: str) -> StoredRun | None:
        """A run with all it kept; ``None`` if it has ended."""

    def add_record(self, run: "Run", record: Record) -> None:
        """Keep one release of a run, in place of what its number had; on disk at the return."""

    def forget_run(self, run: str) -> None:
        """Remove a run and all it kept."""


@dataclass(eq=False)
class Run:
    """One run of some work: what it released before it was stopped, and what it releases now.

    Parameters
    ----------
    name
        Told from all other runs by it.
    work
        A digest of everything that decides what is released: input, settings, versions.
    by
        Whose run it is, for people: the name of a task.
    store
        Where it is kept.
    at, compute_seed
        When it began; the seed of its compute stream. No promise rests on that stream, and the
        steps between two releases must come out as they did.
    records
        What an earlier process released.
    """

    name: str
    work: str
    by: str
    store: JournalStore
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    compute_seed: int = field(default_factory=lambda: secrets.randbits(63))
    records: tuple[Record, ...] = ()
    lock: threading.RLock = field(default_factory=threading.RLock)  # one release at a time
    has_ended: bool = False
    _pages: int = 0
    _released: int = 0

    @property
    def resumed(self) -> bool:
        """Whether an earlier process paid for it."""
        return bool(self.records)

    def next_page(self) -> int:
        """The number of a page that is opened now; a run opens the same ones each time."""
        self._pages += 1
        return self._pages

    def next_record(self, what: str, content: bytes | None) -> Record:
        """The record of the release under way."""
        return Record(self._released, what, content)

    def recorded(self) -> Record | None:
        """The record of the release under way, if an earlier process made it."""
        return next((each for each in self.records if each.number == self._released), None)

    def advance(self) -> None:
        """The release under way is done."""
        self._released += 1

    def forget(self) -> None:
        """Remove all that is kept of it: its output is written, or it cannot go on."""
        self.store.forget_run(self.name)


def work_digest(work: Mapping[str, Any]) -> str:
    """A digest of what decides a run's releases; equal for equal JSON."""
    text = json.dumps(work, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def arrays_of(mechanism: Any, output: Any) -> Arrays | None:
    """The arrays an output is made of; ``None`` for an output that cannot be kept so."""
    if hasattr(mechanism, "to_arrays"):
        arrays: Arrays = mechanism.to_arrays(output)
        return arrays
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuf" and output.ndim:
        return [output]
    if isinstance(output, int | np.integer) and not isinstance(output, bool):
        return [np.array(output, dtype=np.int64)]
    return None


def output_of(mechanism: Any, arrays: Arrays) -> Any:
    """The output again, from its arrays."""
    if hasattr(mechanism, "from_arrays"):
        return mechanism.from_arrays(arrays)
    (array,) = arrays
    return array if array.ndim else int(array)


def pack_arrays(arrays: Arrays) -> bytes:
    """Arrays as bytes: a line of JSON on their kinds, then their numbers.

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
    """The arrays that ``pack_arrays`` made bytes of."""
    header, _, numbers = content.partition(b"\n")
    arrays, place = [], 0
    for each in json.loads(header):
        kind, shape = np.dtype(each["dtype"]), tuple(each["shape"])
        length = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(numbers, kind, length, place).reshape(shape)
        arrays.append(array.copy())  # writable, as what a mechanism returns
        place += array.nbytes
    return arrays
