"""A chart of scores from 0 to 1 against the budget: up is better, and the score is linear."""

from collections.abc import Mapping
from math import log
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import import_plotly
from shoal.figures._panels import Panel
from shoal.figures.charts._budget_curve import BUDGETS, MOST, BudgetCurve, Line
from shoal.figures.svg import Svg, px
from shoal.figures.text import format_number

_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def score_curve(
    lines: Mapping[str, Line],
    *,
    title: str,
    value: str,
    finding: str,
    band: str,
    control: float | None = None,
) -> "ScoreCurve":
    """Draw a score at several budgets, one line a method.

    Parameters
    ----------
    lines
        For each method's name, at most six: budget, mean score and its standard error, in order.
    title
        What the figure is.
    value
        What the score is, in words.
    finding
        Its main finding, in a sentence.
    band
        What the bands are: how many runs, and what was drawn anew.
    control
        The score without any data, drawn as a dashed line.

    Examples
    --------
    >>> figure = score_curve({"ours": [(0.5, 0.4, 0.05), (2, 0.9, 0.01)]}, title="Agreement",
    ...     value="AMI", finding="It rises", band="Bands are 2 standard errors of 10 draws.")
    >>> figure.alt
    'Budget from 0.5 to 2 across, AMI from 0 to 1 upwards, higher is better. It rises. ours: 0.4 at
    0.5; 0.9 at 2. Bands are 2 standard errors of 10 draws.'
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
    budgets = [point[0] for line in lines.values() for point in line]
    ends = f"{format_number(min(budgets))} to {format_number(max(budgets))}"
    alt = f"Budget from {ends} across, {value} from 0 to 1 upwards, higher is better. "
    alt += f"{finding.rstrip('.')}. {_numbers(drawn)} "
    alt += "" if control is None else f"Without data: {control:.2g}. "
    data = {"value": value, "lines": drawn, "best": 0.0, "best_name": ""}
    data["control"] = None if control is None else float(control)
    return ScoreCurve(title=title, alt=f"{alt}{band}", data=data, note=band)


def _numbers(drawn: list[dict[str, Any]]) -> str:
    each = [
        f"{line['name']}: "
        f"{'; '.join(f'{v:.2g} at {format_number(e)}' for e, v, _ in line['points'])}."
        for line in drawn
    ]
    return " ".join(each)


class ScoreCurve(BudgetCurve):
    """The figure that ``score_curve`` returns."""

    kind = "score_curve"

    def plotly(self) -> Any:
        """Return an interactive figure with a logarithmic budget."""
        go = import_plotly()
        figure = go.Figure()
        for line in self.data["lines"]:
            x, y, error = zip(*line["points"], strict=True)
            bars = {"array": [2 * e for e in error]}
            figure.add_scatter(x=x, y=y, error_y=bars, name=line["name"])
        figure.update_layout(title=self.title, yaxis_title=self.data["value"])
        return figure.update_xaxes(type="log", title="Budget").update_yaxes(range=[0, 1])

    def _draw_axes(self, svg: Svg, frame: Panel) -> None:
        super()._draw_axes(svg, frame)
        if self.data["control"] is not None:
            height = self._place(frame, 1, self.data["control"])[1]
            svg.path(f"M{px(frame.left)} {px(height)}H{px(frame.right)}", "truth")
            svg.text(frame.right, height - 6, "without data", "end")

    def _ticks(self) -> list[float]:
        return list(_TICKS)

    @property
    def _top(self) -> float:
        return 1.0

    def _place(self, frame: Panel, epsilon: float, value: float) -> tuple[float, float]:
        across = log(epsilon / BUDGETS[0]) / log(BUDGETS[1] / BUDGETS[0])
        return frame.across(across), frame.upwards(min(max(value, 0.0), 1.0))
