"""A public box: the bounds of each numeric column, stated without looking at the rows."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats
from shoal.errors import DimensionMismatch, InvalidDomain, NotNumeric, UnknownColumn

EARTH_RADIUS_KM = 6371.0088  # mean radius, IUGG


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Box:
    """Named, ordered columns with a lowest and a highest value each.

    Values stay in the rows' own units; ``scale`` and ``unscale`` go to a cube and back.

    Parameters
    ----------
    **bounds
        ``name=(low, high)`` for each column, in order. Choose them without the rows: bounds read
        from the rows give their extremes away.

    Examples
    --------
    >>> box = Box(age=(0, 110), visits=(0, 20))
    >>> box.names, box.d
    (('age', 'visits'), 2)
    >>> box.scale([[55, 20]]).tolist()
    [[0.5, 1.0]]
    >>> Box.geo(latitude=(52.2, 52.6), longitude=(13.1, 13.8)).distance_unit
    'km'
    """

    names: tuple[str, ...]
    low: Floats
    high: Floats
    distance_unit: str
    simulation: bool
    _km_per_unit: Floats | None

    def __init__(self, **bounds: tuple[float, float]) -> None:
        self._fill(tuple(bounds), *_split_pairs(bounds))

    @classmethod
    def unit(cls, d: int) -> "Box":
        """Return the box of columns ``x0 .. x(d-1)``, each on [0, 1].

        Parameters
        ----------
        d
            The number of columns.
        """
        if isinstance(d, bool) or not isinstance(d, int | np.integer) or d < 1:
            raise InvalidDomain(
                "A box needs at least one column.", "Give the number of columns, e.g. Box.unit(2)."
            )
        return cls.of([f"x{i}" for i in range(d)], np.zeros(d), np.ones(d))

    @classmethod
    def of(cls, names: Sequence[str], low: ArrayLike, high: ArrayLike) -> "Box":
        """Return the box of these names and corner points.

        Parameters
        ----------
        names
            The columns, in order.
        low
            The lowest value of each.
        high
            The highest value of each.
        """
        if isinstance(names, str) or not hasattr(names, "__iter__"):
            raise InvalidDomain("Names must be a list.", "E.g. Box.of(['x'], [0], [1]).")
        box = cls.__new__(cls)
        box._fill(tuple(names), low, high)
        return box

    @classmethod
    def geo(cls, **bounds: tuple[float, float]) -> "Box":
        """Return a box of latitude and longitude in degrees, with distances in kilometres.

        The map is the plane that touches the earth at the box's centre (equirectangular): right
        to 1 % for boxes of 100 km up to 50 degrees of latitude, to 5 % for 500 km. Whole-globe
        geometry is out of scope. Name the columns as your table does: the first is the latitude.

        Parameters
        ----------
        **bounds
            ``name=(low, high)`` for the latitude, then for the longitude.
        """
        box = cls.of(tuple(bounds), *_split_pairs(bounds))
        if box.d != 2 or not _on_earth(box):
            raise InvalidDomain(
                "A geographic box needs a latitude within [-90, 90] and a longitude of at most "
                "360 degrees, in this order.",
                "E.g. Box.geo(latitude=(40.4, 41.0), longitude=(-74.3, -73.7)).",
            )
        # Kilometres of a degree of latitude; of longitude, less by the cosine of the middle
        # latitude.
        degree = math.radians(1) * EARTH_RADIUS_KM
        middle = math.radians(float(box.low[0] + box.high[0]) / 2)
        object.__setattr__(box, "distance_unit", "km")
        object.__setattr__(box, "_km_per_unit", np.array([degree, degree * math.cos(middle)]))
        return box

    def _fill(self, names: tuple[str, ...], low: ArrayLike, high: ArrayLike) -> None:
        """Check names and corners and store them."""
        corner_low, corner_high = _checked_corner(low), _checked_corner(high)
        if not (len(names) == corner_low.size == corner_high.size) or not names:
            raise InvalidDomain(
                f"There are {len(names)} names, {corner_low.size} low and {corner_high.size} "
                "high values.",
                "Give each column one name and one pair, e.g. Box(age=(0, 110)).",
            )
        if len(set(names)) < len(names) or not all(isinstance(n, str) and n for n in names):
            raise InvalidDomain(
                "Column names must be different, non-empty texts.", "Rename the columns."
            )
        _check_order(names, corner_low, corner_high)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "low", corner_low)
        object.__setattr__(self, "high", corner_high)
        object.__setattr__(self, "distance_unit", "1")
        object.__setattr__(self, "simulation", False)
        object.__setattr__(self, "_km_per_unit", None)

    def simulated(self, yes: bool = True) -> "Box":
        """Return the same box, marked as estimated from the rows with seeded noise.

        Whoever has the seed can take the noise off such bounds, so they are not public: whatever
        is made with them is a simulation, even where its own noise is real.

        Parameters
        ----------
        yes
            False returns it as it is; a mark is never removed.

        Examples
        --------
        >>> Box(age=(0, 128)).simulated().simulation
        True
        """
        if self.simulation or not yes:
            return self
        box = copy.copy(self)
        object.__setattr__(box, "simulation", True)
        return box

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.names)

    @property
    def sides(self) -> Floats:
        """The length of each side in the unit of distance: kilometres for a geographic box."""
        widths = self.high - self.low
        return widths if self._km_per_unit is None else widths * self._km_per_unit

    @property
    def diameter(self) -> float:
        """The length of the diagonal in the unit of distance."""
        return math.hypot(*self.sides)

    def clip(self, X: ArrayLike) -> Floats:
        """Move rows outside the box to its nearest point.

        Parameters
        ----------
        X
            The rows.
        """
        return np.clip(self._rows(X), self.low, self.high)

    def contains(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Return which rows lie inside, edges included.

        Parameters
        ----------
        X
            The rows.
        """
        rows = self._rows(X)
        inside: NDArray[np.bool_] = np.all((rows >= self.low) & (rows <= self.high), axis=1)
        return inside

    def scale(self, X: ArrayLike, low: float = 0, high: float = 1) -> Floats:
        """Map rows of the box to the cube ``[low, high]^d``.

        Parameters
        ----------
        X
            The rows.
        low
            The lowest coordinate of the cube.
        high
            The highest.
        """
        return (self._rows(X) - self.low) / (self.high - self.low) * (high - low) + low

    def unscale(self, U: ArrayLike, low: float = 0, high: float = 1) -> Floats:
        """Map points of the cube back to the box.

        Parameters
        ----------
        U
            Points of the cube.
        low
            The lowest coordinate of the cube.
        high
            The highest.
        """
        return (self._rows(U) - low) / (high - low) * (self.high - self.low) + self.low

    def to_plane(self, X: ArrayLike) -> Floats:
        """Return rows as distances from the box's centre: kilometres for a geographic box.

        Parameters
        ----------
        X
            The rows.
        """
        offset = self._rows(X) - (self.low + self.high) / 2
        return offset if self._km_per_unit is None else offset * self._km_per_unit

    def from_plane(self, P: ArrayLike) -> Floats:
        """Return rows from their distances from the centre: ``to_plane`` undone.

        Parameters
        ----------
        P
            Points of the plane.
        """
        offset = self._rows(P)
        if self._km_per_unit is not None:
            offset = offset / self._km_per_unit
        return offset + (self.low + self.high) / 2

    def select(self, names: Sequence[str]) -> "Box":
        """Return the box of some columns, in the order given.

        Parameters
        ----------
        names
            The columns.
        """
        absent = [repr(name) for name in names if name not in self.names]
        if absent:
            raise UnknownColumn(
                f"The box has no column {', '.join(absent)}.", f"It has {', '.join(self.names)}."
            )
        at = [self.names.index(name) for name in names]
        if self.distance_unit == "km":
            if tuple(names) != self.names:
                raise InvalidDomain(
                    "A part of a geographic box would be in degrees.",
                    f"Take both, {self.names[0]!r} and {self.names[1]!r}, in this order.",
                )
            return self
        return Box.of(names, self.low[at], self.high[at]).simulated(self.simulation)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        bounds = zip(self.low.tolist(), self.high.tolist(), strict=True)
        # Only where it is set: other files stay as they were.
        mark = {"simulation": True} if self.simulation else {}
        columns = {
            n: {"low": a, "high": b} | mark for n, (a, b) in zip(self.names, bounds, strict=True)
        }
        return {"columns": columns, "distance_unit": self.distance_unit}

    def _rows(self, X: ArrayLike) -> Floats:
        return as_matrix(X, self.d)

    def _key(self) -> tuple[Any, ...]:
        return self.names, tuple(self.low), tuple(self.high), self.distance_unit, self.simulation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        pairs = zip(self.names, self.low, self.high, strict=True)
        inside = ", ".join(f"{name}=({low:g}, {high:g})" for name, low, high in pairs)
        mark = ".simulated()" if self.simulation else ""
        return f"Box{'.geo' if self.distance_unit == 'km' else ''}({inside}){mark}"


