"""Save fitted models to folders of plain JSON, CSV and Parquet, never pickle, and load them.

``model.json`` (``shoal.model/1``) names the class, its settings, the public domain, the promise and
every other file with its checksum. To be kept this way, a fitted estimator provides

    _document()                   settings and released numbers, as JSON has them
    _tables()                     by file name: an Arrow table, or plain values for .json
    _restore(document, tables)    a class method: the model again, ready to predict
    _saved_description()          what ``shoal.describe`` computed, in a file of its own, or None

and a place in the registry: only those classes are ever made from a folder.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from shoal.bounds_check import BoundsCheck
from shoal.cluster._description_cache import DESCRIPTION
from shoal.cluster.registry import REGISTRY
from shoal.data import atomic_folder
from shoal.documents import parse_json, with_digest
from shoal.domain import Box, Schema
from shoal.errors import AlreadyExists, UnreadableModel, quantity
from shoal.privacy import guarantee_of
from shoal.synopsis import read_part, write_part
from shoal.synopsis.folder import digest_of

SCHEMA = "shoal.model/1"
MODEL = "model.json"
MODELS = {entry.name: entry.package for entry in REGISTRY if entry.is_model}
SIGNATURE = "signature.json"
PAGES = {f"report{mark}.{kind}" for mark in ("", "-simulation") for kind in ("html", "json")}
# What reading a damaged document may raise.
_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)
# Names of released numbers and of columns in models of earlier versions.
_RENAMED = {
    "cluster_weights_": "cluster_sizes_",
    "groups_told_": "is_certain_",
    "rows_told_": "rows_detected_",
    "size_reach_": "noise_sizes_",
    "_reach": "_noise_size",
    "_told": "_is_certain",
}
_VERSIONED = (  # packages whose versions are recorded
    "shoal",
    "numpy",
    "scikit-learn",
    "randomgen",
    "pyarrow",
)


class _ModelToSave(Protocol):
    """The interface of a model that can be saved to a folder."""

    guarantee_: Any
    domain: Any

    def _document(self) -> dict[str, Any]: ...
    def _tables(self) -> dict[str, Any]: ...
    def _saved_description(self) -> dict[str, Any] | None: ...


def save_model(model: _ModelToSave, folder: str | Path, overwrite: bool = False) -> Path:
    """Write a fitted model to a new folder, completely or not at all.

    Parameters
    ----------
    model
        A fitted estimator of ``MODELS``.
    overwrite
        Whether a model that is already there may be replaced; other folders never are.

    Returns
    -------
    The folder.

    Raises
    ------
    AlreadyExists
        If the folder holds anything but a model and its page.
    """
    check_replaceable(folder)
    with atomic_folder(folder, overwrite) as part:
        write_model(model, part)
    return Path(folder)


def write_model(model: _ModelToSave, folder: Path) -> list[dict[str, str]]:
    """Write a model into an existing folder.

    Parameters
    ----------
    model
        A fitted estimator of ``MODELS``.
    folder
        The folder, which exists.
    """
    tables, description = model._tables(), model._saved_description()
    if description is not None:
        tables = tables | {DESCRIPTION: description}
    files = [write_part(part, folder / name) for name, part in tables.items()]
    check = getattr(model, "bounds_check_", None)  # models of reports have none
    document = {
        "schema": SCHEMA,
        "class": type(model).__name__,
        **model._document(),
        "domain": _domain_document(model.domain),
        "guarantee": model.guarantee_.to_dict(),
        "simulation": model.guarantee_.simulation,
        **({} if check is None else {"bounds_check": check.to_dict()}),
        "versions": {name: version(name) for name in _VERSIONED},
        "files": files,
    }
    return [write_part(with_digest(document), folder / MODEL), *files]


def load_model(folder: str | Path) -> Any:
    """Load a model from the folder it was saved to.

    Parameters
    ----------
    folder
        The folder that ``save`` wrote.

    Raises
    ------
    UnreadableModel
        If it holds no model, or a damaged one.

    Examples
    --------
    >>> import tempfile
    >>> load_model(tempfile.mkdtemp())
    Traceback (most recent call last):
    ...
    shoal.errors.UnreadableModel: ... holds no model.json.
    Name the folder that `save` or `shoal cluster -o` wrote.
    """
    document = _document(Path(folder))
    if "released" in document:
        document["released"] = _with_present_names(document["released"])
    tables = {
        str(file["name"]): _with_present_names(read_part(Path(folder), file))
        for file in document["files"]
    }
    # Older versions, and models that were not described before they were saved, have none.
    description = tables.pop(DESCRIPTION, None)
    kind = getattr(import_module(MODELS[document["class"]]), document["class"])
    try:
        model = kind._restore(document, tables)
        model.guarantee_ = guarantee_of(document["guarantee"])
        if document["domain"] is not None and "domain" in vars(model):
            model.domain = _with_texts(model.domain, document["domain"])
        if (check := document.get("bounds_check")) is not None:
            model.bounds_check_ = BoundsCheck.of(check)
        if description is not None:
            model._restore_description(description)
    except _DAMAGED as error:
        raise UnreadableModel(
            f"The model in {folder} lacks a part, or a part has the wrong type "
            f"({type(error).__name__}).",
            "Load it with the version of shoal that wrote it, or save it again.",
        ) from None
    return model


def _with_present_names(part: Any) -> Any:
    """Rename released numbers and columns that older versions wrote under other names."""
    if isinstance(part, pa.Table):
        return part.rename_columns([_RENAMED.get(name, name) for name in part.column_names])
    if isinstance(part, dict):
        return {_RENAMED.get(name, name): value for name, value in part.items()}
    return part


def listed_files(folder: str | Path) -> list[dict[str, str]]:
    """Return the name and checksum of each file of a saved model, the document first.

    Parameters
    ----------
    folder
        The folder that ``save`` wrote.

    Examples
    --------
    >>> import tempfile
    >>> import shoal
    >>> model = shoal.PrivateKMeans(2, epsilon=1, domain=shoal.Box.unit(1), random_state=1)
    >>> folder = model.fit([[0.2], [0.8]] * 200).save(tempfile.mkdtemp() + "/model")
    >>> listed_files(folder)[0]["name"]
    'model.json'
    """
    place = Path(folder)
    document = {"name": MODEL, "sha256": digest_of(place / MODEL)}
    return [document, *(dict(file) for file in _document(place)["files"])]


def check_replaceable(folder: str | Path, also: Iterable[str] = ()) -> None:
    """Refuse to replace a folder that holds anything but a model and its page.

    Parameters
    ----------
    folder
        The folder; it need not exist.
    also
        Names of further files that the same writer puts beside a model.
    """
    place = Path(folder)
    if not place.is_dir():
        return
    known = {MODEL, SIGNATURE, *PAGES, *also}
    if (place / MODEL).is_file():
        known |= {str(file["name"]) for file in _document(place)["files"]}
    others = [each for each in place.iterdir() if each.name not in known]
    if others:
        raise AlreadyExists(
            f"{place} holds {quantity(len(others), 'file')} that no model wrote.",
            "Choose another folder.",
        )


def _domain_document(domain: Box | Schema | None) -> dict[str, Any] | None:
    """Return the bounds of a domain as JSON values; the person column is among the settings."""
    if isinstance(domain, Schema) and not _is_plain_box(domain):
        return domain.to_dict()
    if isinstance(domain, Schema):
        document = domain.box.to_dict()
        for name, column in document["columns"].items():
            column.update(domain.texts_of(name))
        return document
    return None if domain is None else domain.to_dict()


def _with_texts(domain: Box | Schema, document: Any) -> Box | Schema:
    """Return a loaded domain with the labels, units and marks saved beside its bounds."""
    columns = document["columns"]
    labels, units = (
        {name: str(column[key]) for name, column in columns.items() if key in column}
        for key in ("label", "unit")
    )
    whole = [name for name, column in columns.items() if column.get("whole", False)]
    if not (labels or units or whole):
        return domain
    schema = domain if isinstance(domain, Schema) else Schema.of_box(domain)
    return schema.with_texts(labels, units, whole)


def _is_plain_box(schema: Schema) -> bool:
    """Whether a schema says no more of its columns than a box does."""
    weighted = any(weight != 1 for weight in schema.weights.values())
    return not (schema.categories or schema.missing or weighted)


def _is_file_entry(file: Any) -> bool:
    """Whether an entry of the document has a plain file name and a checksum."""
    name, digest = file["name"], file["sha256"]
    return isinstance(name, str) and isinstance(digest, str) and Path(name).name == name != ""


def _document(folder: Path) -> dict[str, Any]:
    """Read the model's document and check that it is one."""
    try:
        text = (folder / MODEL).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        raise UnreadableModel(
            f"{folder} holds no {MODEL}.",
            "Name the folder that `save` or `shoal cluster -o` wrote.",
        ) from None
    try:
        document = parse_json(text)
        known = document["schema"] == SCHEMA and document["class"] in MODELS
        known = known and all(_is_file_entry(file) for file in document["files"])
    except (ValueError, KeyError, TypeError):
        known, document = False, {}
    if not known:
        raise UnreadableModel(
            f"{folder / MODEL} does not describe a model that this version knows.",
            f"Its format must be {SCHEMA}, and its class one of {', '.join(sorted(MODELS))}.",
        )
    return dict(document)
