"""The groups of a page: how large each is, and what is typical of it beside everyone."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from shoal.cluster.group_sizes import NOT_CLEAR
from shoal.errors import InvalidSetting, quantity, setting
from shoal.pages.page import name_list

CARD_ROWS = 5
UNSTABLE_ROWS = 4
RULE_NOTE = "Titles are put together by rule from what stands out most; nobody chose them."
TITLES_NOTE = f"{RULE_NOTE} Everyone is the average of all groups, by their sizes."
NO_DIFFERENCE = "no clear difference"
# Of the range: beyond, no single number stands for where a value lies, and its interval is shown.
_MOST_WIDE = 0.3
TOO_WIDE = "too wide for one number"
UNSTABLE_CARD = (
    "Noise decides much of what you see: in simulated releases this group is elsewhere, or not "
    "there. Plan nothing on it."
)
_TITLE_COLUMNS, _TITLE_LETTERS = 3, 60  # of a title that fits two lines or three
_FAR, _MARKED = 0.3, 0.12  # differences from everyone that a colour tells apart
_PARTS = {
    0.1: "a tenth",
    0.2: "a fifth",
    0.25: "a quarter",
    0.33: "a third",
    0.5: "half",
    0.67: "two thirds",
    0.75: "three quarters",
}


class ColumnText(NamedTuple):
    """What a column is called on a page.

    Parameters
    ----------
    label
        Its name for readers, e.g. "Minutes a session".
    unit
        What its numbers are counted in, e.g. "km"; empty if that is not said.
    """

    label: str
    unit: str = ""

    @property
    def axis(self) -> str:
        """The label with the unit, as the title of an axis or a column of a table."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    @property
    def within(self) -> str:
        """The label inside a sentence: a small first letter, unless the word is in capitals."""
        word = self.label.split(" ")[0]
        return self.label if word.isupper() else self.label[:1].lower() + self.label[1:]


class CardRow(NamedTuple):
    """A line of a card: one column, here and for everyone.

    Parameters
    ----------
    detail
        The difference in words: "1.8 times as common".
    interval
        Where the value lies, as text; empty if that is not known.
    at
        The value, from 0 to 1 across the scale.
    low, high
        The ends of its interval on that scale; None if it has none.
    is_share
        Whether it is the share of a category; else the mean of a number.
    levels
        Of a column of levels: each with its share here and for everyone.
    """

    label: str
    detail: str
    here: str
    unit: str
    interval: str
    everyone: str
    at: float
    low: float | None
    high: float | None
    other: float | None
    is_share: bool
    is_clear: bool
    levels: Sequence[tuple[str, float, float]] = ()


@dataclass(frozen=True, kw_only=True)
class Card:
    """One group on a page.

    Parameters
    ----------
    number
        Its number, from 1: one more than its label.
    low, high
        The interval of that; None if it has none.
    warning
        Why not to rely on it; empty for a stable group.
    """

    number: int
    title: str
    size: int
    low: int | None
    high: int | None
    rows: Sequence[CardRow]
    warning: str = ""


class MatrixCell(NamedTuple):
    """A group's value in a line of the matrix.

    Parameters
    ----------
    shade
        How far it lies above everyone, from -3 to 3; 0 if there is no clear difference.
    """

    text: str
    shade: int


class MatrixRow(NamedTuple):
    """A line of the matrix: one value of all groups and of everyone."""

    label: str
    unit: str
    cells: Sequence[MatrixCell]
    everyone: str


class MatrixColumn(NamedTuple):
    """The lines of one column of the table; a heading where it has several."""

    heading: str
    unit: str
    rows: Sequence[MatrixRow]


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """All groups at once, the columns that tell most first.

    Parameters
    ----------
    groups
        Their numbers, across.
    look
        Sentences about what is worth a look.
    """

    groups: Sequence[int]
    columns: Sequence[MatrixColumn]
    look: Sequence[str] = ()
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the page."""
        columns = [
            column._asdict()
            | {
                "rows": [
                    row._asdict() | {"cells": [cell._asdict() for cell in row.cells]}
                    for row in column.rows
                ]
            }
            for column in self.columns
        ]
        cells = (cell for column in self.columns for row in column.rows for cell in row.cells)
        longest = max((len(cell.text) for cell in cells), default=0)
        return {"groups": list(self.groups), "columns": columns, "look": list(self.look),
                "longest": longest, "note": self.note}  # fmt: skip


def shade_of(effect: float, is_clear: bool) -> int:
    """Return how strongly a difference is coloured.

    Parameters
    ----------
    effect
        The difference from everyone: of shares from -1 to 1, of numbers in halves of their range.

    Examples
    --------
    >>> [shade_of(effect, True) for effect in (-0.5, 0.02, 0.15)], shade_of(0.5, False)
    ([-3, 1, 2], 0)
    """
    if not is_clear:
        return 0
    size = 3 if abs(effect) >= _FAR else 2 if abs(effect) >= _MARKED else 1
    return size if effect > 0 else -size


@dataclass(frozen=True, kw_only=True)
class Groups:
    """All groups of a page, the largest first."""

    cards: Sequence[Card]
    unit: str
    interval: str
    note: str
    matrix: "Matrix | None" = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the page, with places on a common scale for the sizes."""
        cards = sorted(self.cards, key=lambda card: (-card.size, card.number))
        most = max((max(card.size, card.high or 0) for card in cards), default=0) or 1
        total = sum(card.size for card in cards) or 1
        return {
            "unit": self.unit,
            "interval": self.interval,
            "note": self.note,
            "cards": [_card_values(card, most, total) for card in cards],
            "matrix": None if self.matrix is None else self.matrix.to_dict(),
        }


