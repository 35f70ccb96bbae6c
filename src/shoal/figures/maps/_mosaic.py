"""A map of released cells of unequal sizes: the stronger the colour, the closer people are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.errors import DimensionMismatch
from shoal.figures._array_checks import box_corners, check_points
from shoal.figures.maps._cell_map import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    TRUE_COUNTS,
    WIDTH,
    CellMap,
    describe_dense_areas,
    map_alt_text,
)
from shoal.figures.maps._cell_paths import draw_legend, shade_levels
from shoal.figures.svg import Svg, px
from shoal.figures.text import count_decimals, format_number

_CELLS_AT_ONCE = 2**16  # cells: their shares in all parts of an axis are in memory together


def mosaic(
    low: ArrayLike,
    high: ArrayLike,
    weights: ArrayLike,
    *,
    names: Sequence[str],
    within: ArrayLike,
    title: str,
    finding: str | None = None,
) -> "Mosaic":
    """Draw cells of any sizes over two columns, coloured by density.

    Parameters
    ----------
    low
        The low corner of each cell.
    high
        Its high corner. Cells do not overlap.
    weights
        The released weight of each cell.
    names
        The titles of the axes.
    within
        The two corners of the public box.
    title
        What the figure is.
    finding
        Its main finding, in a sentence; left out, the densest areas are named.

    Examples
    --------
    >>> figure = mosaic([[0, 0], [2, 0]], [[2, 4], [4, 1]], [10, 90], names=["x", "y"],
    ...                 within=[[0, 0], [4, 4]], title="Two cells")
    >>> figure.alt.split(". ")[0]
    'x from 0 to 4 across, y from 0 to 4 upwards'
    >>> figure.data["density"]
    [1, 8]
    """
    corners = box_corners(*np.asarray(within, dtype=float))
    cells = np.hstack([check_points(low), check_points(high)])
    weight = np.asarray(weights, dtype=float)
    # As a share of the box, so that density does not depend on the columns' units.
    areas = np.prod((cells[:, 2:] - cells[:, :2]) / (corners[1] - corners[0]), axis=1)
    raster = raster_of_cells(cells[:, :2], cells[:, 2:], weight, within=corners, parts=24)
    sentence = finding or describe_dense_areas(raster, names, corners)
    data = {
        "names": [str(name) for name in names],
        "low": corners[0].tolist(),
        "high": corners[1].tolist(),
        "cells": cells.tolist(),
        "weights": weight.tolist(),
        "density": np.ceil(weight / areas / 100).astype(int).tolist(),
        "legend": "people in 1 % of the map, noisy",
    }
    return Mosaic(title=title, alt=map_alt_text(names, corners, sentence, ""), data=data)


def bars(
    low: ArrayLike,
    high: ArrayLike,
    weights: ArrayLike,
    *,
    name: str,
    within: ArrayLike,
    title: str,
    centers: ArrayLike = (),
    spans: ArrayLike = (),
    of: str = "people",
    noisy: bool = True,
) -> "Mosaic":
    """Draw cells along one column as bars, as high as their density.

    Parameters
    ----------
    low
        The lower end of each cell.
    high
        Its upper end.
    weights
        The released weight of each cell.
    name
        The column.
    within
        The two ends of its public box.
    title
        What the figure is.
    centers
        Places to mark and number on the axis.
    spans
        From where to where each of them reaches: a line below its bars.
    of
        What is counted: people, or rows where nobody knows whose they are.
    noisy
        Whether the weights carry noise; if not, the words say that they are for the holder alone.

    Examples
    --------
    >>> bars([0, 5], [5, 10], [10, 300], name="age", within=[0, 10], title="Ages").data["density"]
    [1, 6]
    """
    first, last = (np.ravel(np.asarray(end, dtype=float)) for end in (low, high))
    ends, weight = np.ravel(np.asarray(within, dtype=float)), np.asarray(weights, dtype=float)
    density = np.ceil(weight / (last - first) * (ends[1] - ends[0]) / 100).astype(int)
    top = max(int(density.max(initial=1)), 1)
    places = np.ravel(np.asarray(centers, dtype=float)).tolist()
    reaches = np.asarray(spans, dtype=float).reshape(-1, 2).tolist()
    alt = (
        f"{name} from {format_number(ends[0])} to {format_number(ends[1])} across; bars as "
        f"high as {of} in 1 % of it, up to {format_number(top)}. "
        f"{_describe_places(places, reaches, float(ends[1] - ends[0]))}"
        f"{'Counts are noisy.' if noisy else TRUE_COUNTS}"
    )
    data = {
        "names": [name, f"{of} in 1 %"],
        "low": [float(ends[0]), 0.0],
        "high": [float(ends[1]), float(top)],
        "cells": np.column_stack([first, np.zeros_like(first), last, density]).tolist(),
        "weights": weight.tolist(),
        "density": density.tolist(),
        "legend": f"{of} in 1 % of the axis, {'noisy' if noisy else 'true'}",
        "centers": places,
        "spans": reaches,
    }
    return Mosaic(title=title, alt=alt, data=data)


def _describe_places(
    places: Sequence[float], reaches: Sequence[Sequence[float]], side: float
) -> str:
    """Describe where the numbered places lie, in a sentence; nothing without any."""
    decimals = count_decimals(side) + 1
    if reaches:
        each = (" to ".join(format_number(end, decimals) for end in ends) for ends in reaches)
    else:
        each = (format_number(place, decimals) for place in places)
    named = "; ".join(f"{number} at {where}" for number, where in enumerate(each, 1))
    return f"Numbered: {named}. " if named else ""


class Mosaic(CellMap):
    """The figure that ``mosaic`` and ``bars`` return."""

    kind = "mosaic"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 x 440.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        svg = Svg(WIDTH, HEIGHT, self.title, self.alt)
        self._draw_axes(svg)
        density = np.array(self.data["density"], dtype=np.int64)
        levels = shade_levels(np.minimum(density, self._shading_limit(density)))
        self._draw_tiles(svg, np.searchsorted(levels, density, side="right"))
        svg.path(f"M{self._left} {TOP}H{RIGHT}V{BOTTOM}H{self._left}z", "frame")
        draw_legend(svg, levels, LEFT, RIGHT, self.data["legend"])
        self._draw_places(svg)
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive heat map on a regular grid."""
        cells = np.array(self.data["cells"], dtype=float).reshape(-1, 4)
        box = [self.data["low"], self.data["high"]]
        raster = raster_of_cells(cells[:, :2], cells[:, 2:], self.data["weights"], within=box)
        shown = {"noisy_counts": raster.tolist(), "cells": list(raster.shape), "merged": 1}
        return CellMap(title=self.title, alt=self.alt, data={**self.data, **shown}).plotly()

    def _shading_limit(self, density: Integers) -> int:
        """Return the density that 95 in 100 people have around them at most."""
        order = np.argsort(density)
        people = np.cumsum(np.array(self.data["weights"], dtype=float)[order])
        if not people.size:
            return 1
        return int(density[order][np.searchsorted(people, 0.95 * people[-1])])

    def _draw_places(self, svg: Svg) -> None:
        """Draw the numbered places of bars on the axis, and how far each reaches."""
        for low, high in self.data.get("spans", ()):
            left, right = px(self._x(low)), px(self._x(high))
            svg.path(f"M{left} {BOTTOM}H{right}M{left} {BOTTOM - 6}v12M{right} {BOTTOM - 6}v12",
                     "cross")  # fmt: skip
        for number, place in enumerate(self.data.get("centers", ()), start=1):
            svg.mark(self._x(place), BOTTOM, number)

    def _draw_tiles(self, svg: Svg, shades: Integers) -> None:
        """Draw tiles as thick lines, one path for those of a shade and a height."""
        paths: dict[tuple[int, float], list[str]] = {}
        for (left, bottom, right, top), shade in zip(self.data["cells"], shades, strict=True):
            if shade:
                height = round(self._y(bottom) - self._y(top), 1)
                start = f"M{px(self._x(left))} {px((self._y(bottom) + self._y(top)) / 2)}"
                line = f"{start}H{px(self._x(right))}"
                paths.setdefault((int(shade), height), []).append(line)
        for (shade, height), lines in sorted(paths.items()):
            svg.path("".join(lines), f"cells q{shade}", width=height)


