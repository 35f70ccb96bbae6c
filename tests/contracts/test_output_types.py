"""The type and the spelling of a released column follow from the policy, never from values.

Two tables that differ in one suppressed row, in each way a number can be odd, must give the same
columns of the same types, and numbers spelt the same; however the rows are cut into batches.
"""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.anonymize import TopDownSpecialization, run_policy
from shoal.anonymize._policy import Policy
from shoal.errors import InvalidPolicy, UnreadableTable

SUPPRESSED = ["7", "7.5", "-0.0", "1e17", "0.1", "", "inf", "nobody knows"]
PUBLISHED = ["3", "12", "250", "12"]
WHOLE = {"round": 5}
SPECS = {
    "top": {"top": 100},
    "bottom and top": {"bottom": 0, "top": 100},
    "fractions": {"top": 99.5},
    "whole steps": WHOLE,
    "steps and top": {"round": 10, "top": 100},
    "halves": {"round": 0.5},
    "top and rare": {"top": 100, "rare": 2},
}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


def content(tmp_path, ending, spec, **pay):
    return {
        "version": 1,
        "attributes": {
            "town": {"role": "quasi", "hierarchy": {"tree": {"*": ["Ahl", "Boll"]}}},
            "pay": {"role": "other", "force": True, "transform": spec, **pay},
        },
        "privacy": {"k": 2, "suppression": 0.3},
        "search": {"restarts": 0},
        "output": {"path": str(tmp_path / f"out.{ending}"), "overwrite": True},
    }


def batches(odd, at):
    """Four rows that are published and one that is not, each a batch of its own."""
    rows = [("Ahl", cell) for cell in PUBLISHED]
    rows.insert(at, ("Boll", odd))
    schema = pa.schema([("town", pa.string()), ("pay", pa.string())])
    return pa.Table.from_batches(
        [pa.record_batch([[town], [pay]], schema=schema) for town, pay in rows]
    )


def released(path):
    """The columns' types, or None in a text file, and the rows in some fixed order."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return table.schema, sorted(map(str, table.to_pylist()))
    return None, sorted(path.read_text().splitlines())


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_suppressed_cell_changes_neither_the_type_nor_the_spelling_of_others(
    tmp_path, spec, ending
):
    seen = []
    for at, odd in enumerate(SUPPRESSED):
        done = run_policy(content(tmp_path, ending, spec), batches(odd, at % 5))
        assert done.outcome.metrics.suppressed == 1
        seen.append(released(done.paths.table))
    assert all(one == seen[0] for one in seen)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_batches_of_whole_numbers_and_of_fractions_make_one_column(tmp_path, spec, ending):
    schema = pa.schema([("town", pa.string()), ("pay", pa.string())])
    cells = [["1", "2"], ["2.5", "2.5"], ["", "1"]]
    parts = [pa.record_batch([["Ahl", "Ahl"], of], schema=schema) for of in cells]
    done = run_policy(content(tmp_path, ending, spec), pa.Table.from_batches(parts))
    assert done.manifest["rows"] == 6


@pytest.mark.parametrize(
    ("spec", "kind", "expected"),
    [
        ({"top": 100}, "text", pa.float64()),
        ({"top": 100}, "float", pa.float64()),
        ({"top": 100}, "int", pa.int64()),
        ({"round": 5}, "text", pa.int64()),
        ({"round": 5}, "float", pa.float64()),
        ({"round": 5, "top": 99.5}, "text", pa.float64()),
        ({"round": 0.5}, "text", pa.float64()),
    ],
)
@pytest.mark.parametrize("source", [pa.string(), pa.int32(), pa.float64()], ids=str)
def test_the_policy_alone_says_whether_numbers_are_whole(tmp_path, spec, kind, expected, source):
    table = pa.table({"town": ["Ahl"] * 4, "pay": pa.array([1, 2, 2, 300]).cast(source)})
    done = run_policy(content(tmp_path, "parquet", spec, type=kind), table)
    assert pq.read_schema(done.paths.table).field("pay").type == expected


def test_a_column_without_any_cell_is_text_as_one_with_text_is(tmp_path):
    types = set()
    for odd in (None, "seen once"):
        policy = content(tmp_path, "parquet", None)
        table = {"town": ["Ahl"] * 4 + ["Boll"], "pay": [None] * 4 + [odd]}
        done = run_policy(policy, table)
        assert done.outcome.metrics.suppressed == 1
        types.add(pq.read_schema(done.paths.table).field("pay").type)
    assert types == {pa.string()}


@pytest.mark.parametrize("key", ["top", "bottom", "round"])
def test_fractions_in_the_rules_of_whole_numbers_are_refused(tmp_path, key):
    with pytest.raises(InvalidPolicy, match=rf"pay\.transform\.{key} must be whole"):
        Policy.of(content(tmp_path, "csv", {key: 2.5}, type="int"))


@pytest.mark.parametrize(
    ("cell", "spec", "kind"),
    [("7.25", {"top": 100}, "int"), ("1e17", {"round": 5}, "text"), ("inf", {"round": 5}, "text")],
)
def test_a_published_number_that_is_not_of_the_columns_type_is_refused_unquoted(
    tmp_path, cell, spec, kind
):
    table = {"town": ["Ahl"] * 4, "pay": ["1", "2", "3", cell]}
    with pytest.raises(InvalidPolicy) as refused:
        run_policy(content(tmp_path, "parquet", spec, type=kind), table)
    assert "'pay' has 1 cell" in str(refused.value)
    assert cell not in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("how", ["mean", "median"])
@pytest.mark.parametrize("intervals", ["label", "bounds", "midpoint"])
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_means_are_published_under_any_form_of_intervals(tmp_path, how, intervals, recoding):
    age = {"role": "quasi", "type": "int", "domain": [0, 99], "publish": how,
           "hierarchy": {"kind": "interval", "width": 10}}  # fmt: skip
    policy = content(tmp_path, "csv", WHOLE)
    policy["attributes"]["age"] = age
    policy["output"]["intervals"] = intervals
    policy["search"]["recoding"] = recoding
    table = {"town": ["Ahl"] * 6, "pay": [5] * 6, "age": [20, 21, 22, 50, 52, 54]}
    done = run_policy(policy, table)
    assert released(done.paths.table)[1] == sorted(
        ["town,pay,age", *["Ahl,5,21"] * 3, *["Ahl,5,52"] * 3]
    )


def test_the_estimator_returns_the_same_types(tmp_path):
    policy = content(tmp_path, "parquet", {"top": 100})
    del policy["output"]
    tables = [
        TopDownSpecialization(policy=policy).fit_transform(batches(odd, 2)) for odd in ("7", "7.5")
    ]
    assert tables[0].schema == tables[1].schema
    assert tables[0].schema.field("pay").type == pa.float64()


def test_files_of_one_table_with_other_types_are_refused_by_the_columns_name(tmp_path):
    for name, cells in (("a", [1, 2]), ("b", [1, 2.5])):
        pq.write_table(pa.table({"town": ["Ahl"] * 2, "pay": cells}), tmp_path / f"{name}.parquet")
    policy = content(tmp_path, "csv", None)
    with pytest.raises(UnreadableTable, match="Cells of 'pay' have other types in some"):
        run_policy(policy, tmp_path / "*.parquet")
