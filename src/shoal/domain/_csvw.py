"""A schema as CSV on the Web has it: written, and read.

The names are those of the W3C recommendation of 2015. What is assumed in public about people and
categories has the terms of csvw-eo (its vocabulary 0.3.0 and documentation of 2026), written as
full addresses, which are the only further names that a CSVW document may hold. What neither can
say (weights, the order of levels, latitude and longitude) is in a note, so that nothing is lost.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any
from urllib.parse import quote, unquote

from shoal.errors import InvalidDomain

CONTEXT = "http://www.w3.org/ns/csvw"
EO = "https://w3id.org/csvw-eo#"
NOTE = "shoal.domain/1"
_NUMBERS = ("minimum", "minInclusive"), ("maximum", "maxInclusive")
_KEPT = ("weight", "use", "missing", "labels", "simulation")
_BASES = {int: "integer", date: "date"}


def column_names(header: str) -> dict[str, str]:
    """Return how CSVW names a column: its header, and a name where one may be made of it."""
    name = quote(header, safe="")
    legal = re.fullmatch(r"[A-Za-z0-9%][A-Za-z0-9_.%]*", name) is not None
    return {"titles": header} | ({"name": name} if legal else {})


def write_csvw(content: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Return the CSVW metadata of a table, from the plain values of its schema."""
    columns = [_column(name, column) for name, column in content["columns"].items()]
    extras = {name: _extras(column) for name, column in content["columns"].items()}
    note: dict[str, Any] = {"columns": {name: each for name, each in extras.items() if each}}
    table: dict[str, Any] = {"@context": CONTEXT, "@type": "Table", "url": url}
    person = content.get("person")
    if person is not None:
        table[f"{EO}privacyUnit"] = person
        who = {"datatype": "string", "required": True, f"{EO}privacyId": True}
        columns.append(column_names(person) | who)
    if "max_rows_per_person" in content:
        table[f"{EO}maxContributions"] = content["max_rows_per_person"]
    if "geo" in content:
        note["geo"] = content["geo"]
    table["tableSchema"] = {"columns": columns}
    if note["columns"] or "geo" in note:
        table["notes"] = [{"schema": NOTE, **note}]
    return table


