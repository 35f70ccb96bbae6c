"""A map of cell counts over a public box: the stronger the colour, the more people.

The densest areas are read off noisy counts: post-processing, so it costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.errors import DimensionMismatch
from shoal.figures._array_checks import box_corners, check_counts, check_points
from shoal.figures._figure import Figure, import_plotly
from shoal.figures.maps._cell_paths import draw_cells, draw_legend, shade_levels
from shoal.figures.palette import PALETTE, SHADES
from shoal.figures.svg import Svg, nice_ticks, px
from shoal.figures.text import count_decimals, format_number, format_ticks, shorten

MOST_CELLS = 10_000  # drawn one by one; of finer grids neighbours are merged
WIDTH, HEIGHT = 640, 440
LEFT, RIGHT, TOP, BOTTOM = 74, 626, 44, 378
MARKS_APART = 40  # so that numbers do not meet where a narrow screen draws marks twice as large
_SPREADING = 40  # rounds of moving marks apart
TRUE_COUNTS = "Counts are true: for the holder of the rows only."
LETTER = 13  # the width of a digit where it is drawn largest, on a narrow screen


def cell_map(
    noisy_counts: ArrayLike,
    *,
    names: Sequence[str],
    low: ArrayLike,
    high: ArrayLike,
    title: str,
    finding: str | None = None,
    centers: ArrayLike | None = None,
    reach: ArrayLike | None = None,
    of: str = "people",
) -> "CellMap":
    """Draw noisy counts of a regular grid over two columns.

    Parameters
    ----------
    noisy_counts
        One released count a cell, first column across, second upwards. Cells of 0 or less stay
        empty: the noise may take a count below zero. Above 10,000 cells neighbours are added up.
    names
        The titles of the axes.
    low
        The low corner of the public box, which the axes span whatever the rows are.
    high
        Its high corner.
    title
        What the figure is.
    finding
        Its main finding, in a sentence; left out, the densest areas are named.
    centers
        Points to mark and number.
    reach
        How far noise may have moved each of them, along both axes: drawn as rings.
    of
        What is counted: people, or rows where nobody knows whose they are.

    Examples
    --------
    >>> figure = cell_map([[0, 9], [1, 0]], names=["age", "visits"], low=[0, 0], high=[110, 20],
    ...                   title="Visits by age")
    >>> figure.alt
    'age from 0 to 110 across, visits from 0 to 20 upwards. A stronger colour means more people. The
    densest area lies near age 55, visits 10. Counts are noisy.'
    >>> figure.svg().startswith("<svg")
    True
    """
    drawn = _map_content(noisy_counts, names, low, high, finding)
    data = {
        **drawn.axes,
        "noisy_counts": drawn.counts.tolist(),
        "centers": [] if centers is None else check_points(centers).tolist(),
        "reach": [] if reach is None else check_points(reach).tolist(),
        "of": of,
    }
    note = drawn.note("released cells")
    alt = map_alt_text(names, drawn.corners, drawn.finding, note, of=of)
    return CellMap(title=title, alt=alt, data=data, note=note)


def true_cell_map(
    counts: ArrayLike,
    *,
    names: Sequence[str],
    low: ArrayLike,
    high: ArrayLike,
    title: str,
    centers: ArrayLike | None = None,
) -> "CellMap":
    """Draw true counts of a regular grid over two columns, for the holder of the rows.

    The picture, its description and its data say that the counts are true, so that none can pass
    for a released one.

    Parameters
    ----------
    counts
        One true count a cell, first column across, second upwards.
    names
        The titles of the axes.
    low
        The low corner of the public box.
    high
        Its high corner.
    title
        What the figure is.
    centers
        Points to mark and number.

    Examples
    --------
    >>> figure = true_cell_map([[0, 9], [1, 0]], names=["age", "visits"], low=[0, 0],
    ...                        high=[110, 20], title="Visits by age")
    >>> figure.alt.split(". ")[-1]
    'Counts are true: for the holder of the rows only.'
    """
    drawn = _map_content(counts, names, low, high, None)
    data = {
        **drawn.axes,
        "true_counts": drawn.counts.tolist(),
        "centers": [] if centers is None else check_points(centers).tolist(),
    }
    note = drawn.note("cells")
    alt = map_alt_text(names, drawn.corners, drawn.finding, note, TRUE_COUNTS)
    return CellMap(title=title, alt=alt, data=data, note=note)


class _MapContent(NamedTuple):
    """What a map shows, whether its counts are true or noisy."""

    axes: dict[str, Any]
    counts: Integers
    corners: Floats
    finding: str

    def note(self, what: str) -> str:
        """Return a sentence that says cells were merged, if they were."""
        if (factor := self.axes["merged"]) == 1:
            return ""
        cells = " x ".join(format_number(m) for m in self.axes["cells"])
        return f"The {cells} {what} are drawn merged, {factor} x {factor} to one."


def _map_content(
    given: ArrayLike, names: Sequence[str], low: ArrayLike, high: ArrayLike, finding: str | None
) -> _MapContent:
    counts, corners = check_counts(given), box_corners(low, high)
    if counts.ndim != 2 or corners.shape != (2, 2) or len(names) != 2 or not counts.size:
        raise DimensionMismatch(
            f"A map shows two columns; the counts have {counts.ndim} and the box {len(names)}.",
            "Choose two columns, e.g. counts.reshape(grid.shape) of a grid over two.",
        )
    merged, factor = _merge_cells(counts)
    axes = {
        "names": [str(name) for name in names],
        "low": corners[0].tolist(),
        "high": corners[1].tolist(),
        "cells": list(counts.shape),
        "merged": factor,
    }
    return _MapContent(
        axes, merged, corners, finding or describe_dense_areas(counts, names, corners)
    )


class CellMap(Figure):
    """The figure that ``cell_map`` and ``true_cell_map`` return; its data say which."""

    kind = "cell_map"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 x 440.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        svg = Svg(WIDTH, HEIGHT, self.title, self.alt)
        self._draw_axes(svg)
        counts = np.array(self._counts, dtype=np.int64)
        levels = shade_levels(counts)
        draw_cells(svg, counts, levels, *self._edges())
        svg.path(f"M{self._left} {TOP}H{RIGHT}V{BOTTOM}H{self._left}z", "frame")
        kind = "true" if self._is_true else "noisy"
        counted = self.data.get("of", "people")
        draw_legend(svg, levels, LEFT, RIGHT, f"{counted} in a cell, {kind}")
        for center, reach in zip(self.data["centers"], self.data.get("reach", ()), strict=False):
            svg.path(self._ring(center, reach), "ring")
        self._draw_marks(svg)
        return svg.render(page)

    def _draw_marks(self, svg: Svg) -> None:
        """Draw a numbered mark at each centre; marks that would meet are moved aside."""
        places = [(self._x(x), self._y(y)) for x, y in self.data["centers"]]
        moved = spread_marks(places, (self._left, TOP), (RIGHT, BOTTOM))
        for (x, y), (at_x, at_y) in zip(places, moved, strict=True):
            if abs(x - at_x) + abs(y - at_y) > 4:
                svg.path(f"M{px(x)} {px(y)}L{px(at_x)} {px(at_y)}", "leader")
        for number, (x, y) in enumerate(moved, start=1):
            svg.mark(x, y, number)

    def plotly(self) -> Any:
        """Return an interactive heat map."""
        go = import_plotly()
        counts = np.array(self._counts, dtype=float).T
        shades = [PALETTE[f"shade-{i}"][0] for i in range(1, SHADES + 1)]
        across, upwards = self.data["names"]
        x, y = (e.tolist() for e in self._bounds())
        heat = go.Heatmap(x=x, y=y, z=np.where(counts > 0, counts, np.nan), colorscale=shades)
        figure = go.Figure(heat)
        return figure.update_layout(title=self.title, xaxis_title=across, yaxis_title=upwards)

    @property
    def _is_true(self) -> bool:
        return "true_counts" in self.data

    @property
    def _counts(self) -> Any:
        return self.data["true_counts" if self._is_true else "noisy_counts"]

    def _x(self, value: float) -> float:
        low, high = self.data["low"][0], self.data["high"][0]
        return float(self._left + (value - low) / (high - low) * (RIGHT - self._left))

    def _y(self, value: float) -> float:
        low, high = self.data["low"][1], self.data["high"][1]
        return float(BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP))

    def _ring(self, center: Sequence[float], reach: Sequence[float]) -> str:
        """Return the path of an ellipse, cut off where the box ends."""
        turn = np.linspace(0, 2 * np.pi, 49)[:-1]
        across = center[0] + reach[0] * np.cos(turn), self.data["low"][0], self.data["high"][0]
        upwards = center[1] + reach[1] * np.sin(turn), self.data["low"][1], self.data["high"][1]
        edge = zip(np.clip(*across), np.clip(*upwards), strict=True)
        return f"M{'L'.join(f'{px(self._x(x))} {px(self._y(y))}' for x, y in edge)}z"

    def _bounds(self) -> list[Floats]:
        """Return the edges of the drawn cells; the last merged one may be narrower."""
        edges = []
        for axis, cells in enumerate(self.data["cells"]):
            steps = np.append(np.arange(0, cells, self.data["merged"]), cells) / cells
            low, high = self.data["low"][axis], self.data["high"][axis]
            edges.append(low + steps * (high - low))
        return edges

    def _edges(self) -> tuple[list[float], list[float]]:
        across, upwards = self._bounds()
        return [round(self._x(v), 1) for v in across], [round(self._y(v), 1) for v in upwards]

    @property
    def _left(self) -> int:
        """The left edge, further in for long labels."""
        return LEFT + LETTER * max(_longest(self._ticks(1)) - 3, 0)

    def _ticks(self, axis: int) -> list[float]:
        """Return round numbers along an axis, as many as their labels leave room for."""
        low, high = self.data["low"][axis], self.data["high"][axis]
        if axis == 1:
            return nice_ticks(low, high, 5)
        # Fewer ticks until their labels fit.
        choices = (nice_ticks(low, high, about) for about in (6, 5, 4, 3, 2))
        fitting = (ticks for ticks in choices if self._fits(ticks))
        return next(fitting, nice_ticks(low, high, 1))

    def _fits(self, ticks: Sequence[float]) -> bool:
        """Whether labels across keep a letter's distance."""
        apart = min((self._x(b) - self._x(a) for a, b in pairwise(ticks)), default=WIDTH)
        return apart >= LETTER * (_longest(ticks) + 1)

    def _draw_axes(self, svg: Svg) -> None:
        across, upwards = self._ticks(0), self._ticks(1)
        lines = [f"M{px(self._x(tick))} {TOP}V{BOTTOM}" for tick in across]
        lines += [f"M{self._left} {px(self._y(tick))}H{RIGHT}" for tick in upwards]
        for tick, text in zip(across, format_ticks(across), strict=True):
            if self._x(tick) + LETTER * len(text) / 2 > WIDTH:
                svg.text(WIDTH - 2, BOTTOM + 26, text, "end")
            else:
                svg.text(self._x(tick), BOTTOM + 26, text, "middle")
        for tick, text in zip(upwards, format_ticks(upwards), strict=True):
            svg.text(self._left - 9, self._y(tick) + 5, text, "end")
        svg.path("".join(lines), "lines")
        across_title, upwards_title = (shorten(name, 40) for name in self.data["names"])
        svg.text((self._left + RIGHT) / 2, HEIGHT - 8, across_title, "axis-title middle")
        svg.text(18, (TOP + BOTTOM) / 2, upwards_title, "axis-title middle", upwards=True)


