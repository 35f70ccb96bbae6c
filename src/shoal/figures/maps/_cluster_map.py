"""A map of clustered cells over a public box, with the tree of their peaks below it.

Each peak of the tree is a line, from the height of the pass where it joins another to its own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Integers
from shoal.errors import DimensionMismatch
from shoal.figures._array_checks import box_corners, check_counts, check_points
from shoal.figures._figure import import_plotly
from shoal.figures.maps._cell_map import BOTTOM, HEIGHT, RIGHT, TOP, WIDTH, CellMap
from shoal.figures.maps._cell_paths import draw_cells
from shoal.figures.palette import PALETTE
from shoal.figures.svg import Svg, nice_ticks, px
from shoal.figures.text import format_number, format_ticks

Branch = tuple[int, float, float, int]
MOST_LINES = 16  # of the tree
LINE = 26  # the height of one
TREE_LEFT, TREE_RIGHT = 74, 612
_HEAD, _FOOT = 40, 56

SERIES = 6  # colours of clusters, repeated in turn
MOST_MARKED = 24  # more marks would hide the map: plain numbers from there on,
MOST_NUMBERED = 250  # and none from here on
_MOST_A_SIDE = 256  # finer cells would be under two pixels


def peaks_height(branches: Sequence[Branch]) -> int:
    """Return the height that the tree of peaks takes; 0 without one."""
    return _HEAD + LINE * min(len(branches), MOST_LINES) + _FOOT if branches else 0


def draw_peaks(svg: Svg, branches: Sequence[Branch], top: float, of: str = "people") -> None:
    """Draw the highest peaks as a tree, each below the one it joins.

    Parameters
    ----------
    branches
        Cluster, height of its peak, height of the pass at which it joins a higher peak, and that
        one's cluster, -1 for none.
    """
    if not branches:
        return
    shown = order_peaks(branches[:MOST_LINES])
    svg.text(TREE_LEFT, top + 24, "Peaks, and the passes between them", "start")
    if len(branches) > MOST_LINES:
        svg.text(TREE_RIGHT, top + 24, f"the {MOST_LINES} highest of {len(branches)}", "end wide")
    place = {branch[0]: top + _HEAD + LINE * (i + 0.5) for i, branch in enumerate(shown)}
    most = max(branch[1] for branch in shown)
    _draw_axis(svg, most, top + _HEAD, top + _HEAD + LINE * len(shown), of)
    for cluster, peak, joins, other in shown:
        y, from_, to = place[cluster], _x(max(joins, 0), most), _x(peak, most)
        if other in place:
            svg.path(
                f"M{px(from_)} {px(place[other])}V{px(y)}",
                "cross",
            )
        svg.path(
            f"M{px(from_)} {px(y)}H{px(to)}",
            f"peak c{cluster % 6 + 1}",
        )
        svg.text(TREE_LEFT - 9, y + 5, str(cluster + 1), "end")


def order_peaks(branches: Sequence[Branch]) -> list[Branch]:
    """Order peaks so that each is followed by those that join it, and no lines cross.

    Parameters
    ----------
    branches
        The tree, as ``draw_peaks`` takes it.

    Examples
    --------
    >>> tree = [(0, 9.0, 0.0, -1), (1, 8.0, 0.0, -1), (2, 7.0, 2.0, 0), (3, 6.0, 4.0, 0)]
    >>> [cluster for cluster, *_ in order_peaks(tree)]
    [0, 3, 2, 1]
    """
    joined: dict[int, list[Branch]] = {}
    for branch in sorted(branches, key=lambda branch: branch[2]):
        joined.setdefault(branch[3], []).append(branch)
    known = {branch[0] for branch in branches}
    waiting = [branch for branch in reversed(branches) if branch[3] not in known]
    order = []
    while waiting:
        order.append(waiting.pop())
        waiting += joined.get(order[-1][0], [])
    return order


def _draw_axis(svg: Svg, most: float, top: float, bottom: float, of: str) -> None:
    ticks = nice_ticks(0, most, 4)
    svg.path(
        "".join(f"M{px(_x(tick, most))} {px(top)}V{px(bottom)}" for tick in ticks),
        "lines",
    )
    for tick, text in zip(ticks, format_ticks(ticks), strict=True):
        svg.text(_x(tick, most), bottom + 22, text, "middle")
    svg.text(
        (TREE_LEFT + TREE_RIGHT) / 2, bottom + 46, f"{of} in a cell, smoothed", "axis-title middle"
    )


def _x(height: float, most: float) -> float:
    return TREE_LEFT + height / most * (TREE_RIGHT - TREE_LEFT)


def cluster_map(
    labels: ArrayLike,
    *,
    names: Sequence[str],
    low: ArrayLike,
    high: ArrayLike,
    sizes: ArrayLike,
    centers: ArrayLike,
    branches: Sequence[Branch] = (),
    rows: ArrayLike | None = None,
    noisy: bool = True,
    title: str,
    of: str = "people",
) -> "ClusterMap":
    """Draw the cells of clusters, one colour and number a cluster.

    Parameters
    ----------
    labels
        A cluster's number from 0 for each cell of a grid of two columns, -1 for none.
    names
        The titles of the axes.
    low
        The low corner of the public box.
    high
        Its high corner.
    sizes
        The number of rows of each cluster.
    centers
        Where to draw the mark of each cluster.
    branches
        The tree of peaks, from the highest down: cluster, height of its peak, height at which it
        joins a higher one, and which, or -1.
    rows
        People's places, for the holder of the rows alone.
    noisy
        Whether sizes and cells carry noise, which the words say.
    title
        What the figure is.
    of
        What is counted: people, or rows where nobody knows whose they are.

    Examples
    --------
    >>> figure = cluster_map([[0, -1], [-1, 1]], names=["x", "y"], low=[0, 0], high=[2, 2],
    ...                      sizes=[30, 12], centers=[[0.5, 0.5], [1.5, 1.5]], title="Two groups")
    >>> figure.alt
    'x from 0 to 2 across, y from 0 to 2 upwards. 2 clusters; the largest, number 1, holds about
    30 people. Numbers are noisy.'
    """
    cells, corners = check_counts(labels), box_corners(low, high)
    if cells.ndim != 2 or corners.shape != (2, 2) or len(names) != 2:
        raise DimensionMismatch(
            f"A map shows two columns; the labels have {cells.ndim}.", "Choose two columns."
        )
    drawn = _thin_cells(cells)
    data = {
        "names": [str(name) for name in names],
        "low": corners[0].tolist(),
        "high": corners[1].tolist(),
        "cells": list(drawn.shape),
        "merged": 1,
        "labels": drawn.tolist(),
        "centers": check_points(centers).tolist() if np.size(centers) else [],
        "sizes": np.rint(np.asarray(sizes, dtype=float)).astype(int).tolist(),
        "branches": [list(branch) for branch in branches],
        "rows": None if rows is None else check_points(rows).tolist(),
        "of": of,
    }
    return ClusterMap(title=title, alt=_describe(data, noisy), data=data)


class ClusterMap(CellMap):
    """The figure that ``cluster_map`` returns."""

    kind = "cluster_map"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 x 440, higher with a tree.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        branches = self.data["branches"]
        svg = Svg(WIDTH, HEIGHT + peaks_height(branches), self.title, self.alt)
        self._draw_axes(svg)
        svg.text(RIGHT, 27, "cells without colour belong to no group", "end wide")
        labels = np.array(self.data["labels"], dtype=np.int64)
        # Six colours in turn; borders and numbers tell clusters of one colour apart.
        colours = np.where(labels >= 0, labels % SERIES + 1, 0)
        shades = list(range(1, SERIES + 1))
        draw_cells(svg, colours, shades, *self._edges(), colours="c", joined=True)
        svg.path(_borders(labels, *self._edges()), "border")
        svg.path(f"M{self._left} {TOP}H{RIGHT}V{BOTTOM}H{self._left}z", "frame")
        if self.data["rows"]:
            dots = (f"M{px(self._x(x))} {px(self._y(y))}h0" for x, y in self.data["rows"])
            svg.path("".join(dots), "row")
        self._draw_numbers(svg)
        draw_peaks(svg, branches, HEIGHT, self.data.get("of", "people"))
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive heat map."""
        go = import_plotly()
        labels = np.array(self.data["labels"], dtype=float).T
        x, y = (e.tolist() for e in self._bounds())
        across, upwards = self.data["names"]
        colours = [PALETTE[f"series-{i}"][0] for i in range(1, SERIES + 1)]
        shown = np.where(labels >= 0, labels % SERIES, np.nan)
        heat = go.Heatmap(x=x, y=y, z=shown, colorscale=colours, showscale=False)
        figure = go.Figure(heat)
        if self.data["rows"]:
            xs, ys = zip(*self.data["rows"], strict=True)
            figure.add_trace(go.Scatter(x=xs, y=ys, mode="markers", marker={"size": 3}))
        return figure.update_layout(title=self.title, xaxis_title=across, yaxis_title=upwards)

    def _draw_numbers(self, svg: Svg) -> None:
        """Draw a mark for each of a few clusters, or a number for each of many."""
        centers = self.data["centers"]
        if len(centers) <= MOST_MARKED:
            self._draw_marks(svg)
            return
        for place, (x, y) in enumerate(centers[:MOST_NUMBERED], start=1):
            svg.text(self._x(x), self._y(y) + 4, str(place), "number middle")