def _column(name: str, column: Mapping[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = dict(column_names(name))
    described |= {"rdfs:label": column["label"]} if "label" in column else {}
    described |= {"schema:unitText": column["unit"]} if "unit" in column else {}
    described["required"] = "missing" not in column
    if "low" in column:
        bounds = {"minimum": column["low"], "maximum": column["high"]}
        return described | {"datatype": {"base": "double", **bounds}}
    values = list(column.get("values", column.get("levels", ())))
    base = _BASES.get(type(values[0]), "string")
    is_whole = column.get("other", "refuse") == "refuse"
    known: dict[str, Any] = {"base": base}
    if base == "string" and is_whole:
        known["format"] = "|".join(re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", v) for v in values)
    listed = [value.isoformat() if isinstance(value, date) else value for value in values]
    keys = {f"{EO}keyValues": listed, f"{EO}exhaustiveKeys": is_whole}
    return described | {"datatype": known} | keys


def _extras(column: Mapping[str, Any]) -> dict[str, Any]:
    """Return what CSVW cannot say of a column, but for what every column has."""
    kept = {key: column[key] for key in _KEPT if key in column}
    if kept.get("weight") == 1:
        del kept["weight"]
    return kept | ({"is_ordered": True} if "levels" in column else {})


def is_csvw(content: object) -> bool:
    """Whether a document says that it is CSVW metadata."""
    context = content.get("@context") if isinstance(content, Mapping) else None
    return context == CONTEXT or (isinstance(context, list) and CONTEXT in context)


def read_csvw(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain values of a schema, from the CSVW metadata of one table.

    Terms of csvw-eo are read as full addresses, with the prefix ``csvw-eo:``, and by their short
    names, as its own tools write them.

    Raises
    ------
    InvalidDomain
        If it describes no table, or several, or its columns in another file.
    """
    table = _only_table(document)
    schema = table.get("tableSchema")
    if not isinstance(schema, Mapping) or not isinstance(schema.get("columns"), list):
        raise _refusal("has no columns under tableSchema", "Write the columns into this file.")
    note = next(_notes(table), {})
    extras = note.get("columns")
    content: dict[str, Any] = {"version": 1, "columns": {}}
    person = _term(table, "privacyUnit")
    for column in schema["columns"]:
        if not isinstance(column, Mapping) or column.get("virtual") is True:
            continue
        name = _header(column)
        if name == person or _term(column, "privacyId") is True:
            person = name
            continue
        content["columns"][name] = _described(column, _mapping(_mapping(extras).get(name)))
    if person is not None:
        content["person"] = person
        rows = _term(table, "maxContributions")
        content |= {} if rows is None else {"max_rows_per_person": rows}
    return content | ({"geo": note["geo"]} if "geo" in note else {})


def _mapping(value: object) -> dict[str, Any]:
    """Return a copy of a mapping; an empty one of anything else."""
    return dict(value) if isinstance(value, Mapping) else {}


def _only_table(document: Mapping[str, Any]) -> Mapping[str, Any]:
    tables = document.get("tables", [document])
    if not isinstance(tables, list) or len(tables) != 1 or not isinstance(tables[0], Mapping):
        raise _refusal("does not describe one table", "Name the metadata of one table.")
    table: Mapping[str, Any] = tables[0]
    return table


def _refusal(problem: str, hint: str) -> InvalidDomain:
    return InvalidDomain(f"The CSVW metadata {problem}.", hint, reason="file")


def _notes(table: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    notes = table.get("notes")
    for note in notes if isinstance(notes, list) else []:
        if isinstance(note, Mapping) and note.get("schema") == NOTE:
            yield note


def _term(described: Mapping[str, Any], name: str) -> Any:
    """Return the value of a csvw-eo term, in any of its spellings; None without it."""
    spelled = (f"{EO}{name}", f"csvw-eo:{name}", name)
    return next((described[each] for each in spelled if each in described), None)


def _header(column: Mapping[str, Any]) -> str:
    """Return what a column is called in its table: the first title, else the name."""
    titles = column.get("titles")
    if isinstance(titles, Mapping):
        titles = next(iter(titles.values()), None)
    first = titles[0] if isinstance(titles, list) and titles else titles
    return str(first) if first else unquote(str(column.get("name", "")))


def _date(value: object) -> object:
    """Return a date; what is none stays as it is, and the schema refuses or takes it as text."""
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        return value


def _described(column: Mapping[str, Any], extras: dict[str, Any]) -> dict[str, Any]:
    """Return a column as a schema has it; one without bounds or a list is refused later."""
    datatype = column.get("datatype")
    about: Mapping[str, Any] = datatype if isinstance(datatype, Mapping) else {"base": datatype}
    texts = {"label": column.get("rdfs:label"), "unit": column.get("schema:unitText")}
    described = {key: value for key, value in texts.items() if value is not None}
    is_ordered = extras.pop("is_ordered", False)
    values = _term(column, "keyValues")
    if isinstance(values, list):
        if about.get("base") == "date":
            values = [_date(value) for value in values]
        described["levels" if is_ordered else "values"] = values
        if _term(column, "exhaustiveKeys") is False and not is_ordered:
            described["other"] = "bucket"
        return described | extras
    for key, spelled in zip(("low", "high"), _NUMBERS, strict=True):
        bound = next((about[each] for each in spelled if each in about), None)
        bound = _term(column, spelled[0]) if bound is None else bound
        if isinstance(bound, int | float):
            described[key] = bound
    if column.get("required") is False and "low" in described:
        extras.setdefault("missing", "middle")
    return described | extras
