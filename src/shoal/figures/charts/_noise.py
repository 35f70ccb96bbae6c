"""Figures of a mechanism's noise at several budgets: on a plane, along an axis, over a list."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import DimensionMismatch
from shoal.figures._figure import import_plotly
from shoal.figures._panels import (
    Panel,
    Panels,
    check_panels,
    panel_numbers,
    typical_error,
    typical_errors,
)
from shoal.figures.maps._cell_paths import draw_cells, shade_levels
from shoal.figures.palette import PALETTE, SHADES
from shoal.figures.svg import Svg, nice_ticks, px
from shoal.figures.text import format_number, format_ticks, shorten

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
    areas: Mapping[str, float] | None = None,
) -> "NoiseMap":
    """Draw where the reports of one place fall, on a plane.

    Parameters
    ----------
    reports
        For each panel's title, many reports of one place, two numbers each.
    truth
        That place.
    reach
        How far the map goes up and down from its middle.
    title
        What the figure is.
    finding
        What it shows, in a sentence.
    rings
        For each panel's title, the distances within which half and 95 in 100 reports fall.
    box
        The low and high corner of a public box, drawn as a frame.
    unit
        The unit of distances, for the scale bar.
    middle
        The middle of the map; ``truth`` if left out.
    areas
        For each panel's title, the mean distance of the reports, drawn as a ring; instead of
        ``rings``.

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
    for name, values in check_panels(reports).items():
        places = np.asarray(values, dtype=float)
        if places.ndim != 2 or places.shape[1] != 2:
            raise DimensionMismatch(
                f"A map shows two columns; the reports have shape {places.shape}.",
                "Choose two, or draw one of them with noise_histogram.",
            )
        cells, *_ = np.histogramdd(places, bins=(_COLUMNS, _ROWS), range=sides)
        error = typical_error(np.linalg.norm(places - np.asarray(truth, dtype=float), axis=1))
        panel = panel_numbers(name, error, cells=cells.astype(int).tolist())
        if areas is not None:
            panel |= {"rings": [areas[name]], "note": f"mean distance {areas[name]:.3g}"}
        panels.append(panel if rings is None else panel | _ring_numbers(rings[name]))
    alt = f"A map {2 * width:.4g} wide and {2 * reach:.4g} high{_in_unit(unit)}. A stronger colour "
    alt += f"means more reports. {finding}"
    data = {
        **{"low": [s[0] for s in sides], "high": [s[1] for s in sides], "unit": unit},
        **{"truth": [float(t) for t in truth], "panels": panels},
        "box": None if box is None else [list(map(float, corner)) for corner in box],
    }
    return NoiseMap(title=title, alt=f"{alt} {_describe(panels)}", data=data)


class NoiseMap(Panels):
    """The figure that ``noise_map`` returns."""

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
            svg.path(
                f"M{px(x)} {px(y)}H{px(right)}V{px(top)}H{px(x)}z",
                "truth",
            )
        x, y = self._at(frame, self.data["truth"])
        svg.path(f"M{px(x - 5)} {px(y)}h10m-5 -5v10", "cross")
        self._draw_scale_bar(svg, frame)
        svg.path(
            f"M{px(frame.left)} {frame.top}H{px(frame.right)}V{frame.bottom}H{px(frame.left)}z",
            "frame",
        )

    def _levels(self) -> list[int]:
        """Return one scale of shades for all panels, so that they can be compared."""
        return shade_levels(np.array([panel["cells"] for panel in self.data["panels"]]))

    def _at(self, frame: Panel, place: Sequence[float]) -> tuple[float, float]:
        (left, low), (right, high) = self.data["low"], self.data["high"]
        x, y = (place[0] - left) / (right - left), (place[1] - low) / (high - low)
        return frame.across(x), frame.upwards(y)

    def _draw_scale_bar(self, svg: Svg, frame: Panel) -> None:
        length = nice_ticks(0, self.data["high"][0] - self.data["low"][0], 5)[1]
        wide = length * _scale(frame, self.data)
        x, y = frame.left + 10, frame.bottom - 10
        svg.path(
            f"M{px(x)} {px(y - 4)}v4h{px(wide)}v-4",
            "cross",
        )
        svg.text(
            x + wide + 6, y + 2, f"{format_number(length)} {self.data['unit']}".strip(), "start"
        )

    def _trace(self, panel: Mapping[str, Any]) -> Any:
        go = import_plotly()
        shades = [PALETTE[f"shade-{i}"][0] for i in range(1, SHADES + 1)]
        return go.Heatmap(z=np.array(panel["cells"]).T.tolist(), colorscale=shades, showscale=False)


