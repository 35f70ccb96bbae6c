"""A schema: the public bounds and categories of a table's columns, read from a YAML file.

All problems of a schema are found at once and named by the keys of the file.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any, Literal

from shoal.documents import read_yaml, rename_old_keys
from shoal.domain._csvw import is_csvw, read_csvw, write_csvw
from shoal.domain.box import Box
from shoal.domain.categories import Categories
from shoal.errors import InvalidDomain, UnknownBounds, quantity

_KEYS = ("version", "columns", "person", "max_rows_per_person", "geo")
_COLUMN_KEYS = (
    "low", "high", "simulation", "values", "levels", "labels", "other", "missing", "weight",
    "use", "label", "unit", "whole",
)  # fmt: skip
_GEO_KEYS = ("latitude", "longitude")

# Beyond these one column alone decides which group a row is in, and squares of distances overflow.
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-6, 1e6


@dataclass(frozen=True)
class Schema:
    """What is public about the columns a method sees; made with ``of`` or ``load``.

    Parameters
    ----------
    columns
        Their names, in order.
    bounds
        The lowest and highest value of each numeric column.
    categories
        The public list of each column of categories, those of ``ordered`` columns among them.
    weights
        How much each column counts in distances between rows; 0 for one that describes groups and
        does not form them (``use: describe`` in a file).
    person
        The column that identifies people, if there is one.
    max_rows_per_person
        How many rows of each person are kept.
    geo
        The columns of latitude and longitude, if the table has them.
    ordered
        The columns of categories whose list is an order, from low to high (``levels`` in a file).
    missing
        What a missing value of a numeric or ordered column becomes, where it is not refused: its
        "middle", or the middle and a mark beside it ("flag").
    labels
        What columns are called on pages, where that is not their name.
    units
        What the numbers of columns are counted in, for pages.
    value_labels
        What the values of columns are called on pages, in the order of their lists: codes say
        nothing to readers (``labels`` in a file).
    simulated
        The numeric columns whose bounds were estimated from the rows with seeded noise
        (``simulation: true`` in a file). What is made with the schema is a simulation then.
    whole
        The numeric columns that are publicly known to hold whole numbers (``whole: true`` in a
        file). Intervals take it into account; no row is refused for it.

    Examples
    --------
    >>> schema = Schema.of({
    ...     "version": 1,
    ...     "columns": {"age": {"low": 0, "high": 110}, "sex": {"values": ["F", "M"]}},
    ... })
    >>> schema.box, schema.categories["sex"].size
    (Box(age=(0, 110)), 2)
    """

    columns: tuple[str, ...]
    bounds: dict[str, tuple[float, float]]
    categories: dict[str, Categories]
    weights: dict[str, float]
    person: str | None = None
    max_rows_per_person: int | None = None
    geo: tuple[str, str] | None = field(default=None)
    ordered: tuple[str, ...] = ()
    missing: dict[str, Literal["middle", "flag"]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    simulated: tuple[str, ...] = ()
    value_labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    whole: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> "Schema":
        """Read the schema in a YAML file (JSON is YAML too), or in CSVW metadata of one table.

        Parameters
        ----------
        path
            The file.
        """
        return cls._checked(read_yaml(path), str(path))

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Schema":
        """Return the schema of a mapping laid out like the file.

        Parameters
        ----------
        content
            The mapping.
        """
        return cls._checked(content, "The schema")

    @classmethod
    def of_box(
        cls, box: Box, *, person: str | None = None, max_rows_per_person: int | None = None
    ) -> "Schema":
        """Return the schema of a box, which can also name the column that identifies people.

        Parameters
        ----------
        box
            The bounds of the columns.
        person
            The column that identifies people.
        max_rows_per_person
            How many rows of each person are kept; chosen without the rows.

        Examples
        --------
        >>> Schema.of_box(Box(age=(0, 110)), person="name", max_rows_per_person=5).person
        'name'
        """
        content: dict[str, Any] = {"version": 1, "columns": box.to_dict()["columns"]}
        people = {"person": person, "max_rows_per_person": max_rows_per_person}
        content |= {key: value for key, value in people.items() if value is not None}
        if box.distance_unit == "km":
            content["geo"] = dict(zip(_GEO_KEYS, box.names, strict=True))
        return cls.of(content)

    @classmethod
    def _checked(cls, content: Any, what: str) -> "Schema":
        """Build a schema, or raise one error that lists all problems."""
        content = read_csvw(content) if is_csvw(content) else content
        content = rename_old_keys(content) if isinstance(content, Mapping) else content
        problems = schema_problems(content)
        if problems:
            counted = quantity(len(problems), "problem")
            raise InvalidDomain(
                f"{what} has {counted}:\n" + "\n".join(f"- {one}" for one in problems),
                "Correct them; an example: `version: 1` and `columns: {age: {low: 0, high: "
                "110}, sex: {values: [F, M]}}`.",
                reason="file",
            )
        return cls._built(content)

    @classmethod
    def _built(cls, content: Mapping[str, Any]) -> "Schema":
        columns: Mapping[str, Mapping[str, Any]] = content["columns"]
        geo = content.get("geo")
        return cls(
            columns=tuple(columns),
            bounds={n: (c["low"], c["high"]) for n, c in columns.items() if "low" in c},
            categories={n: _categories(c) for n, c in columns.items() if "low" not in c},
            weights={n: _weight(c) for n, c in columns.items()},
            person=content.get("person"),
            max_rows_per_person=content.get("max_rows_per_person"),
            geo=(geo["latitude"], geo["longitude"]) if geo else None,
            ordered=tuple(n for n, c in columns.items() if "levels" in c),
            missing={
                n: c["missing"]
                for n, c in columns.items()
                if c.get("missing", "refuse") != "refuse"
            },
            labels={n: c["label"] for n, c in columns.items() if "label" in c},
            units={n: c["unit"] for n, c in columns.items() if "unit" in c},
            simulated=tuple(n for n, c in columns.items() if c.get("simulation", False)),
            value_labels={n: tuple(c["labels"]) for n, c in columns.items() if "labels" in c},
            whole=tuple(n for n, c in columns.items() if c.get("whole", False)),
        )

    def with_texts(
        self, labels: Mapping[str, str], units: Mapping[str, str], whole: Sequence[str] = ()
    ) -> "Schema":
        """Return the same schema with labels and units of its columns, and which are whole.

        Parameters
        ----------
        labels
            What columns are called; those of other columns are left out.
        units
            What their numbers are counted in.
        whole
            The columns of whole numbers.
        """
        named, counted = (
            {n: t for n, t in texts.items() if n in self.columns} for texts in (labels, units)
        )
        whole_numbers = tuple(name for name in self.numbers if name in whole)
        return replace(self, labels=named, units=counted, whole=whole_numbers)

    def select(self, names: Sequence[str]) -> "Schema":
        """Return the schema of some columns, in the order of this one.

        Parameters
        ----------
        names
            The columns; latitude and longitude only together.
        """
        content = self.to_dict()
        content["columns"] = {n: c for n, c in content["columns"].items() if n in names}
        if self.geo is not None and not {*self.geo} & {*names}:
            del content["geo"]
        return Schema.of(content)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns with bounds, in the order of ``box``: latitude first if there is one."""
        return self.geo or tuple(self.bounds)

    @property
    def box(self) -> Box:
        """The bounds of the numeric columns; a geographic box if the schema has ``geo``."""
        if not self.bounds:
            raise UnknownBounds(
                f"None of the {len(self.columns)} columns has bounds.",
                "Give a numeric column low and high, e.g. `age: {low: 0, high: 110}`.",
            )
        named = {name: self.bounds[name] for name in self.numbers}
        box = Box.geo(**named) if self.geo else Box(**named)
        return box.simulated(self.simulation)

    @property
    def simulation(self) -> bool:
        """Whether bounds were estimated with seeded noise: see ``Box.simulated``."""
        return bool(self.simulated)

    @property
    def flagged(self) -> tuple[str, ...]:
        """The numeric columns in which a missing value is marked, in the order of ``numbers``."""
        return tuple(name for name in self.numbers if self.missing.get(name) == "flag")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values laid out like the file, which ``Schema.of`` takes."""
        content: dict[str, Any] = {
            "version": 1,
            "columns": {n: self._column(n) | self.texts_of(n) for n in self.columns},
        }
        if self.person is not None:
            content["person"] = self.person
        if self.max_rows_per_person is not None:
            content["max_rows_per_person"] = self.max_rows_per_person
        if self.geo is not None:
            content["geo"] = {"latitude": self.geo[0], "longitude": self.geo[1]}
        return content

    def to_csvw(self, url: str = "table.csv") -> dict[str, Any]:
        """Return the schema as CSVW metadata (CSV on the Web), which ``Schema.of`` takes, too.

        What is assumed about people has the terms of csvw-eo.

        Parameters
        ----------
        url
            The table that it describes, from the file of the metadata.

        Examples
        --------
        >>> schema = Schema.of({"version": 1, "columns": {"age": {"low": 0, "high": 110}}})
        >>> schema.to_csvw()["tableSchema"]["columns"][0]["datatype"]
        {'base': 'double', 'minimum': 0, 'maximum': 110}
        >>> Schema.of(schema.to_csvw()) == schema
        True
        """
        return write_csvw(self.to_dict(), url)

    def texts_of(self, name: str) -> dict[str, Any]:
        """Return the label and the unit of a column, if it has them, and whether it is whole.

        Parameters
        ----------
        name
            The column.
        """
        texts = {"label": self.labels.get(name), "unit": self.units.get(name)}
        whole = {"whole": True} if name in self.whole else {}
        return {key: text for key, text in texts.items() if text is not None} | whole

    def value_text(self, column: str, value: Any) -> str:
        """Return what a value of a column is called on pages.

        Parameters
        ----------
        value
            One of the column's list, or what stands for all others.

        Examples
        --------
        >>> sex = {"values": [0, 1], "labels": ["female", "male"]}
        >>> schema = Schema.of({"version": 1, "columns": {"sex": sex}})
        >>> schema.value_text("sex", 1), schema.value_text("sex", "<other>")
        ('male', '<other>')
        """
        listed = self.categories[column].values if column in self.value_labels else ()
        named = dict(zip(map(str, listed), self.value_labels.get(column, ()), strict=True))
        return named.get(str(value), str(value))

    def _column(self, name: str) -> dict[str, Any]:
        missing = {"missing": self.missing[name]} if name in self.missing else {}
        if name in self.bounds:
            low, high = self.bounds[name]
            mark = {"simulation": True} if name in self.simulated else {}
            return {"low": low, "high": high} | mark | self._use(name) | missing
        listed = self.categories[name]
        words = {"labels": list(self.value_labels[name])} if name in self.value_labels else {}
        if name in self.ordered:
            return {"levels": list(listed.values)} | words | self._use(name) | missing
        return {"values": list(listed.values)} | words | {"other": listed.other} | self._use(name)

    def _use(self, name: str) -> dict[str, Any]:
        weight = self.weights[name]
        return {"weight": weight} if weight else {"use": "describe"}


def _weight(column: Mapping[str, Any]) -> float:
    """Return how much a column counts: nothing, if it only describes groups."""
    return 0.0 if column.get("use") == "describe" else float(column.get("weight", 1))


def _categories(column: Mapping[str, Any]) -> Categories:
    """Return the list of a column; missing levels that are not refused are one more code."""
    if "levels" not in column:
        return Categories(column["values"], column.get("other", "refuse"))
    refused = column.get("missing", "refuse") == "refuse"
    return Categories(column["levels"], "refuse" if refused else "bucket")


def schema_problems(content: Any) -> list[str]:
    """Return one sentence for each problem; an empty list for a good schema."""
    if not isinstance(content, Mapping):
        return ["it is not a mapping of keys; start with `version: 1` and `columns:`"]
    # Each sentence once: pydantic and our own checks may find the same.
    return list(dict.fromkeys([*_type_problems(content), *_value_problems(content)]))


def _type_problems(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what pydantic finds: unknown and missing keys, values of the wrong type."""
    from pydantic import ValidationError

    try:
        _model().model_validate(content)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False):
            yield _describe_problem(problem, content)


