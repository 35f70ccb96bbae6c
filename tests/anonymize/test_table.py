from collections import Counter

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize import table
from shoal.anonymize.table import QueriedTable, TableWithOwners, _PackedTexts, _TooManyTexts
from shoal.engine.duckdb import OWNER

COUNT = "SELECT c0, count(*) AS n FROM rows GROUP BY ALL ORDER BY c0"
COLUMNS = {'na"me': ["b", "a", "b"], "id": [7, 8, 7]}

cell = st.sampled_from(["a", "b", "", "é", None])


def kinds(tmp_path):
    table = pa.table(COLUMNS)
    pq.write_table(table, tmp_path / "one.parquet")
    (tmp_path / "many").mkdir()
    pq.write_table(table.slice(0, 1), tmp_path / "many" / "1.parquet")
    pq.write_table(table.slice(1), tmp_path / "many" / "2.parquet")
    pd.DataFrame(COLUMNS).to_csv(tmp_path / "t.csv", index=False)
    return {
        "arrow": table,
        "pandas": pd.DataFrame(COLUMNS),
        "categories": pd.DataFrame({**COLUMNS, 'na"me': pd.Categorical(COLUMNS['na"me'])}),
        "polars": pl.DataFrame(COLUMNS),
        "parquet": str(tmp_path / "one.parquet"),
        "folder": str(tmp_path / "many"),
        "csv": str(tmp_path / "t.csv"),
    }


@pytest.mark.heavy
@pytest.mark.parametrize(
    "kind", ["arrow", "pandas", "categories", "polars", "parquet", "folder", "csv"]
)
def test_every_kind_of_table_is_queried_and_read_alike(tmp_path, kind):
    table = QueriedTable(kinds(tmp_path)[kind])
    found = table.query(COUNT, ['na"me'])
    assert found["c0"].to_pylist() == ["a", "b"]
    assert found["n"].to_pylist() == [1, 2]
    rows = [str(x) for b in table.batches(['na"me']) for x in b.column(0).to_pylist()]
    assert rows == ["b", "a", "b"]


@pytest.mark.parametrize("kind", ["arrow", "parquet", "csv"])
def test_people_are_told_apart_by_a_column(tmp_path, kind):
    sql = f"SELECT count(DISTINCT {OWNER}) AS people, count(*) AS n FROM rows"
    found = QueriedTable(kinds(tmp_path)[kind]).query(sql, [], "id")
    assert found.to_pydict() == {"people": [2], "n": [3]}


def test_an_empty_table_has_no_groups():
    empty = pa.table({"x": pa.array([], pa.string())})
    assert (
        len(QueriedTable(empty).query("SELECT c0, count(*) AS n FROM rows GROUP BY ALL", ["x"]))
        == 0
    )


def test_owners_beside_a_table_come_row_by_row(tmp_path):
    owners = pa.table({OWNER: [str(i) for i in range(10)]})
    pq.write_table(owners, tmp_path / "owners.parquet", row_group_size=3)
    rows = pa.Table.from_batches(pa.table({"x": list(range(10))}).to_batches(max_chunksize=4))
    beside = TableWithOwners(rows, tmp_path / "owners.parquet")
    pairs = [
        pair
        for batch in beside.batches(["x"], 4)
        for pair in zip(batch["x"].to_pylist(), batch[OWNER].to_pylist(), strict=True)
    ]
    assert pairs == [(i, str(i)) for i in range(10)]


@pytest.mark.parametrize("name", ["year=2020/rows.parquet", "rows[1].parquet"])
def test_a_files_name_is_never_taken_for_columns_or_a_pattern(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"year": [1, 2, 2]}), path)
    pq.write_table(pa.table({"year": [5]}), tmp_path / "rows1.parquet")
    assert QueriedTable(str(path)).query(COUNT, ["year"]).to_pydict() == {"c0": [1, 2], "n": [1, 2]}


@pytest.mark.heavy
@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(*[cell] * 25), min_size=1, max_size=20), st.integers(1, 7))
def test_words_lead_back_to_the_rows(tmp_path_factory, rows, group):
    file = tmp_path_factory.mktemp("packed") / "t.parquet"
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    names = [f"n{i}" for i in range(25)]
    pq.write_table(pa.table(columns, names), file, row_group_size=group)
    made = _PackedTexts(file, names)
    words = pa.Table.from_batches(list(made.batches()))
    again = zip(*(column.to_pylist() for column in made.unpack(words)), strict=True)
    assert list(again) == rows
    counted = QueriedTable(str(file)).counts(names)
    found = zip(*(counted[f"c{i}"].to_pylist() for i in range(25)), strict=True)
    assert dict(zip(found, counted["n"].to_pylist(), strict=True)) == Counter(rows)


@pytest.mark.heavy
def test_texts_that_come_later_than_there_is_room_for_are_grouped_as_they_are(tmp_path):
    file = tmp_path / "t.parquet"
    texts = ["x"] * 10 + [f"{i}" for i in range(500)] * 2
    pq.write_table(pa.table({"a": texts}), file, row_group_size=10)
    with pytest.raises(_TooManyTexts):
        list(_PackedTexts(file, ["a"]).batches())
    found = QueriedTable(str(file)).sizes(["a"])
    assert found.to_pydict() == {"people": [2, 10], "classes": [500, 1], "rows": [1000, 10]}


def test_other_columns_than_text_are_grouped_as_they_are(tmp_path, monkeypatch):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2, 1], "b": ["u", "v", "u"]}), file)
    with pytest.raises(_TooManyTexts):
        _PackedTexts(file, ["a", "b"])
    assert QueriedTable(str(file)).sizes(["a", "b"])["classes"].to_pylist() == [1, 1]
    monkeypatch.setattr(table, "_MOST_TEXTS", 1)
    with pytest.raises(_TooManyTexts):
        list(_PackedTexts(file, ["b"]).batches())
