"""The tree of peaks under a map of clusters: a line each, from the pass it joins at to its peak."""

from collections.abc import Sequence

from shoal.figures.svg import Svg, at, nice_ticks
from shoal.figures.text import labels

__all__ = ["MOST_LINES", "Branch", "draw_peaks", "peaks_height"]

Branch = tuple[int, float, float, int]
MOST_LINES = 16
LINE = 26
LEFT, RIGHT = 74, 612
_HEAD, _FOOT = 40, 56


def peaks_height(branches: Sequence[Branch]) -> int:
    """Room for the tree; none without one."""
    return _HEAD + LINE * min(len(branches), MOST_LINES) + _FOOT if branches else 0


def draw_peaks(svg: Svg, branches: Sequence[Branch], top: float, of: str = "people") -> None:
    """Draw the highest peaks, from the highest down, each under the one it joins.

    Parameters
    ----------
    svg, top
        Where to draw, and from which height down.
    branches
        Cluster, height of its peak, height of the pass at which it joins a higher peak, and that
        one's cluster, -1 for none.
    of
        What is counted.
    """
    if not branches:
        return
    shown = in_order(branches[:MOST_LINES])
    svg.text(LEFT, top + 24, "Peaks, and the passes between them", "start")
    if len(branches) > MOST_LINES:
        svg.text(RIGHT, top + 24, f"the {MOST_LINES} highest of {len(branches)}", "end wide")
    place = {branch[0]: top + _HEAD + LINE * (i + 0.5) for i, branch in enumerate(shown)}
    most = max(branch[1] for branch in shown)
    _draw_axis(svg, most, top + _HEAD, top + _HEAD + LINE * len(shown), of)
    for cluster, peak, joins, other in shown:
        y, from_, to = place[cluster], _x(max(joins, 0), most), _x(peak, most)
        if other in place:
            svg.path(f"M{at(from_)} {at(place[other])}V{at(y)}", "cross")
        svg.path(f"M{at(from_)} {at(y)}H{at(to)}", f"peak c{cluster % 6 + 1}")
        svg.text(LEFT - 9, y + 5, str(cluster + 1), "end")


def in_order(branches: Sequence[Branch]) -> list[Branch]:
    """Each peak followed by those that join it, the highest pass first: no lines cross.

    Examples
    --------
    >>> tree = [(0, 9.0, 0.0, -1), (1, 8.0, 0.0, -1), (2, 7.0, 2.0, 0), (3, 6.0, 4.0, 0)]
    >>> [cluster for cluster, *_ in in_order(tree)]
    [0, 3, 2, 1]
    """
    joined: dict[int, list[Branch]] = {}
    for branch in sorted(branches, key=lambda branch: branch[2]):
        joined.setdefault(branch[3], []).append(branch)
    known = {branch[0] for branch in branches}
    waiting = [branch for branch in reversed(branches) if branch[3] not in known]
    order = []
    while waiting:
        order.append(waiting.pop())
        waiting += joined.get(order[-1][0], [])
    return order


def _draw_axis(svg: Svg, most: float, top: float, bottom: float, of: str) -> None:
    ticks = nice_ticks(0, most, 4)
    svg.path("".join(f"M{at(_x(tick, most))} {at(top)}V{at(bottom)}" for tick in ticks), "lines")
    for tick, words in zip(ticks, labels(ticks), strict=True):
        svg.text(_x(tick, most), bottom + 22, words, "middle")
    svg.text((LEFT + RIGHT) / 2, bottom + 46, f"{of} in a cell, smoothed", "axis-title middle")


def _x(height: float, most: float) -> float:
    return LEFT + height / most * (RIGHT - LEFT)
