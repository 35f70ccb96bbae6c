"""Fit a method again to made-up rows, in memory: nothing is read of a table, nothing is spent.

Intervals, what-ifs, controls and the victims of attacks are made of such fits. Each draws seeded
noise on a page that no ledger adds up (``Page.simulated``), which takes made-up rows only.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, NoReturn, overload

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Integers
from shoal.cluster.group_sizes import ignore_no_groups_warning
from shoal.domain import Box, Partition, Schema, SparseCounts
from shoal.engine import Block, Kernel, Mapped, Mapper, Tally, Terms
from shoal.errors import InvalidSetting
from shoal.estimator import Spending, unfitted_copy
from shoal.privacy import Page
from shoal.randomness import Randomness

# What belongs to one run of an estimator, and is not handed to another.
_OF_ONE_RUN = ("ledger", "progress")


def unfitted(model: Any, *, random_state: Any = None, **settings: Any) -> Any:
    """Return an estimator before its fit, with other noise and without its ledger.

    Parameters
    ----------
    model
        Any estimator, fitted or not.
    random_state
        The seed of the copy, where it has one.
    **settings
        Its other parameters that are to differ.

    Examples
    --------
    >>> from shoal.cluster import PrivateKMeans
    >>> from shoal.privacy import Ledger
    >>> model = PrivateKMeans(2, epsilon=1, domain=Box.unit(1), ledger=Ledger())
    >>> copy = unfitted(model, random_state=7, n_clusters=3)
    >>> copy.ledger, copy.random_state, copy.n_clusters
    (None, 7, 3)
    """
    known = model.get_params(deep=False)
    own = dict.fromkeys(_OF_ONE_RUN) | {"random_state": random_state}
    own = {name: value for name, value in own.items() if name in known}
    return unfitted_copy(model).set_params(**own | settings)


class Refit(NamedTuple):
    """A method that was fitted again, and what its fit released.

    Parameters
    ----------
    model
        The fitted copy.
    releases
        What was released on a simulated page, in order; nothing for reports and tables.
    """

    model: Any
    releases: tuple[str, ...] = ()


def refit(copy: Any, rows: Any) -> Refit:
    """Fit a copy of an estimator to made-up rows or to reports, with the noise of its seed.

    Parameters
    ----------
    copy
        What ``unfitted`` returned, with a seed.
    rows
        ``StandInRows``, whose fit no ledger adds up; or a made-up table or reports, which the
        estimator takes as they are.

    Examples
    --------
    >>> from shoal.cluster import PrivateKMeans
    >>> copy = unfitted(PrivateKMeans(2, epsilon=1, domain=Box.unit(1)), random_state=7)
    >>> again = refit(copy, StandInRows(np.array([[0.2], [0.8]]), 1_000, Box.unit(1)))
    >>> sorted(again.model.cluster_centers_.round(1).ravel().tolist()), again.releases[0]
    ([0.2, 0.8], 'number of rows')
    """
    with ignore_no_groups_warning():
        if hasattr(copy, "clipping"):
            # Made-up rows may lie anywhere in the bounds, and no simulation should stop.
            copy.clipping = "accept"
        if not isinstance(rows, StandInRows):
            return Refit(copy.fit(rows))
        rng = Randomness(copy.random_state)
        page = Page.simulated(copy._promise(), rows, rng.noise)
        copy.spend(Spending(rows, page, page.budget, rng))
    return Refit(copy, tuple(page.releases))


class StandInRows:
    """Made-up rows, each standing for as many people as were released for it.

    A method that is run on them meets the counts and sums of a table of ``n`` rows, so that its
    rules, which read the number of rows, and its noise are those of the real fit.

    Parameters
    ----------
    numbers
        One row each, inside the box; made from released things alone.
    n
        How many rows they stand for.
    domain
        The public bounds.

    Examples
    --------
    >>> StandInRows(np.array([[0.2], [0.8]]), 1_000, Box.unit(1)).size()
    1000
    """

    is_made_up = True
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

    def moved(self) -> int:
        """Return 0: they lie inside the bounds."""
        return 0

    @overload
    def count(self, partition: Partition, sparse: Literal[False] = False) -> Integers: ...
    @overload
    def count(self, partition: Partition, sparse: Literal[True]) -> SparseCounts: ...
    def count(self, partition: Partition, sparse: bool = False) -> Integers | SparseCounts:
        """Count the rows in each cell; sparse, only the cells that have any.

        Parameters
        ----------
        partition
            The cells.
        sparse
            Whether to return ``SparseCounts``.
        """
        keys = partition.keys(self._block.numbers)
        if not sparse:
            return self._scaled(np.bincount(keys, minlength=partition.size))
        occupied, counts = np.unique(keys, return_counts=True)
        return SparseCounts(occupied, self._scaled(counts), partition.size)

    def sum(self, kernel: Kernel) -> tuple[Integers, ...]:
        """Add up the kernel's arrays over all rows.

        Parameters
        ----------
        kernel
            Computes whole-number arrays of a block.
        """
        return tuple(self._scaled(part) for part in kernel(self._block))

    def sizes(self, columns: Sequence[str]) -> pa.Table:
        """Refuse: made-up rows have no combinations of values.

        Parameters
        ----------
        columns
            The columns.
        """
        _refuse()

    def map(self, kernel: Mapper, names: Iterable[str]) -> Mapped:
        """Refuse: made-up rows are no table.

        Parameters
        ----------
        kernel
            Computes the columns of a block.
        names
            The columns' names.
        """
        _refuse()

    def take(self, n: int, rng: np.random.Generator) -> Floats:
        """Refuse: they are a sample already.

        Parameters
        ----------
        n
            How many rows.
        rng
            Draws the sample.
        """
        _refuse()

    def on_progress(self, callback: Callable[[int], None]) -> None:
        """Do nothing: they are read at once.

        Parameters
        ----------
        callback
            The function.
        """

    def _scaled(self, counts: Any) -> Integers:
        return np.rint(np.asarray(counts) * self._times).astype(np.int64)


def _refuse() -> NoReturn:
    raise InvalidSetting(
        "A simulated fit reads counts and sums only.",
        "Methods that need other verbs have no intervals.",
    )