def _ring_numbers(rings: tuple[float, float]) -> dict[str, Any]:
    return {"rings": list(rings), "note": f"95 in 100 within {rings[1]:.3g}"}


def _describe(panels: Sequence[Mapping[str, Any]]) -> str:
    if "rings" not in panels[0]:
        return typical_errors(panels)
    if len(panels[0]["rings"]) == 1:
        means = [f"{p['rings'][0]:.3g} at {p['title']}" for p in panels]
        return f"A ring has the mean distance of the reports: {'; '.join(means)}."
    each = [
        f"{p['rings'][0]:.3g} and 95 in 100 within {p['rings'][1]:.3g} at {p['title']}"
        for p in panels
    ]
    return f"Half within {'; half within '.join(each)}."


def _in_unit(unit: str) -> str:
    return f", in {unit}" if unit else ""


def _scale(frame: Panel, data: Mapping[str, Any]) -> float:
    """Return how many drawn units one unit of distance has."""
    return float((frame.right - frame.left) / (data["high"][0] - data["low"][0]))


def _circle(x: float, y: float, r: float) -> str:
    wide = px(2 * r)
    return f"M{px(x - r)} {px(y)}a{px(r)} {px(r)} 0 1 0 {wide} 0a{px(r)} {px(r)} 0 1 0 -{wide} 0z"


def noise_histogram(
    reports: Mapping[str, ArrayLike],
    *,
    truth: float,
    low: float,
    high: float,
    name: str,
    title: str,
    finding: str,
    bins: int = 80,
) -> "NoiseHistogram":
    """Draw where the reports of one number fall.

    Parameters
    ----------
    reports
        For each panel's title ("epsilon 1"), many reports of one number.
    truth
        That number; a dashed line marks it.
    low
        The start of the shared axis. Reports beyond it are not drawn, but count in the error.
    high
        The end of the shared axis.
    name
        The title of the axis.
    title
        What the figure is.
    finding
        What it shows, in a sentence.
    bins
        How many bins the axis has.

    Examples
    --------
    >>> figure = noise_histogram({"epsilon 1": [0, 1, 1, 2]}, truth=1, low=-2, high=4,
    ...                          name="Report", title="Noise", finding="Most fall near 1.")
    >>> figure.alt
    'Report from -2 to 4 across, share of reports upwards, each panel to its own height. The true
    value is 1. Most fall near 1. Typical error: 0.707 (epsilon 1).'
    """
    panels = []
    for heading, values in check_panels(reports).items():
        drawn = np.asarray(values, dtype=float).ravel()
        counts, _ = np.histogram(drawn, bins=bins, range=(low, high))
        error = typical_error(drawn - truth)
        panels.append(panel_numbers(heading, error, shares=(counts / drawn.size).round(6).tolist()))
    alt = (
        f"{name} from {format_number(low)} to {format_number(high)} across, share of reports "
        f"upwards, each "
    )
    alt += f"panel to its own height. The true value is {format_number(truth)}. {finding}"
    data = {"name": name, "low": low, "high": high, "truth": truth, "panels": panels}
    return NoiseHistogram(title=title, alt=f"{alt} {typical_errors(panels)}", data=data)


