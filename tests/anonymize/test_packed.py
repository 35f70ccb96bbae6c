from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize import packed
from shoal.anonymize.packed import Packed, TooManyTexts
from shoal.anonymize.table import Table

cell = st.sampled_from(["a", "b", "", "é", None])


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(*[cell] * 25), min_size=1, max_size=20), st.integers(1, 7))
def test_words_lead_back_to_the_rows(tmp_path_factory, rows, group):
    file = tmp_path_factory.mktemp("packed") / "t.parquet"
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    names = [f"n{i}" for i in range(25)]
    pq.write_table(pa.table(columns, names), file, row_group_size=group)
    made = Packed(file, names)
    words = pa.Table.from_batches(list(made.batches()))
    again = zip(*(column.to_pylist() for column in made.unpack(words)), strict=True)
    assert list(again) == rows
    counted = Table(str(file)).counts(names)
    found = zip(*(counted[f"c{i}"].to_pylist() for i in range(25)), strict=True)
    assert dict(zip(found, counted["n"].to_pylist(), strict=True)) == Counter(rows)


def test_texts_that_come_later_than_there_is_room_for_are_grouped_as_they_are(tmp_path):
    file = tmp_path / "t.parquet"
    texts = ["x"] * 10 + [f"{i}" for i in range(500)] * 2
    pq.write_table(pa.table({"a": texts}), file, row_group_size=10)
    with pytest.raises(TooManyTexts):
        list(Packed(file, ["a"]).batches())
    found = Table(str(file)).sizes(["a"])
    assert found.to_pydict() == {"people": [2, 10], "classes": [500, 1], "rows": [1000, 10]}


def test_other_columns_than_text_are_grouped_as_they_are(tmp_path, monkeypatch):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2, 1], "b": ["u", "v", "u"]}), file)
    with pytest.raises(TooManyTexts):
        Packed(file, ["a", "b"])
    assert Table(str(file)).sizes(["a", "b"])["classes"].to_pylist() == [1, 1]
    monkeypatch.setattr(packed, "_MOST_TEXTS", 1)
    with pytest.raises(TooManyTexts):
        list(Packed(file, ["b"]).batches())
