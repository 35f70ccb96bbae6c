"""Where reports of one number fall, at several budgets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.figures.panels import Panel, Panels, measured, some, typical_error, typical_errors
from shoal.figures.svg import Svg, at, nice_ticks
from shoal.figures.text import labels, number

__all__ = ["NoiseHistogram", "noise_histogram"]


def noise_histogram(
    reports: Mapping[str, ArrayLike],
    *,
    truth: float,
    low: float,
    high: float,
    name: str,
    title: str,
    finding: str,
    bins: int = 80,
) -> "NoiseHistogram":
    """Draw where the reports of one number fall.

    Parameters
    ----------
    reports
        By the title of a panel ("epsilon 1"), many reports of one number.
    truth
        That number; a dashed line marks it.
    low, high, name
        The shared axis and its title. Reports beyond its ends are not drawn, but count in
        the shares and in the error.
    title, finding
        What it is, and what it shows in a sentence.

    Examples
    --------
    >>> figure = noise_histogram({"epsilon 1": [0, 1, 1, 2]}, truth=1, low=-2, high=4,
    ...                          name="Report", title="Noise", finding="Most fall near 1.")
    >>> figure.alt
    'Report from -2 to 4 across, share of reports upwards, each panel to its own height. The true
    value is 1. Most fall near 1. Typical error: 0.707 (epsilon 1).'
    """
    panels = []
    for words, values in some(reports).items():
        drawn = np.asarray(values, dtype=float).ravel()
        counts, _ = np.histogram(drawn, bins=bins, range=(low, high))
        error = typical_error(drawn - truth)
        panels.append(measured(words, error, shares=(counts / drawn.size).round(6).tolist()))
    said = f"{name} from {number(low)} to {number(high)} across, share of reports upwards, each "
    said += f"panel to its own height. The true value is {number(truth)}. {finding}"
    data = {"name": name, "low": low, "high": high, "truth": truth, "panels": panels}
    return NoiseHistogram(title=title, alt=f"{said} {typical_errors(panels)}", data=data)


class NoiseHistogram(Panels):
    """The picture of ``noise_histogram``."""

    kind = "noise_histogram"

    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        low, high, shares = self.data["low"], self.data["high"], panel["shares"]
        tallest = max(*shares, 1e-9)
        steps = f"M{at(frame.left)} {at(frame.bottom)}"
        for i, share in enumerate(shares):
            steps += (
                f"V{at(frame.upwards(share / tallest))}H{at(frame.across((i + 1) / len(shares)))}"
            )
        svg.path(f"{steps}V{at(frame.bottom)}z", "under")
        svg.path(f"M{at(frame.left)} {at(frame.bottom)}H{at(frame.right)}", "frame")
        truth = frame.across((self.data["truth"] - low) / (high - low))
        svg.path(f"M{at(truth)} {at(frame.top)}V{at(frame.bottom)}", "truth")
        ticks = nice_ticks(low, high, 3)
        for tick, words in zip(ticks, labels(ticks), strict=True):
            place = frame.across((tick - low) / (high - low))
            svg.text(place, frame.bottom + 24, words, "middle")

    def _trace(self, panel: Mapping[str, Any]) -> Any:
        import plotly.graph_objects as go

        edges = np.linspace(self.data["low"], self.data["high"], len(panel["shares"]) + 1)
        return go.Bar(x=((edges[1:] + edges[:-1]) / 2).tolist(), y=panel["shares"])