def spread_marks(
    places: Sequence[tuple[float, float]], low: tuple[float, float], high: tuple[float, float]
) -> list[tuple[float, float]]:
    """Return places for marks, those of a crowd moved apart until numbers can be read.

    Parameters
    ----------
    low, high
        The corners of the frame, which marks stay in.
    """
    moved = np.array(places, dtype=float).reshape(-1, 2)
    for _ in range(_SPREADING):
        for i in range(len(moved)):
            for j in range(i):
                gap = moved[i] - moved[j]
                distance = float(np.hypot(*gap))
                if distance < MARKS_APART:
                    # Marks on one spot part to the sides.
                    way = gap / distance if distance > 1e-6 else np.array([1.0, 0.0])
                    step = way * (MARKS_APART - distance) / 2
                    moved[i], moved[j] = moved[i] + step, moved[j] - step
        moved = np.clip(moved, np.array(low) + 14, np.array(high) - 14)
    return [(float(x), float(y)) for x, y in moved]


def _longest(ticks: Sequence[float]) -> int:
    return max(map(len, format_ticks(ticks)), default=0)


def _merge_cells(counts: Integers) -> tuple[Integers, int]:
    factor = 1
    while counts.size > MOST_CELLS:
        factor *= 2
        for axis in range(2):
            pairs = np.arange(0, counts.shape[axis], 2)
            counts = np.add.reduceat(counts, pairs, axis=axis)
    return counts, factor