def _card_values(card: Card, most: int, total: int) -> dict[str, Any]:
    ends = {"low": card.low, "high": card.high}
    scaled = {name: None if end is None else end / most for name, end in ends.items()}
    return asdict(card) | {
        "rows": [row._asdict() for row in card.rows],
        "in_100": round(100 * card.size / total),
        "scaled": {"size": card.size / most, **scaled},
    }


def column_texts(domain: Any, names: Sequence[str]) -> list[ColumnText]:
    """Return what columns are called: as the schema says, or their names as words.

    Examples
    --------
    >>> column_texts(None, ["minutes_per_session", "GPA"])
    [ColumnText(label='Minutes per session', unit=''), ColumnText(label='GPA', unit='')]
    """
    labels, units = (getattr(domain, name, {}) for name in ("labels", "units"))
    return [ColumnText(labels.get(name) or _as_words(name), units.get(name, "")) for name in names]


def title_columns(columns: Sequence[ColumnText]) -> str:
    """Return the columns as the title of a page names them; how many, if that would be long.

    Examples
    --------
    >>> title_columns([ColumnText("Age"), ColumnText("Visits a year")])
    'age and visits a year'
    >>> title_columns([ColumnText(name) for name in "abcde"])
    '5 columns'
    """
    named = name_list([column.within for column in columns])
    is_short = len(columns) <= _TITLE_COLUMNS and len(named) <= _TITLE_LETTERS
    return named if is_short else quantity(len(columns), "column")


def _as_words(name: str) -> str:
    text = name.replace("_", " ").strip() or name
    return text[:1].upper() + text[1:]


def times_text(here: float, everyone: float, what: str) -> str:
    """Return how many times as much a value is as everyone's, in words.

    Parameters
    ----------
    here
        The value, 0 or more.
    everyone
        Everyone's, 0 or more.
    what
        What is compared: "common", "much".

    Examples
    --------
    >>> times_text(0.84, 0.48, "common"), times_text(14, 31, "much"), times_text(3, 3.1, "much")
    ('1.8 times as common', 'half as much', 'about as much')
    """
    if everyone <= 0:
        return ""
    times = here / everyone
    if times >= 1.15:
        return f"{times:.1f} times as {what}" if times < 99.5 else f"over 99 times as {what}"
    if times >= 0.87:
        return f"about as {what}"
    part = min(_PARTS, key=lambda each: abs(each - times))
    return f"under a tenth as {what}" if times < 0.08 else f"{_PARTS[part]} as {what}"


def amount_text(value: float, width: float, half: float | None = None) -> str:
    """Format a number to about a thousandth of its column's range, no finer than its error.

    Parameters
    ----------
    half
        Half the width of its interval; None if that is not known.

    Examples
    --------
    >>> amount_text(12.3456, 30), amount_text(3.016, 30, 3.2), amount_text(884_790, 1e6, 5_877)
    ('12.3', '3.0', '884,800')
    """
    return _digits(value, decimals_of(width, half))


def interval_text(low: float, high: float, width: float) -> str:
    """Format the ends of an interval, the lower one rounded down and the upper one up.

    Examples
    --------
    >>> interval_text(13.149, 14.41, 30), interval_text(878_913, 890_667, 1e6)
    ('13.1 to 14.5', '878,900 to 890,700')
    """
    decimals = decimals_of(width, (high - low) / 2)
    step = 10.0**-decimals
    ends = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return " to ".join(_digits(end, decimals) for end in ends)


def _digits(value: float, decimals: int) -> str:
    """Write a number with as many decimals as asked for, and commas from 10,000 up."""
    shown = f"{round(value, decimals) + 0.0:,.{max(decimals, 0)}f}"
    return shown if abs(value) >= 10_000 else shown.replace(",", "")


def decimals_of(width: float, half: float | None = None) -> int:
    """Return the decimals that tell a thousandth of a range apart, but two digits of an error."""
    fine = min(max(2 - math.floor(math.log10(width)), 0), 12) if width > 0 else 0
    if not half or not math.isfinite(half) or half < width * 1e-9:
        return fine
    return min(fine, 1 - math.floor(math.log10(half)))


