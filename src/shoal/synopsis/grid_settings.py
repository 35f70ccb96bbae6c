"""What the grids share: how many cells there may be, and what becomes of their counts."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.domain import Box, Grid
from shoal.domain.grid import MAX_CELLS
from shoal.errors import ShoalError, TooManyCells
from shoal.synopsis.base import Synopsis, check_max_cells
from shoal.synopsis.weights import Negative, check_negative

__all__ = ["MAX_CELLS_DENSE", "AskedCells", "GridSynopsis", "grid_name", "most_an_axis"]

AskedCells = int | Sequence[int] | NDArray[np.integer] | Literal["auto"]
MAX_CELLS_DENSE = 2_000_000
_MOST_NAMED_AXES = 3


class GridSynopsis(Synopsis):
    """A synopsis that begins with the cells of a grid."""

    cells: AskedCells = "auto"
    negative: Negative = "norm-cut"
    sparse: bool = False
    max_cells: int = MAX_CELLS_DENSE

    def _check_settings(self, box: Box) -> None:
        check_negative(self.negative)
        check_max_cells(self.max_cells)
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


def grid_name(cells: Any, box: Box) -> str:
    """A grid in words for the ledger, by what was asked of it, before that is checked.

    Examples
    --------
    >>> grid_name(64, Box.unit(2)), grid_name("auto", Box.unit(2)), grid_name(4, Box.unit(9))
    ('a grid of 64 x 64 cells', 'a grid', 'a grid over 9 columns')
    """
    if isinstance(cells, str):
        return "a grid"
    if box.d > _MOST_NAMED_AXES:
        return f"a grid over {box.d} columns"
    try:
        along = Grid(box, cells).shape
    except ShoalError:
        return "a grid"  # which is refused before anything is released
    return f"a grid of {' x '.join(map(str, along))} cells"


def most_an_axis(most_cells: int, d: int) -> int:
    """The most equal parts of each of ``d`` axes that make no more cells than this, exactly.

    Examples
    --------
    >>> most_an_axis(2_000_000, 8), most_an_axis(10**18, 3), most_an_axis(10, 40)
    (6, 1000000, 1)
    """
    parts = max(1, int(float(most_cells) ** (1 / d)))  # near: floats round
    while parts**d > most_cells:
        parts -= 1
    while (parts + 1) ** d <= most_cells:
        parts += 1
    return parts