def _describe_problem(problem: Any, content: Mapping[str, Any]) -> str:
    at = [str(step) for step in problem["loc"] if step != "[key]"]
    where = ".".join(at)
    if problem["type"] == "extra_forbidden":
        given = reduce(getitem, problem["loc"][:-1], content)
        return _unknown_key(at, given)
    if problem["type"] == "missing":
        return f"{where} is missing"
    if problem["type"] == "too_short":
        return f"{where} is empty"
    if problem["type"] in ("model_type", "dict_type"):
        return f"{where} should be a mapping of keys, such as {{low: 0, high: 110}}"
    if "[key]" in problem["loc"]:
        return f"{where} is a name that YAML does not read as text; put it in quotes"
    return f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}"


def _keys_at(at: list[str]) -> tuple[str, ...]:
    return {1: _KEYS, 2: _GEO_KEYS}.get(len(at), _COLUMN_KEYS)


def _unknown_key(at: list[str], given: Mapping[str, Any]) -> str:
    """Describe an unknown key: a misspelt one is named, any other may be a row's content."""
    keys = _keys_at(at)
    # Keys already given are not suggested again. Nearer than usual: `epsilon` is not `person`.
    rest = [key for key in keys if key not in given]
    near = difflib.get_close_matches(at[-1], rest, n=1, cutoff=0.65)
    if near:
        return f"{'.'.join(at)} is not a known key; did you mean {near[0]!r}?"
    above = ".".join(at[:-1]) or "it"
    return f"{above} has an unknown key; the keys are {', '.join(keys)}"


