"""Where reports of one place fall on a plane, at several budgets."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import DimensionMismatch
from shoal.figures.cells import draw_cells, shade_levels
from shoal.figures.palette import PALETTE, SHADES
from shoal.figures.panels import Panel, Panels, measured, some, typical_error, typical_errors
from shoal.figures.svg import Svg, at, nice_ticks
from shoal.figures.text import number

__all__ = ["NoiseMap", "noise_map"]

_ROWS, _COLUMNS = 41, 61  # odd, so that the place itself lies in the middle of a cell


def noise_map(
    reports: Mapping[str, ArrayLike],
    *,
    truth: Sequence[float],
    reach: float,
    title: str,
    finding: str,
    rings: Mapping[str, tuple[float, float]] | None = None,
    box: tuple[Sequence[float], Sequence[float]] | None = None,
    unit: str = "",
    middle: Sequence[float] | None = None,
) -> "NoiseMap":
    """Draw where the reports of one place fall, on a plane.

    Parameters
    ----------
    reports
        By the title of a panel, many reports of one place, two numbers each.
    truth, reach, middle
        That place; how far the map goes up and down from its middle, ``truth`` if left out.
    title, finding
        What it is, and what it shows in a sentence.
    rings
        By the title of a panel, the distances within which half and 95 in 100 reports fall.
    box
        Low and high corner of a public box, drawn as a frame.
    unit
        Of distances, for the scale bar.

    Examples
    --------
    >>> figure = noise_map({"epsilon 1": [[0, 1], [1, 0]]}, truth=(0, 0), reach=5, title="Noise",
    ...                    finding="Reports scatter evenly.", rings={"epsilon 1": (1.68, 4.74)})
    >>> figure.alt.endswith("Half within 1.68 and 95 in 100 within 4.74 at epsilon 1.")
    True
    """
    centre = np.asarray(truth if middle is None else middle, dtype=float)
    width = reach * _COLUMNS / _ROWS
    sides = [(centre[0] - width, centre[0] + width), (centre[1] - reach, centre[1] + reach)]
    panels = []
    for words, values in some(reports).items():
        places = np.asarray(values, dtype=float)
        if places.ndim != 2 or places.shape[1] != 2:
            raise DimensionMismatch(
                f"Reports of shape {places.shape} came; a map shows two columns.",
                "Choose two, or draw one of them with noise_histogram.",
            )
        cells, *_ = np.histogramdd(places, bins=(_COLUMNS, _ROWS), range=sides)
        error = typical_error(np.linalg.norm(places - np.asarray(truth, dtype=float), axis=1))
        panel = measured(words, error, cells=cells.astype(int).tolist())
        panels.append(panel if rings is None else panel | _ringed(rings[words]))
    said = f"A map {2 * width:.4g} wide and {2 * reach:.4g} high{_in(unit)}. A stronger colour "
    said += f"means more reports. {finding}"
    data = {
        **{"low": [s[0] for s in sides], "high": [s[1] for s in sides], "unit": unit},
        **{"truth": [float(t) for t in truth], "panels": panels},
        "box": None if box is None else [list(map(float, corner)) for corner in box],
    }
    return NoiseMap(title=title, alt=f"{said} {_said(panels)}", data=data)


class NoiseMap(Panels):
    """The picture of ``noise_map``."""

    kind = "noise_map"
    margins = (8, 8, 4)

    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        cells = np.array(panel["cells"], dtype=np.int64)
        across = [round(frame.across(i / _COLUMNS), 1) for i in range(_COLUMNS + 1)]
        upwards = [round(frame.upwards(i / _ROWS), 1) for i in range(_ROWS + 1)]
        draw_cells(svg, cells, self._levels(), across, upwards)
        for radius, css in zip(panel.get("rings", ()), ("ring", "ring outer"), strict=False):
            svg.path(
                _circle(*self._at(frame, self.data["truth"]), radius * _scale(frame, self.data)),
                css,
            )
        if self.data["box"]:
            (x, y), (right, top) = (self._at(frame, corner) for corner in self.data["box"])
            svg.path(f"M{at(x)} {at(y)}H{at(right)}V{at(top)}H{at(x)}z", "truth")
        x, y = self._at(frame, self.data["truth"])
        svg.path(f"M{at(x - 5)} {at(y)}h10m-5 -5v10", "cross")
        self._draw_scale_bar(svg, frame)
        svg.path(
            f"M{at(frame.left)} {frame.top}H{at(frame.right)}V{frame.bottom}H{at(frame.left)}z",
            "frame",
        )

    def _levels(self) -> list[int]:
        """One scale of shades for all panels: what is paler is really thinner."""
        return shade_levels(np.array([panel["cells"] for panel in self.data["panels"]]))

    def _at(self, frame: Panel, place: Sequence[float]) -> tuple[float, float]:
        (left, low), (right, high) = self.data["low"], self.data["high"]
        x, y = (place[0] - left) / (right - left), (place[1] - low) / (high - low)
        return frame.across(x), frame.upwards(y)

    def _draw_scale_bar(self, svg: Svg, frame: Panel) -> None:
        length = nice_ticks(0, self.data["high"][0] - self.data["low"][0], 5)[1]
        wide = length * _scale(frame, self.data)
        x, y = frame.left + 10, frame.bottom - 10
        svg.path(f"M{at(x)} {at(y - 4)}v4h{at(wide)}v-4", "cross")
        svg.text(x + wide + 6, y + 2, f"{number(length)} {self.data['unit']}".strip(), "start")

    def _trace(self, panel: Mapping[str, Any]) -> Any:
        import plotly.graph_objects as go

        shades = [PALETTE[f"shade-{i}"][0] for i in range(1, SHADES + 1)]
        return go.Heatmap(z=np.array(panel["cells"]).T.tolist(), colorscale=shades, showscale=False)


def _ringed(rings: tuple[float, float]) -> dict[str, Any]:
    return {"rings": list(rings), "note": f"95 in 100 within {rings[1]:.3g}"}


def _said(panels: Sequence[Mapping[str, Any]]) -> str:
    if "rings" not in panels[0]:
        return typical_errors(panels)
    each = [
        f"{p['rings'][0]:.3g} and 95 in 100 within {p['rings'][1]:.3g} at {p['title']}"
        for p in panels
    ]
    return f"Half within {'; half within '.join(each)}."


def _in(unit: str) -> str:
    return f", in {unit}" if unit else ""


def _scale(frame: Panel, data: Mapping[str, Any]) -> float:
    """Drawn units for one unit of distance."""
    return float((frame.right - frame.left) / (data["high"][0] - data["low"][0]))


def _circle(x: float, y: float, r: float) -> str:
    wide = at(2 * r)
    return f"M{at(x - r)} {at(y)}a{at(r)} {at(r)} 0 1 0 {wide} 0a{at(r)} {at(r)} 0 1 0 -{wide} 0z"
