"""Panels side by side: one picture at several settings, for comparison.

The noise of a mechanism is drawn this way: many simulated reports of *one* record that the reader
is told, so no such picture is about a person.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures.svg import Svg
from shoal.figures.text import shorten

WIDTH, HEIGHT = 250, 196
TOP = 34


@dataclass(frozen=True)
class Panel:
    """The rectangle that a panel's drawing fills."""

    left: float
    right: float
    top: float
    bottom: float

    def across(self, share: float) -> float:
        """Return the x at a share of the width, from the left."""
        return self.left + share * (self.right - self.left)

    def upwards(self, share: float) -> float:
        """Return the y at a share of the height, from the bottom.

        Parameters
        ----------
        share
            From 0 to 1.
        """
        return self.bottom - share * (self.bottom - self.top)


class Panels(Figure):
    """Base class of figures of panels in a row, each with a title and perhaps a note."""

    margins = (14, 14, 58)  # left, right, below

    def svg(self, page: bool = False) -> str:
        """Draw all panels in one row.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
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
        """Draw one panel inside its frame."""

    def plotly(self) -> Any:
        """Return an interactive figure, one subplot a panel."""
        make_subplots = import_plotly("subplots").make_subplots
        panels = self.data["panels"]
        figure = make_subplots(1, len(panels), subplot_titles=[p["title"] for p in panels])
        for place, panel in enumerate(panels, start=1):
            figure.add_trace(self._trace(panel), row=1, col=place)
        return figure.update_layout(title=self.title, showlegend=False)

    @abstractmethod
    def _trace(self, panel: Mapping[str, Any]) -> Any:
        """Return one panel as a plotly trace."""


def check_panels(panels: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the panels, refused if there are none."""
    if panels:
        return panels
    raise InvalidSetting("There is no panel to draw.", 'E.g. {"epsilon 1": reports}.')


def panel_numbers(title: str, error: float, **numbers: Any) -> dict[str, Any]:
    """Return a panel's numbers, with its error as the note."""
    return {"title": title, "note": f"typical error {error:.3g}", "error": error, **numbers}


def typical_error(off: Floats) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(off**2)))


def typical_errors(panels: Sequence[Mapping[str, Any]]) -> str:
    """Describe the errors of all panels in a sentence.

    Parameters
    ----------
    panels
        What ``panel_numbers`` returned.
    """
    each = [f"{panel['error']:.3g} ({panel['title']})" for panel in panels]
    return f"Typical error: {'; '.join(each)}."
