"""The keys and values of a features file: every problem at once, by key, with what would do."""

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, Literal
from zoneinfo import ZoneInfo

from shoal.domain._schema import category_problems, schema_problems
from shoal.domain.categories import Categories
from shoal.domain.features._definition import (
    Category,
    Column,
    Condition,
    Crosswalk,
    EventTable,
    Feature,
    IdRules,
    Number,
    PeopleTable,
    PublicTable,
    Text,
    columns_of,
)
from shoal.domain.features._period import MOST_WEEKS, Period
from shoal.errors import InvalidDomain

# What an aggregate is in words, and what it takes: rows of a table, one of its columns of numbers,
# any of its columns, or two features.
AGGREGATES: dict[str, tuple[str, str]] = {
    "count": ("rows", "number of rows of {}"),
    "sum": ("numbers", "sum of {}"),
    "mean": ("numbers", "mean of {}"),
    "median": ("numbers", "median of {}"),
    "quantile": ("numbers", "quantile of {}"),
    "largest": ("numbers", "largest {}"),
    "smallest": ("numbers", "smallest {}"),
    "std": ("numbers", "standard deviation of {}"),
    "share": ("rows", "share of the rows of {}"),
    "days": ("rows", "number of days with a row of {}"),
    "weeks": ("rows", "number of weeks with a row of {}"),
    "gap": ("rows", "longest run of weeks without a row of {}"),
    "streak": ("rows", "longest run of weeks with a row of {}"),
    "evenness": ("rows", "how evenly rows of {} are spread over weeks"),
    "first": ("rows", "days from the beginning to the first row of {}"),
    "last": ("rows", "days from the last row of {} to the end"),
    "distinct": ("any", "number of different {}"),
    "change": ("rows", "change in the number of rows of {}"),
    "sessions": ("sessions", "number of sessions in {}"),
    "ratio": ("features", "ratio of {}"),
    "difference": ("features", "difference of {}"),
}
_COUNTED = ("count", "sum", "distinct", "sessions", "ratio")  # bounds follow from nothing public
_BY_PERIOD = ("days", "weeks", "gap", "streak", "first", "last")
# What no rows give is a matter of choice for these, and follows for the others.
_NEEDS_NONE = (
    "mean", "median", "quantile", "largest", "smallest", "std", "share", "evenness", "first",
    "last", "change", "ratio",
)  # fmt: skip
_ENTRY_KEYS = ("label", "unit", "weight", "missing", "use")
_FEATURE_KEYS = (
    *AGGREGATES, "where", "which", "by", "window", "at", "low", "high", "none", *_ENTRY_KEYS,
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_OF_TIME = ("hour", "weekday", "week", "from", "until")
_MOST_STEPS = 2**31  # so that sums of squares fit into two whole numbers of 64 bits
_COMPARES = (
    "compares people; a feature is about one person's rows. Say what is meant by a fixed number, "
    "take it from a published table, or release it first and join it under `public`"
)
_FROM_ROWS = (
    "would be read from everybody's rows. State it in the file, take it from a published table, or "
    "release it first and join it under `public`"
)
# What people are used to from other tools, and cannot be said here.
_NOT_HERE = {
    **dict.fromkeys(("rank", "percentile", "percent_rank", "zscore", "decile"), _COMPARES),
    **dict.fromkeys(("share_of_total", "of_total", "relative_to", "class_mean"), _COMPARES),
    **dict.fromkeys(("top", "top_k", "mode", "most_frequent", "one_hot"), _FROM_ROWS),
    **dict.fromkeys(("difficulty", "weight_by", "inverse_frequency", "impute"), _FROM_ROWS),
    **dict.fromkeys(
        ("same_class", "neighbours", "replies_to", "shared_device", "graph"),
        "joins one person's rows to another's, so a row would be about two people. Leave it out",
    ),
    **dict.fromkeys(
        ("sql", "expression", "python", "formula"),
        "is not in the language: nobody could check that it keeps to one person's rows",
    ),
}  # fmt: skip
Problems = list[str]


def with_changes(
    content: Any, period: tuple[str, str] | None, tables: Mapping[str, str]
) -> dict[str, Any]:
    """Return a file's content with another period and other paths of tables."""
    if not isinstance(content, Mapping):
        return {}
    changed: dict[str, Any] = _without_empty_columns(dict(content))
    if period is not None and isinstance(changed.get("period"), Mapping):
        changed["period"] = {**changed["period"], "from": period[0], "until": period[1]}
    for name, path in tables.items():
        changed = _with_table(changed, name, path)
    return changed


def _without_empty_columns(entry: Any) -> Any:
    """Return an entry in which `columns:` with nothing below it, as in a draft, is left out."""
    if not isinstance(entry, dict):
        return entry
    return {
        name: _without_empty_columns(value)
        for name, value in entry.items()
        if not (name == "columns" and value is None)
    }


def _with_table(content: dict[str, Any], name: str, path: str) -> dict[str, Any]:
    if name == "people" or (name == "ids" and "ids" in content):
        return content | {name: {**(content.get(name) or {}), "table": path}}
    for group in ("events", "public"):
        inside = content.get(group)
        if isinstance(inside, Mapping) and isinstance(inside.get(name), Mapping):
            return content | {group: {**inside, name: {**inside[name], "table": path}}}
    known = [*_names(content.get("events")), *_names(content.get("public")), "people"]
    raise InvalidDomain(
        f"The file has no table of that name to set; it has {', '.join(known)}.",
        "Name one of these.",
    )


def _names(mapping: Any) -> list[str]:
    return [str(name) for name in mapping] if isinstance(mapping, Mapping) else []


def read_content(content: Any) -> tuple[dict[str, Any] | None, Problems]:
    """Return the parts of a features file, or None and one sentence for each problem."""
    problems = list(_shape_problems(content))
    if problems:
        return None, problems
    parts = _Reader(content, problems).read()
    return (None, list(dict.fromkeys(problems))) if problems else (parts, [])


def _shape_problems(content: Any) -> Iterator[str]:
    """Yield what pydantic finds: unknown and missing keys, values of the wrong type."""
    from pydantic import ValidationError

    if not isinstance(content, Mapping) or not content:
        yield "it is not a mapping of keys; start with `version: 1` and `person:`"
        return
    try:
        _model().model_validate(dict(content))
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False):
            yield _describe(problem)


