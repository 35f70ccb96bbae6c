"""Public data sets by name: scikit-learn's own, and files in the folder that SHOAL_DATA names.

Each file has the SHA-256 of the content it was checked with. Its columns of text become numbers
where all their cells are numbers: that is for public tables only.
"""

import difflib
import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.encode import floats_of, is_missing, odd_cell_kinds
from shoal.data.files import source_of_path
from shoal.data.source import hide_row_text
from shoal.errors import DatasetUnavailable

__all__ = [
    "FILES",
    "DataFile",
    "dataset_names",
    "load",
    "parse_number_columns",
]

_BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "wine")


class DataFile(NamedTuple):
    """The path of a data set below the data folder, and the checksum of its content.

    Parameters
    ----------
    path
        Relative to the folder.
    sha256
        What the file's bytes must hash to.
    """

    path: str
    sha256: str


FILES = {
    "adult": DataFile(
        "adult/adult.csv",
        "6f8f2babc5ee744afd03f6d978d8d6b3e3b0aae240d931c4976a9cce7af0d347",
    ),
    "adult_hierarchy_age": DataFile(
        "adult/hierarchies/adult_hierarchy_age.csv",
        "463f35372e8b1ad31fc624eb73c5da9297878a044ae5d61038eaf7b431ac55ca",
    ),
    "adult_hierarchy_education": DataFile(
        "adult/hierarchies/adult_hierarchy_education.csv",
        "f22e5ee519c28b05538d4e5ddea0fbee5f0017fefb3abab3fa02272325bf9ce5",
    ),
    "adult_hierarchy_marital-status": DataFile(
        "adult/hierarchies/adult_hierarchy_marital-status.csv",
        "3e7ba2c4a5cd4fec059b4e3a2c57fce6e7c34a20daee1e624990ddd7beba85e5",
    ),
    "adult_hierarchy_native-country": DataFile(
        "adult/hierarchies/adult_hierarchy_native-country.csv",
        "696d3b53973311c096b33f98bb56e526016910b1a1cd5a1e904cb799d1077023",
    ),
    "adult_hierarchy_occupation": DataFile(
        "adult/hierarchies/adult_hierarchy_occupation.csv",
        "16dc420d5d7f8ab4d1e6144eb1d19ab8314ef42523fe8c4ee202372db1c98126",
    ),
    "adult_hierarchy_race": DataFile(
        "adult/hierarchies/adult_hierarchy_race.csv",
        "df11abf41fa0669455adc9c9f9fa88663afa0cee8327684ecca861cd32dc4209",
    ),
    "adult_hierarchy_relationship": DataFile(
        "adult/hierarchies/adult_hierarchy_relationship.csv",
        "494c38c9c982e45bd6cce69728301a9e40d3139b2aac3e55c0214deceac714db",
    ),
    "adult_hierarchy_salary-class": DataFile(
        "adult/hierarchies/adult_hierarchy_salary-class.csv",
        "404895b3fcfb615813efab7ae0d2c50c8b127cec651f9b37d44a648646f86345",
    ),
    "adult_hierarchy_sex": DataFile(
        "adult/hierarchies/adult_hierarchy_sex.csv",
        "537d23f7b6969b916b5a5490eb1b32c273fefdc62ca050a7a813e23bbf3b78b2",
    ),
    "adult_hierarchy_workclass": DataFile(
        "adult/hierarchies/adult_hierarchy_workclass.csv",
        "106f420349bf0071dbb25371795a78799edf24a64c3424619d563c3990ee8d02",
    ),
    "credit_codes": DataFile(
        "credit/codes.csv",
        "585fd99ba1765fd2b4d9f2e0b6348506188aaf0ca185d74b4f6ff9bc4e560986",
    ),
    "german_credit": DataFile(
        "credit/german_credit.csv",
        "f178b5314c122d8dd5b7dc6d849175dee40996fa0ec9c798f17ebf2b417abaac",
    ),
    "south_german_credit": DataFile(
        "credit/south_german_credit.csv",
        "a4e28e9ca9e250ca619b052f73bf63c1f4ab9c8e883a2b944f68251ed55a02f3",
    ),
    "oulad_student_info": DataFile(
        "education/oulad_student_info.csv",
        "77fd79ba61213627c6fd64019edbf367e3028c9c3e16e086244d2ba06e09a8cf",
    ),
    "student_dropout": DataFile(
        "education/student_dropout.csv",
        "5dc4e06abf77b44021577cdf7553ff447f1894b614a8c6dedbe6552d444bded5",
    ),
    "student_mat": DataFile(
        "education/student_mat.csv",
        "659f3984643c2def53ba5e49f551c6ce3657039f9c25306cacb8f43b818a5190",
    ),
    "student_por": DataFile(
        "education/student_por.csv",
        "3fb408fe4b66d4cdb90ad4ec5e3fb6de94ba662d0471a3d46c03da483069f76b",
    ),
    "gowalla_nyc": DataFile(
        "geo/gowalla_nyc.csv.gz",
        "c3ae1b37dd022d2622169cf653d3e35235bfa91539ba13e02f0883dfc392e7d8",
    ),
    "road3d_excerpt": DataFile(
        "geo/road3d_excerpt.csv",
        "00e57792cbb6631fe68bc8d2fe9201bbf9a81b4141b3b20f92cc43bbf81fa82c",
    ),
    "aggregation": DataFile(
        "shapes/aggregation.csv",
        "5254acfedb523a2bc54a65f20e0cdb57a160115484bedb1d1dc6685233d6f0eb",
    ),
    "alternative_labels": DataFile(
        "shapes/alternative_labels.csv",
        "81ce332fb87bf5dffab91ef8ed710992abba2b255b5cbb2cd3b77d033a64311c",
    ),
    "birch1": DataFile(
        "shapes/birch1.csv.gz",
        "497f6e4a2b8168ffb59794287846f79598bbab2ef34c8835ee090b68222b1ab2",
    ),
    "compound": DataFile(
        "shapes/compound.csv",
        "113ab2b82b07c5b1dd2887a96828d1038c45265fdb162e21d724cff18e7d2bd6",
    ),
    "d31": DataFile(
        "shapes/d31.csv",
        "ea6394f7774b2856ddbf95b8042f840c7de7181d917c9d8a5a3ec68a3c286d35",
    ),
    "flame": DataFile(
        "shapes/flame.csv",
        "d77a2844482bbd30efb6a32e9d620d8bf6e2d879cc815967d262756bb1d679c9",
    ),
    "jain": DataFile(
        "shapes/jain.csv",
        "0fe5582380f7ac3ac28401d36f4b00645ed56056e8d5b8bef3e7688ced564b1a",
    ),
    "lsun": DataFile(
        "shapes/lsun.csv",
        "ea1716bdf0d274db455f66d72019bb2a53419929c1cf081536ede86944e3b210",
    ),
    "pathbased": DataFile(
        "shapes/pathbased.csv",
        "3d00975ea2839a766c4e98d0c1b00f1d24452e5aba7bf362d86dd6df1430f0cd",
    ),
    "r15": DataFile(
        "shapes/r15.csv",
        "54289c48902c13081d48cb5aaa9bfcdec44d84b2ada110b1517360bd38d6b3e8",
    ),
    "s1": DataFile(
        "shapes/s1.csv",
        "692d3cce3645fe1a72c4d86d27b3acea7c805d96271fbd65e006a16c4c9fe1bf",
    ),
    "spiral": DataFile(
        "shapes/spiral.csv",
        "78072be6316a80ddf8bba3dd605fd2387882630efe65bcade75bb82674a22aa6",
    ),
    "t4.8k": DataFile(
        "shapes/t4.8k.csv",
        "b27f614936fafecad34470392d7c96e2f5c9b1043c00033aec9850551b7592f4",
    ),
    "cardiotocography": DataFile(
        "uci/cardiotocography.csv",
        "204b8ed70b0943e810f0fb0c2b493cf88a221141d55126d55f46d76a6693e281",
    ),
    "seeds": DataFile(
        "uci/seeds.csv",
        "4e01cee444d4bd188c2fec2d4d2e3e598e3cb1a97723bbaaee55461eb53a9532",
    ),
}


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
    if name in _BUNDLED:
        return _bundled(name)
    if name not in FILES:
        known = [*_BUNDLED, *FILES]
        near = difflib.get_close_matches(str(name), known, n=1)
        raise DatasetUnavailable(
            f"There is no data set named {name!r}.",
            f"Did you mean {near[0]!r}?" if near else "shoal.data.dataset_names() lists them.",
            reason="unknown",
        )
    return _read(_verified(name, FILES[name]))