def raster_of_cells(
    low: ArrayLike, high: ArrayLike, weights: ArrayLike, *, within: ArrayLike, parts: int = 48
) -> Integers:
    """Spread cells' weights over a regular grid of one or two columns, and round the sums.

    Parameters
    ----------
    low
        The low corner of each cell.
    high
        Its high corner. Cells may overlap, as projections of cells in more columns do.
    weights
        The weight of each cell.
    within
        The two corners of the public box.
    parts
        How many parts the grid has along each axis.

    Examples
    --------
    >>> raster_of_cells([[0, 0]], [[2, 1]], [8], within=[[0, 0], [4, 2]], parts=2).tolist()
    [[8, 0], [0, 0]]
    """
    corners = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    box, weight = np.asarray(within, dtype=float), np.asarray(weights, dtype=float)
    d = _check_columns(*corners, box)
    counts = np.zeros((parts,) * d)
    for start in range(0, len(weight), _CELLS_AT_ONCE):
        some = slice(start, start + _CELLS_AT_ONCE)
        low_some, high_some = corners[0][some], corners[1][some]
        shares = [_shares(low_some[:, i], high_some[:, i], box[:, i], parts) for i in range(d)]
        across = (shares[0] * weight[some, None]).T
        counts += across.sum(axis=1) if d == 1 else across @ shares[1]
    return np.asarray(np.rint(counts), dtype=np.int64)


