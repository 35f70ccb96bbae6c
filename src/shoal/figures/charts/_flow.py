"""A chart of steps from top to bottom, with what each one reads from either side."""

from collections.abc import Sequence
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures.svg import Svg
from shoal.figures.text import shorten_to_width

WIDTH, STEP, HEAD = 640, 66, 40
_LEFT, _MIDDLE, _RIGHT = (8, 198), (230, 410), (442, 632)  # the ends of the three columns
_BOX, _LETTERS = 36, 26


def flow_chart(
    steps: Sequence[tuple[str, str, str]],
    *,
    left: str,
    right: str,
    title: str,
    finding: str,
) -> "FlowChart":
    """Draw steps that follow each other, with their inputs.

    Parameters
    ----------
    steps
        Each step with what it reads from the left and from the right; an empty text is nothing.
    left
        What inputs from the left are; they are marked as the ones to look at.
    right
        What inputs from the right are.
    title
        What the figure is.
    finding
        The main thing it shows.

    Examples
    --------
    >>> flow_chart([("noise", "", ""), ("remap", "the rows", "a public grid")], left="as printed",
    ...            right="here", title="Two steps", finding="One step reads the rows").alt
    'One step reads the rows. From top to bottom: noise; remap, reads as printed: the rows, here: a
    public grid.'
    """
    if not steps:
        raise InvalidSetting("A flow needs steps, and none came.", "Give at least one step.")
    words = "; ".join(
        f"{step}, reads {left}: {one or 'nothing more'}, {right}: {other or 'nothing more'}"
        if one or other
        else step
        for step, one, other in steps
    )
    data = {"steps": [list(step) for step in steps], "left": left, "right": right}
    return FlowChart(title=title, alt=f"{finding}. From top to bottom: {words}.", data=data)


class FlowChart(Figure):
    """The figure that ``flow_chart`` returns."""

    kind = "flow"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide and 66 high for each step.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        steps = self.data["steps"]
        svg = Svg(WIDTH, HEAD + STEP * len(steps), self.title, self.alt)
        for ends, name in ((_LEFT, self.data["left"]), (_RIGHT, self.data["right"])):
            svg.text(sum(ends) / 2, 22, shorten_to_width(name, _LETTERS), "axis-title middle")
        for i, (step, left, right) in enumerate(steps):
            top = HEAD + STEP * i
            _draw_box(svg, _MIDDLE, top, step, "frame", "axis-title middle")
            if i:
                _draw_arrow_down(svg, top)
            if left:
                _draw_box(svg, _LEFT, top, left, "limit", "middle")
                _draw_arrow(svg, _LEFT[1], _MIDDLE[0], top + _BOX / 2, "limit")
            if right:
                _draw_box(svg, _RIGHT, top, right, "frame", "middle")
                _draw_arrow(svg, _RIGHT[0], _MIDDLE[1], top + _BOX / 2, "frame")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return the steps and their inputs as an interactive table."""
        go = import_plotly()
        header = {"values": ["step", self.data["left"], self.data["right"]]}
        columns = [list(column) for column in zip(*self.data["steps"], strict=True)]
        figure = go.Figure(go.Table(header=header, cells={"values": columns}))
        return figure.update_layout(title=self.title)


def _draw_box(
    svg: Svg, ends: tuple[int, int], top: int, text: str, css: str, text_css: str
) -> None:
    start, end = ends
    svg.path(f"M{start} {top}H{end}v{_BOX}H{start}z", css)
    svg.text((start + end) / 2, top + _BOX / 2 + 5, shorten_to_width(text, _LETTERS), text_css)


def _draw_arrow(svg: Svg, start: int, end: int, height: float, css: str) -> None:
    back = -6 if end > start else 6
    svg.path(f"M{start} {height:g}H{end}m{back} -5l{-back} 5l{back} 5", css)


def _draw_arrow_down(svg: Svg, top: int) -> None:
    middle = sum(_MIDDLE) // 2
    svg.path(f"M{middle} {top - STEP + _BOX}V{top}m-5 -6l5 6l5 -6", "frame")