def describe_dense_areas(counts: Integers, names: Sequence[str], corners: Floats) -> str:
    """Describe where the densest areas of a regular grid lie, in a sentence."""
    called = [shorten(str(name), 80) for name in names]
    decimals = [count_decimals(side) + 1 for side in (corners[1] - corners[0]) / counts.shape]
    middles = [area.middle for area in dense_areas(counts, *corners)]
    spots = [
        ", ".join(
            f"{n} {format_number(v, d)}" for n, v, d in zip(called, middle, decimals, strict=True)
        )
        for middle in middles
    ]
    if not spots:
        return "No cell stands out."
    if len(spots) == 1:
        return f"The densest area lies near {spots[0]}."
    return f"The densest areas lie near {'; '.join(spots[:-1])} and {spots[-1]}."


def map_alt_text(
    names: Sequence[str],
    corners: Floats,
    finding: str,
    note: str,
    counts: str = "Counts are noisy.",
    of: str = "people",
) -> str:
    """Describe a map in words: its axes, what its colour means, what it shows."""
    ends = [
        f"{shorten(str(name), 80)} from {format_number(low)} to {format_number(high)}"
        for name, low, high in zip(names, *corners, strict=True)
    ]
    axes = f"{ends[0]} across, {ends[1]} upwards. A stronger colour means more {of}. "
    return f"{axes}{finding.rstrip('.')}. {counts} {note}".strip()


