"""The publisher's own titles of groups, as ``--names`` gives them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InvalidSetting, quantity, sentence, setting

_MOST_BYTES = 1_000_000  # a list of titles is short; rows given by mistake are not read
_MOST_LETTERS = 200
_NUMBERED = re.compile(r"(\d{1,9})\s*:\s*(.*)")


def parse_names(text: str) -> list[str]:
    """Return the titles as they are written; an empty one keeps the title that is made.

    Parameters
    ----------
    text
        The path of a text file with a title on each line, or titles with commas between them.

    Raises
    ------
    InvalidSetting
        If the file cannot be read, or a title is too long for a page.
    """
    names = _lines(Path(text)) if Path(text).is_file() else text.split(",")
    if any(len(name) > _MOST_LETTERS for name in names):
        raise InvalidSetting(
            sentence(f"A title of {{names}} has more than {_MOST_LETTERS} letters."),
            "Write one short title on each line.",
            setting="names",
        )
    return [name.strip() for name in names]


def check_names(names: Sequence[str], n_groups: int) -> list[str]:
    """Return one title for each group, empty where the title that is made is kept.

    Titles are in the order of the groups' numbers; or every one follows its number, as in
    ``3: commuters``, in any order, and groups without one keep theirs.

    Parameters
    ----------
    names
        What ``parse_names`` returned.
    Raises
    ------
    InvalidSetting
        If there are more or fewer titles, or a number is of no group or comes twice.

    Examples
    --------
    >>> check_names(["3: commuters", "1: students"], 3)
    ['students', '', 'commuters']
    """
    numbered = [_NUMBERED.fullmatch(name) for name in names if name]
    matches = [match for match in numbered if match]
    if matches and len(matches) == len(numbered):
        return _by_number([(int(match[1]), match[2]) for match in matches], n_groups)
    if len(names) != n_groups:
        raise InvalidSetting(
            setting("names")
            + f" has {quantity(len(names), 'title')} for {quantity(n_groups, 'group')}.",
            "Give one for each group, in the order of their numbers; leave a line empty to keep "
            "a title. Or write the number first: `3: commuters`.",
            setting="names",
        )
    return list(names)


def _by_number(named: Sequence[tuple[int, str]], n_groups: int) -> list[str]:
    titles = [""] * n_groups
    numbers = [number for number, _ in named]
    if len({*numbers}) < len(numbers) or not all(1 <= number <= n_groups for number in numbers):
        raise InvalidSetting(
            setting("names") + f" must have each number from 1 to {n_groups} at most once.",
            "Take the numbers from the page, where each group has its own.",
        )
    for number, title in named:
        titles[number - 1] = title
    return titles


def is_model_folder(table: str) -> bool:
    """Whether a path is a folder that ``shoal cluster`` wrote, and not one of rows.

    Parameters
    ----------
    table
        The path.
    """
    return table != "-" and Path(table, "model.json").is_file()


def name_groups(model: Any, names: Sequence[str] | None) -> None:
    """Give a fitted model these titles; where one is empty, the one that is made.

    Parameters
    ----------
    names
        A title for each group; None leaves the model as it is.
    """
    if names is None:
        return
    made = model.name_groups(None).profiles_.titles
    model.name_groups([name or title for name, title in zip(names, made, strict=True)])


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InvalidSetting(
                sentence("The file of {names} is too large for a list of titles."),
                "Write one short title on each line.",
                setting="names",
            )
        return path.read_text(encoding="utf-8-sig").rstrip("\n").split("\n")
    except (OSError, UnicodeError):
        raise InvalidSetting(
            sentence("The file of {names} cannot be read as text in UTF-8."),
            "Check the path, and save it as plain text.",
            setting="names",
        ) from None
