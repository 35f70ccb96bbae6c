"""A grid of a small part of a box, and wider cells about it: one partition of all rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.domain.box import Box, as_matrix
from shoal.domain.grid import Grid, cell_indices
from shoal.domain.view import View

# Cells along an axis of a shell, by the number of axes: docs/decisions/private-kmeans.md.
_SHELL_CELLS = (16, 8, 4, 4, 4)
MOST_ZOOMED_AXES = len(_SHELL_CELLS)


@dataclass(frozen=True, eq=False)
class Shell:
    """The cells between two cubes about a view, the outer one with sides twice as long.

    Parameters
    ----------
    grid
        The outer cube in equal cells, in the coordinates of the view.
    """

    grid: Grid
    numbers: Integers

    @classmethod
    def up_to(cls, half: float, corners: Floats) -> "Shell":
        """Make the cells from half of ``half`` up to it in which the box has a part.

        Parameters
        ----------
        half
            Half the side of the outer cube, in widths of the view.
        corners
            The lowest and the highest corner of the box in the view's coordinates; a line an axis.
        """
        d = len(corners)
        wide = np.full(d, half)
        grid = Grid(Box.of([f"y{i}" for i in range(d)], -wide, wide), _SHELL_CELLS[d - 1])
        in_box, is_outer = np.ones(grid.size, np.bool_), np.zeros(grid.size, np.bool_)
        for axis, places in enumerate(np.unravel_index(np.arange(grid.size), grid.shape)):
            cells = grid.shape[axis]
            # By the arithmetic that rows go through, which is monotone: no row lies beyond.
            first, last = cell_indices(grid.steps(corners[axis], axis), cells)
            in_box &= (first <= places) & (places <= last)
            is_outer |= (places < cells // 4) | (places >= cells - cells // 4)
        return cls(grid, np.flatnonzero(in_box & is_outer))

    def locate(self, Y: Floats) -> tuple[Integers, list[Floats]]:
        """Return the number of each row's cell in the shell, and how far into it the row lies."""
        keys, fractions = self.grid.locate(Y)
        places = np.searchsorted(self.numbers, keys)
        return np.minimum(places, len(self.numbers) - 1), fractions

    def bounds(self, keys: Integers) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of each of these cells of the shell."""
        return self.grid.bounds(self.numbers[keys])


@dataclass(frozen=True, init=False, eq=False)
class ZoomedGrid:
    """A partition of a box: a grid of a view along its columns, and shells of wider cells about it.

    A row whose coordinates are all from -1 to 1 is in the grid. A row beyond is in the shell from
    2^(j-1) to 2^j widths that its farthest coordinate lies in, so a cell is as wide as it is far.
    Keys run through the grid, then through one shell after the other.

    Parameters
    ----------
    view
        Public or released; its axes are the columns, five at most.
    grid
        The cells of its box.

    Examples
    --------
    >>> view = View(Box(x=(0, 16)), axes=[[1.0]], center=-1.0, width=0.25)
    >>> cells = ZoomedGrid(view, Grid(view.box, 2))
    >>> cells.size, cells.keys([[1.0], [2.1], [16.0]]).tolist()
    (14, [1, 2, 13])
    >>> low, high = cells.bounds([2, 13])
    >>> low.tolist(), high.tolist()
    ([[2.0], [14.0]], [[2.5], [16.0]])
    """

    view: View
    grid: Grid
    shells: tuple[Shell, ...]
    starts: Integers
    size: int

    def __init__(self, view: View, grid: Grid) -> None:
        assert np.array_equal(view.axes, np.eye(view.domain.d)), "the axes must be the columns"
        assert view.domain.d <= MOST_ZOOMED_AXES
        corners = view.coordinates(np.stack([view.domain.low, view.domain.high]))
        halves, half = list[float](), 1.0
        while half < np.abs(corners).max():
            half *= 2
            halves.append(half)
        shells = tuple(Shell.up_to(half, corners) for half in halves)
        sizes = [grid.size, *(len(shell.numbers) for shell in shells)]
        object.__setattr__(self, "view", view)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "shells", shells)
        object.__setattr__(self, "starts", np.cumsum(sizes) - sizes)
        object.__setattr__(self, "size", sum(sizes))

    @property
    def box(self) -> Box:
        """The box of the rows."""
        return self.view.domain

    def shell_of_cells(self) -> Integers:
        """Return the shell of every cell, from 1; 0 for those of the grid."""
        return np.repeat(np.arange(self.starts.size), np.diff(np.append(self.starts, self.size)))

    def inward_cells(self) -> Integers:
        """Return for every cell the one that lies half as far from the middle, a shell inwards.

        Cells of the first shell and of the grid have themselves.
        """
        inward = np.arange(self.size)
        for number in range(2, len(self.shells) + 1):
            before, own = self.shells[number - 2].numbers, self.shells[number - 1].numbers
            places = np.minimum(np.searchsorted(before, own), before.size - 1)
            start = self.starts[number]
            inward[start : start + own.size] = self.starts[number - 1] + places
        return inward

    def keys(self, X: ArrayLike) -> Integers:
        """Return the number of each row's cell.

        Parameters
        ----------
        X
            The rows.
        """
        return self.locate(X)[0]

    def locate(self, X: ArrayLike) -> tuple[Integers, list[Floats]]:
        """Return the number of each row's cell, and how far into it the row lies, axis by axis.

        Parameters
        ----------
        X
            The rows.
        """
        # Once: a second product could round otherwise, and put a row in two cells or in none.
        coordinates = self.view.coordinates(X)
        farthest = np.abs(coordinates).max(axis=0, initial=0.0)
        beyond = np.flatnonzero(farthest > 1)
        outside, farthest = coordinates[:, beyond], farthest[beyond]
        keys, fractions = self.grid.locate(np.clip(coordinates, -1, 1, out=coordinates).T)
        for number, shell in enumerate(self.shells, start=1):
            # Exact comparisons: a border belongs to the inner cell.
            own = (farthest > 2.0 ** (number - 1)) & (farthest <= 2.0**number)
            rows = beyond[own]
            inside, parts = shell.locate(outside[:, own].T)
            keys[rows] = self.starts[number] + inside
            for fraction, part in zip(fractions, parts, strict=True):
                fraction[rows] = part
        return keys, fractions

    def bounds(self, keys: ArrayLike) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of each of these cells.

        Parameters
        ----------
        keys
            The numbers of the cells.
        """
        numbers = np.asarray(keys, dtype=np.int64)
        shells = np.searchsorted(self.starts, numbers, side="right") - 1
        low, high = np.empty((2, numbers.size, self.box.d))
        parts: tuple[Grid | Shell, ...] = (self.grid, *self.shells)
        for number, cells in enumerate(parts):
            own = shells == number
            low[own], high[own] = cells.bounds(numbers[own] - self.starts[number])
        return self.view.place(low), self.view.place(high)


