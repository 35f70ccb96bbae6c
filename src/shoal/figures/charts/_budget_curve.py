"""A chart of losses against the budget, one line a method, both axes logarithmic."""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures._panels import Panel
from shoal.figures.svg import Svg, px
from shoal.figures.text import format_number, shorten

BUDGETS = (0.045, 10.0)  # the ends of the axis
_TICKS = (0.05, 0.1, 0.5, 1, 2, 5)
_STEPS = (1, 2, 5)
WIDTH, PLOT, ROW = 640, 300, 30
APART = 28  # between the middles of two marks
MOST = 6  # lines whose colours everyone can tell apart
Line = Sequence[tuple[float, float, float]]


def budget_curve(
    lines: Mapping[str, Line],
    *,
    title: str,
    value: str,
    finding: str,
    best: float,
    best_name: str,
    band: str,
) -> "BudgetCurve":
    """Draw a loss at several budgets, for methods with one kind of guarantee.

    Parameters
    ----------
    lines
        For each method's name, at most six: budget, mean loss and its standard error, in order.
    title
        What the figure is.
    value
        What the loss is, in words.
    finding
        Its main finding, in a sentence.
    best
        The best value of the loss, where the axis begins.
    best_name
        What attains it.
    band
        What the bands are: how many runs, and what was drawn anew.

    Examples
    --------
    >>> figure = budget_curve({"ours": [(0.1, 1.4, 0.1), (1, 1.0, 0.01)]}, title="Inertia",
    ...     value="Inertia over plain", best=1, best_name="no noise", finding="It falls fast",
    ...     band="Bands are 2 standard errors of 20 runs.")
    >>> figure.alt
    'Budget from 0.1 to 1 across, Inertia over plain upwards from 1, lower is better. It falls fast.
    ours: 1.4 at 0.1; 1 at 1. Bands are 2 standard errors of 20 runs.'
    """
    if not lines or len(lines) > MOST or not all(lines.values()):
        raise InvalidSetting(
            f"Give 1 to {MOST} lines, each with points; got {len(lines)}.",
            "Choose the most important ones.",
        )
    drawn = [
        {"name": name, "points": [[float(v) for v in point] for point in line]}
        for name, line in lines.items()
    ]
    data = {"value": value, "lines": drawn, "best": float(best), "best_name": best_name}
    budgets = [point[0] for line in lines.values() for point in line]
    alt = (
        f"Budget from {format_number(min(budgets))} to {format_number(max(budgets))} across, "
        f"{value} upwards "
    )
    alt += f"from {format_number(best)}, lower is better. {finding.rstrip('.')}. "
    return BudgetCurve(title=title, alt=f"{alt}{_numbers(drawn)} {band}", data=data, note=band)


