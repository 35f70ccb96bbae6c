"""Draft a domain file: what can be stated of each column without using a value of a row.

What is known (a codebook, a typical name, a paid release) is written as a column; what is not is
left open as a comment to complete. So a draft with one complete column is a domain file already.
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shoal.errors import UnknownColumn, value_text
from shoal.jobs.drafts._codebook import CodebookEntry
from shoal.jobs.drafts._column_kinds import ColumnKind
from shoal.jobs.drafts._typical_bounds import (
    PERSON,
    is_coded,
    is_ordered,
    is_personal,
    plain_name,
    typical_bounds,
)

if TYPE_CHECKING:
    from shoal.domain import Box, Schema


REVIEW = "# REVIEW:"
_HEAD = """\
# What is public about the columns of a table, drafted from their names and kinds.
#
# No value of a row was used, only which kind of cells a column has: numbers, dates, text, or a
# well-known pair of answers such as 0 and 1. The smallest and the largest income belong to
# somebody, and a list of the towns that occur tells that somebody lives in each: bounds and lists
# read from the rows would break the promise before it is made. State what is possible by what a
# column means: from the codebook, the form, the law. Too tight a range moves values to its edge,
# too wide a one makes the result noisier.
#
# Numbers have bounds: {low: 0, high: 110}. Categories have a list: {values: [F, M]}, or, if it has
# an order, {levels: [low, middle, high]}. Codes get words for the pages: {values: [1, 2], labels:
# [married, single]}. A column with `weight: 0.5` counts half in how groups are formed, one with
# `use: describe` not at all.
#
# Check each line marked REVIEW. A column that is left open is a comment: complete it and remove the
# `# ` in front, or leave it out.
version: 1
columns:
"""
# What is asked of an open column: the shape of its line, and the question, once for all alike.
_NUMBER = ("{low: , high: }", "numbers; between which bounds, by what they mean?")
_SEPARATED = (
    "{low: , high: }",
    "numbers written like {style}; run this again with --numbers {style} --overwrite",
)
_CODES = (
    "{values: [], labels: [], other: bucket}",
    "numbers that by the name are codes; which are there, and what do they mean?",
)
_TWO = ("{values: []}", "two different values; which, by the form?")
_ANSWERS = ("{levels: []}", "answers to questions of one kind; on which scale, from low to high?")
_LEVELS = ("{levels: []}", "text that by the name has an order; which levels, from low to high?")
_TEXT = ("{values: [], other: bucket}", "text; which values are there, by the form?")
_LEFT_OUT = {
    "date": "dates, which have no place in a domain",
    "empty": "no value at all",
}
_NAMES_PEOPLE = "by its name it names people"
_QUESTIONS = r"(q|question|item|frage|likert|answer|statement)_?"
_PERSON = (
    "by its name it tells people apart; the promise then covers all rows of a person. If each row "
    "is another person, remove both lines"
)
_STATED = "stated in the file"
_BY_DEFAULT = {"weight": 1, "other": "refuse"}  # what a column's entry need not say
_LIMIT = "most rows kept of each; choose it without the rows"


@dataclass(frozen=True)
class ColumnDraft:
    """One column of a draft.

    Parameters
    ----------
    entry
        What is stated of it; None if it is left open or left out.
    is_reviewed
        Whether a person stated it, so that the file need not ask for a review.
    """

    name: str
    kind: ColumnKind
    entry: Mapping[str, Any] | None
    why: str
    is_reviewed: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it could be stated, but is not."""
        return self.entry is None and not self.is_left_out

    @property
    def is_left_out(self) -> bool:
        """Whether it has no place in a domain."""
        return self.entry is None and (
            self.kind.kind in _LEFT_OUT or _names_people(self.name, self.kind)
        )

    @property
    def needs_bounds(self) -> bool:
        """Whether it is a column of numbers without bounds."""
        return self.is_open and self._question is _NUMBER

    def asks_like(self, other: "ColumnDraft") -> bool:
        """Whether the same is asked of another column, whose name differs in a number alone."""
        return self.why == other.why and _same_but_numbers(self.name, other.name)

    @property
    def _question(self) -> tuple[str, str]:
        """What is asked of it, if it is open."""
        return _question(self.name, self.kind)

    @property
    def is_numeric(self) -> bool:
        """Whether it is stated with bounds."""
        return self.entry is not None and "low" in self.entry

    @property
    def is_simulated(self) -> bool:
        """Whether its bounds were estimated with noise from a seed."""
        return self.entry is not None and "simulation" in self.entry

    def values(self) -> dict[str, Any]:
        """Return what is known of it as JSON has it."""
        entry = None if self.entry is None else dict(self.entry)
        return {"name": self.name, "kind": self.kind.kind, "entry": entry, "why": self.why}

    def line(self) -> str:
        """Return its line of the file."""
        name = flow(self.name)
        if self.entry is not None:
            mark = "#" if self.is_reviewed else REVIEW
            return f"  {name}: {flow(dict(self.entry))}  {mark} {self.why}\n"
        shape = "left out" if self.is_left_out else self._question[0]
        return f"  # {name}: {shape}  {REVIEW} {self.why}\n"


