"""Save and load a synopsis in a folder: cells as Parquet, the rest as JSON, never pickle."""

import hashlib
import json
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from shoal.data import atomic_folder, write_table
from shoal.documents import parse_json, with_digest
from shoal.domain import Box
from shoal.errors import AlreadyExists, UnreadableModel

SCHEMA = "shoal.synopsis/1"
CELLS, DOCUMENT = "cells.parquet", "synopsis.json"
VERSIONS = ("shoal", "numpy", "randomgen", "pyarrow")
_BAD_DOCUMENT_ERRORS = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)
_OTHER_FOLDER = "Name the folder that `save` wrote."


class _SavedParts(Protocol):
    """Something that can be saved: its ``parts`` are tables or plain values by file name."""

    def parts(self) -> dict[str, Any]:
        """Return what to write, by file name."""
        ...


def save_synopsis(synopsis: _SavedParts, folder: str | Path, overwrite: bool = False) -> Path:
    """Write a fitted synopsis to a folder of its own, whole or not at all.

    Parameters
    ----------
    folder
        Where; it must hold nothing else.
    """
    _check_replaceable(Path(folder))
    parts = synopsis.parts()
    with atomic_folder(folder, overwrite) as place:
        file = write_part(parts[CELLS], place / CELLS)
        about = {"versions": {name: version(name) for name in VERSIONS}, "files": [file]}
        write_part(with_digest(parts[DOCUMENT] | about), place / DOCUMENT)
    return Path(folder)


def load_synopsis(folder: str | Path) -> Any:
    """Read a synopsis that was saved.

    Parameters
    ----------
    folder
        What ``save_synopsis`` wrote.

    Raises
    ------
    UnreadableModel
        If it is none, or was changed since.
    """
    document = _document(Path(folder))
    cells = read_part(Path(folder), document["files"][0])
    return synopsis_of({CELLS: cells, DOCUMENT: document})


def synopsis_of(parts: Mapping[str, Any]) -> Any:
    """Rebuild a synopsis from its ``parts``."""
    document = parts[DOCUMENT]
    kind = _kind_of(document)
    try:
        return kind._restore(document, parts[CELLS])
    except _BAD_DOCUMENT_ERRORS as error:
        raise UnreadableModel(
            f"The synopsis lacks a part, or a part has the wrong type ({type(error).__name__}).",
            "Load it with the version of shoal that wrote it, or save it again.",
        ) from None


def read_box(values: Mapping[str, Any]) -> Box:
    """Rebuild a box from ``Box.to_dict``.

    Parameters
    ----------
    values
        What ``to_dict`` returned.

    Examples
    --------
    >>> read_box(Box(age=(0, 110)).to_dict())
    Box(age=(0, 110))
    """
    columns = values["columns"]
    bounds = {name: (column["low"], column["high"]) for name, column in columns.items()}
    box = Box.geo(**bounds) if values["distance_unit"] == "km" else Box(**bounds)
    return box.simulated(any(column.get("simulation", False) for column in columns.values()))


def write_part(part: Any, path: Path) -> dict[str, str]:
    """Write a table, or plain values as JSON, and return the file's name and checksum.

    Parameters
    ----------
    part
        The table or values.
    path
        The file.
    """
    if isinstance(part, pa.Table):
        write_table(part, path)
    else:
        path.write_text(json.dumps(part, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return {"name": path.name, "sha256": digest_of(path)}


def _is_file(path: Path) -> bool:
    """Whether there is such a file; a name that the system refuses is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def read_part(folder: Path, file: Mapping[str, str]) -> Any:
    """Read what ``write_part`` wrote, refused if its checksum differs.

    Parameters
    ----------
    folder
        Where the file is.
    file
        Its name and checksum.
    """
    path = folder / file["name"]
    if not _is_file(path) or digest_of(path) != file.get("sha256"):
        raise UnreadableModel(
            f"{path} is missing, or not the file that was saved: its checksum differs.",
            "Save it again, or copy its folder again; it may have been edited.",
        )
    try:
        if path.suffix == ".json":
            return parse_json(path.read_text(encoding="utf-8"))
        return pq.read_table(path) if path.suffix == ".parquet" else pa_csv.read_csv(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableModel(
            f"{path} cannot be read ({type(error).__name__}).", "Save it again, with this version."
        ) from None


def digest_of(path: Path) -> str:
    """Return the SHA-256 checksum of a file, in hexadecimal digits."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _document(folder: Path) -> dict[str, Any]:
    """Read and check ``synopsis.json``."""
    try:
        document = parse_json((folder / DOCUMENT).read_text(encoding="utf-8"))
        _kind_of(document)
        named = [file["name"] for file in document["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise UnreadableModel(f"{folder} holds no synopsis.", _OTHER_FOLDER) from None
    if named != [CELLS]:
        raise UnreadableModel(f"The synopsis in {folder} refers to other files.", _OTHER_FOLDER)
    return dict(document)


def synopsis_kinds() -> dict[str, Any]:
    """Return the exported synopses by name: only those classes are ever made from a folder."""
    package = import_module("shoal.synopsis")
    exported = {name: getattr(package, name) for name in package.__all__ if name != "Synopsis"}
    return {
        name: kind
        for name, kind in exported.items()
        if isinstance(kind, type) and issubclass(kind, package.Synopsis)
    }


def _kind_of(document: Any) -> Any:
    kinds = synopsis_kinds()
    if document["schema"] != SCHEMA or document["class"] not in kinds:
        raise UnreadableModel(
            "This version does not know this kind of synopsis.",
            f"Its format must be {SCHEMA}, and its class one of {', '.join(kinds)}.",
        )
    return kinds[document["class"]]


def _check_replaceable(place: Path) -> None:
    if place.is_dir() and any(
        each.name not in (CELLS, DOCUMENT, "signature.json") for each in place.iterdir()
    ):
        raise AlreadyExists(
            f"{place} holds files that no synopsis wrote.", "Choose another folder."
        )