class BudgetCurve(Figure):
    """The figure that ``budget_curve`` returns."""

    kind = "budget_curve"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, with a line of the legend for each method.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        svg = Svg(WIDTH, PLOT + ROW * (len(self.data["lines"]) + 1), self.title, self.alt)
        frame = Panel(74, 610, 28, PLOT - 60)
        self._draw_axes(svg, frame)
        for place, line in enumerate(self.data["lines"], start=1):
            self._draw_line(svg, frame, line["points"], place)
        self._draw_marks(svg, frame)
        for place, line in enumerate(self.data["lines"], start=1):
            height = PLOT + ROW * (place - 0.4)
            svg.mark(40, height - 5, place)
            svg.text(64, height, shorten(line["name"], 40), "start")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure with logarithmic axes."""
        go = import_plotly()
        figure = go.Figure()
        for line in self.data["lines"]:
            x, y, error = zip(*line["points"], strict=True)
            bars = {"array": [2 * e for e in error]}
            figure.add_scatter(x=x, y=y, error_y=bars, name=line["name"])
        figure.update_layout(title=self.title, yaxis_title=self.data["value"])
        return figure.update_xaxes(type="log", title="Budget").update_yaxes(type="log")

    def _draw_line(self, svg: Svg, frame: Panel, points: Line, place: int) -> None:
        above = [self._at(frame, e, v + 2 * s) for e, v, s in points]
        below = [self._at(frame, e, max(v - 2 * s, self.data["best"])) for e, v, s in points]
        svg.path(f"M{'L'.join([*above, *below[::-1]])}z", f"band l{place}")
        svg.path("M" + "L".join(self._at(frame, e, v) for e, v, _ in points), f"line l{place}")

    def _draw_marks(self, svg: Svg, frame: Panel) -> None:
        """Draw a numbered mark beside the start of each line, apart from its neighbours."""
        starts = [self._place(frame, *line["points"][0][:2]) for line in self.data["lines"]]
        heights = spread_labels([y for _, y in starts], frame.top, frame.bottom)
        for place, ((x, y), height) in enumerate(zip(starts, heights, strict=True), start=1):
            aside = max(x - 30, frame.left + 16)  # clear of the labels of the axis
            svg.path(
                f"M{px(x)} {px(y)}L{px(aside)} {px(height)}",
                "frame",
            )
            svg.mark(aside, height, place)

    def _draw_axes(self, svg: Svg, frame: Panel) -> None:
        for tick in _TICKS:
            svg.text(self._place(frame, tick, self._top)[0], frame.bottom + 24, format_number(tick),
                     "middle")  # fmt: skip
        for tick in self._ticks():
            height = self._place(frame, 1, tick)[1]
            svg.path(
                f"M{px(frame.left)} {px(height)}H{px(frame.right)}",
                "lines",
            )
            svg.text(frame.left - 9, height + 5, format_number(tick), "end")
        best = self._place(frame, 1, self.data["best"])[1]
        svg.path(
            f"M{px(frame.left)} {px(best)}H{px(frame.right)}",
            "truth",
        )
        svg.text(frame.right, best - 6, shorten(self.data["best_name"], 30), "end")
        across = "Budget (log): more privacy ← → more detail"
        svg.text((frame.left + frame.right) / 2, PLOT - 8, across, "axis-title middle")
        middle = (frame.top + frame.bottom) / 2
        svg.text(18, middle, shorten(self.data["value"], 30), "axis-title middle", upwards=True)

    def _ticks(self) -> list[float]:
        """Return 1, 2 and 5 times powers of ten, from the best value up."""
        steps = [m * 10.0**p for p in range(-6, 10) for m in _STEPS]
        return [step for step in steps if self.data["best"] <= step <= self._top]

    @property
    def _top(self) -> float:
        most = max(v + 2 * s for line in self.data["lines"] for _, v, s in line["points"])
        return max(1.05 * float(most), 2 * float(self.data["best"]))

    def _place(self, frame: Panel, epsilon: float, value: float) -> tuple[float, float]:
        across = log(epsilon / BUDGETS[0]) / log(BUDGETS[1] / BUDGETS[0])
        upwards = log(max(value, self.data["best"]) / self.data["best"])
        return frame.across(across), frame.upwards(upwards / log(self._top / self.data["best"]))

    def _at(self, frame: Panel, epsilon: float, value: float) -> str:
        x, y = self._place(frame, epsilon, value)
        return f"{px(x)} {px(y)}"


def spread_labels(heights: Sequence[float], top: float, bottom: float) -> list[float]:
    """Move heights apart as little as needed, between two ends.

    Examples
    --------
    >>> spread_labels([100, 100, 20], top=0, bottom=200)
    [100, 128, 20]
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    moved, least = list(heights), top
    for i in order:
        moved[i] = least = max(moved[i], least)
        least += APART
    # A second sweep from below pushes back what the first moved past the end.
    most = bottom
    for i in reversed(order):
        moved[i] = most = min(moved[i], most)
        most -= APART
    return moved


def _numbers(lines: Sequence[Mapping[str, Any]]) -> str:
    each = [
        f"{line['name']}: "
        f"{'; '.join(f'{v:.3g} at {format_number(e)}' for e, v, _ in line['points'])}."
        for line in lines
    ]
    return " ".join(each)
