"""ROC curves as small multiples: one attack a panel, where one chart would be a knot of lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import import_plotly
from shoal.figures._panels import Panel, Panels, check_panels
from shoal.figures.svg import Svg, px

MOST = 4  # panels in a row whose words can still be read
Curve = Sequence[tuple[float, float]]


def roc_panels(
    curves: Mapping[str, Curve], *, notes: Mapping[str, str], title: str, finding: str
) -> "RocPanels":
    """Draw the true against the false positive rate, one panel an attack.

    Parameters
    ----------
    curves
        For each attack, at most four: false and true positive rates, in order.
    notes
        For each attack a few words beside its name, such as its area.
    title
        What the figure is.
    finding
        Its main finding, in a sentence.

    Examples
    --------
    >>> roc_panels({"none": [(0, 0), (0.5, 0.6), (1, 1)]}, notes={"none": "AUC 0.55"},
    ...     title="Attack", finding="It finds little").alt
    'One panel an attack: false positive rate from 0 to 1 across, true positive rate upwards; the
    dashed diagonal is chance. It finds little. none: AUC 0.55.'
    """
    if len(check_panels(curves)) > MOST:
        raise InvalidSetting(f"Give at most {MOST} curves; got {len(curves)}.", "Draw two figures.")
    panels = [
        {"title": name, "note": notes[name], "points": [[float(x), float(y)] for x, y in curve]}
        for name, curve in curves.items()
    ]
    alt = (
        "One panel an attack: false positive rate from 0 to 1 across, true positive rate upwards; "
    )
    alt += f"the dashed diagonal is chance. {finding.rstrip('.')}. "
    alt += "; ".join(f"{panel['title']}: {panel['note']}" for panel in panels)
    data = {"panels": panels, "name": "False positive rate"}
    return RocPanels(title=title, alt=f"{alt}.", data=data)


class RocPanels(Panels):
    """The figure that ``roc_panels`` returns."""

    kind = "roc_panels"
    margins = (34, 14, 44)

    def _draw(self, svg: Svg, frame: Panel, panel: Mapping[str, Any]) -> None:
        for tick in (0, 1):
            svg.text(frame.left - 6, frame.upwards(tick) + 5, str(tick), "end")
            svg.text(frame.across(tick), frame.bottom + 18, str(tick), "middle")
        left, right, top, bottom = map(px, (frame.left, frame.right, frame.top, frame.bottom))
        svg.path(f"M{left} {bottom}H{right}V{top}H{left}z", "frame")
        svg.path(f"M{left} {bottom}L{right} {top}", "truth")
        places = [(frame.across(x), frame.upwards(y)) for x, y in panel["points"]]
        svg.path("M" + "L".join(f"{px(x)} {px(y)}" for x, y in places), "line l1")

    def _trace(self, panel: Mapping[str, Any]) -> Any:
        x, y = zip(*panel["points"], strict=True)
        return import_plotly().Scatter(x=x, y=y)