def dataset_names() -> tuple[str, ...]:
    """List what ``load`` can load now: bundled sets, and files that are in ``SHOAL_DATA``."""
    return (*_BUNDLED, *(name for name, file in FILES.items() if _find(file)))


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
    places = (Path(folder, file.path), Path(folder, Path(file.path).name))
    return next((place for place in places if place.is_file()), None)


def _verified(name: str, file: DataFile) -> Path:
    """Return the path of a file whose checksum is right."""
    path = _find(file)
    if path is None:
        folder = os.environ.get("SHOAL_DATA")
        where = f"{folder} does not hold it" if folder else "SHOAL_DATA is not set"
        raise DatasetUnavailable(
            f"The data set {name!r} is not part of shoal, and {where}.",
            f"Put {Path(file.path).name} into a folder and set SHOAL_DATA to that folder.",
            reason="not found",
        )
    with hide_row_text(str(path)), path.open("rb") as content:
        # Results in the documentation hold for these very bytes.
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != file.sha256:
        raise DatasetUnavailable(
            f"{path} is not the file shoal was tested with: its SHA-256 differs.",
            "Download it again, or read your version by its path instead of by name.",
            reason="changed",
        )
    return path


def _read(path: Path) -> pa.Table:
    if "_hierarchy_" in path.name:
        return _read_hierarchy(path)
    source = source_of_path(path)
    return parse_number_columns(pa.Table.from_batches(source.batches(source.names)))


def _read_hierarchy(path: Path) -> pa.Table:
    """Read an ARX hierarchy: semicolons, no header, the value first and the root last."""
    rows = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()]
    columns = list(zip(*rows, strict=True))
    return pa.table(columns, names=[f"level{i}" for i in range(len(columns))])


def parse_number_columns(table: pa.Table) -> pa.Table:
    """Convert each column of text to numbers if all its cells are numbers.

    For tables that are public: one cell decides how its whole column is read.

    Parameters
    ----------
    table
        A public table.

    Examples
    --------
    >>> parse_number_columns(pa.table({"age": ["31", "NA"], "plz": ["01219", "70173"]})).to_pydict()
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
