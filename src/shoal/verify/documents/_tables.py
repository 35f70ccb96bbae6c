"""The released tables of a folder: their columns, and their description as CSVW."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.domain._csvw import CONTEXT, EO, column_names
from shoal.verify.documents._facts import Facts

_CSV = ".csv", ".csv.gz"
_ENDINGS = *_CSV, ".parquet"


def released_tables(facts: Facts) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the files of a release that are tables, with the type of each column."""
    for name in facts.release.files:
        path = facts.folder / name
        if name.endswith(_ENDINGS) and path.is_file():
            about = path.stat()
            types = _types(path, about.st_size, about.st_mtime_ns)
            yield name, types | _stated_types(facts.release.document, types)


def table_metadata(facts: Facts) -> dict[str, dict[str, Any]]:
    """Return the CSVW metadata of a release's CSV files, by the names under which they are found.

    A file has its own beside it where its release is one file among others in the folder, as
    released tables are; the files of a folder share one.
    """
    tables = [_table(facts, *each) for each in released_tables(facts) if each[0].endswith(_CSV)]
    context: dict[str, Any] = {"@context": CONTEXT}
    if not tables:
        return {}
    if facts.release.kind in ("table", "reports"):
        return {
            f"{each['url']}-metadata.json": context | {"@type": "Table"} | each for each in tables
        }
    group = context | {"@type": "TableGroup", "dc:title": facts.name, "tables": tables}
    return {"csv-metadata.json": group}


def domain_metadata(facts: Facts) -> dict[str, Any] | None:
    """Return what is assumed in public about the table that stays with its holder, as CSVW."""
    if facts.domain is None:
        return None
    title = "The rows behind the release, which are not published: what is assumed of them"
    document = facts.domain.to_csvw()
    rows = facts.settings.get("max_rows_per_person")
    person = facts.settings.get("person")
    if person is not None and rows is not None:
        document |= {f"{EO}privacyUnit": person, f"{EO}maxContributions": rows}
    return document | {"dc:title": title}


def _table(facts: Facts, name: str, types: Mapping[str, str]) -> dict[str, Any]:
    labels = facts.release.document.get("cut") or {}
    columns = []
    for column, kind in types.items():
        described: dict[str, Any] = column_names(column) | {"datatype": kind}
        if column in labels:
            described |= {f"{EO}keyValues": labels[column]}
        columns.append(described)
    return {"url": name, "dc:title": f"{name} of {facts.name}", "tableSchema": {"columns": columns}}


def _stated_types(document: Mapping[str, Any], types: Mapping[str, str]) -> dict[str, str]:
    """Return the types of a released table's columns: labels are text, whatever they look like."""
    recount = document.get("recount")
    if not isinstance(recount, Mapping):
        return {}
    return {name: "string" for name in recount.get("classes_by", ()) if name in types}


@lru_cache(maxsize=64)
def _types(path: Path, size: int, changed: int) -> dict[str, str]:
    """Return the type of each column of a file as CSVW has it; text where rows differ.

    A file is read whole, so its size and time of change tell whether it is the same.
    """
    if path.suffix == ".parquet":
        return {each.name: _type_of(each.type) for each in pa.parquet.read_schema(path)}
    try:
        with pa.csv.open_csv(path) as reader:
            for _ in reader:
                pass
            return {each.name: _type_of(each.type) for each in reader.schema}
    except pa.ArrowInvalid:
        with path.open(encoding="utf-8") as file:  # a later row has another type than the first
            import csv

            return dict.fromkeys(next(csv.reader(file), []), "string")


def _type_of(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    return "double" if pa.types.is_floating(kind) else "string"
