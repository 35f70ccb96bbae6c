"""Small multiples: one picture at several settings side by side, so that eyes can compare.

The noise of a mechanism is drawn this way: many simulated reports of *one* record that the reader
is told, so no such picture is about a person.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InvalidSetting
from shoal.figures.figure import Figure, import_plotly
from shoal.figures.svg import Svg
from shoal.figures.text import shorten

__all__ = [
    "HEIGHT",
    "WIDTH",
    "Panel",
    "Panels",
    "check_panels",
    "panel_numbers",
    "typical_error",
    "typical_errors",
]

WIDTH, HEIGHT = 250, 196
TOP = 34


@dataclass(frozen=True)
class Panel:
    """Where a panel's drawing goes: left and right edge, top and bottom."""

    left: float
    right: float
    top: float
    bottom: float

    def across(self, share: float) -> float:
        """The place so far from the left edge, 0 to 1."""
        return self.left + share * (self.right - self.left)

    def upwards(self, share: float) -> float:
        """The place so far from the bottom, 0 to 1."""
        return self.bottom - share * (self.bottom - self.top)


class Panels(Figure):
    """Pictures in a row, 250 x 196 each, with a title each and, where there is room, a note."""

    margins = (14, 14, 58)  # left, right, below

    def svg(self, page: bool = False) -> str:
        """The pictures in one row."""
        panels = self.data["panels"]
        svg = Svg(WIDTH * len(panels), HEIGHT, self.title, self.alt)
        left, right, below = self.margins
        for place, panel in enumerate(panels):
            edge = WIDTH * place
            frame = Panel(edge + left, edge + WIDTH - right, TOP, HEIGHT - below)
            self._draw(svg, frame, panel)
            svg.text(frame.left, 23, panel["title"], "axis-title start")
            svg.text(frame.right, 23, panel["note"], "end wide")
        axis = shorten(self.data.get("name", ""), 40)
        svg.text(WIDTH * len(panels) / 2, HEIGHT - 5, axis, "middle")  # one for all: they share it
        return svg.render(page)

    @abstractmethod
    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        """One picture, inside its frame."""

    def plotly(self) -> Any:
        """The same, one subplot each."""
        make_subplots = import_plotly("subplots").make_subplots
        panels = self.data["panels"]
        figure = make_subplots(1, len(panels), subplot_titles=[p["title"] for p in panels])
        for place, panel in enumerate(panels, start=1):
            figure.add_trace(self._trace(panel), row=1, col=place)
        return figure.update_layout(title=self.title, showlegend=False)

    @abstractmethod
    def _trace(self, panel: Mapping[str, Any]) -> Any:
        """The same picture as one of plotly's traces."""


def check_panels(panels: Mapping[str, Any]) -> Mapping[str, Any]:
    """At least one panel, or an error that says so."""
    if panels:
        return panels
    raise InvalidSetting("There is no panel to draw.", 'E.g. {"epsilon 1": reports}.')


def panel_numbers(title: str, error: float, **numbers: Any) -> dict[str, Any]:
    """A panel's numbers, with its error as the note."""
    return {"title": title, "note": f"typical error {error:.3g}", "error": error, **numbers}


def typical_error(off: NDArray[np.float64]) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(off**2)))


def typical_errors(panels: Sequence[Mapping[str, Any]]) -> str:
    """The notes of all panels in a sentence."""
    each = [f"{panel['error']:.3g} ({panel['title']})" for panel in panels]
    return f"Typical error: {'; '.join(each)}."
