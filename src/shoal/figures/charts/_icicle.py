"""A chart of a hierarchy, level below level, shaded by the rows of each published label."""

from collections.abc import Sequence
from typing import Any

from shoal.errors import InvalidSetting
from shoal.figures._figure import Figure, import_plotly
from shoal.figures.svg import Svg, px
from shoal.figures.text import letters_wide, shorten_to_width

WIDTH, ROW, TOP, BELOW = 640, 36, 4, 6
_LETTER = 8.8  # width of a letter on a wide screen
_LONGEST = 100  # letters of a label that could fit at all
_PHONE_LETTER = 13.6  # and on a phone, where words grow
_NARROWEST = 1.5  # boxes narrower than this are drawn as one with their neighbours
_DARK = 0.1  # the share of rows from which a box is darker still


def icicle(
    labels: Sequence[str],
    parents: Sequence[int],
    spans: Sequence[tuple[int, int]],
    shares: Sequence[float],
    *,
    title: str,
) -> "Icicle":
    """Draw a tree as boxes below boxes, each as wide as its leaves are many.

    Parameters
    ----------
    labels
        The label of each node, the root first, parents before their children; may be empty.
    parents
        The place of each node's parent; -1 for the root.
    spans
        The first leaf of each node, and one more than the last.
    shares
        The share of rows that are published under each node itself.
    title
        What the figure is.

    Examples
    --------
    >>> drawn = icicle(["*", "old", "young"], [-1, 0, 0], [(0, 2), (0, 1), (1, 2)], [0, 0.7, 0.3],
    ...                title="age")
    >>> drawn.alt
    'A tree of 3 labels over 2 values, root above. 2 labels are published. Most rows: old, 70 %.'
    """
    if not len(labels) == len(parents) == len(spans) == len(shares) or not len(labels):
        raise InvalidSetting("Expected one entry for each node.", "Give lists of equal length.")
    depth = [0] * len(labels)
    for place in range(1, len(labels)):
        depth[place] = depth[parents[place]] + 1
    used = [place for place, share in enumerate(shares) if share > 0]
    most = max(used, key=lambda place: shares[place], default=0)
    alt = (
        f"A tree of {len(labels)} labels over {spans[0][1]} values, root above. {len(used)} labels "
        f"are published. Most rows: {labels[most]}, {100 * shares[most]:.0f} %."
    )
    boxes = [
        [depth[place], int(low), int(high), str(labels[place]), round(float(shares[place]), 6)]
        for place, (low, high) in enumerate(spans)
    ]
    return Icicle(title=title, alt=alt, data={"boxes": boxes, "leaves": int(spans[0][1])})


class Icicle(Figure):
    """The figure that ``icicle`` returns."""

    kind = "icicle"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 640 wide, a row for each level of the tree.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        boxes, leaves = self.data["boxes"], self.data["leaves"]
        levels = max(box[0] for box in boxes) + 1
        svg = Svg(WIDTH, TOP + ROW * levels + BELOW, self.title, self.alt)
        wide = (WIDTH - 2) / max(leaves, 1)
        drawn: dict[str, list[str]] = {}
        for depth, low, high, _, share in _merged(boxes, wide):
            start, middle = 1 + low * wide, TOP + ROW * depth + ROW / 2
            gap = 2 if (high - low) * wide > 2 * _NARROWEST else 0
            line = f"M{px(start)} {px(middle)}h{px((high - low) * wide - gap)}"
            drawn.setdefault(_shade(share), []).append(line)
        for css, lines in sorted(drawn.items()):
            svg.path("".join(lines), css, ROW - 3)
        for depth, low, high, label, _ in boxes:
            self._write_label(svg, depth, (low * wide, high * wide), label)
        return svg.render(page)

    @staticmethod
    def _write_label(svg: Svg, depth: int, span: tuple[float, float], label: str) -> None:
        """Write a label into its box, if it fits; on a phone only if it fits there, too."""
        room = span[1] - span[0] - 12
        shown = shorten_to_width(label[:_LONGEST], room / _LETTER)
        if not shown or len(shown) < min(len(label), 6):
            return
        letters = letters_wide(shown)
        css = "axis-title middle" if letters * _PHONE_LETTER <= room else "axis-title middle wide"
        middle = 1 + (span[0] + span[1]) / 2
        svg.text(middle, TOP + ROW * depth + 23, shown, css)

    def plotly(self) -> Any:
        """Return an interactive figure of boxes."""
        go = import_plotly()
        boxes = self.data["boxes"]
        bars = go.Bar(
            x=[high - low for _, low, high, _, _ in boxes],
            base=[low for _, low, _, _, _ in boxes],
            y=[-depth for depth, *_ in boxes],
            text=[label for *_, label, _ in boxes],
            orientation="h",
        )
        return go.Figure(bars).update_layout(title=self.title)


def _merged(boxes: Sequence[Any], wide: float) -> list[Any]:
    """Merge boxes too narrow to be seen with their neighbours of the same level."""
    merged: list[Any] = []
    for box in sorted(boxes, key=lambda box: (box[0], box[1])):
        last: Any = merged[-1] if merged else None
        narrow = (box[2] - box[1]) * wide < _NARROWEST
        beside = last is not None and last[0] == box[0] and last[2] == box[1]
        if narrow and beside and (last[2] - last[1]) * wide < _NARROWEST:
            merged[-1] = [last[0], last[1], box[2], "", max(last[4], box[4])]
        else:
            merged.append(list(box))
    return merged


def _shade(share: float) -> str:
    # No darker than the third shade: words in boxes are dark in light pages, light in dark ones.
    return "q1" if share <= 0 else "q2" if share < _DARK else "q3"
