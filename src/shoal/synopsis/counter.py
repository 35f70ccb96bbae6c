"""Where rows and noise meet: the noisy number of rows, and noisy counts of cells."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.domain import Box, Partition, SparseCounts, View, ViewedCells
from shoal.engine import Rows
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP
from shoal.privacy.page import Mechanism, Page
from shoal.randomness import Randomness

__all__ = ["Counter", "box_of", "false_cell_level"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counter:
    """Counts rows by cell on a page of the ledger, one pass and one release at a time.

    Parameters
    ----------
    rows, page, rng
        Whose rows, where they are paid for, with which noise.
    n_rows
        The number of rows, public or released.
    view
        A public or released look at the rows, or None: then cells are cells of their box.
    """

    rows: Rows
    page: Page
    rng: Randomness
    n_rows: int
    view: View | None = None

    @property
    def box(self) -> Box:
        """What the cells are cells of."""
        return box_of(self.rows, self.view)

    def noisy(self, cells: Partition, budget: PureDP, *, of: str) -> Integers:
        """A noisy count of every cell, empty ones too."""
        counts = self.exact(cells)
        return self.page.release(Geometric(budget), counts, self.rng.noise, of=of)  # [P2]

    def exact(self, cells: Partition) -> Integers:
        """Rows in each cell, for a mechanism that is about to noise them: never to be released."""
        return self.rows.count(self._seen(cells))  # [P1]

    def noisy_sparse(
        self, cells: Partition, budget: PureDP, *, of: str, most_false: int
    ) -> SparseCounts:
        """The same, keeping noisy counts from a level up that few empty cells reach.

        Parameters
        ----------
        cells, budget, of
            As in ``noisy``; there may be up to 2**62 cells.
        most_false
            About how many empty cells may come through, at most; never over four a row.
        """
        level = false_cell_level(cells.size, budget, min(most_false, 4 * self.n_rows))  # [P3]
        counts = self.rows.count(self._seen(cells), sparse=True)
        noise: Mechanism[SparseCounts, SparseCounts] = Geometric(budget, at_least=level)
        return self.page.release(noise, counts, self.rng.noise, of=of)  # [P4]

    def _seen(self, cells: Partition) -> Partition:
        return cells if self.view is None else ViewedCells(self.view, cells)


def box_of(rows: Rows, view: View | None) -> Box:
    """The box whose cells are counted: the view's, or that of the rows' numbers."""
    if view is not None:
        return view.box
    return rows.domain if isinstance(rows.domain, Box) else rows.domain.box


def false_cell_level(cells: int, budget: PureDP, most_false: int) -> int:
    r"""The least noisy count kept, so that about ``most_false`` empty cells reach it at most.

    An empty cell reaches t with probability :math:`a^t / (1 + a)`, :math:`a = e^{-\varepsilon}`.

    Examples
    --------
    >>> false_cell_level(10**12, PureDP(1), most_false=4000)
    20
    """
    step = float(budget.epsilon)
    scales = math.log(cells) - math.log1p(math.exp(-step)) - math.log(most_false)
    return max(1, math.ceil(scales / step))
