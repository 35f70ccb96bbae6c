"""Public data sets by name: scikit-learn's own, and files in the folder that SHOAL_DATA names.

Columns of text become numbers where all their cells are numbers: that is for public tables only.
"""

import difflib
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.encode import floats_of, is_missing, odd_cell_kinds
from shoal.data.files import source_of_path
from shoal.data.known_files import FILES, DataFile
from shoal.data.source import hide_row_text
from shoal.errors import DatasetUnavailable

BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "wine")


def load(name: str) -> pa.Table:
    """Load a public data set by its short name; ``dataset_names()`` lists them.

    scikit-learn's sets have its feature names and a last column ``label`` (``target`` where it is
    a quantity). Files are read from the folder in the environment variable ``SHOAL_DATA`` and
    must have the checksum they had when shoal was tested with them.

    Parameters
    ----------
    name
        The short name.

    Raises
    ------
    DatasetUnavailable
        If it is unknown, missing or changed.

    Examples
    --------
    >>> load("iris").num_rows
    150
    """
    file = known_file(name)
    return _bundled(name) if file is None else _read(_verified(name, file))


def known_file(name: str) -> DataFile | None:
    """Return the file of a data set; None for those that come with scikit-learn.

    Raises
    ------
    DatasetUnavailable
        If no data set has this name.
    """
    known = [*BUNDLED, *FILES]
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        raise DatasetUnavailable(
            f"There is no data set named {name!r}.",
            f"Did you mean {near[0]!r}?"
            if near
            else "shoal.data.dataset_names() lists what can be loaded, shoal data list all there "
            "are.",
            reason="unknown",
        )
    return FILES.get(name)


def dataset_names() -> tuple[str, ...]:
    """List what ``load`` can load now: bundled sets, and files that are in ``SHOAL_DATA``."""
    return (*BUNDLED, *(name for name, file in FILES.items() if _find(file)))


def _bundled(name: str) -> pa.Table:
    from sklearn import datasets

    bunch: Any = getattr(datasets, f"load_{name}")()
    label = "target" if name == "diabetes" else "label"
    columns = [*np.asfortranarray(bunch.data).T, bunch.target]
    return pa.table(columns, names=[*map(str, bunch.feature_names), label])


def _find(file: DataFile) -> Path | None:
    """Return the path of a file below the data folder, in its own folder or directly inside."""
    folder = os.environ.get("SHOAL_DATA")
    if not folder:
        return None
    # A folder that somebody filled by hand has no subfolders.
    places = (Path(folder, file.path), Path(folder, file.name))
    return next((place for place in places if place.is_file()), None)


def _verified(name: str, file: DataFile) -> Path:
    """Return the path of a file whose checksum is right."""
    path = _find(file)
    if path is None:
        folder = os.environ.get("SHOAL_DATA")
        where = f"{folder} does not hold it" if folder else "SHOAL_DATA is not set"
        raise DatasetUnavailable(
            f"The data set {name!r} is not part of shoal, and {where}.",
            f"Put {file.name} into a folder and set SHOAL_DATA to that folder"
            + (f"; shoal data fetch {name} --to FOLDER gets it." if file.url else "."),
            reason="not found",
        )
    if not has_checksum(path, file):
        raise DatasetUnavailable(
            f"{path} is not the file shoal was tested with: its SHA-256 differs.",
            "Download it again, or read your version by its path instead of by name.",
            reason="changed",
        )
    return path


def has_checksum(path: Path, file: DataFile) -> bool:
    """Whether a file has the content shoal was tested with."""
    with hide_row_text(str(path)), path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256


def _read(path: Path) -> pa.Table:
    if "_hierarchy_" in path.name:
        return _read_hierarchy(path)
    source = source_of_path(path)
    return _parse_number_columns(pa.Table.from_batches(source.batches(source.names)))


def _read_hierarchy(path: Path) -> pa.Table:
    """Read an ARX hierarchy: semicolons, no header, the value first and the root last."""
    rows = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()]
    columns = list(zip(*rows, strict=True))
    return pa.table(columns, names=[f"level{i}" for i in range(len(columns))])


def _parse_number_columns(table: pa.Table) -> pa.Table:
    """Convert each column of text to numbers if all its cells are numbers.

    For tables that are public: one cell decides how its whole column is read.

    Examples
    --------
    >>> table = pa.table({"age": ["31", "NA"], "plz": ["01219", "70173"]})
    >>> _parse_number_columns(table).to_pydict()
    {'age': [31, None], 'plz': ['01219', '70173']}
    """
    columns = [_parse_column(column.combine_chunks()) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _parse_column(column: pa.Array) -> pa.Array:
    if not pa.types.is_string(column.type) or odd_cell_kinds(column):
        return column
    try:
        cells = pc.ascii_trim_whitespace(column)
        return pc.if_else(is_missing(cells), None, cells).cast(pa.int64())
    except pa.ArrowInvalid:
        return pa.array(floats_of(column), mask=is_missing(column).to_numpy(zero_copy_only=False))
