"""A hundred dots, some of them filled: a probability that can be counted."""

from typing import Any

from shoal.figures._figure import Figure, import_plotly
from shoal.figures.palette import PALETTE
from shoal.figures.svg import Svg


def dots(before: int, after: int | None = None) -> "Dots":
    """Fill ``before`` of 100 dots, and in another colour those up to ``after``.

    Parameters
    ----------
    before
        How many are filled at first.
    after
        How many are filled in all; None adds none.

    Examples
    --------
    >>> dots(10, 24).alt
    '24 of 100 dots are filled, 14 of them added by this release.'
    """
    added = 0 if after is None else max(after - before, 0)
    alt = f"{before + added} of 100 dots are filled"
    alt += f", {added} of them added by this release." if after is not None else "."
    return Dots(title=f"{before + added} in 100", alt=alt, data={"before": before, "added": added})


class Dots(Figure):
    """The figure that ``dots`` returns: ten rows of ten, filled from the top left."""

    kind = "dots"

    def svg(self, page: bool = False) -> str:
        """Draw the SVG, 200 x 200.

        Parameters
        ----------
        page
            As for ``Figure.svg``.
        """
        before, filled = self.data["before"], self.data["before"] + self.data["added"]
        svg = Svg(200, 200, self.title, self.alt)
        svg.path(_places(filled, 100), "dot rest")
        svg.path(_places(0, before), "dot before")
        svg.path(_places(before, filled), "dot added")
        return svg.render(page)

    def plotly(self) -> Any:
        """Return an interactive figure of markers."""
        go = import_plotly()
        before, added = self.data["before"], self.data["added"]
        roles = ["accent"] * before + ["contrast"] * added
        colours = [PALETTE[role][0] for role in roles + ["hairline"] * (100 - len(roles))]
        figure = go.Figure(
            go.Scatter(
                x=[i % 10 for i in range(100)],
                y=[-(i // 10) for i in range(100)],
                mode="markers",
                marker={"size": 18, "color": colours},
            )
        )
        return figure.update_layout(title=self.title)


def _places(first: int, end: int) -> str:
    # A line of no length with round ends is a disc, in a third of the bytes of a circle.
    return "".join(f"M{10 + i % 10 * 20} {10 + i // 10 * 20}h0" for i in range(first, end))
