"""A chart of the errors to expect at each budget, as bands, both axes logarithmic."""

from collections.abc import Mapping, Sequence
from math import log, log10
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures._panels import Panel
from shoal.figures.svg import Svg, px
from shoal.figures.text import format_number, shorten

WIDTH, PLOT, ROW = 640, 300, 30
MOST = 3  # bands that can be told apart where they overlap
_STEPS = (1, 2, 5)
_MOST_TICKS = 7  # upwards; of more, only powers of ten are named
Line = Sequence[tuple[float, float, float]]


def error_band(
    bands: Mapping[str, Line], *, title: str, wanted: float, finding: str
) -> "ErrorBand":
    """Draw the errors to expect at several budgets.

    Parameters
    ----------
    bands
        For each name, at most three: budget and the ends of the band, in shares of the range.
    title
        What the figure is.
    wanted
        The wanted error, drawn as a line.
    finding
        Its main finding, in a sentence.

    Examples
    --------
    >>> figure = error_band({"central": [(0.1, 0.01, 0.2), (1, 0.001, 0.02)]}, title="Errors",
    ...     wanted=0.05, finding="It falls")
    >>> figure.alt
    'Epsilon from 0.1 to 1 across, typical error in % of the range upwards, lower is better. It
    falls. central: 1 to 20 % at 0.1; 0.1 to 2 % at 1. A line marks 5 %.'
    """
    if not bands or len(bands) > MOST or not all(bands.values()):
        raise InvalidSetting(
            f"Give 1 to {MOST} bands, each with points; got {len(bands)}.", "Leave some out."
        )
    drawn = [
        {"name": name, "points": [[float(v) for v in point] for point in line]}
        for name, line in bands.items()
    ]
    budgets = [point[0] for line in bands.values() for point in line]
    alt = (
        f"Epsilon from {format_number(min(budgets))} to {format_number(max(budgets))} across, "
        f"typical error in % of the range upwards, lower is better. {finding.rstrip('.')}. "
        f"{_numbers(drawn)} A line marks {100 * wanted:.3g} %."
    )
    return ErrorBand(title=title, alt=alt, data={"bands": drawn, "wanted": float(wanted)})


class ErrorBand(Figure):
    """The figure that ``error_band`` returns."""

    kind = "error_band"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, with a line of the legend for each band.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        svg = Svg(WIDTH, PLOT + ROW * (len(self.data["bands"]) + 1), self.title, self.alt)
        frame = Panel(84, 610, 28, PLOT - 60)
        self._draw_axes(svg, frame)
        for place, line in enumerate(self.data["bands"], start=1):
            self._draw_band(svg, frame, line["points"], place)
            height = PLOT + ROW * (place - 0.4)
            svg.mark(40, height - 5, place)
            svg.text(64, height, shorten(line["name"], 60), "start")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure with logarithmic axes."""
        go = import_plotly()
        figure = go.Figure()
        for line in self.data["bands"]:
            budgets, low, high = zip(*line["points"], strict=True)
            figure.add_scatter(x=budgets, y=low, name=f"{line['name']}, from")
            figure.add_scatter(x=budgets, y=high, name=f"{line['name']}, to", fill="tonexty")
        figure.add_hline(y=self.data["wanted"], line_dash="dash")
        figure.update_layout(title=self.title, yaxis_title="Typical error, share of the range")
        return figure.update_xaxes(type="log", title="Epsilon").update_yaxes(type="log")

    def _draw_band(self, svg: Svg, frame: Panel, points: Line, place: int) -> None:
        above = [self._at(frame, budget, high) for budget, _, high in points]
        below = [self._at(frame, budget, low) for budget, low, _ in points]
        svg.path(f"M{'L'.join([*above, *below[::-1]])}z", f"band l{place}")
        for edge in (above, below):
            svg.path("M" + "L".join(edge), f"line l{place}")
        # The mark stands on the upper edge, at an end of its own, so that marks do not meet.
        budget, _, high = points[0] if place % 2 else points[-1]
        x, y = self._place(frame, budget, high)
        svg.mark(x, y, place)

    def _draw_axes(self, svg: Svg, frame: Panel) -> None:
        for budget in sorted({point[0] for line in self.data["bands"] for point in line["points"]}):
            x = self._place(frame, budget, self._ends[1])[0]
            svg.text(x, frame.bottom + 24, format_number(budget), "middle")
        for tick in self._ticks():
            height = self._place(frame, self._budgets[0], tick)[1]
            svg.path(f"M{px(frame.left)} {px(height)}H{px(frame.right)}", "lines")
            svg.text(frame.left - 9, height + 5, f"{format_number(100 * tick, 6)} %", "end")
        wanted = self._place(frame, self._budgets[0], self.data["wanted"])[1]
        svg.path(f"M{px(frame.left)} {px(wanted)}H{px(frame.right)}", "limit")
        across = "Epsilon (log): more privacy ← → more detail"
        svg.text((frame.left + frame.right) / 2, PLOT - 8, across, "axis-title middle")
        middle = (frame.top + frame.bottom) / 2
        svg.text(18, middle, "Typical error", "axis-title middle", upwards=True)

    def _ticks(self) -> list[float]:
        """Return 1, 2 and 5 times powers of ten, or powers alone where these are too many."""
        low, high = self._ends
        for steps in (_STEPS, _STEPS[:1]):
            ticks = [m * 10.0**p for p in range(-9, 1) for m in steps]
            ticks = [tick for tick in ticks if low <= tick <= high]
            if len(ticks) <= _MOST_TICKS:
                break
        return ticks

    @property
    def _budgets(self) -> tuple[float, float]:
        budgets = [point[0] for line in self.data["bands"] for point in line["points"]]
        return min(budgets), max(budgets)

    @property
    def _ends(self) -> tuple[float, float]:
        """The ends of the vertical axis: the least and the greatest error, and the wanted one."""
        errors = [e for line in self.data["bands"] for point in line["points"] for e in point[1:]]
        low = max(min(*errors, self.data["wanted"]), 1e-6)
        return low / 1.2, max(*errors, self.data["wanted"]) * 1.2

    def _place(self, frame: Panel, budget: float, error: float) -> tuple[float, float]:
        (first, last), (low, high) = self._budgets, self._ends
        across = log(budget / first) / log(last / first) if last > first else 0.5
        upwards = log10(max(error, low) / low) / log10(high / low)
        return frame.across(0.04 + 0.92 * across), frame.upwards(upwards)

    def _at(self, frame: Panel, budget: float, error: float) -> str:
        x, y = self._place(frame, budget, error)
        return f"{px(x)} {px(y)}"


def _numbers(bands: Sequence[Mapping[str, Any]]) -> str:
    each = [
        f"{line['name']}: "
        + "; ".join(
            f"{100 * low:.2g} to {100 * high:.2g} % at {format_number(budget)}"
            for budget, low, high in line["points"]
        )
        + "."
        for line in bands
    ]
    return " ".join(each)
