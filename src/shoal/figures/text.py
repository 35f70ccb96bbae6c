"""Words from outside on their way to a page: names of columns, publishers' texts, labels.

They may hold anything. Markup is escaped where it is written; here go the characters that are
invisible and reorder or break what is read (controls, bidirectional overrides), and sheer length.
"""

import unicodedata

__all__ = ["clean", "number", "shorten"]

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_KEPT = {"\n", "\t", "\u00ad", "\u200c", "\u200d"}  # line ends; soft hyphen; joiners of scripts


def clean(text: str) -> str:
    """The text with every control or direction-changing character shown as U+FFFD.

    Examples
    --------
    >>> clean("pay" + chr(0x202E) + "dna") == "pay" + chr(0xFFFD) + "dna"
    True
    """
    if text.isprintable():  # also says: no character of the unseen kinds
        return text
    return "".join(
        "\ufffd" if unicodedata.category(c) in _UNSEEN and c not in _KEPT else c for c in text
    )


def shorten(text: str, at: int) -> str:
    """The cleaned text, at most ``at`` characters of it, the cut shown by an ellipsis.

    Examples
    --------
    >>> shorten("minutes a session", 10)
    'minutes a…'
    """
    words = clean(text)
    return words if len(words) <= at else words[: at - 1].rstrip() + "…"


def number(value: float) -> str:
    """A number for people: thousands comma, decimal point, four digits at most below 1,000.

    Examples
    --------
    >>> number(12500), number(0.25), number(3.0), number(-0.0)
    ('12,500', '0.25', '3', '0')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    shown = f"{value:.4g}"
    return "0" if float(shown) == 0 else shown
