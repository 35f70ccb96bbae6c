"""The ROC curve of an attack: members found against false alarms, with chance and a ceiling."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from shoal.errors import InvalidSetting
from shoal.figures._array_checks import check_points as as_points
from shoal.figures._figure import Figure, import_plotly
from shoal.figures._panels import Panel
from shoal.figures.svg import Svg, px
from shoal.figures.text import format_number, shorten

WIDTH, PLOT, ROW = 640, 420, 30
MOST = 4  # curves that stay apart near the diagonal
_FRAME = Panel(84, 604, 24, 356)
_TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
Lines = Sequence[tuple[float, float, float | None, float | None]]


def roc_curve(
    lines: Mapping[str, Lines],
    *,
    title: str,
    finding: str,
    band: str,
    ceiling: ArrayLike | None = None,
    ceiling_name: str = "",
) -> "RocCurve":
    """Draw the true against the false positive rate of one to four attacks.

    Parameters
    ----------
    lines
        For each attack's name: false positive rate, true positive rate, and the ends of its band or
        ``None``.
    title
        What the figure is.
    finding
        Its main finding, in a sentence.
    band
        What the bands are: how many games, and of which level.
    ceiling
        Of shape (corners, 2): the most a guarantee allows at each false positive rate.
    ceiling_name
        What the ceiling is called, or why there is none.

    Examples
    --------
    >>> figure = roc_curve({"forest": [(0, 0, None, None), (0.5, 0.6, None, None),
    ...     (1, 1, None, None)]}, title="Attack", finding="It finds little", band="3 games.")
    >>> figure.alt
    'False positive rate from 0 to 1 across, true positive rate upwards; the dashed diagonal is
    chance. It finds little. forest: 0.6 at 0.5. 3 games.'
    """
    if not 1 <= len(lines) <= MOST or not all(lines.values()):
        raise InvalidSetting(
            f"Give 1 to {MOST} curves, each with points; got {len(lines)}.",
            "Choose the most important ones.",
        )
    drawn = [
        {"name": name, "points": [[None if v is None else float(v) for v in p] for p in points]}
        for name, points in lines.items()
    ]
    most = None if ceiling is None else as_points(ceiling).tolist()
    data = {"lines": drawn, "ceiling": most, "ceiling_name": ceiling_name}
    alt = "False positive rate from 0 to 1 across, true positive rate upwards; the dashed "
    alt += f"diagonal is chance. {finding.rstrip('.')}. {_describe(drawn)} "
    alt += f"{ceiling_name[:1].upper()}{ceiling_name[1:]}. " if ceiling_name else ""
    return RocCurve(title=title, alt=f"{alt}{band}", data=data, note=band)


class RocCurve(Figure):
    """The figure that ``roc_curve`` returns."""

    kind = "roc_curve"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, with a line of the legend for each curve and the ceiling.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        named = bool(self.data["ceiling_name"])
        rows = len(self.data["lines"]) + named
        svg = Svg(WIDTH, PLOT + ROW * rows + 8, self.title, self.alt)
        _draw_axes(svg)
        if self.data["ceiling"]:
            svg.path("M" + "L".join(_at(x, y) for x, y in self.data["ceiling"]), "cross")
        for place, line in enumerate(self.data["lines"], start=1):
            _draw_line(svg, line["points"], place)
        for place, line in enumerate(self.data["lines"], start=1):
            height = PLOT + ROW * (place - 0.4)
            svg.mark(40, height - 5, place)
            svg.text(64, height, shorten(line["name"], 46), "start")
        if named:
            height = PLOT + ROW * (rows - 0.4)
            if self.data["ceiling"]:
                svg.path(f"M28 {px(height - 5)}H52", "cross")
            svg.text(64, height, shorten(self.data["ceiling_name"], 46), "start")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure."""
        go = import_plotly()
        figure = go.Figure()
        for line in self.data["lines"]:
            x, y, low, high = zip(*line["points"], strict=True)
            if low[0] is not None:
                ends = {"x": [*x, *x[::-1]], "y": [*high, *low[::-1]]}
                figure.add_scatter(**ends, fill="toself", line_width=0, showlegend=False)
            figure.add_scatter(x=x, y=y, name=line["name"])
        figure.add_scatter(x=[0, 1], y=[0, 1], name="chance", line_dash="dash")
        if self.data["ceiling"]:
            x, y = zip(*self.data["ceiling"], strict=True)
            figure.add_scatter(x=x, y=y, name=self.data["ceiling_name"])
        axes = {"xaxis_title": "False positive rate", "yaxis_title": "True positive rate"}
        return figure.update_layout(title=self.title, **axes)


def _draw_axes(svg: Svg) -> None:
    for tick in _TICKS:
        x, y = _FRAME.across(tick), _FRAME.upwards(tick)
        svg.path(
            f"M{px(_FRAME.left)} {px(y)}H{px(_FRAME.right)}",
            "lines",
        )
        svg.text(_FRAME.left - 9, y + 5, format_number(tick), "end")
        svg.text(x, _FRAME.bottom + 24, format_number(tick), "middle")
    svg.path(f"M{_at(0, 0)}L{_at(1, 1)}", "truth")
    svg.text(WIDTH / 2, PLOT - 14, "False positive rate", "axis-title middle")
    middle = (_FRAME.top + _FRAME.bottom) / 2
    svg.text(20, middle, "True positive rate", "axis-title middle", upwards=True)


def _draw_line(svg: Svg, points: Lines, place: int) -> None:
    if points[0][2] is not None:
        above = [_at(x, high) for x, _, _, high in points if high is not None]
        below = [_at(x, low) for x, _, low, _ in points if low is not None]
        svg.path(f"M{'L'.join([*above, *below[::-1]])}z", f"band l{place}")
    svg.path("M" + "L".join(_at(x, y) for x, y, _, _ in points), f"line l{place}")


def _at(fpr: float, tpr: float) -> str:
    return f"{px(_FRAME.across(fpr))} {px(_FRAME.upwards(tpr))}"


def _describe(lines: Sequence[Mapping[str, Any]]) -> str:
    """Describe each curve by its values at a few false positive rates."""
    sentences = []
    for line in lines:
        known = {point[0]: point[1] for point in line["points"]}
        rates = [f"{format_number(round(known[f], 3))} at "
                 f"{format_number(f)}" for f in (0.01, 0.1, 0.5)
                if f in known]  # fmt: skip
        sentences.append(f"{line['name']}: {'; '.join(rates)}.")
    return " ".join(sentences)
