"""A card of one group: bars and dots of what is typical of it, with everyone as a tick."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures.svg import Svg, px
from shoal.figures.text import shorten

WIDTH, ROW, TOP, BELOW = 640, 40, 14, 34
LEFT, RIGHT = 250, 470
_MIDDLE = 18
_TRUE = "Values are true: for the holder of the rows only."


class ProfileRow(NamedTuple):
    """One line of a card.

    Parameters
    ----------
    label
        What it is.
    value
        What is printed of this group.
    everyone
        What is printed of everyone.
    here, low, high, other
        The group's value, its interval (None if there is none) and everyone's, from 0 to 1 across.
        Without ``here`` the value is a category of which only this is known: it is the most common.
    is_share
        Whether it is a bar, for a share; else a dot on a rail, for a mean.
    """

    label: str
    value: str
    everyone: str
    here: float | None
    low: float | None
    high: float | None
    other: float | None
    is_share: bool

    @property
    def beside(self) -> str:
        """What the value is compared with, in words."""
        return "the most common" if self.here is None else f"everyone {self.everyone}"


def group_profile(
    rows: Sequence[ProfileRow], *, number: int, title: str, noisy: bool = True
) -> "GroupProfile":
    """Draw what is typical of a group beside everyone.

    Parameters
    ----------
    rows
        The lines, the strongest difference first.
    number
        The group's number, from 1.
    title
        What the group is called.
    noisy
        Whether values carry noise; if not, picture and words say that they are true.

    Examples
    --------
    >>> row = ProfileRow("Secondary", "84 in 100", "48 in 100", 0.84, 0.81, 0.87, 0.48, True)
    >>> group_profile([row], number=1, title="Secondary").alt
    'Group 1, Secondary. Secondary: 84 in 100, everyone 48 in 100.'
    """
    if not rows:
        raise InvalidSetting("A profile needs at least one line.", "Give a column of the group.")
    lines = "; ".join(f"{row.label}: {row.value}, {row.beside}" for row in rows)
    data = {"number": number, "rows": [list(row) for row in rows], "noisy": noisy}
    alt = f"Group {number}, {title}. {lines}.{'' if noisy else f' {_TRUE}'}"
    return GroupProfile(title=f"Group {number}: {title}", alt=alt, data=data)


class GroupProfile(Figure):
    """The figure that ``group_profile`` returns."""

    kind = "group_profile"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, a row for each line.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        rows = [ProfileRow(*row) for row in self.data["rows"]]
        bottom = TOP + ROW * len(rows)
        svg = Svg(WIDTH, bottom + BELOW, self.title, self.alt)
        for i, row in enumerate(rows):
            middle = TOP + ROW * i + _MIDDLE
            _draw_row(svg, row, middle)
            svg.text(LEFT - 12, middle + 5, shorten(row.label, 32), "end")
            svg.text(RIGHT + 12, middle - 2, row.value, "start axis-title")
            svg.text(RIGHT + 12, middle + 14, row.beside, "start")
        # Reports that were stored before say nothing of it: all of their values are noisy.
        kind = "" if self.data.get("noisy", True) else "; true values, for the holder only"
        key = f"bar or dot: this group; tick: everyone{kind}"
        svg.text((LEFT + RIGHT) / 2, bottom + 22, key, "middle")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure of bars."""
        go = import_plotly()
        rows = [ProfileRow(*row) for row in self.data["rows"]]
        bars = go.Bar(x=[row.here for row in rows], y=[row.label for row in rows], orientation="h")
        return go.Figure(bars).update_layout(title=self.title, xaxis_range=[0, 1])


def _draw_row(svg: Svg, row: ProfileRow, middle: float) -> None:
    if row.here is None or row.other is None:
        return
    if row.is_share:
        svg.path(f"M{LEFT} {middle - 8}H{RIGHT}v16H{LEFT}z", "trough")
        svg.path(f"M{LEFT} {middle - 8}H{px(_across(row.here))}v16H{LEFT}z", "bar")
    else:
        svg.path(f"M{LEFT} {middle}H{RIGHT}M{LEFT} {middle - 4}v8M{RIGHT} {middle - 4}v8", "frame")
        x = _across(row.here)
        svg.path(f"M{px(x - 5)} {middle}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", "bar")
    if row.low is not None and row.high is not None:
        low, high = px(_across(row.low)), px(_across(row.high))
        svg.path(f"M{low} {middle}H{high}M{low} {middle - 5}v10M{high} {middle - 5}v10", "row")
    svg.path(f"M{px(_across(row.other))} {middle - 13}v26", "frame", 3)


def _across(share: float) -> float:
    known = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)
    return LEFT + known * (RIGHT - LEFT)
