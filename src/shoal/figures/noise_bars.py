"""How often each entry of a list is reported, at several budgets."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import DimensionMismatch
from shoal.figures.panels import Panel, Panels, some
from shoal.figures.svg import Svg, at
from shoal.figures.text import shorten

__all__ = ["NoiseBars", "noise_bars"]


def noise_bars(
    chances: Mapping[str, ArrayLike],
    *,
    names: Sequence[str],
    truth: Sequence[int],
    title: str,
    finding: str,
    of: str = "each report",
) -> "NoiseBars":
    """Draw how often each entry of a short list is reported.

    Parameters
    ----------
    chances
        By the title of a panel, a chance for each entry.
    names, truth
        The entries, and which of them say the truth: their bars are filled, the others pale.
    title, finding, of
        What it is, what it shows in a sentence, and what a bar is the chance of.

    Examples
    --------
    >>> noise_bars({"epsilon 1": [0.7, 0.3]}, names=["yes", "no"], truth=[0], title="Answers",
    ...            finding="The truth leads.").alt
    'A bar for each of yes, no: the chance of each report, from 0 upwards. True: yes. The
    truth leads. Chances: 70, 30 in 100 at epsilon 1.'
    """
    panels = []
    for words, values in some(chances).items():
        each = np.asarray(values, dtype=float).ravel()
        if each.size != len(names):
            raise DimensionMismatch(
                f"{each.size} chances and {len(names)} names came.", "Give each name a chance."
            )
        panels.append({"title": words, "note": "", "chances": each.round(6).tolist()})
    told = [f"{_in_100(panel['chances'])} in 100 at {panel['title']}" for panel in panels]
    said = f"A bar for each of {', '.join(names)}: the chance of {of}, from 0 upwards. "
    true = " and ".join(names[place] for place in truth)
    alt = f"{said}True: {true}. {finding} Chances: {'; '.join(told)}."
    data = {"names": list(names), "truth": list(truth), "panels": panels}
    return NoiseBars(title=title, alt=alt, data=data)


class NoiseBars(Panels):
    """The picture of ``noise_bars``."""

    kind = "noise_bars"
    margins = (14, 14, 34)

    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        names, tallest = self.data["names"], max(max(p["chances"]) for p in self.data["panels"])
        for i, chance in enumerate(panel["chances"]):
            css = "bar" if i in self.data["truth"] else "bar other"
            middle = frame.across((i + 0.5) / len(names))
            half, height = (frame.right - frame.left) / len(names) * 0.36, chance / tallest * 0.78
            top = frame.upwards(height)
            svg.path(
                f"M{at(middle - half)} {frame.bottom}V{at(top)}h{at(2 * half)}V{frame.bottom}z", css
            )
            svg.text(middle, top - 5, _in_100([chance]), "middle")
            svg.text(middle, frame.bottom + 24, shorten(names[i], 9), "middle")
        svg.path(f"M{at(frame.left)} {frame.bottom}H{at(frame.right)}", "frame")

    def _trace(self, panel: Mapping[str, Any]) -> Any:
        import plotly.graph_objects as go

        return go.Bar(x=self.data["names"], y=panel["chances"])


def _in_100(chances: Sequence[float]) -> str:
    return ", ".join(f"{100 * chance:.0f}" for chance in chances)
