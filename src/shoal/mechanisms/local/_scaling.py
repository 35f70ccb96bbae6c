"""Conversion between raw units and the public scaled units in which distances are measured."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.domain.box import as_matrix
from shoal.errors import InvalidDomain, setting, value_text
from shoal.mechanisms.local._records import domain_required

Scale = str | Sequence[float] | Floats | None
_LATITUDES = {"lat", "latitude"}
_LONGITUDES = {"lon", "lng", "long", "longitude"}


@dataclass(frozen=True)
class Scaling:
    """The public unit of each column in which distances between records are measured.

    Parameters
    ----------
    scale
        ``None``: 1 a column (kilometres for ``Box.geo``). ``"box"``: half the box's sides. Or a
        positive number a column.
    domain
        The public box, if there is one.

    Examples
    --------
    >>> Scaling.of((10, 2), None).scaled([[40, 7]]).tolist()
    [[4.0, 3.5]]
    """

    scale: str | tuple[float, ...] | None
    domain: Box | None

    @classmethod
    def of(cls, scale: Scale, domain: Box | None) -> "Scaling":
        """Check scale and domain against each other and combine them.

        Parameters
        ----------
        domain
            The public box, if there is one.
        """
        if domain is not None and not isinstance(domain, Box):
            raise InvalidDomain(
                setting("domain") + f" must be a Box; got {value_text(domain)}.",
                "E.g. domain=Box(age=(0, 110)).",
            )
        if scale is None:
            if domain is not None and domain.distance_unit != "km":
                refuse_degrees(domain.names)
            return cls(None, domain)
        if isinstance(scale, str) and scale == "box":
            return cls("box", domain_required(domain, "scale='box'"))
        return cls(_checked_units(scale, domain), domain)

    @property
    def d(self) -> int | None:
        """The number of columns, if domain or scale tell it."""
        if self.domain is not None:
            return self.domain.d
        return len(self.scale) if isinstance(self.scale, tuple) else None

    @property
    def unit(self) -> str:
        """The unit of distances: ``"km"`` for a geographic box."""
        return "1" if self.domain is None else self.domain.distance_unit

    @property
    def named(self) -> tuple[float, ...] | None:
        """The scale as numbers, so that guarantees about two boxes are of different kinds."""
        if self.scale == "box" and self.domain is not None:
            return tuple((self.domain.sides / 2).tolist())
        return self.scale if isinstance(self.scale, tuple) else None

    def origin(self, d: int) -> Floats:
        """Return where a lattice starts: the box's low corner, or zero."""
        return np.zeros(d) if self.domain is None else self.domain.low

    def units(self, d: int) -> Floats:
        """Return the length of one scaled unit in each column, in raw units."""
        box = self.domain
        if self.scale == "box" and box is not None:
            return (box.high - box.low) / 2
        # Degrees in one kilometre for a geographic box; 1 for any other.
        raw = np.ones(d) if box is None else (box.high - box.low) / box.sides
        return raw if self.scale is None else raw * np.array(self.scale, dtype=np.float64)

    def scaled(self, values: ArrayLike) -> Floats:
        """Convert reports or public points to scaled units."""
        points = as_matrix(values, self.d)
        d = points.shape[1]
        return (points - self.origin(d)) / self.units(d)

    def unscaled(self, points: Floats) -> Floats:
        """Convert scaled points back to raw units."""
        d = points.shape[1]
        return np.multiply(points, self.units(d)) + self.origin(d)


def _checked_units(scale: Scale, domain: Box | None) -> tuple[float, ...]:
    units = np.atleast_1d(np.asarray(scale))
    good = units.dtype.kind in "fiu" and units.ndim == 1 and units.size > 0
    good = good and (domain is None or units.size == domain.d)
    if good and np.all(np.isfinite(units) & (units > 0)):
        return tuple(units.astype(np.float64).tolist())
    columns = "each column" if domain is None else f"each of {domain.d} columns"
    raise InvalidDomain(
        setting("scale") + f" must be None, 'box' or one positive, finite number for {columns}.",
        "Say how much of a column counts as one unit of distance, e.g. "
        + setting("scale", (10, 0.5))
        + "; choose it without the rows.",
    )


def refuse_degrees(names: Iterable[str]) -> None:
    """Refuse columns of latitude and longitude: epsilon per degree is almost never meant.

    Parameters
    ----------
    names
        The column names.
    """
    parts = {word for name in names for word in re.split(r"[^a-z]+", name.lower())}
    if parts & _LATITUDES and parts & _LONGITUDES:
        raise InvalidDomain(
            "The columns are a latitude and a longitude in degrees, so epsilon would be per "
            "degree.",
            "Use Box.geo(latitude=..., longitude=...) and epsilon per kilometre; give "
            "other columns a mechanism of their own, or "
            + setting("scale")
            + " if degrees are really meant.",
            reason="degrees",
        )
