"""Text that a spreadsheet would run as a formula: true by default, marked in a copy on request.

Category values, titles and column names come from outside. Files of releases and models hold them
as they are, since they are counted again, hashed and loaded; ``shoal data for-spreadsheets`` writes
a copy in which none of them begins a formula, whichever separator the spreadsheet splits at.
"""

import csv
import gzip
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.anonymize import run_policy
from shoal.cli._main import app
from shoal.cluster import PrivateKPrototypes
from shoal.data import source_of, write_table
from shoal.domain import Schema
from shoal.errors import CannotWrite

FORMULAS = [
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", "  =1+1", "\tplain",
    "\rplain", '=HYPERLINK("http://example.org","more")', "=cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",     "+49 30 1234", "＝1+1", "＠SUM(A1)", "a;=1+1", "a\t=1+1",
    "a;\n@b", 'a;"=1"', "=", "-", "-1e5-A1",
]  # fmt: skip
NUMBERS = ["7", "-7", "+7", "-7.25", "-1,234.5", "1.234,5", "-.5", "-1e-05", "+3E7", "-12%"]
PLAIN = [
    "York",
    "a-b",
    "a=b",
    "me@example.org",
    "O'Brien",
    "'quoted'",
    "",
    " ",
    "[20, 30)",
    ">=30",
    "*",
]
RUNS = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
IS_NUMBER = re.compile(r"\s*[+-]?[.,]?[0-9][0-9.,]*([eE][+-]?[0-9]+)?%?\s*")


def copied(table, tmp_path, ending="csv"):
    path = tmp_path / f"copy.{ending}"
    write_table(table, path, overwrite=True, for_spreadsheets=True)
    text = path.read_bytes()
    return (gzip.decompress(text) if ending == "csv.gz" else text).decode()


def cells(text, separator=","):
    return [
        cell
        for row in csv.reader(text.splitlines(keepends=True), delimiter=separator)
        for cell in row
    ]


def harmful(text, separator=","):
    return [c for c in cells(text, separator) if RUNS.match(c) and not IS_NUMBER.fullmatch(c)]


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_or_name_of_the_copy_begins_a_formula(tmp_path, formula, ending):
    table = pa.table({formula: [formula, "York", None], "n": [-1, 2, 3]})
    for separator in ",;\t":
        assert not harmful(copied(table, tmp_path, ending), separator)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_numbers_and_other_text_stay_as_they_are(tmp_path, kind):
    table = pa.table({"cell": pa.array([*NUMBERS, *PLAIN], pa.string()).cast(kind)})
    assert cells(copied(table, tmp_path))[1:] == [*NUMBERS, *PLAIN]


def test_columns_of_numbers_and_days_are_never_marked(tmp_path):
    table = pa.table({"n": [-1, None], "x": [-1.5, -1e300], "day": pa.array([-1, 1], pa.date32())})
    assert copied(table, tmp_path) == "n,x,day\n-1,-1.5,1969-12-31\n,-1e+300,1970-01-02\n"


@given(st.lists(st.text(alphabet="=+-@;\t\r\n 1a,.'\"", max_size=8), max_size=6))
def test_no_text_at_all_slips_through(tmp_path_factory, texts):
    for_first = {"cell": pa.array(texts, pa.string())}
    for_second = {"n": pa.array(range(len(texts)), pa.int64())} | for_first
    for columns in (for_first, for_second):
        made = copied(pa.table(columns), tmp_path_factory.mktemp("any"))
        assert not harmful(made)
        split = [cell for separator in ";\t" for cell in harmful(made, separator)]
        assert not [cell for cell in split if re.match(r"\s*[=+\-@]", cell)]


def test_true_values_are_written_unless_a_copy_is_asked_for(tmp_path):
    path = write_table(pa.table({"=a": FORMULAS}), tmp_path / "true.csv")
    batches = source_of(path).batches(["=a"])
    assert [cell for batch in batches for cell in batch.column(0).to_pylist()] == FORMULAS


def test_parquet_has_no_copy_for_spreadsheets(tmp_path):
    with pytest.raises(CannotWrite, match="read no Parquet"):
        write_table(pa.table({"a": ["=1"]}), tmp_path / "a.parquet", for_spreadsheets=True)
    assert not list(tmp_path.iterdir())


def copy_by_verb(file, copy, *more):
    words = ["data", "for-spreadsheets", str(file), "-o", str(copy), *more]
    return CliRunner().invoke(app, words)


def test_profiles_with_hostile_categories_and_titles_are_true_and_their_copy_is_safe(tmp_path):
    columns = {"=age": {"low": 0, "high": 100}, "town": {"values": ["=1+1", "@SUM(A1)", "hills"]}}
    rng = np.random.default_rng(0)
    rows = {"=age": rng.uniform(0, 100, 500), "town": rng.choice(columns["town"]["values"], 500)}
    schema = Schema.of({"version": 1, "columns": columns})
    model = PrivateKPrototypes(
        2, epsilon=4, domain=schema, n_init=1, n_synthetic=100, random_state=1
    )
    folder = model.fit(rows).save(tmp_path / "groups")
    for name in ("profiles.csv", "prototypes.csv"):
        true = (folder / name).read_text()
        assert harmful(true)
        ending = copy_by_verb(folder / name, tmp_path / name)
        assert ending.exit_code == 0, ending.output
        copy = (tmp_path / name).read_text()
        assert not harmful(copy)
        assert [cell.removeprefix("'") for cell in cells(copy)] == cells(true)
    assert shoal.load_model(folder).profiles_.titles == model.profiles_.titles


def test_a_released_table_holds_what_was_counted_and_its_copy_is_safe(tmp_path):
    policy = {
        "version": 1,
        "attributes": {
            "town": {"role": "quasi", "hierarchy": {"tree": {"*": ["=1+1", "Boll"]}}},
            "note": {"role": "other", "force": True},
        },
        "privacy": {"k": 2},
        "output": {"path": str(tmp_path / "out.csv")},
    }
    table = {"town": ["=1+1"] * 2 + ["Boll"] * 2, "note": ["@x", "-3", "+a", "b"]}
    done = run_policy(policy, table)
    for path in (done.paths.table, done.paths.mapping):
        assert harmful(path.read_text())
        assert copy_by_verb(path, tmp_path / "copy.csv", "--overwrite").exit_code == 0
        assert not harmful((tmp_path / "copy.csv").read_text())
    assert "-3" in cells(done.paths.table.read_text())


def test_the_verb_replaces_nothing_unasked_and_names_what_it_wrote(tmp_path):
    (tmp_path / "a.csv").write_text("x\n=1\n")
    made = copy_by_verb(tmp_path / "a.csv", tmp_path / "b.csv", "--json")
    assert f'"copy": "{tmp_path / "b.csv"}"' in made.stdout
    refused = copy_by_verb(tmp_path / "a.csv", tmp_path / "b.csv")
    assert refused.exit_code == 2
    assert (tmp_path / "b.csv").read_text() == "x\n'=1\n"
