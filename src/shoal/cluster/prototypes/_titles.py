"""Titles of groups, made of what stands out in each: from released numbers only."""

from collections.abc import Sequence
from typing import Any, Protocol

_PARTS = 3
_MOST_PARTS = 5  # where fewer do not tell two groups apart
_LEAST_EFFECT = 0.1  # of a share or of half a number's bounds: less is not worth a title
_MAJORITY = 0.5  # a title is read as what most of a group are
_ALIKE = "Like everyone"


class Standing(Protocol):
    """What a title reads of a column in which a group differs from everyone."""

    @property
    def column(self) -> str:
        """The column."""

    @property
    def value(self) -> Any:
        """The category; None for a number."""

    @property
    def here(self) -> float:
        """The share or mean in the group."""

    @property
    def everyone(self) -> float:
        """That of everyone."""

    @property
    def label(self) -> str:
        """The category, or the column of a number."""

    @property
    def effect(self) -> float:
        """How far it is from everyone's value, from 0 to about 1."""

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out everyone's value."""


def value_label(column: str, value: Any) -> str:
    """Return a category as people read it, with its column where it says nothing alone.

    Examples
    --------
    >>> value_label("region", "coast"), value_label("enrolled", "yes"), value_label("sex", "F")
    ('coast', 'enrolled yes', 'sex F')
    """
    text = str(value)
    plain = text.lower() in ("yes", "no", "true", "false", "other", "<other>", "none", "unknown")
    if plain or len(text) <= 3 or any(letter.isdigit() for letter in text):
        return f"{column.replace('_', ' ')} {text}"
    return text


def titles_of(
    groups: Sequence[Sequence[Standing]], order: Sequence[str], *, measured: bool
) -> tuple[str, ...]:
    """Return a title for each group, of which no two are the same.

    Parameters
    ----------
    order
        The columns, in whose order a title names them.
    measured
        Whether differences were measured; else titles say "perhaps".
    """
    titles = [_title(each, order, _PARTS, measured) for each in groups]
    for parts in range(_PARTS + 1, _MOST_PARTS + 1):
        titles = [
            _title(each, order, parts, measured) if titles.count(title) > 1 else title
            for each, title in zip(groups, titles, strict=True)
        ]
    return _distinct(titles)


def _title(group: Sequence[Standing], order: Sequence[str], parts: int, measured: bool) -> str:
    """Return the largest clear differences in words, in the order of the columns."""
    clear = [each for each in group if each.is_clear and each.effect >= _LEAST_EFFECT]
    largest = sorted(clear, key=lambda each: (not _is_most(each), -each.effect))
    named = [each for each in largest if _is_most(each)] or largest[:1]
    if not named:
        return _ALIKE
    shown = sorted(named[:parts], key=lambda each: order.index(each.column))
    text = ", ".join(_part(each) for each in shown)
    text = text if measured else f"perhaps {text}"
    return text[0].upper() + text[1:]


def _is_most(each: Standing) -> bool:
    """Whether a number differs, or a category is what most of the group have."""
    return each.value is None or each.here >= _MAJORITY


def _part(each: Standing) -> str:
    if each.value is None:
        name = each.column.replace("_", " ")
        return f"{'high' if each.here > each.everyone else 'low'} {name}"
    return each.label if _is_most(each) else f"more often {each.label}"


def _distinct(titles: Sequence[str]) -> tuple[str, ...]:
    """Return titles of which no two are the same: the second of a kind gets a number."""
    made: list[str] = []
    for title in titles:
        times = sum(each == title or each.startswith(f"{title} (") for each in made)
        made.append(f"{title} ({times + 1})" if times else title)
    return tuple(made)
