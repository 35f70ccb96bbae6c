"""A chart of a distribution before and after: two bars for each value."""

from collections.abc import Sequence
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures.svg import Svg, px
from shoal.figures.text import shorten_to_width

WIDTH, ROW, TOP, BELOW = 640, 40, 34, 14
LEFT, RIGHT = 256, 500
_NAME = 16  # letters of a name that fit beside the bars, on a phone too


def before_after(
    names: Sequence[str], before: Sequence[float], after: Sequence[float], *, title: str
) -> "BeforeAfter":
    """Draw two shares for each of some names.

    Parameters
    ----------
    names
        What the shares are of.
    before
        The shares before, from 0 to 1.
    after
        The shares after.
    title
        What the figure is.

    Examples
    --------
    >>> before_after(["F", "M"], [0.4, 0.6], [0.5, 0.5], title="sex").alt
    'Two bars, before and after, for each of 2 values. Largest change: F, from 40 % to 50 %. In
    all, 10 in 100 rows would have to move.'
    """
    if not names or not len(names) == len(before) == len(after):
        raise InvalidSetting(
            "Expected two shares for each name.", "Give lists of equal length, not empty."
        )
    apart = [abs(x - y) for x, y in zip(before, after, strict=True)]
    at = apart.index(max(apart))
    alt = (
        f"Two bars, before and after, for each of {len(names)} values. Largest change: "
        f"{names[at]}, from {_percent(before[at])} to {_percent(after[at])}. In all, "
        f"{100 * sum(apart) / 2:.0f} in 100 rows would have to move."
    )
    data = {
        "names": [str(name) for name in names],
        "before": [round(float(x), 6) for x in before],
        "after": [round(float(x), 6) for x in after],
    }
    return BeforeAfter(title=title, alt=alt, data=data)


class BeforeAfter(Figure):
    """The figure that ``before_after`` returns."""

    kind = "before_after"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, a row for each value.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        names = self.data["names"]
        svg = Svg(WIDTH, TOP + ROW * len(names) + BELOW, self.title, self.alt)
        largest = max(*self.data["before"], *self.data["after"], 1e-9)
        svg.path(f"M{LEFT} 8h18v12h-18z", "under")
        svg.text(LEFT + 26, 20, "before", "start")
        svg.path(f"M{LEFT + 130} 8h18v12h-18z", "bar")
        svg.text(LEFT + 156, 20, "after", "start")
        for i, name in enumerate(names):
            top = TOP + ROW * i
            svg.text(LEFT - 12, top + 24, shorten_to_width(name[:100], _NAME), "end")
            for at, css in (("before", "under"), ("after", "bar")):
                share = self.data[at][i]
                y = top + (4 if at == "before" else 19)
                right = LEFT + share / largest * (RIGHT - LEFT)
                svg.path(f"M{LEFT} {y}H{px(right)}v13H{LEFT}z", css)
            shown = f"{_percent(self.data['before'][i])} → {_percent(self.data['after'][i])}"
            farthest = max(self.data["before"][i], self.data["after"][i]) / largest
            svg.text(LEFT + farthest * (RIGHT - LEFT) + 8, top + 23, shown, "start wide")
        svg.path(f"M{LEFT} {TOP}V{TOP + ROW * len(names)}", "frame")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure of paired bars."""
        go = import_plotly()
        bars = [
            go.Bar(name=at, x=self.data[at], y=self.data["names"], orientation="h")
            for at in ("before", "after")
        ]
        return go.Figure(bars).update_layout(title=self.title, barmode="group")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0 else "<1 %"
