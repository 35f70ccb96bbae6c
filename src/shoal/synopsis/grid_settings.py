"""What the grids share: how many cells there may be, and what becomes of their counts."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.domain import Box, Grid
from shoal.domain.grid import MAX_CELLS, Keys
from shoal.errors import InvalidSetting, TooManyCells
from shoal.privacy.exact import whole_number
from shoal.synopsis.base import Synopsis
from shoal.synopsis.cells import Bounded, Cells
from shoal.synopsis.weights import Negative, check_negative, weights_of

__all__ = ["MAX_CELLS_DENSE", "AskedCells", "GridSynopsis", "most_an_axis"]

AskedCells = int | Sequence[int] | NDArray[np.integer] | Literal["auto"]
MAX_CELLS_DENSE = 2_000_000
_IN_MEMORY = 2**24  # the most cells the engine counts in one array


class GridSynopsis(Synopsis):
    """A synopsis that begins with the cells of a grid."""

    cells: AskedCells = "auto"
    negative: Negative = "norm-cut"
    sparse: bool = False
    max_cells: int = MAX_CELLS_DENSE

    def _check_settings(self, box: Box) -> None:
        check_negative(self.negative)
        most = whole_number(self.max_cells)
        if most is None or not 1 <= most <= _IN_MEMORY:
            raise InvalidSetting(
                f"max_cells is no whole number from 1 to {_IN_MEMORY}.",
                f"E.g. max_cells={MAX_CELLS_DENSE}; sparse=True counts finer grids.",
            )
        if not self._is_auto:
            self._check_asked(Grid(box, self.cells))  # type: ignore[arg-type]

    def _check_asked(self, grid: Grid) -> None:
        if grid.size > self._most_asked:
            raise TooManyCells(
                f"{grid.size} cells are more than max_cells, {self.max_cells}.",
                "Use fewer cells an axis, or sparse=True, which never makes the empty ones.",
            )

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.cells, str) and self.cells == "auto"

    @property
    def _most_asked(self) -> int:
        """The most cells a hand-given grid may have."""
        return MAX_CELLS if self.sparse else self.max_cells

    def _grid(self, box: Box, cells_an_axis: float) -> Grid:
        """The grid asked for, or one of about so many cells an axis, within the limit."""
        if not self._is_auto:
            return Grid(box, self.cells)  # type: ignore[arg-type]
        return Grid(box, min(int(cells_an_axis), most_an_axis(self._most_asked, box.d)))

    def _keep_weighty(
        self,
        cells: Bounded,
        keys: Keys,
        noisy_counts: Keys,
        noise_variance: float,
        estimates: NDArray[np.float64] | None = None,
    ) -> None:
        """Publish the cells whose count, or better estimate, is worth a weight.

        Parameters
        ----------
        cells
            All of them.
        keys, noisy_counts
            Those that came out, and their counts.
        noise_variance
            Of one count, or of one estimate.
        estimates
            What the counts became by consistency, if anything.
        """
        # An empty cell passes this level with probability 1 / (2 n): half a false cell in all.
        threshold = math.sqrt(noise_variance / 2) * math.log(cells.size)
        numbers = noisy_counts if estimates is None else estimates
        weights = weights_of(numbers, self.n_rows_, self.negative, threshold)
        kept = np.flatnonzero(weights)
        low, high = cells.bounds(keys[kept])
        found = Cells(keys[kept], low, high, noisy_counts[kept], weights[kept])
        self._keep(found, cells.size, noise_variance)


def most_an_axis(most_cells: int, d: int) -> int:
    """The most equal parts of each of ``d`` axes that make no more cells than this, exactly.

    Examples
    --------
    >>> most_an_axis(2_000_000, 8), most_an_axis(10**18, 3), most_an_axis(10, 40)
    (6, 1000000, 1)
    """
    parts = int(float(most_cells) ** (1 / d)) + 1
    while parts**d > most_cells:
        parts -= 1
    return parts
