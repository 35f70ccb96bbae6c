"""Simulated fits in memory: a stand-in for rows, and a page that no ledger keeps."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NoReturn, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import Box, Partition, Schema, SparseCounts
from shoal.engine.rows import Block, Kernel, Mapped, Mapper, Tally, Terms
from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee
from shoal.privacy.ledger_page import Mechanism


class StandInRows:
    """Made-up rows, each standing for as many people as were released for it.

    A method that is run on them meets the counts and sums of a table of ``n`` rows, so that its
    rules, which read the number of rows, and its noise are those of the real fit.

    Parameters
    ----------
    numbers
        One row each, inside the box; made from released things alone.
    """

    terms = Terms()
    rereadable = True
    tally: Tally | None = None

    def __init__(self, numbers: Floats, n: int, domain: Box | Schema) -> None:
        self.domain = domain
        self._block = Block(numbers, np.empty((len(numbers), 0), dtype=np.int32))
        self._n, self._times = n, n / len(numbers)

    def size(self) -> int:
        """Return how many rows they stand for."""
        return self._n

    @overload
    def count(self, partition: Partition, sparse: Literal[False] = False) -> Integers: ...
    @overload
    def count(self, partition: Partition, sparse: Literal[True]) -> SparseCounts: ...
    def count(self, partition: Partition, sparse: bool = False) -> Integers | SparseCounts:
        """Count the rows in each cell; sparse, only the cells that have any.

        Parameters
        ----------
        sparse
            Whether to return ``SparseCounts``.
        """
        keys = partition.keys(self._block.numbers)
        if not sparse:
            return self._scaled(np.bincount(keys, minlength=partition.size))
        occupied, counts = np.unique(keys, return_counts=True)
        return SparseCounts(occupied, self._scaled(counts), partition.size)

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """Add up the kernel's arrays over all rows."""
        return tuple(self._scaled(part) for part in kernel(self._block))

    def sizes(self, columns: Sequence[str]) -> pa.Table:
        """Refuse: made-up rows have no combinations of values."""
        _refuse()

    def map(self, kernel: Mapper, names: Iterable[str]) -> Mapped:
        """Refuse: made-up rows are no table."""
        _refuse()

    def take(self, n: int, rng: np.random.Generator) -> Floats:
        """Refuse: they are a sample already."""
        _refuse()

    def on_progress(self, callback: Callable[[int], None]) -> None:
        """Do nothing: they are read at once."""

    def _scaled(self, counts: NDArray[Any]) -> Integers:
        return np.rint(np.asarray(counts) * self._times).astype(np.int64)


def _refuse() -> NoReturn:
    raise InvalidSetting(
        "A simulated fit reads counts and sums only.",
        "Methods that need other verbs have no intervals.",
    )


class SimulatedPage:
    """A gate for simulated fits: it draws, pays for nothing and writes nothing.

    It is for made-up rows, so it takes no ledger and draws from seeded streams alone.
    """

    compute_seed: int | None = None

    def __init__(self, promise: Guarantee) -> None:
        self.promise = promise
        self.names: list[str] = []

    @property
    def budget(self) -> Any:
        """What mechanisms may spend for one row added or removed."""
        return self.promise.per_row()  # type: ignore[attr-defined]

    def release(
        self, mechanism: Mechanism[Any, Any], value: Any, rng: np.random.Generator, *, of: str
    ) -> Any:
        """Draw what the mechanism would release."""
        if not getattr(rng, "simulation", False):
            raise InvalidSetting(
                "A simulated fit draws from a seeded stream; real noise is for real rows.",
                "Give e.g. Randomness(7).noise.",
            )
        self.names.append(of)
        return mechanism.release(value, rng)

    def total(self) -> Guarantee:
        """Return the promise."""
        return self.promise

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        _refuse()
