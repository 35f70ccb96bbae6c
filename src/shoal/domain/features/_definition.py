"""A features file, read and checked: tables, what is public of them, and what is computed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from shoal.documents import read_yaml
from shoal.domain._schema import Schema
from shoal.domain.categories import Categories
from shoal.domain.features._period import Period
from shoal.errors import InvalidDomain, InvalidFeatures, quantity

Who = Literal["table", "events", "either"]


@dataclass(frozen=True)
class Number:
    """A column of numbers, moved into its bounds and counted in whole steps."""

    low: float
    high: float
    step: Fraction


@dataclass(frozen=True)
class Category:
    """A column with a public list; whatever else a cell holds is no listed value."""

    listed: Categories


@dataclass(frozen=True)
class Text:
    """A column of any text, of which only different values may be counted."""


Column = Number | Category | Text


@dataclass(frozen=True)
class IdRules:
    """How one id is written, by rules that look at that cell alone.

    Parameters
    ----------
    ignore_case
        Whether capitals and small letters are the same.
    strip_zeros
        Whether zeros in front are left out.
    prefix
        What is left out in front.
    """

    ignore_case: bool = False
    strip_zeros: bool = False
    prefix: str = ""


@dataclass(frozen=True)
class Crosswalk:
    """A table that leads old ids to those in use, each to one person."""

    table: str
    old: str
    new: str


@dataclass(frozen=True)
class PeopleTable:
    """The table of people: one row a person, some of whose columns are copied.

    Parameters
    ----------
    table
        Its path; None where people are those who have events.
    columns
        What is public of the copied columns, as in a domain file.
    latest
        The column of times by which the last of several rows is taken; None refuses several.
    """

    table: str | None
    person: str
    who: Who
    columns: dict[str, dict[str, Any]]
    latest: str | None = None


@dataclass(frozen=True)
class PublicTable:
    """A table that says nothing about the people, by the statement of ``source``."""

    table: str
    key: str
    source: str
    columns: dict[str, Column]


@dataclass(frozen=True)
class EventTable:
    """A table with any number of rows a person, each at a time.

    Parameters
    ----------
    joins
        The public tables, and the column whose value is the key of each.
    refuses_times
        Whether a time that cannot be read is an error; else its row is left out.
    """

    table: str
    person: str
    time: str
    arrived: str | None
    joins: dict[str, str]
    columns: dict[str, Column]
    refuses_times: bool = False


@dataclass(frozen=True)
class Condition:
    """Which rows are taken, by a column of whole numbers: those listed, or from low to high.

    Parameters
    ----------
    column
        A column, or ``@hour``, ``@weekday``, ``@week`` or ``@day`` of the time.
    """

    column: str
    among: tuple[int, ...] | None = None
    low: int = 0
    high: int = 0


@dataclass(frozen=True)
class Feature:
    """One column of the result.

    Parameters
    ----------
    name
        Its name.
    aggregate
        How it is computed, e.g. ``count``.
    table, column
        The table of events, and its column or a joined one, if it has them.
    where, which
        Which rows are taken; of a share, which of these are counted.
    low, high
        Its public bounds.
    none
        What a person without any row has; None: the value is missing.
    at
        Of a quantile, the share of values below it.
    gap
        Of sessions, the longest pause within one, in microseconds.
    parts
        Of a ratio or difference, the two features.
    entry
        What the domain file says of the column besides its bounds.
    words
        What it is, for pages.
    """

    name: str
    aggregate: str
    low: float
    high: float
    none: float | None
    table: str | None = None
    column: str | None = None
    where: tuple[Condition, ...] = ()
    which: tuple[Condition, ...] = ()
    at: Fraction = Fraction(1, 2)
    gap: int = 0
    parts: tuple[str, ...] = ()
    entry: dict[str, Any] = field(default_factory=dict)
    words: str = ""


@dataclass(frozen=True)
class FeaturesFile:
    """What one row a person is made of; made with ``load`` or ``of``.

    Examples
    --------
    >>> file = FeaturesFile.of({
    ...     "version": 1,
    ...     "person": "pupil",
    ...     "period": {"from": "2025-03-03", "until": "2025-12-15"},
    ...     "people": {"table": "pupils.csv", "columns": {"age": {"low": 5, "high": 19}}},
    ...     "events": {"log": {"table": "log.csv", "time": "at"}},
    ...     "features": {"logins": {"count": "log", "high": 400}, "weeks": {"weeks": "log"}},
    ... })
    >>> file.schema.columns
    ('age', 'logins', 'weeks')
    >>> [feature.words for feature in file.features]
    ['number of rows of log', 'number of weeks with a row of log']
    """

    person: str
    period: Period
    people: PeopleTable
    public: dict[str, PublicTable]
    events: dict[str, EventTable]
    features: tuple[Feature, ...]
    ids: IdRules
    crosswalk: Crosswalk | None
    ledger: str | None
    content: dict[str, Any] = field(repr=False, compare=False)
    folder: Path = field(default=Path(), compare=False)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        period: tuple[str, str] | None = None,
        tables: Mapping[str, str] | None = None,
    ) -> "FeaturesFile":
        """Read a features file; paths in it are relative to its folder.

        Parameters
        ----------
        path
            The file.
        period
            Another first day and end, for the same file next year.
        tables
            Other paths of tables, by their names in the file; ``people`` is the table of people,
            and ``ids`` that of old ids.
        """
        try:
            content = read_yaml(path)
        except InvalidDomain as error:
            raise InvalidFeatures(error.message, error.hint, reason="file") from None
        return cls._checked(content, str(path), Path(path).parent, period, tables or {})

    @classmethod
    def of(cls, content: Mapping[str, Any], folder: str | Path = ".") -> "FeaturesFile":
        """Return the features of a mapping laid out like the file.

        Parameters
        ----------
        content
            The mapping.
        folder
            What paths are relative to.
        """
        return cls._checked(content, "The features file", Path(folder), None, {})

    @classmethod
    def _checked(
        cls,
        content: Any,
        what: str,
        folder: Path,
        period: tuple[str, str] | None,
        tables: Mapping[str, str],
    ) -> "FeaturesFile":
        from shoal.domain.features._language import read_content, with_changes

        changed = with_changes(content, period, tables)
        known, problems = read_content(changed)
        if known is None:
            counted = quantity(len(problems), "problem")
            raise InvalidFeatures(
                f"{what} has {counted}:\n" + "\n".join(f"- {one}" for one in problems),
                "Correct them, then ask again without reading a row: `shoal features FILE "
                "--check`.",
                reason="file",
            )
        return cls(**known, content=changed, folder=folder)

    @property
    def schema(self) -> Schema:
        """The domain of the result: bounds and lists of all its columns, and one row a person."""
        columns = dict(self.people.columns)
        columns |= {
            feature.name: {"low": feature.low, "high": feature.high} | feature.entry
            for feature in self.features
        }
        return Schema.of(
            {
                "version": 1,
                "columns": columns,
                "person": self.person,
                "max_rows_per_person": 1,
            }
        )

    @property
    def digest(self) -> str:
        """A hash of what the file says, whatever its layout, in 64 hexadecimal digits."""
        text = json.dumps(self.content, sort_keys=True, default=str, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def path_of(self, table: str) -> str:
        """Return where a table named in the file lies.

        Parameters
        ----------
        table
            The path as the file has it; one with a scheme stays as it is.
        """
        return table if "://" in table else str(self.folder / Path(table).expanduser())

    def column_of(self, feature: Feature) -> Column:
        """Return what is public of the column that a feature is computed from."""
        assert feature.table is not None
        assert feature.column is not None
        return columns_of(self.events[feature.table], self.public)[feature.column]


def columns_of(events: EventTable, public: Mapping[str, PublicTable]) -> dict[str, Column]:
    """Return the columns of a table of events, those of joined tables after its own."""
    joined = {n: c for name in events.joins for n, c in public[name].columns.items()}
    return joined | events.columns