def _value_problems(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield problems between values: order of bounds, repeated categories, missing columns."""
    version = content.get("version", 1)
    if type(version) is not int or version != 1:
        yield "version must be 1"
    columns = content.get("columns")
    columns = columns if isinstance(columns, Mapping) else {}
    for name, column in columns.items():
        if isinstance(column, Mapping):
            yield from _column(f"columns.{name}", column)
    yield from _use_problems(columns)
    yield from _geo_problems(content.get("geo"), columns)
    if content.get("max_rows_per_person") is not None and content.get("person") is None:
        yield "max_rows_per_person needs person, the column that tells people apart"


def _use_problems(columns: Mapping[str, Any]) -> Iterator[str]:
    uses = [c.get("use") == "describe" for c in columns.values() if isinstance(c, Mapping)]
    if uses and all(uses):
        yield "columns: all of them describe; at least one must form the groups"
    for name, column in columns.items():
        if isinstance(column, Mapping) and column.get("use") == "describe" and "weight" in column:
            yield f"columns.{name} has a weight, and describes without weighing; give one of them"


def _column(where: str, column: Mapping[str, Any]) -> Iterator[str]:
    bounded = [key for key in ("low", "high") if column.get(key) is not None]
    listed = [key for key in ("values", "levels") if key in column]
    if len(listed) > 1:
        yield f"{where} has values and levels; levels are values in their order: give one of them"
    if listed:
        if bounded:
            yield f"{where} has bounds and {listed[0]}; a column is numeric or a category, not both"
        yield from category_problems(f"{where}.{listed[0]}", column[listed[0]])
        yield from _list_problems(where, column)
        for key in ("simulation", "whole"):
            if key in column:
                yield f"{where}.{key} belongs to a column with bounds"
        return
    if len(bounded) < 2:
        lacks = " and ".join(key for key in ("low", "high") if key not in bounded)
        yield f"{where} has no {lacks}; give public bounds, or values if it is a category"
    elif all(type(column[key]) in (int, float) for key in bounded):
        yield from _order_problems(where, column["low"], column["high"])
    for key in ("other", "labels"):
        if key in column:
            yield f"{where}.{key} belongs to a column with values"


def _order_problems(where: str, low: float, high: float) -> Iterator[str]:
    try:
        Box.of(["column"], [low], [high])
    except InvalidDomain:
        yield f"{where} needs two finite numbers with low below high"


def _list_problems(where: str, column: Mapping[str, Any]) -> Iterator[str]:
    """Yield what does not fit a column of categories, or one of levels."""
    if "values" in column and "missing" in column:
        yield f"{where}.missing belongs to a number or levels; categories have `other: bucket`"
    named, listed = column.get("labels"), column.get("values", column.get("levels"))
    if isinstance(named, list | tuple) and isinstance(listed, list | tuple):
        if len(named) != len(listed):
            yield f"{where}.labels needs a word for each of the {len(listed)} values, in order"
        elif len(set(map(str, named))) < len(named):
            yield f"{where}.labels names two values alike"
    if "levels" in column:
        if "other" in column:
            yield f"{where}.other belongs to a column with values; levels have `missing`"
        levels = column["levels"]
        if isinstance(levels, list | tuple) and len(levels) == 1:
            yield f"{where}.levels needs two or more, from low to high"


def category_problems(where: str, values: Any) -> Iterator[str]:
    """Yield what keeps a list from being the values of a category."""
    if not isinstance(values, list | tuple):
        return  # said by pydantic
    if any(isinstance(value, bool) for value in values):
        yield (
            f"{where} holds truth values: YAML reads yes, no, on and off as such; put "
            "them in quotes"
        )
        return
    try:
        Categories(values)
    except InvalidDomain as error:
        yield f"{where}: {error.message[0].lower()}{error.message[1:].rstrip('.')}"


def _geo_problems(geo: Any, columns: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(geo, Mapping) or not all(isinstance(geo.get(k), str) for k in _GEO_KEYS):
        return  # absent, or said by pydantic
    named = [geo[key] for key in _GEO_KEYS]
    numeric = [
        n
        for n, c in columns.items()
        if isinstance(c, Mapping) and not c.keys() & {"values", "levels"}
    ]
    if sorted(named) != sorted(map(str, numeric)):
        # Kilometres on two axes and other units on a third make no distance.
        yield "geo must name exactly the two numeric columns"
        return
    try:
        Box.geo(**{name: (columns[name]["low"], columns[name]["high"]) for name in named})
    except (InvalidDomain, KeyError):
        yield "geo needs a latitude within [-90, 90] and a longitude at most 360 degrees wide"


@cache
def _model() -> Any:
    """Return the pydantic model of the file, made on first use: pydantic is slow to import.

    Defaults only mark a key as optional; a null is no value for any of them.
    """
    from typing import Annotated

    from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

    number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
    name = Annotated[StrictStr, Field(min_length=1)]
    text = Annotated[StrictStr, Field(min_length=1, max_length=80)]

    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")

    class Column(Strict):
        low: number = 0.0
        high: number = 1.0
        simulation: StrictBool = False
        whole: StrictBool = False
        values: list[Any] = Field(default_factory=list)
        levels: list[Any] = Field(default_factory=list)
        labels: list[text] = Field(default_factory=list)
        other: Literal["refuse", "bucket"] = "refuse"
        missing: Literal["refuse", "middle", "flag"] = "refuse"
        weight: Annotated[float, Field(strict=True, ge=_LEAST_WEIGHT, le=_MOST_WEIGHT)] = 1.0
        use: Literal["form", "describe"] = "form"
        label: text = "optional"
        unit: text = "optional"

    class Geo(Strict):
        latitude: name
        longitude: name

    class Content(Strict):
        version: Any
        columns: Annotated[dict[name, Column], Field(min_length=1)]
        person: name = "optional"
        max_rows_per_person: Annotated[StrictInt, Field(ge=1)] = 1
        geo: Geo = Geo(latitude="optional", longitude="optional")

    return Content
