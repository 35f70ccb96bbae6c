"""A map of clustered cells over a public box, with the tree of their peaks beside it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DimensionMismatch
from shoal.figures.arrays import box_corners, points, whole_counts
from shoal.figures.cell_map import BOTTOM, HEIGHT, RIGHT, TOP, WIDTH, CellMap
from shoal.figures.cells import draw_cells
from shoal.figures.palette import PALETTE
from shoal.figures.svg import Svg, at
from shoal.figures.text import number

__all__ = ["ClusterMap", "cluster_map"]

SERIES = 6
MOST_MARKED = 40
_MOST_A_SIDE = 256
_TREE = 220  # width of the tree beside the map


def cluster_map(
    labels: ArrayLike,
    *,
    names: Sequence[str],
    low: ArrayLike,
    high: ArrayLike,
    sizes: ArrayLike,
    centers: ArrayLike,
    branches: Sequence[tuple[int, float, float, int]] = (),
    rows: ArrayLike | None = None,
    title: str,
) -> "ClusterMap":
    """Draw the cells of clusters, one colour and number a cluster.

    Parameters
    ----------
    labels
        A cluster's number from 0 for each cell of a grid of two columns, -1 for none.
    names, low, high
        Axis titles and the public box.
    sizes, centers
        A noisy number of rows, and a place for the mark, for each cluster.
    branches
        Of the tree: cluster, height of its peak, height at which it joins another, the other's
        number or -1.
    rows
        People's places, for the holder of the rows alone.
    title
        What it is.

    Examples
    --------
    >>> figure = cluster_map([[0, -1], [-1, 1]], names=["x", "y"], low=[0, 0], high=[2, 2],
    ...                      sizes=[30, 12], centers=[[0.5, 0.5], [1.5, 1.5]], title="Two groups")
    >>> figure.alt
    'x from 0 to 2 across, y from 0 to 2 upwards. 2 clusters; the largest, number 1, holds about
    30 people. Numbers are noisy.'
    """
    found, corners = whole_counts(labels), box_corners(low, high)
    if found.ndim != 2 or corners.shape != (2, 2) or len(names) != 2:
        raise DimensionMismatch(
            f"Labels of {found.ndim} columns came; a map shows two.", "Choose two columns."
        )
    drawn = _every(found)
    data = {
        "names": [str(name) for name in names],
        "low": corners[0].tolist(),
        "high": corners[1].tolist(),
        "cells": list(drawn.shape),
        "merged": 1,
        "labels": drawn.tolist(),
        "centers": points(centers).tolist() if np.size(centers) else [],
        "sizes": np.rint(np.asarray(sizes, dtype=float)).astype(int).tolist(),
        "branches": [list(branch) for branch in branches],
        "rows": None if rows is None else points(rows).tolist(),
    }
    return ClusterMap(title=title, alt=_alt(data), data=data)


class ClusterMap(CellMap):
    """The picture of ``cluster_map``."""

    kind = "cluster_map"

    def svg(self, page: bool = False) -> str:
        """The picture, 640 x 440, wider with a tree."""
        svg = Svg(WIDTH + (_TREE if self.data["branches"] else 0), HEIGHT, self.title, self.alt)
        self._draw_axes(svg)
        labels = np.array(self.data["labels"], dtype=np.int64)
        colours = np.where(labels >= 0, labels % SERIES + 1, 0)
        draw_cells(svg, colours, list(range(1, SERIES + 1)), *self._edges(), colours="c")
        svg.path(f"M{self._left} {TOP}H{RIGHT}V{BOTTOM}H{self._left}z", "frame")
        if self.data["rows"]:
            dots = (f"M{at(self._x(x))} {at(self._y(y))}h0" for x, y in self.data["rows"])
            svg.path("".join(dots), "row")
        for place, (x, y) in enumerate(self.data["centers"][:MOST_MARKED], start=1):
            svg.mark(self._x(x), self._y(y), place)
        if self.data["branches"]:
            self._draw_tree(svg)
        return svg.render(page)

    def plotly(self) -> Any:
        """The same as a heat map."""
        import plotly.graph_objects as go

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

    def _draw_tree(self, svg: Svg) -> None:
        """Each cluster a line from its peak down to where it joins a higher one."""
        branches = self.data["branches"][:MOST_MARKED]
        step = (_TREE - 48) / max(len(branches), 2)
        place = {branch[0]: WIDTH + 24 + step * (i + 0.5) for i, branch in enumerate(branches)}
        top = max(branch[1] for branch in branches)
        lines = []
        for cluster, peak, joins, other in branches:
            x, up, down = place[cluster], _upwards(peak / top), _upwards(joins / top)
            lines.append(f"M{at(x)} {at(up)}V{at(down)}")
            if other in place:
                lines.append(f"H{at(place[other])}")
        svg.path("".join(lines), "cross")
        for cluster, peak, _, _ in branches:
            svg.mark(place[cluster], _upwards(peak / top), cluster + 1)
        svg.text(WIDTH + _TREE / 2, HEIGHT - 8, "peaks and the passes between", "middle")


def _upwards(share: float) -> float:
    return BOTTOM - share * (BOTTOM - TOP - 20)


def _every(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """So many cells as can be told apart: of finer grids every second, third, ... along an axis."""
    steps = [-(-side // _MOST_A_SIDE) for side in labels.shape]
    return labels[:: steps[0], :: steps[1]]


def _alt(data: dict[str, Any]) -> str:
    ends = [
        f"{name} from {number(low)} to {number(high)}"
        for name, low, high in zip(data["names"], data["low"], data["high"], strict=True)
    ]
    said = f"{ends[0]} across, {ends[1]} upwards. {_found(data['sizes'])}"
    dots = "" if data["rows"] is None else " Dots are people: for the holder of the rows only."
    return f"{said} Numbers are noisy.{dots}"


def _found(sizes: list[int]) -> str:
    if not sizes:
        return "No cluster stands out."
    largest = int(np.argmax(sizes))
    if len(sizes) == 1:
        return f"One cluster, of about {number(sizes[0])} people."
    held = f"the largest, number {largest + 1}, holds about {number(sizes[largest])} people."
    return f"{number(len(sizes))} clusters; {held}"