def _describe(problem: Any) -> str:
    at = [str(step) for step in problem["loc"] if step != "[key]"]
    where, kind = ".".join(at), problem["type"]
    if kind == "missing":
        return f"{where} is missing{_WHY_NEEDED.get(at[-1], '')}"
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(at[-1], _KEYS, n=1, cutoff=0.7)
        also = f"; did you mean {near[0]!r}?" if near else ""
        return f"{where} is not a known key{also}"
    if "[key]" in problem["loc"]:
        return f"{where} is a name that YAML does not read as text; put it in quotes"
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return f"{where} should be a mapping of keys"
    return f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}"


_WHY_NEEDED = {
    "source": ": say who published it and where, in words; it is shown on the page",
    "key": ": the column by which its rows are found",
    "time": ": the column that says when a row happened",
    "period": ": from which day until before which day events count, e.g. "
    "{from: 2026-01-01, until: 2027-01-01}",
    "until": ": the first day that is no longer in the period",
    "from": ": the first day of the period",
    "person": ": the column that says who a row is about",
}
_KEYS = (
    "version", "person", "period", "people", "public", "events", "features", "id", "ids", "ledger",
    "table", "key", "source", "columns", "time", "join", "arrived", "times", "who", "repeats",
    "from", "to", "until", "zone", "arrived_before", "low", "high", "step", "values", "text",
    "case", "zeros", "prefix",
)  # fmt: skip


