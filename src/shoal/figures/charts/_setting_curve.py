"""A chart of the values by which a rule chose a setting, and the choice."""

from collections.abc import Mapping
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures._panels import Panel
from shoal.figures.svg import Svg, nice_ticks, px
from shoal.figures.text import format_ticks, shorten

WIDTH, HEIGHT = 640, 320
_FRAME = Panel(84, 612, 40, 252)
_MOST_TICK_LABELS = 10  # under the axis
_MOST_DESCRIBED = 30  # in words
CLUSTERS = "Number of clusters"


def count_curve(
    curve: Mapping[int, float] | Mapping[float, float],
    *,
    chosen: float,
    value: str,
    title: str,
    across: str = CLUSTERS,
    label: str | None = None,
    band: Mapping[int, tuple[float, float]] | None = None,
) -> "CountCurve":
    """Draw the values by which a rule chose a number of clusters or another setting.

    Parameters
    ----------
    curve
        For each candidate, the value that the rule read.
    chosen
        The candidate that was chosen.
    value
        What the values are.
    title
        What the figure is.
    across
        What the candidates are, if not numbers of clusters.
    label
        The text at the chosen one.
    band
        What noise makes of each value, its low and high end; None draws the curve alone.

    Examples
    --------
    >>> count_curve({2: 9.0, 3: 1.0, 4: 0.9}, chosen=3, value="Inertia", title="How many").alt
    'Number of clusters from 2 to 4 across, Inertia upwards. 3 was chosen. 9 at 2; 1 at 3; 0.9 at
    4.'
    """
    if chosen not in curve:
        raise InvalidSetting(
            "The chosen number is not on the curve.", "Draw the curve that it was chosen from."
        )
    points = [[_whole_if_possible(place), float(height)] for place, height in sorted(curve.items())]
    caption = label or f"{chosen} chosen"
    data = {"value": value, "points": points, "chosen": _whole_if_possible(chosen)}
    data |= {"across": across, "label": caption}
    if band is not None:
        data["band"] = [[place, *map(float, band[place])] for place in sorted(band)]
    step = -(-len(points) // _MOST_DESCRIBED)
    heights = "; ".join(f"{height:.4g} at {place:.4g}" for place, height in points[::step])
    ends = f"{across} from {points[0][0]:.4g} to {points[-1][0]:.4g} across"
    sentence = caption.replace(" chosen", " was chosen")
    alt = f"{ends}, {value} upwards. {sentence}. {heights}."
    return CountCurve(title=title, alt=alt, data=data)


def _whole_if_possible(place: float) -> float:
    """Return a whole number as an int."""
    return int(place) if place == int(place) else float(place)


class CountCurve(Figure):
    """The figure that ``count_curve`` returns."""

    kind = "count_curve"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 x 320.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        svg = Svg(WIDTH, HEIGHT, self.title, self.alt)
        places = [self._place(count, height) for count, height in self.data["points"]]
        self._draw_axes(svg)
        self._draw_band(svg)
        svg.path(
            "M" + "L".join(f"{px(x)} {px(y)}" for x, y in places),
            "line l1",
        )
        counts = [count for count, _ in self.data["points"]]
        x, y = places[counts.index(self.data["chosen"])]
        svg.path(
            f"M{px(x)} {px(_FRAME.top)}V{px(_FRAME.bottom)}",
            "limit",
        )
        svg.text(x, _FRAME.top - 12, self.data["label"], f"axis-title {_anchor(x)}")
        svg.path(
            f"M{px(x - 5)} {px(y)}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
            "bar",
        )
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure."""
        go = import_plotly()
        counts, heights = zip(*self.data["points"], strict=True)
        figure = go.Figure(go.Scatter(x=counts, y=heights, mode="lines+markers"))
        figure.add_vline(x=self.data["chosen"], line_dash="dash")
        return figure.update_layout(
            title=self.title, xaxis_title=self.data["across"], yaxis_title=self.data["value"]
        )

    def _draw_band(self, svg: Svg) -> None:
        lines = self.data.get("band", [])
        low = [self._place(place, least) for place, least, _ in lines]
        high = [self._place(place, most) for place, _, most in lines]
        if lines:
            edge = "L".join(f"{px(x)} {px(y)}" for x, y in [*low, *reversed(high)])
            svg.path(f"M{edge}z", "band l1")

    def _draw_axes(self, svg: Svg) -> None:
        low, high = self._ends
        ticks = nice_ticks(low, high, 4)
        for tick, text in zip(ticks, format_ticks(ticks), strict=True):
            height = self._place(self.data["chosen"], tick)[1]
            svg.path(
                f"M{px(_FRAME.left)} {px(height)}H{px(_FRAME.right)}",
                "lines",
            )
            svg.text(_FRAME.left - 9, height + 5, text, "end")
        places = self._places
        for place, text in zip(places, format_ticks(places), strict=True):
            svg.text(self._place(place, low)[0], _FRAME.bottom + 24, text, "middle")
        svg.text(WIDTH / 2, HEIGHT - 10, self.data["across"], "axis-title middle")
        middle = (_FRAME.top + _FRAME.bottom) / 2
        svg.text(18, middle, shorten(self.data["value"], 30), "axis-title middle", upwards=True)

    @property
    def _places(self) -> list[float]:
        """The candidates named under the axis: some of them, or round numbers if many."""
        tried = [place for place, _ in self.data["points"]]
        if len(tried) > _MOST_DESCRIBED:
            return nice_ticks(tried[0], tried[-1], 6)
        return tried[:: -(-len(tried) // _MOST_TICK_LABELS)]

    @property
    def _ends(self) -> tuple[float, float]:
        """The ends of the vertical axis, which differ even for a level curve."""
        heights = [height for _, height in self.data["points"]]
        heights += [most for _, _, most in self.data.get("band", [])]
        low, high = min(0.0, *heights), max(heights)
        return low, high if high > low else low + 1

    def _place(self, count: float, height: float) -> tuple[float, float]:
        first, last = self.data["points"][0][0], self.data["points"][-1][0]
        low, high = self._ends
        share = (count - first) / (last - first) if last > first else 0.5
        return _FRAME.across(share), _FRAME.upwards((height - low) / (high - low))


def _anchor(x: float) -> str:
    """Return the text anchor that keeps a label inside the frame."""
    share = (x - _FRAME.left) / (_FRAME.right - _FRAME.left)
    return "start" if share < 0.15 else "end" if share > 0.85 else "middle"
