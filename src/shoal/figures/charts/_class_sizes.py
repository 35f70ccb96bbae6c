"""A chart of how many people are in classes of which size, with k marked."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures.svg import Svg, px
from shoal.figures.text import format_number

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 24, 616, 46, 232
_MOST_BARS = 8  # columns whose words still fit a phone
_LETTER = 8.6  # width of a letter on a wide screen


def class_sizes(sizes: ArrayLike, *, k: int, title: str, of: str = "people") -> "ClassSizes":
    """Draw the share of people in classes of 1, 2 to 4, 5 to 9, ... people.

    Parameters
    ----------
    sizes
        Of shape (sizes, 2): a number of people, and how many classes have so many.
    k
        The promise; classes below it are marked.
    title
        What the figure is.
    of
        What a class is counted in.

    Examples
    --------
    >>> class_sizes([[5, 4], [60, 3]], k=5, title="Sizes").alt
    'Size of a class from 5 to 60 people across, share of all people upwards. No class is smaller
    than k = 5. In 100 people, 10 are in classes of 5 to 9, 90 in classes of 50 to 60.'
    """
    people, classes = np.asarray(sizes, dtype=np.int64).reshape(-1, 2).T
    if not people.size or people.min() < 1:
        raise InvalidSetting(
            "There are no classes to draw.", "Give (size, classes) of at least one."
        )
    edges = _edges(int(people.min()), int(people.max()), k)
    while len(edges) > 3 and not _names_fit(edges):  # names must not run into each other
        inner = [i for i in range(1, len(edges) - 1) if edges[i] != k]
        if not inner:
            break
        edges.pop(inner[-1])
    bins = np.searchsorted(edges, people, side="right") - 1
    shares = np.bincount(bins, people * classes, minlength=len(edges) - 1) / int(people @ classes)
    names = [_name(low, high - 1) for low, high in pairwise(edges)]
    below = [high <= k for high in edges[1:]]
    data = {"k": k, "of": of, "names": names, "below": below, "shares": shares.round(6).tolist()}
    return ClassSizes(title=title, alt=_describe(data, people), data=data)


class ClassSizes(Figure):
    """The figure that ``class_sizes`` returns."""

    kind = "class_sizes"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 x 300.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        svg = Svg(WIDTH, HEIGHT, self.title, self.alt)
        names, shares, tallest = self.data["names"], self.data["shares"], max(self.data["shares"])
        wide = (RIGHT - LEFT) / len(names)
        for i, (name, share) in enumerate(zip(names, shares, strict=True)):
            left, top = LEFT + i * wide, BOTTOM - share / tallest * (BOTTOM - TOP - 24)
            css = "bar below" if self.data["below"][i] else "bar"
            svg.path(
                f"M{px(left + 3)} {BOTTOM}V{px(top)}h{px(wide - 6)}V{BOTTOM}z",
                css,
            )
            svg.text(left + wide / 2, top - 6, _in_100(share), "middle wide")
            svg.text(left + wide / 2, BOTTOM + 24, name, "middle" if i % 2 == 0 else "middle wide")
        svg.path(f"M{LEFT} {BOTTOM}H{RIGHT}", "frame")
        mark = LEFT + wide * sum(self.data["below"])
        svg.path(f"M{px(mark)} {TOP - 14}V{BOTTOM}", "limit")
        svg.text(mark + 6, TOP - 18, f"k = {self.data['k']}", "axis-title start")
        svg.text(WIDTH / 2, HEIGHT - 10, f"Size of a class, in {self.data['of']}", "middle")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure of columns."""
        go = import_plotly()
        bars = go.Bar(x=self.data["names"], y=self.data["shares"])
        return go.Figure(bars).update_layout(title=self.title, yaxis_title="Share of all")


def _edges(least: int, most: int, k: int) -> list[int]:
    """Return the lower ends of columns, 1, 2, 5, 10, ... and k, and what follows the last."""
    # k is always an edge, so that no bar mixes classes below and above it.
    series = [m * 10**p for p in range(len(str(most)) + 1) for m in (1, 2, 5)]
    edges = sorted({*series, k})
    first = max(i for i, edge in enumerate(edges) if edge <= least)
    inside = [edge for edge in edges[first:] if edge <= most]
    inside[0] = least
    while len(inside) > _MOST_BARS:  # few columns tell more: merge the pair furthest above k
        inside.pop(max(i for i in range(1, len(inside)) if inside[i] != k))
    if least < k and k not in inside:
        inside.append(k)
    return [*inside, max(most, *inside) + 1]


def _names_fit(edges: Sequence[int]) -> bool:
    wide = (RIGHT - LEFT) / (len(edges) - 1)
    longest = max(len(_name(low, high - 1)) for low, high in pairwise(edges))
    return longest * _LETTER <= wide - 4


def _name(low: int, high: int) -> str:
    return format_number(low) if low == high else f"{format_number(low)}–{format_number(high)}"


def _in_100(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.005 or share == 0 else "<1"


def _describe(data: dict[str, Any], people: Sequence[int] | Any) -> str:
    k, of, least = data["k"], data["of"], int(min(people))
    finding = f"No class is smaller than k = {k}."
    if least < k:
        small = sum(s for s, below in zip(data["shares"], data["below"], strict=True) if below)
        finding = f"{_in_100(small)} in 100 are in classes smaller than k = {k}."
    pairs = zip(data["names"], data["shares"], strict=True)
    parts = [f"{_in_100(s)} in classes of {name.replace('–', ' to ')}" for name, s in pairs if s]
    parts[0] = parts[0].replace(" in classes", " are in classes", 1)
    return (
        f"Size of a class from {format_number(least)} to {format_number(int(max(people)))} {of} "
        f"across, share of "
        f"all {of} upwards. {finding} In 100 {of}, {', '.join(parts)}."
    )