@cache
def _model() -> Any:
    """Return the pydantic model of the file, made on first use: pydantic is slow to import."""
    from typing import Annotated

    from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

    number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
    name = Annotated[StrictStr, Field(min_length=1)]
    table_name = Annotated[StrictStr, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]

    class Closed(BaseModel):
        model_config = ConfigDict(extra="forbid", populate_by_name=True)

    class PeriodEntry(Closed):
        from_: date = Field(alias="from")
        until: date
        zone: name = "UTC"
        arrived_before: date = date(1, 1, 1)

    class Ids(Closed):
        case: Literal["ignore"] = "ignore"
        zeros: Literal["strip"] = "strip"
        prefix: name = "-"

    class CrosswalkEntry(Closed):
        table: name
        from_: name = Field(alias="from")
        to: name

    class Repeats(Closed):
        latest: name

    class People(Closed):
        table: name = "-"
        person: name = "-"
        who: Literal["table", "events", "either"] = "table"
        columns: dict[name, dict[str, Any]] = Field(default_factory=dict)
        repeats: Repeats = Repeats(latest="-")

    class ColumnEntry(Closed):
        low: number = 0.0
        high: number = 1.0
        step: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] = 1.0
        values: Annotated[list[Any], Field(min_length=1)] = Field(default_factory=list)
        text: StrictBool = True

    class PublicEntry(Closed):
        table: name
        key: name
        source: Annotated[StrictStr, Field(min_length=3)]
        columns: dict[name, ColumnEntry] = Field(default_factory=dict)

    class EventsEntry(Closed):
        table: name
        time: name
        person: name = "-"
        arrived: name = "-"
        join: name | list[name] | dict[name, name] = "-"
        times: Literal["drop", "refuse"] = "drop"
        columns: dict[name, ColumnEntry] = Field(default_factory=dict)

    class Content(Closed):
        version: Literal[1]
        person: name
        period: PeriodEntry
        people: People
        id: Ids = Ids()
        ids: CrosswalkEntry | None = None
        ledger: name = "-"
        public: dict[table_name, PublicEntry] = Field(default_factory=dict)
        events: Annotated[dict[table_name, EventsEntry], Field(min_length=1)]
        features: Annotated[dict[name, dict[str, Any]], Field(min_length=1)]

    return Content


