import gzip
import hashlib

import pyarrow as pa
import pytest

from shoal.data.catalogue import _parse_number_columns, dataset_names, load
from shoal.data.known_files import FILES, DataFile
from shoal.errors import DatasetUnavailable

BUNDLED = {
    "breast_cancer": (569, 31),
    "diabetes": (442, 11),
    "digits": (1797, 65),
    "iris": (150, 5),
    "wine": (178, 14),
}
SHAPES = {
    "adult": (48_842, 15),
    "adult_hierarchy_age": (100, 5),
    "adult_hierarchy_education": (16, 4),
    "adult_hierarchy_marital-status": (7, 3),
    "adult_hierarchy_native-country": (41, 3),
    "adult_hierarchy_occupation": (14, 3),
    "adult_hierarchy_race": (5, 2),
    "adult_hierarchy_relationship": (6, 2),
    "adult_hierarchy_salary-class": (2, 2),
    "adult_hierarchy_sex": (2, 2),
    "adult_hierarchy_workclass": (8, 3),
    "aggregation": (788, 3),
    "alternative_labels": (11_336, 4),
    "birch1": (100_000, 3),
    "cardiotocography": (2_126, 23),
    "compound": (399, 3),
    "credit_codes": (129, 4),
    "d31": (3_100, 3),
    "flame": (240, 3),
    "german_credit": (1_000, 21),
    "gowalla_nyc": (138_957, 5),
    "jain": (373, 3),
    "lsun": (400, 3),
    "oulad_student_info": (32_593, 12),
    "pathbased": (300, 3),
    "r15": (600, 3),
    "road3d_excerpt": (5_000, 3),
    "s1": (5_000, 3),
    "seeds": (210, 8),
    "south_german_credit": (1_000, 21),
    "spiral": (312, 3),
    "student_dropout": (4_424, 37),
    "student_mat": (395, 33),
    "student_por": (649, 33),
    "t4.8k": (8_000, 3),
}

KINDS = {
    "whole numbers": (["1", "-2"], [1, -2]),
    "numbers": (["1", "2.5", "1e3"], [1.0, 2.5, 1000.0]),
    "blanks around numbers": ([" 1", "2 "], [1, 2]),
    "missing numbers": (["1", "NA", ""], [1, None, None]),
    "missing among fractions": (["1.5", "NA", ""], [1.5, None, None]),
    "beyond 64 bits": (["100000000000000000000", "1"], [1e20, 1.0]),
    "text": (["x", "1"], ["x", "1"]),
    "text that may look missing": (["NA", "", "x"], ["NA", "", "x"]),
    "postcodes": (["01219", "70173"], ["01219", "70173"]),
    "zeros": (["0", "0.5", "-0"], [0.0, 0.5, 0.0]),
    "dates stay text": (["2020-01-31"], ["2020-01-31"]),
    "truth values stay text": (["true", "false"], ["true", "false"]),
}


@pytest.mark.parametrize("name", BUNDLED)
def test_scikit_learns_sets_load_without_any_folder(name, monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    table = load(name)
    assert table.shape == BUNDLED[name]
    assert table.column_names[-1] in ("label", "target")


MADE = {
    "numbers": ("made/numbers.csv", b"x,y,name\n1,2.5,a\n3,4,b\n", (2, 3)),
    "packed": ("made/packed.csv.gz", gzip.compress(b"x\n1\n2\n3\n", mtime=0), (3, 1)),
    "made_hierarchy_x": ("made/trees/made_hierarchy_x.csv", b"a;A;*\nb;A;*\n", (2, 3)),
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A data folder with a file of each kind, and a catalogue of these."""
    for name in list(FILES):
        monkeypatch.delitem(FILES, name)
    for name, (path, content, _) in MADE.items():
        digest = hashlib.sha256(content).hexdigest()
        monkeypatch.setitem(FILES, name, DataFile(path, digest, home="https://home"))
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", MADE)
def test_a_file_of_each_kind_has_the_rows_and_columns_it_should(name, made):
    assert load(name).shape == MADE[name][2]


def test_columns_are_read_as_what_they_hold(made):
    assert load("numbers").to_pydict() == {"x": [1, 3], "y": [2.5, 4.0], "name": ["a", "b"]}
    assert load("made_hierarchy_x").column_names == ["level0", "level1", "level2"]


@pytest.mark.heavy
def test_every_real_file_has_the_rows_and_columns_it_should(load_real):
    assert {name: load_real(name).shape for name in SHAPES} == SHAPES
    assert set(dataset_names()) == {*BUNDLED, *SHAPES}


def test_every_file_of_the_catalogue_is_tested():
    assert set(SHAPES) == set(FILES)


def test_the_catalogue_lists_what_can_be_loaded(made):
    assert set(dataset_names()) == {*BUNDLED, *MADE}
    (made / "made" / "numbers.csv").unlink()
    assert set(dataset_names()) == {*BUNDLED, *MADE} - {"numbers"}


def test_without_a_folder_only_the_bundled_sets_are_listed(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    assert set(dataset_names()) == set(BUNDLED)


def test_a_file_right_inside_the_folder_is_found(made):
    (made / "made" / "numbers.csv").rename(made / "numbers.csv")
    assert load("numbers").num_rows == 2


def test_a_file_that_changed_is_refused(tmp_path, monkeypatch):
    (tmp_path / "seeds.csv").write_text("area\n1\n")
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    with pytest.raises(
        DatasetUnavailable, match=r"seeds\.csv", check=lambda error: error.reason == "changed"
    ):
        load("seeds")


@pytest.mark.parametrize("folder", [None, "", "empty"])
def test_a_file_that_is_not_there_says_where_to_put_it(folder, tmp_path, monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    if folder is not None:
        monkeypatch.setenv("SHOAL_DATA", folder and str(tmp_path))
    with pytest.raises(
        DatasetUnavailable,
        match=r"Put seeds\.csv into a folder and set SHOAL_DATA",
        check=lambda error: error.reason == "not found",
    ):
        load("seeds")


def test_a_typo_gets_the_nearest_name():
    with pytest.raises(
        DatasetUnavailable,
        match="Did you mean 'iris'",
        check=lambda error: error.reason == "unknown",
    ):
        load("irsi")
    with pytest.raises(
        DatasetUnavailable, match="names", check=lambda error: error.reason == "unknown"
    ):
        load("qqqqqq")


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_is_whole_numbers_numbers_or_text(kind):
    cells, expected = KINDS[kind]
    assert _parse_number_columns(pa.table({"a": cells})).to_pydict() == {"a": expected}


def test_other_columns_stay_as_they_are():
    table = pa.table({"a": [1.5], "b": pa.array([True])})
    assert _parse_number_columns(table) == table
