"""Maps of two columns side by side: where the centres of groups lie, over cells or points."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import InvalidSetting
from shoal.figures._array_checks import box_corners, check_counts, check_points
from shoal.figures._figure import Figure, import_plotly
from shoal.figures._panels import Panel
from shoal.figures.maps._cell_paths import draw_cells, shade_levels
from shoal.figures.svg import Svg, nice_ticks, px
from shoal.figures.text import format_number, format_ticks, shorten

MOST = 4  # panels
MOST_POINTS = 4_000  # in one panel: more hide each other
FEW_POINTS = 300  # so few are drawn larger
_SERIES = 6
_TOP, _BELOW, _LEFT, _GAP = 50, 62, 46, 26


class CenterPanel(NamedTuple):
    """What one map shows; leave out what it does not have.

    Parameters
    ----------
    title
        What it is.
    note
        A line under the title.
    centers
        Where the numbered marks are, of shape (groups, 2).
    cells
        Counts on an even grid over the box, released.
    points
        Rows of a made-up or public table, or centres of many fits: of shape (n, 2).
    groups
        The group of each point, from 0; it decides the colour.
    """

    title: str
    note: str = ""
    centers: ArrayLike = ()
    cells: ArrayLike | None = None
    points: ArrayLike = ()
    groups: ArrayLike = ()


def center_maps(
    panels: Sequence[CenterPanel],
    *,
    names: Sequence[str],
    low: ArrayLike,
    high: ArrayLike,
    title: str,
    finding: str,
    note: str = "",
) -> "CenterMaps":
    """Draw one to four maps of the same two columns, with centres that can be compared.

    Points are rows of a made-up or public table, never of people.

    Parameters
    ----------
    panels
        The maps, from the left.
    names
        The two columns, across and upwards.
    low
        The low corner of the public box.
    high
        Its high corner.
    title
        What the figure is.
    finding
        Its main finding, in a sentence.
    note
        A line to print under the figure.

    Examples
    --------
    >>> left = CenterPanel("Plain", points=[[1, 1], [9, 9]], groups=[0, 1], centers=[[1, 1]])
    >>> right = CenterPanel("Private", cells=[[5, 0], [0, 4]], centers=[[1.2, 0.9]])
    >>> figure = center_maps([left, right], names=["x", "y"], low=[0, 0], high=[10, 10],
    ...                      title="Two maps", finding="The centres agree.")
    >>> figure.alt
    'x from 0 to 10 across, y from 0 to 10 upwards. The centres agree. Maps: Plain; Private.'
    """
    if not 1 <= len(panels) <= MOST:
        raise InvalidSetting(f"Give 1 to {MOST} maps; got {len(panels)}.", "Draw two figures.")
    corners = box_corners(low, high)
    data = {
        "names": [str(name) for name in names],
        "low": corners[0].tolist(),
        "high": corners[1].tolist(),
        "panels": [_panel_data(panel) for panel in panels],
    }
    ends = [
        f"{name} from {format_number(first)} to {format_number(last)}"
        for name, first, last in zip(data["names"], *corners, strict=True)
    ]
    listed = "; ".join(" - ".join(filter(None, panel[:2])) for panel in panels)
    alt = f"{ends[0]} across, {ends[1]} upwards. {finding.rstrip('.')}. Maps: {listed}."
    return CenterMaps(title=title, alt=alt, data=data, note=note)


def _panel_data(panel: CenterPanel) -> dict[str, Any]:
    points = _points(panel.points)[:MOST_POINTS]
    groups = np.asarray(panel.groups, dtype=np.int64)[:MOST_POINTS]
    cells = None if panel.cells is None else check_counts(panel.cells).tolist()
    return {"title": panel.title, "note": panel.note, "cells": cells} | {
        "centers": _points(panel.centers).tolist(),
        "points": points.round(4).tolist(),
        "groups": groups.tolist() if groups.size else [0] * len(points),
    }


def _points(places: ArrayLike) -> Any:
    return check_points(places) if np.size(places) else np.empty((0, 2))


class CenterMaps(Figure):
    """The figure that ``center_maps`` returns."""

    kind = "center_maps"

    @property
    def _side(self) -> int:
        """The side of a map: two are drawn larger than four."""
        return {1: 420, 2: 400}.get(len(self.data["panels"]), 216)

    def svg(self, page: bool = False) -> str:
        """Draw all maps in one row.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        panels, side = self.data["panels"], self._side
        height = _TOP + round(side * 0.72) + _BELOW
        svg = Svg(_LEFT + (side + _GAP) * len(panels), height, self.title, self.alt)
        for place, panel in enumerate(panels):
            left = _LEFT + (side + _GAP) * place
            frame = Panel(left, left + side, _TOP, height - _BELOW)
            self._draw_axes(svg, frame, is_first=place == 0)
            self._draw(svg, frame, panel)
            svg.text(frame.left, 20, panel["title"], "axis-title start")
            svg.text(frame.left, 40, panel["note"], "start wide")
        across, upwards = self.data["names"]
        axes = shorten(f"{across} across, {upwards[:1].lower()}{upwards[1:]} upwards", 90)
        svg.text((_LEFT + (side + _GAP) * len(panels)) / 2, height - 12, axes, "middle")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure, one subplot a map."""
        go = import_plotly()
        make_subplots = import_plotly("subplots").make_subplots
        panels = self.data["panels"]
        figure = make_subplots(1, len(panels), subplot_titles=[p["title"] for p in panels])
        for place, panel in enumerate(panels, start=1):
            for kind, size in (("points", 3), ("centers", 12)):
                x, y = np.reshape(panel[kind], (-1, 2)).T.tolist()
                trace = go.Scatter(x=x, y=y, mode="markers", marker={"size": size}, name=kind)
                figure.add_trace(trace, row=1, col=place)
        return figure.update_layout(title=self.title, showlegend=False)

    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        if panel["cells"] is not None:
            cells = np.array(panel["cells"], dtype=np.int64)
            across, upwards = (
                [round(at(i / parts), 1) for i in range(parts + 1)]
                for at, parts in zip((frame.across, frame.upwards), cells.shape, strict=True)
            )
            draw_cells(svg, cells, shade_levels(cells), across, upwards)
        for group in sorted(set(panel["groups"])):
            places = (
                p for p, g in zip(panel["points"], panel["groups"], strict=True) if g == group
            )
            drawn = (f"M{px(x)} {px(y)}h0" for x, y in (self._place(frame, p) for p in places))
            size = "speck" if len(panel["points"]) > FEW_POINTS else "speck large"
            svg.path("".join(drawn), f"{size} c{group % _SERIES + 1}")
        left, right = px(frame.left), px(frame.right)
        svg.path(f"M{left} {px(frame.top)}H{right}V{px(frame.bottom)}H{left}z", "frame")
        for number, center in enumerate(panel["centers"], start=1):
            svg.mark(*self._place(frame, center), number)

    def _draw_axes(self, svg: Svg, frame: Panel, *, is_first: bool) -> None:
        low, high = self.data["low"], self.data["high"]
        across, upwards = (nice_ticks(low[i], high[i], 4) for i in (0, 1))
        for tick, text in zip(across, format_ticks(across), strict=True):
            svg.text(self._place(frame, (tick, low[1]))[0], frame.bottom + 20, text, "middle")
        for tick, text in zip(upwards, format_ticks(upwards), strict=True):
            y = self._place(frame, (low[0], tick))[1]
            svg.path(f"M{px(frame.left)} {px(y)}H{px(frame.right)}", "lines")
            if is_first:
                svg.text(frame.left - 8, y + 5, text, "end")

    def _place(self, frame: Panel, point: Sequence[float]) -> tuple[float, float]:
        low, high = self.data["low"], self.data["high"]
        shares = [(point[i] - low[i]) / (high[i] - low[i]) for i in (0, 1)]
        return frame.across(shares[0]), frame.upwards(shares[1])
