"""Bars in groups, one group a budget, each bar a method, with its error."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures._panels import Panel
from shoal.figures.svg import Svg, px
from shoal.figures.text import format_number, shorten

WIDTH, PLOT, ROW = 640, 300, 30
MOST = 6  # methods whose colours everyone can tell apart
_FRAME = Panel(74, 622, 20, PLOT - 60)
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
Bar = tuple[float, float]


def grouped_bars(
    bars: Mapping[str, Mapping[str, Bar]],
    *,
    title: str,
    value: str,
    across: str,
    finding: str,
    band: str,
) -> "GroupedBars":
    """Draw a score from 0 to 1 as bars, grouped by budget.

    Parameters
    ----------
    bars
        For each method, at most six: for each group its mean and standard error.
    title
        What the figure is.
    value
        What the score is.
    across
        What the groups are.
    finding
        Its main finding, in a sentence.
    band
        What the whiskers are.

    Examples
    --------
    >>> grouped_bars({"ours": {"0.5": (0.4, 0.1), "1": (0.6, 0.1)}}, title="Agreement",
    ...     value="AMI", across="Budget", finding="It rises", band="2 standard errors.").alt
    'Budget across in groups, AMI from 0 to 1 upwards. It rises. ours: 0.4 at 0.5; 0.6 at 1. 2
    standard errors.'
    """
    if not bars or len(bars) > MOST or not all(bars.values()):
        raise InvalidSetting(
            f"Give 1 to {MOST} methods, each with bars; got {len(bars)}.", "Leave some out."
        )
    groups = list(dict.fromkeys(group for each in bars.values() for group in each))
    drawn = [
        {
            "name": name,
            "bars": [[groups.index(group), *map(float, bar)] for group, bar in each.items()],
        }
        for name, each in bars.items()
    ]
    numbers = " ".join(_describe(name, each) for name, each in bars.items())
    alt = (
        f"{across} across in groups, {value} from 0 to 1 upwards. {finding.rstrip('.')}. {numbers} "
    )
    data = {"groups": groups, "bars": drawn, "value": value, "across": across}
    return GroupedBars(title=title, alt=f"{alt}{band}", data=data, note=band)


def _describe(name: str, bars: Mapping[str, Bar]) -> str:
    return f"{name}: {'; '.join(f'{mean:.2g} at {group}' for group, (mean, _) in bars.items())}."


class GroupedBars(Figure):
    """The figure that ``grouped_bars`` returns."""

    kind = "grouped_bars"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, with a line of the legend for each method.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        svg = Svg(WIDTH, PLOT + ROW * (len(self.data["bars"]) + 1), self.title, self.alt)
        self._draw_axes(svg)
        for place, each in enumerate(self.data["bars"], start=1):
            for group, mean, error in each["bars"]:
                self._draw_bar(svg, place, group, mean, error)
            height = PLOT + ROW * (place - 0.4)
            svg.mark(40, height - 5, place)
            svg.text(64, height, shorten(each["name"], 60), "start")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure."""
        go = import_plotly()
        figure = go.Figure()
        for each in self.data["bars"]:
            groups, means, errors = zip(*each["bars"], strict=True)
            names = [self.data["groups"][group] for group in groups]
            bars = {"array": [2 * error for error in errors]}
            figure.add_bar(x=names, y=means, error_y=bars, name=each["name"])
        axes = {"xaxis_title": self.data["across"], "yaxis_title": self.data["value"]}
        return figure.update_layout(title=self.title, barmode="group", **axes)

    @property
    def _step(self) -> float:
        return (_FRAME.right - _FRAME.left) / len(self.data["groups"])

    def _draw_bar(self, svg: Svg, place: int, group: int, mean: float, error: float) -> None:
        wide = 0.84 * self._step / len(self.data["bars"])
        left = _FRAME.left + self._step * (group + 0.08) + wide * (place - 1)
        top = _FRAME.upwards(_share(mean))
        shape = f"M{px(left)} {px(_FRAME.bottom)}V{px(top)}h{px(0.9 * wide)}V{px(_FRAME.bottom)}z"
        svg.path(shape, f"column l{place}")
        low, high = (_FRAME.upwards(_share(mean + side * error)) for side in (-2, 2))
        svg.path(f"M{px(left + 0.45 * wide)} {px(low)}V{px(high)}", "cross")

    def _draw_axes(self, svg: Svg) -> None:
        for tick in _TICKS:
            height = _FRAME.upwards(tick)
            svg.path(f"M{px(_FRAME.left)} {px(height)}H{px(_FRAME.right)}", "lines")
            svg.text(_FRAME.left - 9, height + 5, format_number(tick), "end")
        for place, group in enumerate(self._shown_groups()):
            middle = _FRAME.left + self._step * (place + 0.5)
            svg.text(middle, _FRAME.bottom + 24, group, "middle")
        middle = (_FRAME.left + _FRAME.right) / 2
        svg.text(middle, PLOT - 8, shorten(self.data["across"], 60), "axis-title middle")
        middle = (_FRAME.top + _FRAME.bottom) / 2
        svg.text(18, middle, shorten(self.data["value"], 30), "axis-title middle", upwards=True)

    def _shown_groups(self) -> Sequence[str]:
        return [shorten(str(group), 8) for group in self.data["groups"]]


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