def raster_of_points(
    points: ArrayLike, weights: ArrayLike, *, within: ArrayLike, parts: int = 48
) -> Integers:
    """Add points' weights up on a regular grid of one or two columns, and round the sums.

    Parameters
    ----------
    points
        The points; those outside count at the grid's edge.
    weights
        The weight of each point.
    within
        The two corners of the public box.
    parts
        How many parts the grid has along each axis.

    Examples
    --------
    >>> raster_of_points([[0, 0], [9, 1]], [3, 4], within=[[0, 0], [4, 2]], parts=2).tolist()
    [[3, 0], [0, 4]]
    """
    places, box = np.asarray(points, dtype=float), np.asarray(within, dtype=float)
    d = _check_columns(places, box)
    sides = [(low, high) for low, high in box.T]
    inside, weight = np.clip(places, box[0], box[1]), np.asarray(weights, dtype=float)
    counts, *_ = np.histogramdd(inside, bins=(parts,) * d, range=sides, weights=weight)
    return np.asarray(np.rint(counts), dtype=np.int64)


def _shares(low: Floats, high: Floats, ends: Floats, parts: int) -> Floats:
    """Return how much of each cell's side lies in each part of an axis."""
    edges = np.linspace(ends[0], ends[1], parts + 1)
    overlap = np.minimum(high[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1])
    return np.asarray(np.maximum(overlap, 0) / (high - low)[:, None])


def _check_columns(*arrays: Floats) -> int:
    """Return how many columns all arrays have: one or two."""
    widths = {int(array.shape[1]) if array.ndim == 2 else 0 for array in arrays}
    if widths not in ({1}, {2}):
        raise DimensionMismatch(
            "A map shows two columns, and bars one; the arrays have shapes "
            f"{', '.join(str(a.shape) for a in arrays)}.",
            "Choose two columns, e.g. low[:, :2].",
        )
    return widths.pop()
