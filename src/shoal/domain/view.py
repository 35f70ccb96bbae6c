"""A public view: rows of many columns projected onto a few axes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.domain.box import Box
from shoal.domain.grid import Partition
from shoal.errors import InvalidDomain, TooLarge, quantity, setting

# With lengths on this lattice and so many columns, the sums of a projection are exact: see apply.
MOST_AXES = 256
_STEPS_PER_UNIT = 2.0**23


@dataclass(frozen=True, init=False, eq=False)
class View:
    r"""See rows as :math:`y = Q^T(x - c) / b`, clipped to the cube :math:`[-1, 1]^p`.

    Here x is the row with its box scaled to :math:`[-1, 1]^d`. Every number of it, and every entry
    of Q, is rounded to a multiple of 2^-23. Products then sum without rounding, whatever order the
    machine adds them in, so where a row lands depends on that row alone: not on its place in a
    block, nor on the engine. A row more or less moves no other row into another cell.

    Parameters
    ----------
    domain
        The box of the rows.
    axes
        Q: a column of length 1 for each axis of the view, at right angles to one another. Public or
        released.
    center
        c, in the units of the scaled box. Public or released.
    width
        b, in the units of the scaled box. Public or released.

    Examples
    --------
    >>> view = View(Box(x=(0, 10), y=(0, 10)), axes=[[1.0], [0.0]], width=0.5)
    >>> view.box
    Box(y0=(-1, 1))
    >>> view.apply([[6.0, 9.0], [10.0, 0.0]]).round(3).tolist()
    [[0.4], [1.0]]
    >>> view.embed([[0.4]]).round(3).tolist()
    [[6.0, 5.0]]
    """

    domain: Box
    axes: Floats
    center: Floats
    width: float
    box: Box

    def __init__(
        self, domain: Box, axes: ArrayLike, center: ArrayLike = 0.0, width: float = 1.0
    ) -> None:
        directions = np.asarray(axes, dtype=np.float64)
        middle = np.broadcast_to(np.asarray(center, dtype=np.float64), (domain.d,))
        _check(domain, directions, middle, width)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "axes", _round_to_lattice(directions))
        object.__setattr__(self, "center", _round_to_lattice(np.clip(middle, -1, 1)))
        object.__setattr__(self, "width", float(width))
        p = directions.shape[1]
        object.__setattr__(
            self, "box", Box.of([f"y{i}" for i in range(p)], -np.ones(p), np.ones(p))
        )

    def apply(self, X: ArrayLike) -> Floats:
        """Project rows of the domain; what falls outside the cube is moved to its surface.

        Parameters
        ----------
        X
            The rows.
        """
        coordinates = self.coordinates(X)
        return np.clip(coordinates, -1, 1, out=coordinates).T

    def coordinates(self, X: ArrayLike) -> Floats:
        """Project rows of the domain, those outside the cube too; a line for each axis.

        Parameters
        ----------
        X
            The rows.
        """
        box = self.domain
        # A line a column, each in one piece of memory, changed in place: rows are many.
        offset: Floats = np.subtract(box.clip(X).T, box.low[:, None], order="C")
        offset *= (2 * _STEPS_PER_UNIT / (box.high - box.low))[:, None]
        np.rint(offset, out=offset)
        offset *= 1 / _STEPS_PER_UNIT
        offset -= self.center[:, None] + 1
        # Entries reach 2, columns of Q have length 1: partial sums are multiples of 2^-46
        # below 2^6, as 2 sqrt(d) <= 2^5. So each is a float64 and exact.
        coordinates: Floats = self.axes.T @ offset
        coordinates /= self.width
        return coordinates

    def embed(self, Y: ArrayLike) -> Floats:
        """Return the nearest point of the domain for each point of the view.

        Parameters
        ----------
        Y
            Points of the view.
        """
        return self.place(self.box.clip(Y))

    def place(self, Y: ArrayLike) -> Floats:
        """Return the nearest point of the domain for each point on the axes, beyond the cube too.

        Parameters
        ----------
        Y
            Points in the coordinates of the view.
        """
        inside = self.center + np.asarray(Y) * self.width @ self.axes.T
        return self.domain.unscale(np.clip(inside, -1, 1), -1, 1)

    @property
    def farthest(self) -> float:
        """What no coordinate of a row of the domain exceeds by more than rounding."""
        along_axes = np.abs(self.axes).T @ (1 + np.abs(self.center))
        return float(along_axes.max() / self.width)

    def widened(self, factor: float) -> "View":
        """Return the same view of a cube that is larger by a factor."""
        return View(self.domain, self.axes, self.center, self.width * factor)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, which ``View.of`` takes together with the domain."""
        arrays = {"axes": self.axes.tolist(), "center": self.center.tolist()}
        return {**arrays, "width": self.width}

    @classmethod
    def of(cls, domain: Box, values: Mapping[str, Any]) -> Self:
        """Rebuild a view from ``to_dict``.

        Parameters
        ----------
        domain
            The box of the rows.
        values
            What ``to_dict`` returned.
        """
        return cls(domain, values["axes"], values["center"], values["width"])


@dataclass(frozen=True)
class ViewedCells:
    """Cells of a view as a partition of the rows themselves.

    Parameters
    ----------
    view
        The projection.
    cells
        A partition of the view's box, in which points outside have a cell too.
    """

    view: View
    cells: Partition

    @property
    def box(self) -> Box:
        """The box of the rows."""
        return self.view.domain

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.cells.size

    def keys(self, X: ArrayLike) -> Integers:
        """Return the number of each row's cell.

        Parameters
        ----------
        X
            The rows.
        """
        return self.cells.keys(self.view.coordinates(X).T)


def _round_to_lattice(values: Floats) -> Floats:
    """Round to multiples of 2**-23, so that products sum exactly."""
    steps = values * _STEPS_PER_UNIT
    return np.rint(steps, out=steps) / _STEPS_PER_UNIT


def _check(domain: Box, axes: Floats, center: Floats, width: float) -> None:
    if domain.d > MOST_AXES:
        raise TooLarge(
            f"A view takes at most {MOST_AXES} columns; the box has {domain.d}.",
            "Choose the columns that matter, e.g. box.select([...]).",
            reason="columns",
        )
    if axes.ndim != 2 or axes.shape[0] != domain.d or not 1 <= axes.shape[1] <= domain.d:
        raise InvalidDomain(
            f"The axes have shape {axes.shape}; the box has {quantity(domain.d, 'column')}.",
            f"Give an array of shape ({domain.d}, p), a column for each axis of the view.",
        )
    if not np.allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-4):
        raise InvalidDomain(
            "The axes must have length 1 and be at right angles.", "E.g. np.linalg.qr(axes).Q."
        )
    if not (np.all(np.isfinite(center)) and np.isfinite(width) and width > 0):
        raise InvalidDomain(
            "The centre and the width must be finite numbers.",
            "E.g. " + setting("width", 1.0) + ".",
        )