class NoiseHistogram(Panels):
    """The figure that ``noise_histogram`` returns."""

    kind = "noise_histogram"

    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        low, high, shares = self.data["low"], self.data["high"], panel["shares"]
        tallest = max(*shares, 1e-9)
        steps = f"M{px(frame.left)} {px(frame.bottom)}"
        for i, share in enumerate(shares):
            steps += (
                f"V{px(frame.upwards(share / tallest))}H{px(frame.across((i + 1) / len(shares)))}"
            )
        svg.path(f"{steps}V{px(frame.bottom)}z", "under")
        svg.path(
            f"M{px(frame.left)} {px(frame.bottom)}H{px(frame.right)}",
            "frame",
        )
        truth = frame.across((self.data["truth"] - low) / (high - low))
        svg.path(
            f"M{px(truth)} {px(frame.top)}V{px(frame.bottom)}",
            "truth",
        )
        ticks = nice_ticks(low, high, 3)
        for tick, text in zip(ticks, format_ticks(ticks), strict=True):
            place = frame.across((tick - low) / (high - low))
            svg.text(place, frame.bottom + 24, text, "middle")

    def _trace(self, panel: Mapping[str, Any]) -> Any:
        go = import_plotly()
        edges = np.linspace(self.data["low"], self.data["high"], len(panel["shares"]) + 1)
        return go.Bar(x=((edges[1:] + edges[:-1]) / 2).tolist(), y=panel["shares"])


def noise_bars(
    chances: Mapping[str, ArrayLike],
    *,
    names: Sequence[str],
    truth: Sequence[int],
    title: str,
    finding: str,
    of: str = "each report",
) -> "NoiseBars":
    """Draw how often each entry of a short list is reported.

    Parameters
    ----------
    chances
        For each panel's title, a probability for each entry.
    names
        The entries.
    truth
        Which of them say the truth: their bars are filled, the others pale.
    title
        What the figure is.
    finding
        What it shows, in a sentence.
    of
        What a bar is the probability of.

    Examples
    --------
    >>> noise_bars({"epsilon 1": [0.7, 0.3]}, names=["yes", "no"], truth=[0], title="Answers",
    ...            finding="The truth leads.").alt
    'A bar for each of yes, no: the chance of each report, from 0 upwards. True: yes. The
    truth leads. Chances: 70, 30 in 100 at epsilon 1.'
    """
    panels = []
    for heading, values in check_panels(chances).items():
        each = np.asarray(values, dtype=float).ravel()
        if each.size != len(names):
            raise DimensionMismatch(
                f"There are {each.size} chances and {len(names)} names.", "Give each name a chance."
            )
        panels.append({"title": heading, "note": "", "chances": each.round(6).tolist()})
    chances_text = [f"{_in_100(panel['chances'])} in 100 at {panel['title']}" for panel in panels]
    axes = f"A bar for each of {', '.join(names)}: the chance of {of}, from 0 upwards. "
    true = " and ".join(names[place] for place in truth)
    alt = f"{axes}True: {true}. {finding} Chances: {'; '.join(chances_text)}."
    data = {"names": list(names), "truth": list(truth), "panels": panels}
    return NoiseBars(title=title, alt=alt, data=data)


class NoiseBars(Panels):
    """The figure that ``noise_bars`` returns."""

    kind = "noise_bars"
    margins = (14, 14, 34)

    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        names, tallest = self.data["names"], max(max(p["chances"]) for p in self.data["panels"])
        for i, chance in enumerate(panel["chances"]):
            css = "bar" if i in self.data["truth"] else "bar other"
            middle = frame.across((i + 0.5) / len(names))
            half, height = (frame.right - frame.left) / len(names) * 0.36, chance / tallest * 0.78
            top = frame.upwards(height)
            svg.path(
                f"M{px(middle - half)} {frame.bottom}V{px(top)}h{px(2 * half)}V{frame.bottom}z",
                css,
            )
            svg.text(middle, top - 5, _in_100([chance]), "middle")
            svg.text(middle, frame.bottom + 24, shorten(names[i], 9), "middle")
        svg.path(
            f"M{px(frame.left)} {frame.bottom}H{px(frame.right)}",
            "frame",
        )

    def _trace(self, panel: Mapping[str, Any]) -> Any:
        go = import_plotly()
        return go.Bar(x=self.data["names"], y=panel["chances"])


def _in_100(chances: Sequence[float]) -> str:
    return ", ".join(f"{100 * chance:.0f}" for chance in chances)
