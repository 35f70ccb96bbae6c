"""Read a codebook: a table that says what each column of another table may hold."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.data import source_of
from shoal.data.column_names import closest_name
from shoal.errors import UnreadableTable
from shoal.figures.text import shorten

_HEADS = {
    "name": ("name", "column", "variable", "field", "feature", "attribute"),
    "low": ("low", "min", "minimum", "from", "lower"),
    "high": ("high", "max", "maximum", "to", "upper"),
    "range": ("range", "bounds", "valid range", "allowed range"),
    "meaning": ("meaning", "label", "labels", "value label", "text"),
    "table": ("table", "set", "dataset", "file"),
    "values": ("values", "value", "categories", "levels", "codes", "code", "options", "allowed"),
}
_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?"
_RANGE = re.compile(rf"\[?\s*({_NUMBER})\s*(?:-|–|\.\.+|to|,|;|:)\s*({_NUMBER})\s*\]?")
_LONGEST = 80  # letters of a word for a value: what a domain file takes
_MOST_LINES = 100_000  # a codebook of more is a table of rows


@dataclass(frozen=True)
class CodebookEntry:
    """What a codebook says about a column.

    Parameters
    ----------
    low
        Its lowest value.
    high
        Its highest value.
    values
        The values it may hold, if it holds categories.
    meanings
        What each of them means, where that is said.
    """

    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_bounded(self) -> bool:
        """Whether both bounds are known and in order."""
        return self.low is not None and self.high is not None and self.low < self.high

    @property
    def words(self) -> tuple[str, ...]:
        """A word for each value, in their order; empty if one has none, or two share one."""
        words = tuple(shorten(self.meanings.get(each, ""), _LONGEST) for each in self.values)
        return words if all(words) and len({*words}) == len(words) else ()


def read_codebook(path: str, names: tuple[str, ...], table: str = "") -> dict[str, CodebookEntry]:
    """Read what a codebook says about these columns.

    A line has a column's name with `low` and `high`, or a `range` such as 0-100, or its `values`
    separated by bars or semicolons; several lines of one name list a value each. Codes have their
    meaning after a sign, `1 = yes`, or in a column of its own. Heads have the usual other words
    (`variable`, `min`, `levels`).

    Parameters
    ----------
    path
        The codebook: CSV or another table.
    names
        The table's columns; capitals, blanks and signs of their names may differ.
    table
        What the table is called: of a codebook for several, only its lines are read.
    """
    entries: dict[str, CodebookEntry] = {}
    lines = [*_lines(path)]
    is_named = any(line.get("table") == table for line in lines)
    for line in lines:
        if is_named and line["table"] != table:
            continue
        name = _column_named(line.get("name") or "", names)
        if name is not None:
            entries[name] = _joined(entries.get(name, CodebookEntry()), line)
    if not entries:
        raise UnreadableTable(
            f"{path} describes none of the table's {len(names)} columns.",
            "Its `name` column should hold their names, as the table's first line has them.",
        )
    return entries


def _lines(path: str) -> Iterator[dict[str, str]]:
    source = source_of(path)
    heads = {head: _first_named(spellings, source.names) for head, spellings in _HEADS.items()}
    columns = {head: name for head, name in heads.items() if name is not None}
    if "name" not in columns or not {"low", "high", "range", "values"} & {*columns}:
        raise UnreadableTable(
            f"{path} is no codebook: it needs a column `name` and one of low and high, range or "
            "values.",
            "E.g. a first line `name,low,high,values` and a line `age,0,110,` below it.",
        )
    read = 0
    for batch in source.batches(list(dict.fromkeys(columns.values()))):
        read += batch.num_rows
        if read > _MOST_LINES:
            raise UnreadableTable(f"{path} has too many lines for a codebook.", "Is it the table?")
        for line in batch.to_pylist():
            yield {head: _text(line[name]) for head, name in columns.items()}


def _first_named(spellings: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    plain = {name.strip().lower(): name for name in reversed(names)}
    return next((plain[each] for each in spellings if each in plain), None)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _column_named(written: str, names: tuple[str, ...]) -> str | None:
    if written in names:
        return written
    return next(iter(closest_name(written, names)), None) if written else None


def _joined(entry: CodebookEntry, line: Mapping[str, str]) -> CodebookEntry:
    low, high = _number(line.get("low", "")), _number(line.get("high", ""))
    text = line.get("values", "")
    ranged = _RANGE.fullmatch(line.get("range", "")) or _RANGE.fullmatch(text)
    if ranged and (low, high) == (None, None):
        low, high, text = float(ranged[1]), float(ranged[2]), ""
    codes = _codes(text)
    if len(codes) == 1 and line.get("meaning"):
        codes = dict.fromkeys(codes, line["meaning"])
    meanings = {**entry.meanings} | {code: said for code, said in codes.items() if said}
    return replace(
        entry,
        low=entry.low if low is None else low,
        high=entry.high if high is None else high,
        values=tuple(dict.fromkeys([*entry.values, *codes])),
        meanings=meanings,
    )


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(_NUMBER, text) else None


def _codes(text: str) -> dict[str, str]:
    """Return the values of a cell, each with what it means if that is said.

    Examples
    --------
    >>> _codes("1 = yes; 2 = no"), _codes("F|M"), _codes("")
    ({'1': 'yes', '2': 'no'}, {'F': '', 'M': ''}, {})
    """
    parts = (part.partition("=") for part in re.split(r"[|;\n]", text))
    return {code.strip(): said.strip() for code, _, said in parts if code.strip()}