class _Reader:
    """Reads a file of the right shape; what does not go together is added to ``problems``."""

    def __init__(self, content: Mapping[str, Any], problems: Problems) -> None:
        self._content, self._problems = content, problems
        self._events: dict[str, EventTable] = {}
        self._public: dict[str, PublicTable] = {}
        self._period = Period(date(2000, 1, 1), date(2000, 1, 8))

    def _problem(self, text: str) -> None:
        self._problems.append(text)

    def read(self) -> dict[str, Any]:
        """Return the parts by the names of the definition's fields."""
        content = self._content
        self._period = self._read_period(content["period"])
        people = self._read_people(content["people"])
        self._public = {n: self._read_public(n, e) for n, e in content.get("public", {}).items()}
        self._events = {n: self._read_events(n, e) for n, e in content["events"].items()}
        self._check_tables(people)
        features = self._read_features(content["features"], people)
        rules, old = content.get("id", {}), content.get("ids")
        return {
            "person": content["person"],
            "period": self._period,
            "people": people,
            "public": self._public,
            "events": self._events,
            "features": features,
            "ids": IdRules("case" in rules, "zeros" in rules, rules.get("prefix", "")),
            "crosswalk": old and Crosswalk(old["table"], old["from"], old["to"]),
            "ledger": content.get("ledger"),
        }

    def _read_period(self, entry: Mapping[str, Any]) -> Period:
        start, end = _day(entry["from"]), _day(entry["until"])
        zone = entry.get("zone")
        before = entry.get("arrived_before")
        if zone is not None and not _is_zone(zone):
            self._problem("period.zone is no zone such as America/Montevideo or UTC")
            zone = None
        period = Period(start, end, zone, None if before is None else _day(before))
        if not start < end:
            self._problem("period.until must be later than period.from; it is not in the period")
        elif period.n_weeks > MOST_WEEKS:
            self._problem(
                f"period has {period.n_weeks} weeks; at most {MOST_WEEKS} can be told apart. Make "
                "one file for each year"
            )
        return period

    def _read_people(self, entry: Mapping[str, Any]) -> PeopleTable:
        who, table = entry.get("who", "table"), entry.get("table")
        columns = entry.get("columns", {})
        if table is None and (who == "table" or columns or "repeats" in entry):
            self._problem("people.table is missing: the table with a row for each person")
        if columns:
            more = {"a feature": {"low": 0, "high": 1}}
            found = schema_problems({"version": 1, "columns": more | columns})
            self._problems += [f"people.{problem}" for problem in found]
        return PeopleTable(
            table=table,
            person=entry.get("person", self._content["person"]),
            who=who,
            columns={str(name): dict(column) for name, column in columns.items()},
            latest=entry.get("repeats", {}).get("latest"),
        )

    def _read_public(self, name: str, entry: Mapping[str, Any]) -> PublicTable:
        where = f"public.{name}"
        columns = self._read_columns(where, entry.get("columns", {}))
        if self._content["person"] in (entry["key"], *columns):
            self._problem(
                f"{where} has the column that tells people apart, so it is about people; only what "
                "says nothing about them is public"
            )
        return PublicTable(entry["table"], entry["key"], entry["source"], columns)

    def _read_events(self, name: str, entry: Mapping[str, Any]) -> EventTable:
        where, wants_arrival = f"events.{name}", self._period.arrived_before is not None
        if "arrived" in entry and not wants_arrival:
            self._problem(f"{where}.arrived is of use with period.arrived_before only; add that")
        return EventTable(
            table=entry["table"],
            person=entry.get("person", self._content["person"]),
            time=entry["time"],
            arrived=entry.get("arrived", "arrived") if wants_arrival else None,
            joins=self._read_joins(where, entry.get("join", {})),
            columns=self._read_columns(where, entry.get("columns", {})),
            refuses_times=entry.get("times") == "refuse",
        )

    def _read_joins(self, where: str, join: Any) -> dict[str, str]:
        named = [join] if isinstance(join, str) else join
        joins: dict[str, str] = {}
        for name in named:
            if name not in self._public:
                self._problem(f"{where}.join: {name!r} is not a table under `public`")
            else:
                own = join[name] if isinstance(join, Mapping) else self._public[name].key
                joins[name] = own
        return joins

    def _read_columns(self, where: str, entries: Mapping[str, Any]) -> dict[str, Column]:
        columns: dict[str, Column] = {}
        for name, entry in entries.items():
            column = self._read_column(f"{where}.columns.{name}", entry)
            if name in _OF_TIME:
                self._problem(
                    f"{where}.columns.{name} has a name that conditions keep for times; rename it "
                    "where the table is made"
                )
            if column is not None:
                columns[name] = column
        return columns

    def _read_column(self, where: str, entry: Mapping[str, Any]) -> Column | None:
        given = {*entry}
        if given == {"text"} and entry["text"]:
            return Text()
        if given == {"values"}:
            wrong = list(category_problems(f"{where}.values", entry["values"]))
            self._problems += wrong
            return None if wrong else Category(Categories(entry["values"], "bucket"))
        if {"low", "high"} <= given <= {"low", "high", "step"}:
            return self._read_number(where, entry)
        self._problem(
            f"{where} is one of a number, {{low: 0, high: 60, step: 0.1}}, a category, "
            "{values: [login, video]}, or {text: true}"
        )
        return None

    def _read_number(self, where: str, entry: Mapping[str, Any]) -> Number | None:
        low, high = float(entry["low"]), float(entry["high"])
        if not low < high:
            self._problem(f"{where} needs low below high")
            return None
        step = _exact(entry["step"]) if "step" in entry else _fine_step(high - low)
        if max(abs(low), abs(high)) / step > _MOST_STEPS:
            self._problem(
                f"{where}.step is too small: at most {_MOST_STEPS:,} steps fit the bounds"
            )
            return None
        return Number(low, high, step)

    def _check_tables(self, people: PeopleTable) -> None:
        """Refuse one file as a table of people and as a public one, and names that are kept."""
        for name in {"people", "ids"} & {*self._events, *self._public}:
            self._problem(f"{name!r} is the name of another table of the file; choose another")
        of_people = {people.table, *(table.table for table in self._events.values())}
        of_people.add(self._content.get("ids", {}).get("table"))
        for name, table in self._public.items():
            if table.table in of_people:
                self._problem(
                    f"public.{name}.table is a table of people too, so it is not public; leave it "
                    "out"
                )
        for name, events in self._events.items():
            known = [*events.columns]
            for joined in events.joins:
                known += [*self._public[joined].columns]
            for twice in sorted({column for column in known if known.count(column) > 1}):
                self._problem(
                    f"events.{name}: {twice!r} is a column of two of its tables; rename it in one"
                )

    def _read_features(
        self, entries: Mapping[str, Any], people: PeopleTable
    ) -> tuple[Feature, ...]:
        features: list[Feature] = []
        for name, entry in entries.items():
            found = _FeatureReader(
                name, entry, self._events, self._public, self._period, features, self._problems
            ).read()
            features += found
        names = [self._content["person"], *people.columns, *(one.name for one in features)]
        for twice in sorted({name for name in names if names.count(name) > 1}):
            self._problem(f"features: {twice!r} is the name of two columns; rename one")
        return tuple(features)