def number_row(
    column: ColumnText,
    here: float,
    everyone: float,
    ends: tuple[float, float] | None,
    span: tuple[float, float],
    *,
    is_clear: bool,
    no_interval: str = "",
) -> CardRow:
    """Return the line of a column of numbers.

    Parameters
    ----------
    ends
        Where the value lies; None if that is not known.
    no_interval
        What stands in the place of an interval that is not known.
    """
    width = (span[1] - span[0]) or 1.0
    low, high = (None, None) if ends is None else ((end - span[0]) / width for end in ends)
    half = None if ends is None else (ends[1] - ends[0]) / 2
    value, around = amount_text(here, width, half), no_interval
    detail = _difference_text(here, everyone, span, half)
    if ends is not None:
        around = interval_text(*ends, width)
        if is_wide(ends, width):
            value, around = around, TOO_WIDE
            detail = "higher than everyone" if here > everyone else "lower than everyone"
    return CardRow(
        label=column.label,
        detail=detail if is_clear else NO_DIFFERENCE,
        here=value,
        unit=column.unit,
        interval=around,
        everyone=amount_text(everyone, width, half),
        at=(here - span[0]) / width,
        low=low,
        high=high,
        other=(everyone - span[0]) / width,
        is_share=False,
        is_clear=is_clear,
    )


def is_wide(ends: tuple[float, float] | None, width: float) -> bool:
    """Whether an interval is too wide for one number to stand for it.

    Examples
    --------
    >>> is_wide((0.2, 0.9), 1.0), is_wide((40.0, 60.0), 100.0), is_wide(None, 1.0)
    (True, False, False)
    """
    return ends is not None and ends[1] - ends[0] > _MOST_WIDE * width


def _difference_text(
    here: float, everyone: float, span: tuple[float, float], half: float | None
) -> str:
    if span[0] == 0:
        return times_text(here, everyone, "much")
    # There is no zero to compare with.
    apart = amount_text(abs(here - everyone), span[1] - span[0], half)
    return f"{apart} {'higher' if here > everyone else 'lower'}"


def level_row(
    column: ColumnText,
    here: float,
    everyone: float,
    ends: tuple[float, float] | None,
    levels: Sequence[tuple[str, float, float]],
    *,
    is_clear: bool,
    no_interval: str = "",
) -> CardRow:
    """Return the line of a column of levels: the one that is typical, by its name.

    Parameters
    ----------
    here, everyone
        The mean place in the list, from 0.
    ends
        Where that lies; None if it is not known.
    levels
        Each level with its share here and for everyone; 0 where shares are not known.
    """
    top = len(levels) - 1
    name = [level_name(levels, place) for place in (here, everyone)]
    around = no_interval if ends is None else ""
    if ends is not None and is_wide(ends, top):
        first, last = (level_name(levels, end) for end in ends)
        name[0], around = first if first == last else f"{first} to {last}", TOO_WIDE
    low, high = (None, None) if ends is None else (end / top for end in ends)
    word = "higher" if here > everyone else "lower"
    return CardRow(
        label=column.label,
        detail=f"{word} than everyone" if is_clear else NO_DIFFERENCE,
        here=name[0],
        unit="",
        interval=around,
        everyone=name[1],
        at=here / top,
        low=low,
        high=high,
        other=everyone / top,
        is_share=False,
        is_clear=is_clear,
        levels=levels if any(share for _, share, _ in levels) else (),
    )


def level_name(levels: Sequence[tuple[str, float, float]], place: float) -> str:
    """Return the level at a mean place in the list, from 0."""
    return levels[min(max(round(place), 0), len(levels) - 1)][0]


def distinct_titles(titles: Sequence[str]) -> list[str]:
    """Return titles of which no two are the same, but for groups without one.

    Examples
    --------
    >>> distinct_titles(["Young", "Old", "Young"])
    ['Young', 'Old', 'Young (2)']
    """
    made: list[str] = []
    for i, title in enumerate(titles):
        times = sum(each == title != NOT_CLEAR for each in titles[:i])
        made.append(f"{title} ({times + 1})" if times else title)
    return made


def replace_titles(titles: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Return the publisher's names of the groups, or the titles if there are none.

    Parameters
    ----------
    names
        A name for each group, in the order of their numbers; None leaves the titles.

    Raises
    ------
    InvalidSetting
        If there are not as many names as groups, or one is empty.
    """
    if names is None:
        return list(titles)
    if len(names) != len(titles) or not all(isinstance(n, str) and n.strip() for n in names):
        raise InvalidSetting(
            f"There are {len(titles)} groups and {len(names)} names, or a name is empty.",
            "Give " + setting("names") + " a name for each group, in the order of their numbers.",
            setting="names",
        )
    return [name.strip() for name in names]