def _borders(labels: Integers, across: list[float], upwards: list[float]) -> str:
    """Return lines where two clusters touch: neighbours may have one colour."""
    lines = []
    for i, parted in enumerate(_differs_from_next(labels)):
        for first, last in _runs(parted):
            lines.append(f"M{px(across[i + 1])} {px(upwards[first])}V{px(upwards[last])}")
    for j, parted in enumerate(_differs_from_next(labels.T)):
        for first, last in _runs(parted):
            lines.append(f"M{px(across[first])} {px(upwards[j + 1])}H{px(across[last])}")
    return "".join(lines)


def _runs(parted: NDArray[np.bool_]) -> list[list[int]]:
    """Return the first index of each run of True, and the index after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], parted, [False]])))
    return edges.reshape(-1, 2).tolist()


def _differs_from_next(labels: Integers) -> NDArray[np.bool_]:
    """Return whether a cell and the next along the first axis belong to two clusters."""
    here, there = labels[:-1], labels[1:]
    return np.asarray((here != there) & (here >= 0) & (there >= 0))


def _thin_cells(labels: Integers) -> Integers:
    """Return at most 256 cells a side: every second, third, ... of a finer grid."""
    steps = [-(-side // _MOST_A_SIDE) for side in labels.shape]
    return labels[:: steps[0], :: steps[1]]


def _describe(data: dict[str, Any], noisy: bool) -> str:
    ends = [
        f"{name} from {format_number(low)} to {format_number(high)}"
        for name, low, high in zip(data["names"], data["low"], data["high"], strict=True)
    ]
    axes = f"{ends[0]} across, {ends[1]} upwards. {_sizes_text(data['sizes'], data['of'])}"
    dots = "" if data["rows"] is None else " Dots are people: for the holder of the rows only."
    return f"{axes} Numbers {'are noisy' if noisy else 'carry no noise'}.{dots}"


def _sizes_text(sizes: list[int], of: str) -> str:
    if not sizes:
        return "No cluster stands out."
    largest = int(np.argmax(sizes))
    if len(sizes) == 1:
        return f"One cluster, of about {format_number(sizes[0])} {of}."
    held = f"the largest, number {largest + 1}, holds about {format_number(sizes[largest])} {of}."
    return f"{format_number(len(sizes))} clusters; {held}"