class _FeatureReader:
    """Reads one entry below ``features``: a column, or one for each value of a list."""

    def __init__(
        self,
        name: str,
        entry: Mapping[str, Any],
        events: Mapping[str, EventTable],
        public: Mapping[str, PublicTable],
        period: Period,
        earlier: list[Feature],
        problems: Problems,
    ) -> None:
        self._name, self._entry, self._at = name, entry, f"features.{name}"
        self._events, self._public, self._period = events, public, period
        self._earlier = {feature.name: feature for feature in earlier}
        self._problems, self._before = problems, len(problems)

    def _problem(self, text: str) -> None:
        self._problems.append(text)

    def read(self) -> list[Feature]:
        """Return the columns; nothing if there is a problem."""
        aggregate = self._read_aggregate()
        if aggregate is None:
            return []
        columns = self._read_parts(aggregate)
        return columns if len(self._problems) == self._before else []

    def _read_aggregate(self) -> str | None:
        for key in self._entry:
            if key in _NOT_HERE:
                self._problem(f"{self._at}: {key!r} {_NOT_HERE[key]}. {_aggregates_text()}")
                return None
            if key not in _FEATURE_KEYS:
                near = difflib.get_close_matches(str(key), _FEATURE_KEYS, n=1, cutoff=0.7)
                also = f"; did you mean {near[0]!r}?" if near else f". {_aggregates_text()}"
                self._problem(f"{self._at}.{key} is not a known key{also}")
                return None
        named = [key for key in self._entry if key in AGGREGATES]
        if len(named) != 1:
            found = "names none" if not named else f"names {' and '.join(named)}"
            self._problem(f"{self._at} needs one aggregate and {found}. {_aggregates_text()}")
            return None
        self._check_keys(named[0])
        return named[0]

    def _check_keys(self, aggregate: str) -> None:
        """Refuse keys that would do nothing for this aggregate."""
        of = {"which": ("share",), "window": ("change",), "at": ("quantile",)}
        for key, takers in of.items():
            if key in self._entry and aggregate not in takers:
                self._problem(f"{self._at}.{key} is for {takers[0]}; leave it out")
            if key not in self._entry and aggregate in takers:
                self._problem(f"{self._at}.{key} is missing: {_EXAMPLES[key]}")
        if AGGREGATES[aggregate][0] == "features":
            for key in ("where", "by"):
                if key in self._entry:
                    self._problem(f"{self._at}.{key} is for rows; a {aggregate} takes two features")

    def _read_parts(self, aggregate: str) -> list[Feature]:
        if AGGREGATES[aggregate][0] == "features":
            return self._read_of_features(aggregate)
        gap = 0
        target = self._entry[aggregate]
        if aggregate == "sessions":
            target, gap = self._read_sessions(target)
        found = self._read_target(aggregate, target)
        if found is None:
            return []
        table, column = found
        where = self._read_conditions("where", table)
        which = self._read_conditions("which", table)
        if aggregate == "change":
            where, which = self._read_window(where)
        at = self._read_share_below() if aggregate == "quantile" else Fraction(1, 2)
        bounds = self._read_bounds(aggregate, self._column(table, column))
        none = self._read_none(aggregate, bounds)
        words = self._words(aggregate, str(target))
        made = Feature(
            self._name, aggregate, *bounds, none, table, column, where, which, at, gap,
            entry=self._entry_of(none), words=words,
        )  # fmt: skip
        return self._for_each_value(made, table)

    def _column(self, table: str, column: str | None) -> Column | None:
        known = columns_of(self._events[table], self._public)
        return None if column is None else known[column]

    def _read_target(self, aggregate: str, target: Any) -> tuple[str, str | None] | None:
        """Return the table and the column that ``log`` or ``log.minutes`` names."""
        takes = AGGREGATES[aggregate][0]
        table, _, column = str(target).partition(".")
        at = f"{self._at}.{aggregate}"
        if not isinstance(target, str) or table not in self._events:
            self._problem(f"{at} must name a table under `events`: {', '.join(self._events)}")
            return None
        if takes in ("rows", "sessions"):
            if column:
                self._problem(f"{at} takes a table, not a column: {table!r}")
            return None if column else (table, None)
        known = columns_of(self._events[table], self._public)
        fit = [n for n, c in known.items() if takes == "any" or isinstance(c, Number)]
        if column not in fit:
            kind = "column" if takes == "any" else "column of numbers"
            listed = ", ".join(f"{table}.{name}" for name in fit) or "none is described"
            self._problem(f"{at} must name a {kind} that the file describes: {listed}")
            return None
        return table, column

    def _read_sessions(self, entry: Any) -> tuple[Any, int]:
        is_whole = isinstance(entry, Mapping) and {*entry} == {"table", "gap"}
        gap = _minutes(entry["gap"]) if is_whole else None
        if gap is None:
            self._problem(f"{self._at}.sessions is written {{table: log, gap: 30 minutes}}")
            return next(iter(self._events)), 1
        return entry["table"], gap * 60_000_000

    def _read_share_below(self) -> Fraction:
        at = self._entry.get("at")
        if isinstance(at, int | float) and not isinstance(at, bool) and 0 < at < 1:
            return _exact(at)
        self._problem(f"{self._at}.at must be a share between 0 and 1, such as 0.9")
        return Fraction(1, 2)

    def _read_window(
        self, where: tuple[Condition, ...]
    ) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
        """Return the conditions of the whole window, and of its later part."""
        window = self._entry.get("window")
        days = [_day_or_none(day) for day in window] if isinstance(window, list) else []
        if len(days) != 3 or None in days:
            self._problem(f"{self._at}.window is written [2025-03-03, 2025-07-01, 2025-12-15]")
            return where, ()
        first, middle, end = (self._period.day_of(day) for day in days if day is not None)
        if not 0 <= first < middle < end <= self._period.n_days:
            self._problem(f"{self._at}.window must be three rising days within the period")
        both = Condition("@day", None, first, end - 1)
        return (*where, both), (Condition("@day", None, middle, end - 1),)

    def _read_conditions(self, key: str, table: str) -> tuple[Condition, ...]:
        entry = self._entry.get(key, {})
        if not isinstance(entry, Mapping):
            self._problem(f"{self._at}.{key} should be a mapping, such as {{kind: login}}")
            return ()
        found = [
            self._read_condition(f"{self._at}.{key}.{n}", n, v, table) for n, v in entry.items()
        ]
        return tuple(condition for condition in found if condition is not None)

    def _read_condition(self, at: str, name: str, value: Any, table: str) -> Condition | None:
        if name in _OF_TIME:
            return self._read_time_condition(at, name, value)
        column = columns_of(self._events[table], self._public).get(name)
        if isinstance(column, Category):
            listed = value if isinstance(value, list) else [value]
            return self._read_listed(at, name, listed, column)
        if isinstance(column, Number):
            ends = value if isinstance(value, list) else [value, value]
            if len(ends) != 2 or not all(_is_number(end) for end in ends) or ends[0] > ends[1]:
                self._problem(f"{at} is a number, or from and to: [3, 4]")
                return None
            low, high = (steps_of(float(end), column.step) for end in ends)
            return Condition(name, None, low, high)
        self._problem(
            f"{at}: {table} has no category or number of that name in the file; times have hour, "
            "weekday, week, from and until"
        )
        return None

    def _read_listed(
        self, at: str, name: str, values: list[Any], column: Category
    ) -> Condition | None:
        codes = column.listed.codes(values).tolist()
        n_listed = len(column.listed.values)
        for value, code in zip(values, codes, strict=True):
            if code == n_listed:
                self._problem(f"{at}: {value!r} is not in the public list of {name!r}")
        return Condition(name, tuple(sorted({code for code in codes if code < n_listed})))

    def _read_time_condition(self, at: str, name: str, value: Any) -> Condition | None:
        readers: dict[str, Callable[[Any], Condition | None]] = {
            "hour": _hours,
            "weekday": _weekdays,
            "week": lambda weeks: _weeks(weeks, self._period.n_weeks),
            "from": lambda day: self._days(day, None),
            "until": lambda day: self._days(None, day),
        }
        condition = readers[name](value)
        if condition is None:
            self._problem(f"{at} is {_EXAMPLES[name]}")
        return condition

    def _days(self, first: Any, end: Any) -> Condition | None:
        low = self._period.start if first is None else _day_or_none(first)
        high = self._period.end if end is None else _day_or_none(end)
        if low is None or high is None or not self._period.start <= low < high <= self._period.end:
            return None
        return Condition(
            "@day", None, self._period.day_of(low), self._period.day_of(high - timedelta(days=1))
        )

    def _read_bounds(self, aggregate: str, column: Column | None) -> tuple[float, float]:
        """Return the bounds that follow from the file, or those it states."""
        follow = _following_bounds(aggregate, column, self._period)
        low = self._bound("low", None if follow is None else follow[0])
        high = self._bound("high", None if follow is None else follow[1])
        if low is None:  # a sum or count begins at nothing, unless what is added may be negative
            is_positive = not isinstance(column, Number) or column.low >= 0
            low = 0.0 if is_positive else None
        if high is None:
            self._problem(f"{self._at}.high is missing: a bound by what it means, not by the rows")
        if low is None:
            self._problem(f"{self._at}.low is missing: what is added may be negative")
        if low is not None and high is not None and not low < high:
            self._problem(f"{self._at} needs low below high")
        return (0.0 if low is None else low), (1.0 if high is None else high)

    def _bound(self, key: str, follows: float | None) -> float | None:
        value = self._entry.get(key, follows)
        if value is None or _is_number(value):
            return None if value is None else float(value)
        self._problem(f"{self._at}.{key} must be a number")
        return follows

    def _read_none(self, aggregate: str, bounds: tuple[float, float]) -> float | None:
        if "none" not in self._entry:
            if aggregate in _NEEDS_NONE:
                self._problem(
                    f"{self._at}.none is missing: what a person without such rows has, a number "
                    "or `missing`"
                )
            return float(self._period.n_weeks) if aggregate == "gap" else 0.0
        none = self._entry["none"]
        if none == "missing":
            return None
        if not _is_number(none) or not bounds[0] <= none <= bounds[1]:
            self._problem(f"{self._at}.none must be `missing`, or a number within the bounds")
            return 0.0
        return float(none)

    def _entry_of(self, none: float | None) -> dict[str, Any]:
        entry = {key: self._entry[key] for key in _ENTRY_KEYS if key in self._entry}
        if none is None:
            entry.setdefault("missing", "flag")
        columns = {"it": {"low": 0, "high": 1} | entry, "other": {"low": 0, "high": 1}}
        found = schema_problems({"version": 1, "columns": columns})
        self._problems += [p.replace("columns.it", self._at) for p in found]
        return entry

    def _read_of_features(self, aggregate: str) -> list[Feature]:
        parts = self._entry[aggregate]
        known = [*self._earlier]
        if not isinstance(parts, list) or len(parts) != 2 or not {*parts} <= {*known}:
            self._problem(
                f"{self._at}.{aggregate} must name two features that stand above it: "
                f"{', '.join(known) or 'there is none'}"
            )
            return []
        first, second = (self._earlier[part] for part in parts)
        low, high = first.low - second.high, first.high - second.low
        if aggregate == "ratio":
            low, high = self._read_bounds(aggregate, None)
        is_missing = aggregate == "difference" and None in (first.none, second.none)
        none = None if is_missing else self._read_none(aggregate, (low, high))
        words = self._words(aggregate, f"{parts[0]} and {parts[1]}")
        return [
            Feature(
                self._name, aggregate, low, high, none, parts=tuple(parts),
                entry=self._entry_of(none), words=words,
            )
        ]  # fmt: skip

    def _for_each_value(self, feature: Feature, table: str) -> list[Feature]:
        """Return a column for each value of the list that ``by`` names."""
        from dataclasses import replace

        if "by" not in self._entry:
            return [feature]
        by = self._entry["by"]
        column = columns_of(self._events[table], self._public).get(by)
        if not isinstance(column, Category):
            self._problem(f"{self._at}.by must name a column with a public list of values")
            return []
        return [
            replace(
                feature,
                name=f"{feature.name}_{value}",
                where=(*feature.where, Condition(by, (code,))),
                words=f"{feature.words}, {by} {value}",
            )
            for code, value in enumerate(column.listed.values)
        ]

    def _words(self, aggregate: str, target: str) -> str:
        """Return what the feature is, in words for pages."""
        text = AGGREGATES[aggregate][1].format(target)
        for key in ("which", "where"):
            entry = self._entry.get(key)
            if isinstance(entry, Mapping) and entry:
                text += f"; {key} {', '.join(f'{n} is {_shown(v)}' for n, v in entry.items())}"
        for key in ("at", "window"):
            if key in self._entry:
                text += f"; {key} {_shown(self._entry[key])}"
        return text