@dataclass(frozen=True)
class SchemaDraft:
    """A drafted domain file.

    Parameters
    ----------
    columns
        Its columns, in the order of the table.
    person
        The column that tells people apart, if one is called so and can.
    geo
        The columns of latitude and longitude, if there are no other columns of numbers.
    max_rows_per_person
        Most rows kept of each person, if people are told apart.
    """

    columns: tuple[ColumnDraft, ...]
    person: str | None = None
    geo: tuple[str, str] | None = None
    max_rows_per_person: int = 1

    def with_entry(self, name: str, entry: Mapping[str, Any] | None, why: str) -> "SchemaDraft":
        """Return the draft with what a person states of a column.

        Parameters
        ----------
        name
            The column.
        entry
            What is stated of it, as the file has it; None leaves it open.
        why
            Where that is known from, or what is missing.

        Examples
        --------
        >>> draft = draft_schema(["income"], [ColumnKind(rows=9, numbers=9)])
        >>> draft = draft.with_entry("income", {"low": 0, "high": 9000}, "the form")
        >>> print(draft.columns[0].line(), end="")
          income: {low: 0, high: 9000}  # the form
        """
        if name not in (column.name for column in self.columns):
            raise UnknownColumn(
                f"There is no column {value_text(name)} in the draft.",
                f"Name one of {', '.join(column.name for column in self.columns)}.",
            )
        columns = tuple(
            replace(column, entry=entry, why=why, is_reviewed=True)
            if column.name == name
            else column
            for column in self.columns
        )
        return replace(self, columns=columns, geo=_geo(columns, self.geo))

    @property
    def text(self) -> str:
        """The file."""
        parts = [_HEAD, *self._lines()]
        if self.geo is not None:
            places = {"latitude": self.geo[0], "longitude": self.geo[1]}
            parts.append(f"geo: {flow(places)}  {REVIEW} distances in kilometres\n")
        if self.person is not None:
            parts.append(f"person: {flow(self.person)}  {REVIEW} {_PERSON}\n")
            parts.append(f"max_rows_per_person: {self.max_rows_per_person}  {REVIEW} {_LIMIT}\n")
        return "".join(parts)

    def _lines(self) -> Iterator[str]:
        """Yield the lines of the columns; a question about numbered columns is asked once."""
        above: ColumnDraft | None = None
        for column in self.columns:
            if above is not None and above.is_open and column.is_open and above.asks_like(column):
                yield replace(column, why=f"like {above.name}").line()
            else:
                above = column
                yield column.line()

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns with bounds."""
        return tuple(column.name for column in self.columns if column.is_numeric)

    @property
    def has_categories(self) -> bool:
        """Whether a column is stated with a list of values."""
        return any(column.entry is not None and not column.is_numeric for column in self.columns)

    @property
    def simulation(self) -> bool:
        """Whether bounds were estimated with noise from a seed, so that they are not public."""
        return any(column.is_simulated for column in self.columns)

    @property
    def drops_rows(self) -> bool:
        """Whether a stated column has cells that are no numbers."""
        return any(column.is_numeric and not column.kind.is_complete for column in self.columns)


def draft_schema(
    names: Sequence[str],
    kinds: Sequence[ColumnKind],
    codebook: Mapping[str, CodebookEntry] | None = None,
    released: "Box | None" = None,
    release_text: str = "",
) -> SchemaDraft:
    """Draft the domain file of a table.

    Parameters
    ----------
    names
        The table's columns.
    kinds
        The kind of each.
    codebook
        What a codebook says of them, by name.
    released
        Bounds that were released with noise; marked if that noise was seeded.
    release_text
        What that release cost, and where it is recorded.
    Examples
    --------
    >>> number = ColumnKind(rows=9, numbers=9)
    >>> draft = draft_schema(["age", "income", "email"], [number, number, ColumnKind(9)])
    >>> draft.numbers, [column.name for column in draft.columns if column.is_open]
    (('age',), ['income'])
    """
    person = _person_column(names, kinds)
    columns = tuple(
        _column(name, kind, (codebook or {}).get(name), _from_release(name, released, release_text))
        for name, kind in zip(names, kinds, strict=True)
        if name != person
    )
    return SchemaDraft(columns, person, _geo(columns))


def draft_of(schema: "Schema", names: Sequence[str], kinds: Sequence[ColumnKind]) -> SchemaDraft:
    """Return the draft of a file that people completed: its open columns are those of the table.

    Parameters
    ----------
    schema
        What the file states.
    names
        The table's columns.
    kinds
        The kind of each.

    Examples
    --------
    >>> from shoal.domain import Schema
    >>> number = ColumnKind(rows=9, numbers=9)
    >>> stated = Schema.of({"version": 1, "columns": {"age": {"low": 0, "high": 99}}})
    >>> draft = draft_of(stated, ["age", "income"], [number, number])
    >>> [(column.name, column.is_open) for column in draft.columns]
    [('age', False), ('income', True)]
    """
    stated = schema.to_dict()["columns"]
    columns = tuple(
        ColumnDraft(name, kind, _plain_entry(stated[name]), _STATED, is_reviewed=True)
        if name in stated
        else _open_column(name, kind)
        for name, kind in zip(names, kinds, strict=True)
        if name != schema.person
    )
    return SchemaDraft(columns, schema.person, schema.geo, schema.max_rows_per_person or 1)


def _plain_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry without what is so by default, whole numbers written as such."""
    return {
        key: _short(value) if isinstance(value, float) else value
        for key, value in entry.items()
        if _BY_DEFAULT.get(key) != value
    }


