"""Public data sets by name: scikit-learn's own, and files in the folder SHOAL_DATA names."""

import difflib
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.data.catalogue_files import FILES, File
from shoal.data.files import source_of_path
from shoal.data.source import quiet
from shoal.data.typed import typed
from shoal.errors import DatasetChanged, UnknownDataset

__all__ = ["load", "names"]

_BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "wine")


def load(name: str) -> pa.Table:
    """A data set by its short name; ``names()`` lists them.

    scikit-learn's sets have its feature names and a last column ``label`` (``target`` where it is
    a quantity). Files are read from the folder in the environment variable ``SHOAL_DATA`` and
    must have the checksum they had when shoal was tested with them.

    Examples
    --------
    >>> load("iris").num_rows
    150
    """
    if name in _BUNDLED:
        return _bundled(name)
    if name not in FILES:
        known = [*_BUNDLED, *FILES]
        near = difflib.get_close_matches(str(name), known, n=1)
        raise UnknownDataset(
            f"No data set is called {name!r}.",
            f"Did you mean {near[0]!r}?" if near else "shoal.data.names() lists what there is.",
        )
    return _read(_verified(name, FILES[name]))


def names() -> tuple[str, ...]:
    """What ``load`` can load now: the bundled sets, and the files that are in ``SHOAL_DATA``."""
    return (*_BUNDLED, *(name for name, file in FILES.items() if _find(file)))


def _bundled(name: str) -> pa.Table:
    from sklearn import datasets

    bunch: Any = getattr(datasets, f"load_{name}")()
    label = "target" if name == "diabetes" else "label"
    columns = [*np.asfortranarray(bunch.data).T, bunch.target]
    return pa.table(columns, names=[*map(str, bunch.feature_names), label])


def _find(file: File) -> Path | None:
    """The file below the data folder, in its own folder or right inside."""
    folder = os.environ.get("SHOAL_DATA")
    if not folder:
        return None
    places = (Path(folder, file.path), Path(folder, Path(file.path).name))
    return next((place for place in places if place.is_file()), None)


def _verified(name: str, file: File) -> Path:
    found = _find(file)
    if found is None:
        folder = os.environ.get("SHOAL_DATA")
        where = f"{folder} does not hold it" if folder else "SHOAL_DATA is not set"
        raise UnknownDataset(
            f"The data set {name!r} is not part of shoal, and {where}.",
            f"Put {Path(file.path).name} into a folder and set SHOAL_DATA to that folder.",
        )
    with quiet(str(found)), found.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != file.sha256:
        raise DatasetChanged(
            f"{found} is not the file shoal was tested with: its SHA-256 differs.",
            "Fetch it again, or read your version by its path instead of by name.",
        )
    return found


def _read(path: Path) -> pa.Table:
    if "_hierarchy_" in path.name:
        return _read_hierarchy(path)
    source = source_of_path(path)
    return typed(pa.Table.from_batches(source.batches(source.names)))


def _read_hierarchy(path: Path) -> pa.Table:
    """An ARX hierarchy: semicolons, no header, the value first and the root last."""
    rows = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()]
    columns = list(zip(*rows, strict=True))
    return pa.table(columns, names=[f"level{i}" for i in range(len(columns))])