def as_matrix(X: ArrayLike, d: int | None = None) -> Floats:
    """Return rows as a float64 matrix, ``d`` columns wide; refuse other shapes and types.

    Parameters
    ----------
    d
        The number of columns it must have, if that is known.

    Raises
    ------
    NotNumeric
        If it holds something else than numbers.
    DimensionMismatch
        If it is no matrix, or of another width.
    """
    if isinstance(X, np.ma.MaskedArray):
        raise NotNumeric(
            "Masked arrays are not supported.", "Fill or drop the masked values first."
        )
    try:
        rows = np.asarray(X)
    except ValueError:
        raise NotNumeric(
            "The rows have different lengths.",
            "Give every row as many numbers as there are columns.",
        ) from None
    if rows.dtype.kind not in "fiu":
        raise NotNumeric(
            f"Expected an array of numbers; got {rows.dtype}.",
            "Convert it first; categories belong in a Schema.",
        )
    if rows.ndim != 2 or (d is not None and rows.shape[1] != d) or rows.shape[1] == 0:
        raise DimensionMismatch(
            f"Expected rows of {d or 'some'} columns; got an array of shape {rows.shape}.",
            shape_hint(rows.shape, d),
        )
    return rows.astype(np.float64, copy=False)


def shape_hint(shape: tuple[int, ...], columns: int | None) -> str:
    """Return what to do about an array that is no table of so many columns."""
    if len(shape) == 2:
        return "Pass one column for each column of the domain, in the same order."
    is_one = len(shape) == 1 and columns in (None, 1)
    return f"Pass a two-dimensional array{', e.g. X.reshape(-1, 1) for one column' * is_one}."