def next_command(
    draft: SchemaDraft,
    table: str,
    domain: str,
    ledger: str | None = None,
    numbers: str | None = None,
) -> str:
    """Return a command that finds groups with the draft as it is.

    Parameters
    ----------
    draft
        The draft.
    table
        The table as it was named.
    domain
        The file that holds the draft.
    ledger
        The ledger that holds what was released already.
    numbers
        How numbers are written in the table, if not like 1234.5.
    """
    k = "4" if draft.has_categories else "2-8"  # a table with categories takes one number
    arguments = ["shoal", "cluster", table, "-k", k, "--epsilon", "1", "--domain", domain]
    arguments += ["--drop"] * draft.drops_rows
    arguments += [] if numbers is None else ["--numbers", numbers]
    arguments += [] if ledger is None else ["--ledger", ledger]
    return shlex.join(arguments)


def columns_to_estimate(draft: SchemaDraft) -> Iterator[str]:
    """Yield the columns of numbers that have no bounds yet.

    Parameters
    ----------
    draft
        The draft.
    """
    return (column.name for column in draft.columns if column.needs_bounds)


def _person_column(names: Sequence[str], kinds: Sequence[ColumnKind]) -> str | None:
    """Return the first column that is called like people's ids, and has one in every row."""
    for name, kind in zip(names, kinds, strict=True):
        is_usable = kind.rows > 0 and not (kind.missing or kind.is_float)
        if is_usable and re.fullmatch(PERSON, plain_name(name)):
            return name
    return None


def _column(
    name: str,
    kind: ColumnKind,
    known: CodebookEntry | None,
    released: "Stated | None",
) -> ColumnDraft:
    stated = _from_codebook(kind, known) or released
    if stated is None and not _names_people(name, kind):
        stated = _from_answers(kind) or _from_name(name, kind)
    if stated is not None:
        return ColumnDraft(name, kind, *stated)
    return _open_column(name, kind)


def _open_column(name: str, kind: ColumnKind) -> ColumnDraft:
    if _names_people(name, kind):
        return ColumnDraft(name, kind, None, _NAMES_PEOPLE)
    if kind.kind in _LEFT_OUT:
        return ColumnDraft(name, kind, None, _LEFT_OUT[kind.kind])
    return ColumnDraft(name, kind, None, _question(name, kind)[1].format(style=kind.style))


def _names_people(name: str, kind: ColumnKind) -> bool:
    """Whether a column names people or says how to reach them: a yes or no does not."""
    return is_personal(name) and not kind.is_two_valued