_EXAMPLES = {
    "which": "which of the rows are counted, such as {hour: [18, 23]}",
    "window": "[2025-03-03, 2025-07-01, 2025-12-15], two parts of the period to compare",
    "at": "a share between 0 and 1, such as 0.9",
    "hour": "from and to, both included: [18, 23]",
    "weekday": "one or a list of monday to sunday",
    "week": "from and to, both included, 1 for the first of the period: [1, 10]",
    "from": "a day within the period, and before `until`",
    "until": "a day within the period, and after `from`",
}


def _aggregates_text() -> str:
    return f"The aggregates are {', '.join(AGGREGATES)}"


def _following_bounds(
    aggregate: str, column: Column | None, period: Period
) -> tuple[float, float] | None:
    """Return bounds that follow from public facts alone; None where they must be stated."""
    if aggregate in _COUNTED:
        return None
    if aggregate in _BY_PERIOD:
        is_of_days = aggregate in ("first", "last", "days")
        return 0.0, float(period.n_days if is_of_days else period.n_weeks)
    if aggregate in ("share", "evenness", "change"):
        return -1.0 if aggregate == "change" else 0.0, 1.0
    assert isinstance(column, Number)
    if aggregate == "std":
        return 0.0, (column.high - column.low) / 2
    return column.low, column.high