def _split_pairs(bounds: Mapping[str, tuple[float, float]]) -> tuple[list[float], list[float]]:
    try:
        return [low for low, _ in bounds.values()], [high for _, high in bounds.values()]
    except (TypeError, ValueError):
        raise InvalidDomain(
            "Bounds must be pairs of a lowest and a highest value.", "E.g. Box(age=(0, 110))."
        ) from None


def _checked_corner(values: ArrayLike) -> Floats:
    try:
        corner = np.atleast_1d(np.array(values))
    except ValueError:
        corner = np.array("ragged")
    if corner.dtype.kind not in "fiu" or corner.ndim != 1:
        raise InvalidDomain("Bounds must be plain numbers.", "E.g. Box(age=(0, 110)).")
    corner = corner.astype(np.float64)
    # A box is hashed: its corners must not change.
    corner.setflags(write=False)
    return corner


def _check_order(names: tuple[str, ...], low: Floats, high: Floats) -> None:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # 2**62 cells along a side must have a finite step: grids go as fine as that.
        good = (high > low) & np.isfinite(high - low) & np.isfinite(2.0**62 / (high - low))
    if not np.all(good):
        bad = ", ".join(repr(names[i]) for i in np.flatnonzero(~good))
        raise InvalidDomain(
            f"Bounds of {bad} are not two finite numbers, the lower first.",
            "Give low < high, e.g. Box(age=(0, 110)).",
        )


def _on_earth(box: Box) -> bool:
    latitudes = box.low[0] >= -90 and box.high[0] <= 90
    return bool(latitudes and box.d == 2 and box.high[1] - box.low[1] <= 360)
