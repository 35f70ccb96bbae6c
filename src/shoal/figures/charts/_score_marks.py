"""A chart of scores, each beside what is reached without data and what chance gives."""

from collections.abc import Mapping
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures._panels import Panel
from shoal.figures.svg import Svg, nice_ticks, px
from shoal.figures.text import format_ticks, shorten

WIDTH, ROW, TOP, BELOW = 640, 40, 46, 50
LEFT, RIGHT = 150, 570
_KINDS = {"value": "found", "plain": "plain", "control": "without data", "shuffled": "shuffled"}

Marks = Mapping[str, float | None]


def score_marks(scores: Mapping[str, Marks], *, title: str) -> "ScoreMarks":
    """Draw scores that are better when larger, 1 being the best.

    Parameters
    ----------
    scores
        For each name, ``value`` and, where they are known, ``plain``, ``control`` and ``shuffled``.
    title
        What the figure is.

    Examples
    --------
    >>> score_marks({"AMI": {"value": 0.9, "control": 0.4}}, title="Scores").alt
    'Scores across, up to 1. AMI: found 0.9, without data 0.4.'
    """
    if not scores or any(marks.get("value") is None for marks in scores.values()):
        raise InvalidSetting("There is no score to draw.", 'E.g. {"AMI": {"value": 0.9}}.')
    defined = {name: _defined(marks) for name, marks in scores.items()}
    sentences = [f"{name}: {_describe(marks)}" for name, marks in defined.items()]
    alt = f"Scores across, up to 1. {'. '.join(sentences)}."
    data = {"names": list(defined), "marks": list(defined.values())}
    return ScoreMarks(title=title, alt=alt, data=data)


class ScoreMarks(Figure):
    """The figure that ``score_marks`` returns."""

    kind = "score_marks"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, a row for each score.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        svg = Svg(WIDTH, self._bottom + BELOW, self.title, self.alt)
        self._draw_axis(svg)
        self._draw_key(svg)
        for i, (name, marks) in enumerate(zip(self.data["names"], self.data["marks"], strict=True)):
            middle = TOP + ROW * i + ROW / 2
            svg.path(f"M{LEFT} {px(middle)}H{RIGHT}", "lines")
            svg.text(LEFT - 12, middle + 5, shorten(name, 17), "end")
            for kind in reversed(_KINDS):  # what was found on top
                if kind in marks:
                    _draw_mark(svg, kind, self._frame.across(self._share(marks[kind])), middle)
            svg.text(RIGHT + 12, middle + 5, f"{marks['value']:.2f}", "start")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure of dots, a trace for each kind of mark."""
        go = import_plotly()
        figure = go.Figure()
        for kind, name in _KINDS.items():
            values = [marks.get(kind) for marks in self.data["marks"]]
            if any(one is not None for one in values):
                figure.add_scatter(x=values, y=self.data["names"], mode="markers", name=name)
        return figure.update_layout(title=self.title, xaxis_title="score")

    def _draw_axis(self, svg: Svg) -> None:
        ticks = nice_ticks(self._least, 1, 5)
        for tick, text in zip(ticks, format_ticks(ticks), strict=True):
            x = self._frame.across(self._share(tick))
            svg.path(f"M{px(x)} {TOP}V{self._bottom}", "lines")
            svg.text(x, self._bottom + 20, text, "middle")
        svg.text((LEFT + RIGHT) / 2, self._bottom + 42, "Score; 1 is the best", "axis-title middle")

    def _draw_key(self, svg: Svg) -> None:
        shown = [kind for kind in _KINDS if any(kind in marks for marks in self.data["marks"])]
        for i, kind in enumerate(shown):
            x = 40 + i * 150
            _draw_mark(svg, kind, x, 22)
            svg.text(x + 14, 27, _KINDS[kind], "start")

    @property
    def _frame(self) -> Panel:
        return Panel(LEFT, RIGHT, TOP, self._bottom)

    @property
    def _bottom(self) -> int:
        return TOP + ROW * len(self.data["names"])

    @property
    def _least(self) -> float:
        """Where the axis begins: 0, or below if a score is."""
        return float(min(0.0, *(min(marks.values()) for marks in self.data["marks"])))

    def _share(self, score: float) -> float:
        return (score - self._least) / (1 - self._least)


def _draw_mark(svg: Svg, kind: str, x: float, y: float) -> None:
    """Draw a disc, a ring, a line or a broken line: shapes differ without colours too."""
    if kind in ("control", "shuffled"):
        svg.path(
            f"M{px(x)} {px(y - 13)}V{px(y + 13)}",
            "limit" if kind == "control" else "truth",
        )
        return
    r = 6 if kind == "value" else 8
    circle = f"M{px(x - r)} {px(y)}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 -{2 * r} 0z"
    svg.path(circle, "bar" if kind == "value" else "cross")


def _defined(marks: Marks) -> dict[str, float]:
    """Return the scores that are known, no higher than 1."""
    known = {kind: marks.get(kind) for kind in _KINDS}
    return {kind: round(min(score, 1.0), 6) for kind, score in known.items() if score is not None}


def _describe(marks: Mapping[str, float]) -> str:
    return ", ".join(f"{_KINDS[kind]} {score:.3g}" for kind, score in marks.items())
