"""Features as queries over encoded lines: each groups by person before anything else.

There are four forms, all below. They hold names that this module makes up and whole numbers, and
nothing that a file or a row says; see ``queries.proof.md``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from shoal.domain.features import Condition, Feature, FeaturesFile, Number
from shoal.engine.feature_table._encoding import WORD_DAYS, Output

# [P1] one line a person, of this person's lines alone; {rows} is the place of encoded lines
GROUPED = "SELECT owner, {aggregates} FROM {rows} GROUP BY owner"
WEEKLY = (
    "SELECT owner, {outer} FROM (SELECT owner, {week} AS week, {inner} FROM {rows} "
    "GROUP BY owner, {week}) AS weekly GROUP BY owner"
)
RANKED = (
    "SELECT owner, min(v) AS a0 FROM (SELECT owner, {value} AS v, row_number() OVER (PARTITION BY "
    "owner ORDER BY {value}) AS place, count(*) OVER (PARTITION BY owner) AS n FROM {rows} WHERE "
    "{where} AND {value} IS NOT NULL) AS ranked WHERE place * {parts} >= {share} * n GROUP BY owner"
)
SESSIONS = (
    "SELECT owner, CAST(sum(CASE WHEN earlier IS NULL OR moment - earlier > {gap} THEN 1 ELSE 0 "
    "END) AS BIGINT) AS a0 FROM (SELECT owner, {at} AS moment, lag({at}) OVER (PARTITION BY owner "
    "ORDER BY {at}) AS earlier FROM {rows} WHERE {where}) AS paused GROUP BY owner"
)
# [P1] at most one line a person: the latest, ties by what it says
PEOPLE = "SELECT owner, count(*) AS n{columns} FROM {rows} GROUP BY owner"
LATEST = (
    "SELECT owner, 1 AS n{columns} FROM (SELECT *, row_number() OVER (PARTITION BY owner ORDER BY "
    "{order}) AS place FROM {rows}) AS latest WHERE place = 1"
)


@dataclass
class Query:
    """One pass over a table of events, and the columns ``a0, a1, ...`` that it makes.

    Parameters
    ----------
    name
        Its name, which its result has in ``joined_sql``.
    table
        The table of events.
    sql
        The query, with ``{rows}`` in it.
    """

    name: str
    table: str
    sql: str
    outputs: tuple[Output, ...]
    n_columns: int


@dataclass
class _Pass:
    """A pass that is being put together: what lines hold, and what is aggregated."""

    outputs: list[Output] = field(default_factory=list)
    aggregates: list[str] = field(default_factory=list)

    def output(self, output: Output) -> str:
        """Return the name of an encoded column, which is added if it is new."""
        if output not in self.outputs:
            self.outputs.append(output)
        return f"c{self.outputs.index(output)}"

    def aggregate(self, sql: str) -> int:
        """Return the place of an aggregate, which is added if it is new."""
        if sql not in self.aggregates:
            self.aggregates.append(sql)
        return self.aggregates.index(sql)


@dataclass(frozen=True)
class Compiled:
    """A features file as queries, and where each part of a feature is found.

    Parameters
    ----------
    queries
        The passes over tables of events.
    parts
        By the name of a feature, the column of the joined result for each of its parts.
    """

    queries: tuple[Query, ...]
    parts: Mapping[str, Mapping[str, str]]


def compile_features(file: FeaturesFile) -> Compiled:
    """Return the queries of a file, one pass a table and one more where two levels are needed.

    Examples
    --------
    >>> file = FeaturesFile.of({
    ...     "version": 1,
    ...     "person": "pupil",
    ...     "period": {"from": "2025-03-03", "until": "2025-12-15"},
    ...     "people": {"table": "pupils.csv"},
    ...     "events": {"log": {"table": "log.csv", "time": "at"}},
    ...     "features": {"evenings": {"count": "log", "where": {"hour": [18, 23]}, "high": 400}},
    ... })
    >>> compile_features(file).queries[0].sql
    'SELECT owner, count(*) AS a0, count(*) FILTER (WHERE c0) AS a1 FROM {rows} GROUP BY owner'
    """
    return _Compiler(file).compile()


class _Compiler:
    def __init__(self, file: FeaturesFile) -> None:
        self._file = file
        self._main = {name: _Pass() for name in file.events}
        self._weekly = {name: _Pass() for name in file.events}
        self._own: list[Query] = []
        for part in self._main.values():
            part.aggregate("count(*)")  # who has a row at all

    def compile(self) -> Compiled:
        parts = {feature.name: self._parts(feature) for feature in self._file.features}
        return Compiled((*self._grouped(), *self._weekly_queries(), *self._own), parts)

    def _grouped(self) -> list[Query]:
        made = []
        for place, (table, one) in enumerate(self._main.items()):
            listed = ", ".join(f"{sql} AS a{i}" for i, sql in enumerate(one.aggregates))
            sql = GROUPED.format(aggregates=listed, rows="{rows}")
            made.append(Query(f"e{place}", table, sql, tuple(one.outputs), len(one.aggregates)))
        return made

    def _weekly_queries(self) -> list[Query]:
        made = []
        for place, (table, one) in enumerate(self._weekly.items()):
            if not one.aggregates:
                continue
            week = one.output(Output("week"))
            inner = ", ".join(f"{sql} AS n{i}" for i, sql in enumerate(one.aggregates))
            outer = ", ".join(
                f"CAST(sum(n{i} * n{i}) AS BIGINT) AS a{i}" for i in range(len(one.aggregates))
            )
            sql = WEEKLY.format(outer=outer, inner=inner, week=week, rows="{rows}")
            made.append(Query(f"w{place}", table, sql, tuple(one.outputs), len(one.aggregates)))
        return made

    def _parts(self, feature: Feature) -> dict[str, str]:
        if feature.table is None:
            return {}
        place = list(self._file.events).index(feature.table)
        one = self._main[feature.table]
        found = {
            role: f"e{place}_{one.aggregate(sql)}"
            for role, sql in self._aggregates(feature, one).items()
        }
        if feature.aggregate == "evenness":
            weekly = self._weekly[feature.table]
            at = weekly.aggregate(f"count(*){self._filter(weekly, feature.where)}")
            found["squares"] = f"w{place}_{at}"
        if feature.aggregate in ("median", "quantile"):
            found["value"] = self._ranked(feature)
        if feature.aggregate == "sessions":
            found["n"] = self._sessions(feature)
        return found

    def _aggregates(self, feature: Feature, one: _Pass) -> dict[str, str]:  # noqa: PLR0911
        """Return the aggregates of one pass that a feature is made of, by what they are to it."""
        rows = self._filter(one, feature.where)
        kind = feature.aggregate
        if kind in ("count", "evenness"):
            return {"n": f"count(*){rows}"}
        if kind in ("share", "change"):
            both = self._filter(one, (*feature.where, *feature.which))
            return {"n": f"count(*){rows}", "of": f"count(*){both}"}
        if kind == "days":
            words = range(-(-self._file.period.n_days // WORD_DAYS))
            bits = [one.output(Output("days", part=word)) for word in words]
            return {f"bits{i}": f"bit_or({name}){rows}" for i, name in enumerate(bits)}
        if kind in ("weeks", "gap", "streak"):
            return {"bits": f"bit_or({one.output(Output('weeks'))}){rows}"}
        if kind in ("first", "last"):
            which = "min" if kind == "first" else "max"
            return {"day": f"{which}({one.output(Output('day'))}){rows}"}
        if kind in ("median", "quantile", "sessions"):
            return {}
        value = one.output(self._value(feature))
        if kind == "distinct":
            return {"n": f"count(DISTINCT {value}){rows}"}
        if kind in ("largest", "smallest"):
            return {"value": f"{'max' if kind == 'largest' else 'min'}({value}){rows}"}
        sums = {"sum": f"CAST(sum({value}){rows} AS BIGINT)", "n": f"count({value}){rows}"}
        for half in ("high", "low") if kind == "std" else ():
            name = one.output(Output(half, feature.column or ""))
            sums[half] = f"CAST(sum({name}){rows} AS BIGINT)"
        return sums

    def _value(self, feature: Feature) -> Output:
        column = self._file.column_of(feature)
        is_text = not isinstance(column, Number) and not hasattr(column, "listed")
        return Output("text" if is_text else "steps", feature.column or "")

    def _filter(self, one: _Pass, where: tuple[Condition, ...]) -> str:
        return f" FILTER (WHERE {one.output(Output('rows', where=where))})" if where else ""

    def _ranked(self, feature: Feature) -> str:
        one = _Pass()
        where = one.output(Output("rows", where=feature.where))
        value = one.output(self._value(feature))
        share = feature.at if feature.aggregate == "quantile" else Fraction(1, 2)
        sql = RANKED.format(
            value=value, where=where, parts=share.denominator, share=share.numerator, rows="{rows}"
        )
        return self._add_own(feature, one, sql)

    def _sessions(self, feature: Feature) -> str:
        one = _Pass()
        where = one.output(Output("rows", where=feature.where))
        at = one.output(Output("at"))
        sql = SESSIONS.format(at=at, where=where, gap=feature.gap, rows="{rows}")
        return self._add_own(feature, one, sql)

    def _add_own(self, feature: Feature, one: _Pass, sql: str) -> str:
        name = f"q{len(self._own)}"
        self._own.append(Query(name, feature.table or "", sql, tuple(one.outputs), 1))
        return f"{name}_0"


def people_sql(file: FeaturesFile) -> str:
    """Return the query of the table of people, with ``{rows}`` in it."""
    names = [f"k{i}" for i in range(len(file.people.columns))]
    if file.people.latest is None:
        columns = "".join(f", min({name}) AS {name}" for name in names)
        return PEOPLE.format(columns=columns, rows="{rows}")
    order = ", ".join(f"{name} DESC NULLS LAST" for name in ("moment", *names))
    columns = "".join(f", {name}" for name in names)
    return LATEST.format(columns=columns, order=order, rows="{rows}")


def joined_sql(file: FeaturesFile, queries: tuple[Query, ...]) -> str:
    """Return the query that joins all results, each of one line a person, on the person.

    The results are tables ``people``, ``e0``, ... in it. Lines are in the order of a hash.
    """
    # [P2] whether a person has a line follows from this person's lines alone
    tables = [query.name for query in queries]
    events = [name for name in tables if name.startswith("e")]
    has_table = file.people.table is not None
    listed = {
        "table": ["people"],
        "events": events,
        "either": [*(["people"] if has_table else []), *events],
    }[file.people.who]
    base = " UNION ".join(f"SELECT owner FROM {name}" for name in listed)
    columns = [f"people.k{i} AS k{i}" for i in range(len(file.people.columns))]
    for query in queries:
        columns += [f"{query.name}.a{i} AS {query.name}_{i}" for i in range(query.n_columns)]
    joined = [*(["people"] if has_table else []), *tables]
    joins = " ".join(f"LEFT JOIN {name} ON base.owner = {name}.owner" for name in joined)
    # [P3] the order says nothing but ids, which the table holds anyway
    order = f"md5(concat('{file.digest}', base.owner)), base.owner"
    listed_columns = ", ".join(["base.owner AS owner", *columns])
    return f"SELECT {listed_columns} FROM ({base}) AS base {joins} ORDER BY {order}"