def _question(name: str, kind: ColumnKind) -> tuple[str, str]:
    """Return the shape of an open column's line, and what is asked of it."""
    is_number = kind.kind == "number"
    asked = (
        (kind.kind == "separated number", _SEPARATED),
        (re.fullmatch(rf"{_QUESTIONS}[0-9]+[a-z]?", name.strip().lower()) is not None, _ANSWERS),
        (is_number and is_coded(name) and not kind.is_float, _CODES),
        (is_number, _NUMBER),
        (kind.is_two_valued, _TWO),
        (is_ordered(name), _LEVELS),
    )
    return next((question for fits, question in asked if fits), _TEXT)


def name_ranges(names: Sequence[str]) -> list[str]:
    """Return names in order, three and more that differ in a number alone as one range.

    Examples
    --------
    >>> name_ranges(["age", "q1", "q2", "q3", "q7", "x1", "x2"])
    ['age', 'q1 to q7 (4)', 'x1', 'x2']
    """
    runs: list[list[str]] = []
    for name in names:
        if runs and _same_but_numbers(runs[-1][0], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    made = [[f"{run[0]} to {run[-1]} ({len(run)})"] if len(run) > 2 else run for run in runs]
    return [each for run in made for each in run]


def _same_but_numbers(name: str, other: str) -> bool:
    """Whether two names have numbers, and differ in nothing else."""
    plain, alike = (re.sub(r"[0-9]+", "0", each) for each in (name, other))
    return plain == alike and plain != re.sub(r"[0-9]+", "", name)


Stated = tuple[dict[str, Any], str]


def _from_codebook(kind: ColumnKind, known: CodebookEntry | None) -> Stated | None:
    if known is None or kind.kind == "empty":
        return None
    if known.values:
        words = {"labels": [*known.words]} if known.words else {}
        return {"values": [*known.values]} | words | {"other": "bucket"}, "from the codebook"
    if known.is_bounded and kind.kind == "number":
        return {"low": _short(known.low), "high": _short(known.high)}, "from the codebook"
    return None


def _from_release(name: str, released: "Box | None", text: str) -> Stated | None:
    if released is None or name not in released.names:
        return None
    column = released.select([name])
    bounds = {"low": _short(column.low[0]), "high": _short(column.high[0])}
    if not released.simulation:
        return bounds, f"RELEASED from the rows with noise: {text}"
    # The key makes whatever is fitted with the file a simulation; the comment is for people.
    return bounds | {"simulation": True}, f"SIMULATED with noise from a seed, not public: {text}"


def _from_answers(kind: ColumnKind) -> Stated | None:
    """State two answers such as 0 and 1: the pair is public, what each means is asked."""
    if kind.answers is None:
        return None
    is_number = kind.kind == "number"
    entry = {"values": [int(each) if is_number else each for each in kind.answers]}
    bucket = {"other": "bucket"} if kind.missing else {}
    # Single letters and digits say nothing to readers of a page.
    asks = "; name them, e.g. labels: [no, yes]" if len(kind.answers[1]) == 1 else ""
    return entry | bucket, f"two answers{asks}"


def _from_name(name: str, kind: ColumnKind) -> Stated | None:
    typical = typical_bounds(name)
    if typical is None or kind.kind != "number":
        return None
    return {"low": typical.low, "high": typical.high}, f"by its name: {typical.why}"


def _geo(
    columns: Sequence[ColumnDraft], known: tuple[str, str] | None = None
) -> tuple[str, str] | None:
    """Return latitude and longitude if these are all columns of numbers."""
    numbers = [column for column in columns if column.is_numeric]
    if any(column.entry is not None and not column.is_numeric for column in columns):
        return None  # kilometres and categories make no distance
    if known is not None and [column.name for column in numbers] == [*known]:
        return known
    by_why = {column.why: column.name for column in numbers}
    pair = [by_why.get(f"by its name: degrees {way}") for way in ("north", "east")]
    return (pair[0], pair[1]) if len(numbers) == 2 and pair[0] and pair[1] else None


def _short(number: float | None) -> float | int:
    value = float(number or 0)
    return int(value) if value == math.floor(value) and abs(value) < 2**53 else value


def flow(value: Any) -> str:
    """Return a value in one line of YAML, quoted wherever it could be taken for another type."""
    import yaml

    shown: str = yaml.safe_dump(
        value, default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False
    )
    return shown.removesuffix("\n...\n").rstrip("\n")
