"""Draft a features file from the names and kinds of the columns of its tables."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.data import source_of
from shoal.data.column_names import check_header
from shoal.errors import InvalidSetting, sentence
from shoal.jobs.drafts._column_kinds import column_kinds
from shoal.jobs.drafts._schema_draft import REVIEW, ColumnDraft, draft_schema, flow

_HEAD = """\
# What one row a person is made of, drafted from the names and kinds of columns.
#
# No value of a row was used, only which kind of cells a column has: numbers, dates, text, or a
# well-known pair of answers such as 0 and 1. Check each line marked REVIEW; complete a comment and
# remove the `# ` in front, or leave it out. `shoal features FILE --check` says what is missing.
version: 1
"""
_TIMES = r"(at|time|timestamp|datetime|date|when|ts|fecha|hora|datum|zeit|.*_(at|time|date))"
_FEATURES = (
    ("days", "{{days: {}}}"),
    ("weeks", "{{weeks: {}}}"),
    ("last", "{{last: {}, none: missing}}"),
)


@dataclass(frozen=True)
class _Table:
    """A table that is drafted: its name in the file, its path there, and its columns."""

    name: str
    path: str
    columns: tuple[ColumnDraft, ...]
    person: str | None

    @property
    def all_names(self) -> list[str]:
        return [*([self.person] if self.person else []), *(c.name for c in self.columns)]

    def line(self, column: ColumnDraft) -> str:
        """Return a column of events or of a public table as a line, open if it is not known."""
        if column.entry is not None and "low" in column.entry:
            low, high = column.entry["low"], column.entry["high"]
            return (
                f"      {flow(column.name)}: {{low: {low}, high: {high}}}  {REVIEW} {column.why}\n"
            )
        if column.kind.kind == "date":
            return (
                f"      # {flow(column.name)} holds times and is left out. If it says when a row "
                f"reached you, write `arrived: {flow(column.name)}` below `time:`\n"
            )
        if column.kind.kind == "number":
            shape, what = "{low: , high: }", "numbers; between which bounds, by what they mean?"
        else:
            shape, what = "{values: []}", "which values are there, by the form? Or {text: true}"
        return f"      # {flow(column.name)}: {shape}  {REVIEW} {what}\n"


def draft_features(
    events: Sequence[str], people: str | None, public: Sequence[str], output: Path
) -> str:
    """Return the text of a features file to complete.

    Parameters
    ----------
    events
        Tables of events.
    people
        The table of people; None where people are those who have events.
    public
        Tables that say nothing about the people.
    output
        The file it will be, to which paths are relative.
    """
    names: set[str] = {"people"}
    of_people = None if people is None else _table_of(people, output, set())
    of_events = [_table_of(path, output, names) for path in events]
    of_public = [_table_of(path, output, names) for path in public]
    person = _person(of_people, of_events)
    return "".join([
        _HEAD,
        f"person: {flow(person)}  {REVIEW} tells people apart, in every table of people\n",
        f"# period: {{from: , until: , zone: }}  {REVIEW} the first day, the first day after it, "
        "and whose clock is read\n",
        *_people_lines(of_people, person),
        *_public_lines(of_public, of_events),
        *_events_lines(of_events, of_public, person),
        *_feature_lines(of_events),
    ])  # fmt: skip


def _table_of(path: str, output: Path, taken: set[str]) -> _Table:
    source = source_of(path)
    check_header(source.names, path.rsplit("/", 1)[-1])
    draft = draft_schema(source.names, column_kinds(source))
    stem = re.sub(r"\W", "_", Path(path).name.split(".")[0]).strip("_") or "events"
    name = next(n for n in _numbered(stem if stem[0].isalpha() else f"t_{stem}") if n not in taken)
    taken.add(name)
    relative = os.path.relpath(Path(path).absolute(), output.absolute().parent)
    return _Table(name, relative, draft.columns, draft.person)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _person(people: _Table | None, events: Sequence[_Table]) -> str:
    """Return the column that tells people apart: so named if one is, and in all tables if one is.

    Tables of events without it name their own.
    """
    tables = [*([people] if people else []), *events]
    shared = [n for n in tables[0].all_names if all(n in table.all_names for table in tables)]
    named = [table.person for table in tables if table.person is not None]
    in_all = [name for name in named if name in shared]
    return next(iter([*in_all, *shared, *named, tables[0].all_names[0]]))


def _people_lines(people: _Table | None, person: str) -> Iterator[str]:
    if people is None:
        yield "people: {who: events}\n"
        return
    yield f"people:\n  table: {flow(people.path)}\n  columns:\n"
    shown = [c for c in people.columns if c.name != person and not c.is_left_out]
    yield from (f"  {column.line()}" for column in shown)


def _public_lines(public: Sequence[_Table], events: Sequence[_Table]) -> Iterator[str]:
    if public:
        yield "public:\n"
    for table in public:
        key = _key(table, events)
        yield f"  {table.name}:\n    table: {flow(table.path)}\n"
        yield f"    key: {flow(key)}  {REVIEW} the column by which its rows are found\n"
        yield f"    # source: ''  {REVIEW} who published it, and where; it is shown on the page\n"
        yield "    columns:\n"
        yield from (table.line(column) for column in table.columns if column.name != key)


def _key(table: _Table, events: Sequence[_Table]) -> str:
    """Return the column that a table of events has too; else the first."""
    of_events = {name for one in events for name in one.all_names}
    return next((n for n in table.all_names if n in of_events), table.all_names[0])


def _events_lines(events: Sequence[_Table], public: Sequence[_Table], person: str) -> Iterator[str]:
    yield "events:\n"
    for table in events:
        time = _time(table)
        keys = {_key(one, events): one.name for one in public}
        joined = [name for key, name in keys.items() if key in table.all_names]
        yield f"  {table.name}:\n    table: {flow(table.path)}\n"
        if person not in table.all_names:
            own = "# person: " if table.person is None else f"person: {flow(table.person)}"
            yield f"    {own}  {REVIEW} the column that says whose each row is\n"
        yield f"    time: {flow(time)}  {REVIEW} the column that says when a row happened\n"
        if joined:
            yield f"    join: [{', '.join(joined)}]\n"
        rest = [c for c in table.columns if c.name not in (person, table.person, time, *keys)]
        yield "    columns:\n" if rest else ""
        yield from map(table.line, rest)


def _time(table: _Table) -> str:
    """Return the column of times, by its name or as the first that holds dates."""
    named = [c.name for c in table.columns if re.fullmatch(_TIMES, c.name.lower())]
    dates = [c.name for c in table.columns if c.kind.kind == "date"]
    both = [name for name in named if name in dates]
    found = next(iter([*both, *dates, *named]), None)
    if found is None:
        raise InvalidSetting(
            f"{table.path} has no column of times, so its rows are no events.",
            sentence(
                "Name it with {public} if it says nothing about the people, or with {people}."
            ),
        )
    return found


def _feature_lines(events: Sequence[_Table]) -> Iterator[str]:
    yield "features:\n"
    for table in events:
        for name, shape in _FEATURES:
            yield f"  {table.name}_{name}: {shape.format(table.name)}\n"
        yield (
            f"  # {table.name}_count: {{count: {table.name}, high: }}  {REVIEW} a bound by what it "
            "means, such as the days of the period times the most a day\n"
        )
