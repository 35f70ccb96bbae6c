"""Density maps side by side: what becomes of points from one stage to the next."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.figures._array_checks import box_corners
from shoal.figures._figure import import_plotly
from shoal.figures._panels import Panel, Panels, check_panels
from shoal.figures.maps._cell_paths import draw_cells, shade_levels
from shoal.figures.palette import PALETTE, SHADES
from shoal.figures.svg import Svg, px

MOST = 4  # panels in a row whose words can still be read
_PARTS = 32  # cells along each axis


def stage_map(
    stages: Mapping[str, ArrayLike],
    *,
    names: Sequence[str],
    within: ArrayLike,
    title: str,
    finding: str,
) -> "StageMap":
    """Draw the density of points at up to four stages, over the same two columns.

    Points of a public or made-up table only: a panel shows where true rows are. More than two
    columns are drawn pair by pair, one figure a pair.

    Parameters
    ----------
    stages
        For each stage its points, of shape (n, 2).
    names
        The two columns.
    within
        The two corners of the map; points outside are left out, and the note says how many.
    title
        What the figure is.
    finding
        Its main finding, in a sentence.

    Examples
    --------
    >>> figure = stage_map({"rows": [[1, 1]], "noise": [[9, 1]]}, names=["x", "y"],
    ...     within=[[0, 0], [4, 4]], title="Stages", finding="Noise moves them")
    >>> [panel["note"] for panel in figure.data["panels"]]
    ['1 inside', '0 inside, 1 not']
    """
    if len(check_panels(stages)) > MOST:
        raise InvalidSetting(f"Give at most {MOST} stages; got {len(stages)}.", "Draw two figures.")
    corners = box_corners(*np.asarray(within, dtype=float))
    panels = [_panel(name, points, corners) for name, points in stages.items()]
    alt = (
        f"{len(panels)} maps of {names[0]} across and {names[1]} upwards. A stronger colour means "
    )
    alt += f"more points. {finding.rstrip('.')}. "
    alt += "; ".join(f"{panel['title']}: {panel['note']}" for panel in panels)
    data = {"panels": panels, "name": f"{names[0]} across, {names[1]} upwards"}
    return StageMap(title=title, alt=f"{alt}.", data=data)


def _panel(name: str, points: ArrayLike, corners: Any) -> dict[str, Any]:
    places = np.asarray(points, dtype=float)
    if places.ndim != 2 or places.shape[1] != 2:
        raise DimensionMismatch(
            f"A map shows two columns; the points have shape {places.shape}.",
            "Draw one figure for each pair of columns.",
        )
    sides = list(zip(*corners, strict=True))
    cells, *_ = np.histogramdd(places, bins=(_PARTS, _PARTS), range=sides)
    inside = int(cells.sum())
    note = f"{inside:,} inside" + (
        f", {len(places) - inside:,} not" if inside < len(places) else ""
    )
    return {"title": name, "note": note, "cells": cells.astype(int).tolist()}


class StageMap(Panels):
    """The figure that ``stage_map`` returns."""

    kind = "stage_map"
    margins = (8, 8, 34)

    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        cells = np.array(panel["cells"], dtype=np.int64)
        across = [round(frame.across(i / _PARTS), 1) for i in range(_PARTS + 1)]
        upwards = [round(frame.upwards(i / _PARTS), 1) for i in range(_PARTS + 1)]
        draw_cells(svg, cells, shade_levels(cells), across, upwards)
        left, right = px(frame.left), px(frame.right)
        svg.path(f"M{left} {px(frame.top)}H{right}V{px(frame.bottom)}H{left}z", "frame")

    def _trace(self, panel: Mapping[str, Any]) -> Any:
        shades = [PALETTE[f"shade-{i}"][0] for i in range(1, SHADES + 1)]
        cells = np.array(panel["cells"]).T.tolist()
        return import_plotly().Heatmap(z=cells, colorscale=shades, showscale=False)
