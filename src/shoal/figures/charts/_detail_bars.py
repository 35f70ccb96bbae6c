"""A chart of how much detail of each column is kept: a bar from nothing to everything."""

from collections.abc import Mapping
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures.svg import Svg, px
from shoal.figures.text import shorten

WIDTH, ROW, TOP, BELOW = 640, 34, 14, 44
LEFT, RIGHT = 256, 552
_MOST_BARS = 20


def detail_bars(detail: Mapping[str, float], *, title: str, axis: str) -> "DetailBars":
    """Draw a share from 0 to 1 for each of some names.

    Parameters
    ----------
    detail
        For each name, a share.
    title
        What the figure is.
    axis
        What a bar is the share of.

    Examples
    --------
    >>> detail_bars({"age": 0.8, "sex": 1}, title="Kept", axis="Detail kept").alt
    'Detail kept from 0 to 100 % across, a bar for each of 2. Most: sex, 100 %. Least: age, 80 %.'
    """
    if not detail or not all(0 <= share <= 1 for share in detail.values()):
        raise InvalidSetting("Expected shares between 0 and 1.", 'E.g. {"age": 0.8}.')
    shares = {str(name): round(float(share), 6) for name, share in detail.items()}
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    alt = (
        f"{axis} from 0 to 100 % across, a bar for each of {len(shares)}. Most: {most}, "
        f"{_percent(shares[most])}. Least: {least}, {_percent(shares[least])}."
    )
    drawn = dict(list(shares.items())[:_MOST_BARS])
    more = len(shares) - len(drawn)
    note = f"The first {_MOST_BARS}; the other {more} are in the table." if more else ""
    data = {"names": list(drawn), "shares": list(drawn.values()), "axis": axis}
    return DetailBars(title=title, alt=alt, data=data, note=note)


class DetailBars(Figure):
    """The figure that ``detail_bars`` returns."""

    kind = "detail_bars"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, a row for each bar.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        names, shares = self.data["names"], self.data["shares"]
        bottom = TOP + ROW * len(names)
        svg = Svg(WIDTH, bottom + BELOW, self.title, self.alt)
        for i, (name, share) in enumerate(zip(names, shares, strict=True)):
            top, right = TOP + ROW * i + 6, LEFT + share * (RIGHT - LEFT)
            svg.path(f"M{LEFT} {top}H{RIGHT}v{ROW - 12}H{LEFT}z", "trough")
            svg.path(f"M{LEFT} {top}H{px(right)}v{ROW - 12}H{LEFT}z", "bar")
            svg.text(LEFT - 12, top + 17, shorten(name, 16), "end")
            svg.text(RIGHT + 10, top + 17, _percent(share), "start")
        svg.path(f"M{LEFT} {TOP}V{bottom}", "frame")
        svg.text((LEFT + RIGHT) / 2, bottom + 26, self.data["axis"], "middle")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure of bars."""
        go = import_plotly()
        bars = go.Bar(x=self.data["shares"], y=self.data["names"], orientation="h")
        layout = {"title": self.title, "xaxis_title": self.data["axis"], "xaxis_range": [0, 1]}
        return go.Figure(bars).update_layout(**layout)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
