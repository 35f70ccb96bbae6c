"""A small SVG writer that escapes all text and rounds coordinates to 0.1.

Shapes carry classes, not colours. On a page the page's style colours them, light or dark; a file
on its own takes ``figure.css`` along with literal light colours.
"""

import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from math import ceil, floor, log10

from shoal.figures.palette import inline_light_colours
from shoal.figures.text import replace_controls

_MARKS = (  # disc, square, triangle, diamond, pentagon, star; about 25 wide, centred on 0 0
    "M-12 0a12 12 0 1 0 24 0a12 12 0 1 0 -24 0z",
    "M-10.8 -10.8h21.6v21.6h-21.6z",
    "M0 -15L14.4 9.6H-14.4z",
    "M0 -15L15 0L0 15L-15 0z",
    "M0 -13.6L13 -4.2L8 11H-8L-13 -4.2z",
    "M0 -17L4.8 -6.6L16.2 -5.3L7.7 2.5L10 13.8L0 8.1L-10 13.8L-7.7 2.5L-16.2 -5.3L-4.8 -6.6z",
)
# A file brings its ground along: its ink must stand out wherever it is shown, dark pages included.
_BACKGROUND = ".fig { background: var(--card) }\n"


class Svg:
    """An SVG element under construction, with a title and a description for screen readers."""

    def __init__(self, width: float, height: float, title: str, alt: str) -> None:
        self._size = f"0 0 {px(width)} {px(height)}"
        self._title, self._alt = title, alt
        self._parts: list[str] = []

    def path(self, d: str, css: str, width: float | None = None) -> None:
        """Add a path."""
        stroke = "" if width is None else f' stroke-width="{px(width)}"'
        self._parts.append(f'<path class="{css}"{stroke} d="{d}"/>')

    def text(self, x: float, y: float, text: str, css: str, upwards: bool = False) -> None:
        """Add text at a point.

        Parameters
        ----------
        text
            The text; it is escaped here.
        """
        place = (
            f'transform="translate({px(x)} {px(y)}) rotate(-90)"'
            if upwards
            else f'x="{px(x)}" y="{px(y)}"'
        )
        self._parts.append(f'<text class="{css}" {place}>{_escaped(text)}</text>')

    def mark(self, x: float, y: float, number: int) -> None:
        """Add a numbered mark; six colours repeat, each time with another shape."""
        self._parts.append(_mark(number, f'transform="translate({px(x)} {px(y)})"'))

    def render(self, page: bool) -> str:
        """Return the whole element.

        Parameters
        ----------
        page
            Whether it is part of a page, which has the style; else it carries its own.
        """
        content = f"{self._title}\x1f{self._alt}".encode()
        # Ids by content: two figures on one page must not share one, and a page must not change
        # between runs.
        name = "f" + hashlib.blake2b(content, digest_size=4).hexdigest()
        own = "" if page else f"<style>{inline_light_colours(_BACKGROUND + figure_style())}</style>"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="fig" viewBox="{self._size}" '
            f'role="img" aria-labelledby="{name}t {name}d">'
            f'<title id="{name}t">{_escaped(self._title)}</title>'
            f'<desc id="{name}d">{_escaped(self._alt)}</desc>{own}{"".join(self._parts)}</svg>'
        )


@cache
def figure_style() -> str:
    """Return the style sheet of every figure, colours as variables."""
    return files(__package__).joinpath("figure.css").read_text(encoding="utf-8")


def px(value: float) -> str:
    """Write a coordinate to 0.1, as short as possible.

    Examples
    --------
    >>> px(12.0), px(0.25), px(-0.04)
    ('12', '0.2', '0')
    """
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def nice_ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers between two ends, roughly ``about`` of them.

    Examples
    --------
    >>> nice_ticks(0, 14, 7)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]
    """
    step = (high - low) / about
    power = 10.0 ** floor(log10(step))
    # The nearest of 1, 2, 5 and 10 times a power of ten.
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(s - step))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    digits = 12 - floor(log10(step))  # i * step may end in ...0004
    return [round(i * step, digits) for i in range(first, last + 1)]


def mark_svg(number: int) -> str:
    """Return a mark as an element of its own, for a table beside the map.

    Parameters
    ----------
    number
        From 1 up.
    """
    return f'<svg class="fig key" viewBox="-17 -17 34 34" aria-hidden="true">{_mark(number)}</svg>'


def _mark(number: int, place: str = "") -> str:
    turn, series = divmod(number - 1, len(_MARKS))
    # From the seventh on a colour comes again with another shape.
    shape = _MARKS[(series + turn) % len(_MARKS)]
    inside = f'<path d="{shape}"/><text class="middle" y="5">{number}</text>'
    return f'<g class="mark s{series + 1}" {place}>{inside}</g>'


def _escaped(text: str) -> str:
    return escape(replace_controls(text), quote=True)
