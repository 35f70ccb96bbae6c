from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from shoal.anonymize import Policy, count_combinations, run_policy
from shoal.anonymize.release._writer import (
    ReleaseColumns,
    ReleasePart,
    format_of,
    parts_of,
    release_of,
    write_release,
)
from shoal.anonymize.search._run_search import run_search
from shoal.anonymize.table import QueriedTable
from shoal.engine.duckdb import OWNER
from shoal.errors import CannotWrite
from shoal.randomness import Randomness

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}
ROWS = {"q": ["a"] * 6 + ["b"] * 2 + ["c"] * 4 + ["d"], "v": [*range(13)], "id": [*range(13)]}


def parts(columns, recoding="global", **privacy):
    roles = {"v": {"role": "other", "force": True}, "id": {"role": "identifier"}}
    attributes = {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}}
    attributes |= {name: roles[name] for name in columns}
    policy = Policy.of({
        "version": 1, "attributes": attributes, "privacy": {"k": 3, "suppression": 0.1, **privacy},
        "search": {"recoding": recoding, "restarts": 0},
    })  # fmt: skip
    table = QueriedTable({name: ROWS[name] for name in attributes})
    frequency = count_combinations(policy, table)
    release = release_of(frequency.problem, run_search(policy, frequency.problem), star=False)
    return (
        list(parts_of(policy, table, frequency, release, Randomness(1).noise)),
        release,
        frequency,
    )


def cells(found, name):
    return [x for part in found for x in part.rows[name].to_pylist()]


@pytest.mark.heavy
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_rows_made_from_lines_are_those_read_from_the_table(recoding):
    from_lines, _, _ = parts([], recoding)
    from_table, _, _ = parts(["v"], recoding)
    assert sorted(cells(from_lines, "q")) == sorted(cells(from_table, "q"))


@pytest.mark.heavy
def test_whose_each_row_is_comes_beside_it_and_not_in_it():
    found, _, _ = parts(["v", "id"], person="id")
    assert found[0].rows.schema.names == ["q", "v"]
    assert [x for part in found for x in part.owners.to_pylist()] == [
        str(v) for v in cells(found, "v")
    ]


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz"])
def test_all_parts_are_written_and_owners_apart(tmp_path, name):
    batch = pa.record_batch({"q": pa.array(["x", "y"]).dictionary_encode(), "n": [1, 2]})
    coming = iter(
        [ReleasePart(batch, pa.array(["p", "o"])), ReleasePart(batch, pa.array(["r", "s"]))]
    )
    write_release(coming, tmp_path / name, tmp_path / "owners.parquet")
    read = pq.read_table if name.endswith("parquet") else pa_csv.read_csv
    assert read(tmp_path / name).to_pydict() == {"q": ["x", "y"] * 2, "n": [1, 2] * 2}
    assert pq.read_table(tmp_path / "owners.parquet")[OWNER].to_pylist() == ["p", "o", "r", "s"]


def test_a_name_says_its_format():
    assert format_of(Path("a.b.csv.gz")) == ".csv.gz"
    with pytest.raises(CannotWrite):
        format_of(Path("table.ods"))


@pytest.mark.parametrize("column", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"\xff", b"x"]])
def test_what_csv_cannot_hold_is_named(tmp_path, column):
    part = ReleasePart(pa.record_batch({"odd": column}), None)
    with pytest.raises(CannotWrite, match="'odd'"):
        write_release(iter([part]), tmp_path / "t.csv", tmp_path / "owners.parquet")
    write_release(iter([part]), tmp_path / "t.parquet", tmp_path / "owners.parquet")


@pytest.mark.heavy
def test_any_kind_of_text_is_carried(tmp_path):
    policy = Policy.of({
        "version": 1, "privacy": {"k": 2}, "output": {"path": "out.parquet"},
        "attributes": {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}, "v": {"role": "other"}},
    }, tmp_path)  # fmt: skip
    for kind in (pa.string_view(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        table = pa.table({"q": ["a"] * 8, "v": pa.array(["s", "t", "t", None] * 2).cast(kind)})
        run_policy(policy, table, overwrite=True)
        found = pq.read_table(tmp_path / "out.parquet")["v"].to_pylist()
        assert sorted(found, key=str) == [None] * 2 + ["s"] * 2 + ["t"] * 4


def test_classes_that_are_shown_alike_have_one_number_that_tells_nothing_of_them():
    attributes = {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}}
    privacy = {"k": 2, "nulls": "as_root"}
    policy = Policy.of({"version": 1, "attributes": attributes, "privacy": privacy})
    codec = count_combinations(policy, {"q": ["a", "a", None, None]}).codec
    star, null = 0, len(codec.hierarchies["q"].taxonomy.nodes) - 1
    x = next(i for i, node in enumerate(codec.hierarchies["q"].taxonomy.nodes) if node.label == "x")
    for places, shown_as in (
        ([star, x, null], [0, 1, 0]),
        ([x, null], [1, 0]),
        ([star, x], [0, 1]),
    ):
        published = ReleaseColumns(policy, ["q"], codec, np.array(places, dtype=np.int32)[:, None])
        assert published.shown_as.tolist() == shown_as
        assert published.by_name["q"].to_pylist() == ["*", "x"]


@pytest.mark.parametrize("odd", ["n/k", 2.5, True, 10**30])
def test_a_suppressed_cell_of_a_list_decides_no_type_of_a_released_column(tmp_path, odd):
    tree = {"tree": {"*": ["a", "b"]}}
    policy = {
        "version": 1,
        "attributes": {
            "x": {"role": "quasi", "hierarchy": tree},
            "visits": {"role": "other", "force": True},
        },
        "privacy": {"k": 3, "suppression": 0.25},
        "output": {"path": str(tmp_path / "out.parquet")},
    }
    released = []
    for last in (4, odd):
        rows = {"x": [*"aaaab"], "visits": [1, 2, 3, 5, last]}
        run_policy(policy, rows, overwrite=True)
        released.append(pq.read_table(tmp_path / "out.parquet"))
    assert released[0].num_rows == 4
    assert released[0].schema == released[1].schema


def test_values_of_a_list_that_are_not_rare_stay(tmp_path):
    rare = {"role": "other", "force": True, "transform": {"rare": 3}}
    policy = {
        "version": 1,
        "attributes": {"x": {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}}, "v": rare},
        "privacy": {"k": 3},
        "output": {"path": str(tmp_path / "out.csv")},
    }
    run_policy(policy, {"x": [*"ab"] * 20, "v": [1.0, 2.0] * 20})
    released = pa_csv.read_csv(tmp_path / "out.csv")["v"].to_pylist()
    assert sorted(released) == [1.0] * 20 + [2.0] * 20
