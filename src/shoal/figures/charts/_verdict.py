"""A chart of what an audit measured and what was claimed, and how often its event occurred."""

from collections.abc import Sequence
from typing import Any

from shoal.figures._figure import Figure, import_plotly
from shoal.figures._panels import Panel
from shoal.figures.svg import Svg, nice_ticks, px
from shoal.figures.text import format_ticks, shorten

WIDTH, HEIGHT = 640, 300
_FRAME = Panel(110, 612, 44, 96)
_SHARES_FRAME = Panel(110, 560, 190, 262)


def verdict_figure(
    *,
    verdict: str,
    measured: float,
    claim: float | None,
    title: str,
    unit: str,
    ceiling: float | None = None,
    event: str = "",
    counts: Sequence[int] = (),
) -> "VerdictFigure":
    """Draw a finding of an audit.

    Parameters
    ----------
    verdict
        The verdict, in a word.
    measured
        The number that was certified.
    claim
        The number that was claimed, if any.
    title
        What the figure is.
    unit
        What the numbers are.
    ceiling
        The largest number that could have been certified.
    event
        The event on which the two inputs differ.
    counts
        How many outputs of the likelier input, and of the other, were in the event, and of how many
        each.

    Examples
    --------
    >>> verdict_figure(verdict="violated", measured=1.31, claim=1.0, ceiling=9.7, title="Audit",
    ...                unit="epsilon", event="z > 2", counts=(500, 80, 1000)).alt
    'epsilon from 0 across: 1.31 found, 1 claimed, 9.7 at most. Verdict: violated. Event: z > 2, in
    500 and 80 of 1,000 outputs.'
    """
    claimed = "nothing claimed" if claim is None else f"{claim:.4g} claimed"
    most = "" if ceiling is None else f", {ceiling:.4g} at most"
    alt = f"{unit} from 0 across: {measured:.4g} found, {claimed}{most}. Verdict: {verdict}."
    if counts:
        often, seldom, of = counts
        alt += f" Event: {event}, in {often:,} and {seldom:,} of {of:,} outputs."
    numbers = {"found": measured, "claim": claim, "ceiling": ceiling}
    data = {"verdict": verdict, "unit": unit, "event": event, "counts": list(counts), **numbers}
    return VerdictFigure(title=title, alt=alt, data=data)


class VerdictFigure(Figure):
    """The figure that ``verdict_figure`` returns."""

    kind = "verdict"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 x 300; 640 x 150 without an event.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        counts = self.data["counts"]
        svg = Svg(WIDTH, HEIGHT if counts else HEIGHT / 2, self.title, self.alt)
        self._draw_axis(svg)
        self._draw_measured(svg)
        if counts:
            self._draw_shares(svg, *counts)
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive bar, with lines at the claim and at the ceiling."""
        go = import_plotly()
        figure = go.Figure(go.Bar(x=[self.data["found"]], y=["found"], orientation="h"))
        for name, dash in (("claim", "solid"), ("ceiling", "dot")):
            if self.data[name] is not None:
                figure.add_vline(x=self.data[name], line_dash=dash, annotation_text=name)
        return figure.update_layout(title=self.title, xaxis_title=self.data["unit"])

    @property
    def _end(self) -> float:
        numbers = [self.data[name] or 0.0 for name in ("found", "claim", "ceiling")]
        return max(numbers) * 1.08 or 1.0

    def _place(self, number: float) -> float:
        return _FRAME.across(number / self._end)

    def _draw_axis(self, svg: Svg) -> None:
        ticks = nice_ticks(0, self._end, 6)
        for tick, text in zip(ticks, format_ticks(ticks), strict=True):
            svg.path(f"M{px(self._place(tick))} {_FRAME.top}V{_FRAME.bottom}", "lines")
            svg.text(self._place(tick), _FRAME.bottom + 18, text, "middle")
        svg.text(WIDTH / 2, _FRAME.bottom + 40, self.data["unit"], "axis-title middle")
        svg.text(_FRAME.left, 18, f"Verdict: {self.data['verdict']}", "axis-title start")

    def _draw_measured(self, svg: Svg) -> None:
        svg.text(_FRAME.left - 10, 76, "found", "axis-title end")
        svg.path(
            f"M{_FRAME.left} 62H{px(self._place(self.data['found']))}v20H{_FRAME.left}z",
            "bar",
        )
        for name, css, text in (("claim", "limit", "claimed"), ("ceiling", "frame", "at most")):
            if self.data[name] is not None:
                place = self._place(self.data[name])
                svg.path(f"M{px(place)} {_FRAME.top}V{_FRAME.bottom}", css)
                svg.text(place, _FRAME.top - 6, f"{text} {self.data[name]:.3g}", "middle")

    def _draw_shares(self, svg: Svg, often: int, seldom: int, of: int) -> None:
        svg.text(
            _SHARES_FRAME.left, _SHARES_FRAME.top - 14, shorten(self.data["event"], 70), "start"
        )
        for i, (count, css) in enumerate(((often, "bar"), (seldom, "bar other"))):
            top = _SHARES_FRAME.top + 40 * i
            end = px(_SHARES_FRAME.across(count / max(often, seldom, 1)))
            svg.path(f"M{_SHARES_FRAME.left} {top}H{end}v28H{_SHARES_FRAME.left}z", css)
            svg.text(_SHARES_FRAME.left - 10, top + 19, ("one input", "the other")[i], "end")
            svg.text(WIDTH - 14, top + 19, f"{count:,}", "end")
        svg.text(_SHARES_FRAME.left, HEIGHT - 10, f"in the event, of {of:,} outputs each", "start")