@dataclass(frozen=True, init=False, eq=False)
class FarGrid:
    """A partition of a space of many axes: a grid of its middle, and wide cells far beyond.

    A point with a coordinate beyond ``BEYOND`` is in one of the doublings of that distance, and
    there in a third of the range along each of the first axes. Points nearer than that are in the
    nearest cell of the grid. Keys run through the grid, then through the doublings.

    Parameters
    ----------
    grid
        The cells of [-1, 1]^p.
    farthest
        What no coordinate exceeds by more than rounding; public or released.

    Examples
    --------
    >>> cells = FarGrid(Grid(Box(y0=(-1, 1)), 2), farthest=7.0)
    >>> cells.size, cells.keys([[0.5], [2.0], [-3.9], [7.0]]).tolist()
    (8, [1, 1, 2, 7])
    """

    # Widths of a view, and axes whose thirds part far rows: docs/decisions/private-kmeans.md.
    BEYOND: ClassVar[float] = 2.0
    MOST_AXES: ClassVar[int] = 7

    grid: Grid
    halves: tuple[float, ...]
    axes: int
    size: int

    def __init__(self, grid: Grid, farthest: float) -> None:
        halves, half = list[float](), self.BEYOND
        while half < farthest:
            half *= 2
            halves.append(half)
        axes = min(grid.box.d, self.MOST_AXES)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "halves", tuple(halves))
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "size", grid.size + 3**axes * len(halves))

    @property
    def box(self) -> Box:
        """The box of the grid."""
        return self.grid.box

    def keys(self, X: ArrayLike) -> Integers:
        """Return the number of each point's cell.

        Parameters
        ----------
        X
            The points, which may lie outside the box.
        """
        points = as_matrix(X, self.box.d)
        keys, farthest = self.grid.keys(points), np.abs(points).max(axis=1, initial=0.0)
        for number, half in enumerate(self.halves):
            # Exact comparisons: a border belongs to the nearer cell, and the last doubling ends
            # nowhere.
            is_last = number + 1 == len(self.halves)
            own = (farthest > half / 2) & ((farthest <= half) | is_last)
            thirds = self._thirds(half).keys(points[own, : self.axes])
            keys[own] = self.grid.size + 3**self.axes * number + thirds
        return keys

    def bounds(self, keys: ArrayLike) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of each of these cells.

        Parameters
        ----------
        keys
            The numbers of the cells.
        """
        numbers = np.asarray(keys, dtype=np.int64)
        low, high = np.empty((2, numbers.size, self.box.d))
        near = numbers < self.grid.size
        low[near], high[near] = self.grid.bounds(numbers[near])
        doublings, thirds = np.divmod(numbers - self.grid.size, 3**self.axes)
        for number, half in enumerate(self.halves):
            own = ~near & (doublings == number)
            low[own], high[own] = -half, half
            first = self._thirds(half).bounds(thirds[own])
            low[own, : self.axes], high[own, : self.axes] = first
        return low, high

    def spread_inside(self, keys: Integers, columns: int) -> Floats:
        """Return the mean squared distance of rows to the middle of each of these far cells.

        A cell is a third of its range along the first axes; along the others rows are taken to
        fill half of it.

        Parameters
        ----------
        columns
            How many columns the rows have.
        """
        halves = np.array(self.halves)[(keys - self.grid.size) // 3**self.axes]
        return np.asarray(halves**2 * (self.axes / 27 + (columns - self.axes) / 12))

    def _thirds(self, half: float) -> Grid:
        names = self.box.names[: self.axes]
        return Grid(Box.of(names, [-half] * self.axes, [half] * self.axes), 3)