@dataclass(frozen=True)
class Area:
    """A block of cells.

    Parameters
    ----------
    low
        Its low corner, in the columns' units.
    high
        Its high corner.
    cells
        How many cells it has.
    noisy_count
        The sum of their noisy counts.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    cells: int
    noisy_count: int

    @property
    def middle(self) -> tuple[float, float]:
        """The centre of the block."""
        across, upwards = zip(self.low, self.high, strict=True)
        return sum(across) / 2, sum(upwards) / 2


def dense_areas(
    noisy_counts: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    how_many: int = 3,
    above: float = 0,
) -> list[Area]:
    """Return the densest blocks of 3 x 3 cells that do not overlap, in order of count.

    A block adds nine counts up, so that one lucky draw of noise does not make an area; those of
    ``above`` or less are no areas. Peaks are taken first, then the best of what is left.

    Parameters
    ----------
    noisy_counts
        The counts of a regular grid.
    low
        The low corner of the box.
    high
        Its high corner.
    how_many
        The most blocks to return.
    above
        Blocks of this count or less are left out.

    Examples
    --------
    >>> counts = np.zeros((6, 6), dtype=int)
    >>> counts[1, 1], counts[4, 4] = 9, 5
    >>> [(a.middle, a.noisy_count) for a in dense_areas(counts, (0, 0), (6, 6), how_many=2)]
    [((1.5, 1.5), 9), ((4.5, 4.5), 5)]
    """
    counts = np.asarray(noisy_counts)
    corners = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    size = min(3, *counts.shape)
    blocks = np.lib.stride_tricks.sliding_window_view(counts, (size, size))
    sums = blocks.sum(axis=(2, 3))
    score = _block_scores(blocks)
    peaks = _is_peak(score)
    # After the peaks: blocks that are left out still count there as neighbours.
    score[sums <= above] = -np.inf
    areas: list[Area] = []
    while len(areas) < how_many and np.any(np.isfinite(score)):
        best = np.where(peaks, score, -np.inf)
        best = best if np.any(np.isfinite(best)) else score
        i, j = (int(place) for place in np.unravel_index(int(np.argmax(best)), score.shape))
        areas.append(_area(counts.shape, corners, (i, j), size, int(sums[i, j])))
        score[max(i - size + 1, 0) : i + size, max(j - size + 1, 0) : j + size] = -np.inf
    return sorted(areas, key=lambda area: -area.noisy_count)


def _block_scores(blocks: Integers) -> Floats:
    """Return each block's weighted sum, its middle weighing most."""
    weights = np.array({1: [1.0], 2: [1.0, 1.0], 3: [1.0, 2.0, 1.0]}[blocks.shape[-1]])
    return np.asarray(np.einsum("ijkl,k,l->ij", blocks, weights, weights))


def _is_peak(sums: Floats) -> NDArray[np.bool_]:
    """Return which blocks hold at least as much as all within two cells of them."""
    padded = np.pad(sums, 2, constant_values=-np.inf)
    around = np.lib.stride_tricks.sliding_window_view(padded, (5, 5)).max(axis=(2, 3))
    return np.asarray(sums >= around)


def _area(
    shape: tuple[int, ...],
    corners: tuple[Floats, Floats],
    start: tuple[int, int],
    size: int,
    total: int,
) -> Area:
    low, high = corners
    step = (high - low) / shape
    first = low + step * start
    last = first + step * size
    return Area(_pair(first), _pair(last), size * size, total)


def _pair(corner: Floats) -> tuple[float, float]:
    return float(corner[0]), float(corner[1])
