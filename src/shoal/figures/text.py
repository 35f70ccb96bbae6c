"""Clean and format text and numbers for figures and pages.

They may hold anything. Markup is escaped where it is written; here go the characters that are
invisible and reorder or break what is read (controls, bidirectional overrides), and sheer length.
"""

import unicodedata
from collections.abc import Sequence
from math import floor, log10

_WIDE, _NARROW = set("mwMWGOQ@%"), set("ijlIft.,:;'|!()[]- ")
_CONTROL_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_ALLOWED_CONTROLS = {
    "\n",
    "\t",
    "\u00ad",
    "\u200c",
    "\u200d",
}  # line ends; soft hyphen; joiners of scripts


def replace_controls(text: str) -> str:
    """Replace every control or direction-changing character by U+FFFD.

    Examples
    --------
    >>> replace_controls("pay" + chr(0x202E) + "dna") == "pay" + chr(0xFFFD) + "dna"
    True
    """
    if text.isprintable():  # also says: no character of the unseen kinds
        return text
    return "".join(
        "\ufffd"
        if unicodedata.category(c) in _CONTROL_CATEGORIES and c not in _ALLOWED_CONTROLS
        else c
        for c in text
    )


def shorten(text: str, at: int) -> str:
    """Clean text and cut it to ``at`` characters, with an ellipsis.

    Examples
    --------
    >>> shorten("minutes a session", 10)
    'minutes a…'
    """
    shown = replace_controls(text)
    return shown if len(shown) <= at else shown[: at - 1].rstrip() + "…"


def letters_wide(text: str) -> float:
    """Return about how many letters of middle width a text is as wide as.

    Examples
    --------
    >>> letters_wide("aaa"), letters_wide("www"), letters_wide("ill")
    (3.0, 4.5, 1.5)
    """
    return sum(1.5 if c in _WIDE else 0.5 if c in _NARROW else 1.0 for c in text)


def shorten_to_width(text: str, letters: float) -> str:
    """Clean text and cut it to the width of so many letters, with an ellipsis.

    Examples
    --------
    >>> shorten_to_width("willow", 6), shorten_to_width("wwwwww", 6)
    ('willow', 'www…')
    """
    shown = replace_controls(text)
    if letters_wide(shown) <= letters:
        return shown
    length = len(shown)
    while length and letters_wide(shown[:length]) > letters - 1:
        length -= 1
    return shown[:length].rstrip() + "…"


def format_number(value: float, decimals: int | None = None) -> str:
    """Write a number for people: ten digits at most, commas from 10,000 up.

    Parameters
    ----------
    decimals
        How many to keep at most; left out, as many as ten digits hold.

    Examples
    --------
    >>> tuple(map(format_number, (12500, 2024, 0.25, 40.705, 3.0, -0.0)))
    ('12,500', '2024', '0.25', '40.705', '3', '0')
    """
    near = value if decimals is None else round(value, decimals)
    near = float(f"{near:.10g}") + 0.0  # no negative zero
    if not 1e-4 <= abs(near) < 1e15:
        return f"{near:g}"
    shown = f"{near:,.{max(9 - floor(log10(abs(near))), 0)}f}"
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return shown if abs(near) >= 10_000 else shown.replace(",", "")


def format_ticks(ticks: Sequence[float]) -> list[str]:
    """Write the ticks of one axis, all to the decimals that their step needs.

    Examples
    --------
    >>> format_ticks([40.705, 40.71, 40.715]), format_ticks([1990.0, 2000.0])
    (['40.705', '40.710', '40.715'], ['1990', '2000'])
    """
    if len(ticks) < 2:
        return [format_number(tick) for tick in ticks]
    decimals = count_decimals(ticks[1] - ticks[0])
    comma = "," if max(map(abs, ticks)) >= 10_000 else ""
    return [f"{round(tick, decimals) + 0.0:{comma}.{decimals}f}" for tick in ticks]


def count_decimals(step: float) -> int:
    """Return how many decimals distinguish multiples of a step.

    Examples
    --------
    >>> count_decimals(20), count_decimals(0.5), count_decimals(0.005)
    (0, 1, 3)
    """
    return max(-floor(log10(step) + 1e-9), 0)