def steps_of(value: float, step: Fraction) -> int:
    """Return a number in whole steps, halves up.

    Examples
    --------
    >>> steps_of(2.5, Fraction(1, 10)), steps_of(3, Fraction(2))
    (25, 2)
    """
    return math.floor(value * step.denominator / step.numerator + 0.5)


def _exact(value: float) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    return Fraction(Decimal(str(value)))


def _fine_step(width: float) -> Fraction:
    """Return a power of ten that is a millionth of the bounds at most."""
    step = Fraction(1)
    while step * 1_000_000 > width:
        step /= 10
    while step * 10_000_000 <= width:
        step *= 10
    return step


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_zone(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, KeyError):
        return False
    return True


def _day(value: Any) -> date:
    return value if isinstance(value, date) else date.fromisoformat(str(value))


def _day_or_none(value: Any) -> date | None:
    try:
        return _day(value)
    except ValueError:
        return None


def _minutes(value: Any) -> int | None:
    """Return how many minutes ``30 minutes`` are; None if it is written otherwise."""
    number, _, unit = str(value).partition(" ")
    if not number.isdecimal() or unit not in ("minutes", "minute", "hours", "hour"):
        return None
    return int(number) * (60 if unit.startswith("hour") else 1) or None


def _range(value: Any, low: int, high: int) -> tuple[int, int] | None:
    ends = value if isinstance(value, list) else [value, value]
    is_fine = len(ends) == 2 and all(type(end) is int and low <= end <= high for end in ends)
    return (ends[0], ends[1]) if is_fine else None


def _hours(value: Any) -> Condition | None:
    """Read hours, both included; from a late one to an early one goes over midnight."""
    ends = _range(value, 0, 23)
    if ends is None:
        return None
    first, last = ends
    hours = range(first, last + 1) if first <= last else (*range(first, 24), *range(last + 1))
    return Condition("@hour", tuple(sorted(hours)))


def _weekdays(value: Any) -> Condition | None:
    days = value if isinstance(value, list) else [value]
    if not days or not {*days} <= {*_WEEKDAYS}:
        return None
    return Condition("@weekday", tuple(sorted({_WEEKDAYS.index(day) for day in days})))


def _weeks(value: Any, n_weeks: int) -> Condition | None:
    ends = _range(value, 1, n_weeks)
    if ends is None or ends[0] > ends[1]:
        return None
    return Condition("@week", None, ends[0] - 1, ends[1] - 1)


def _shown(value: Any) -> str:
    return " to ".join(map(str, value)) if isinstance(value, list) else str(value)
