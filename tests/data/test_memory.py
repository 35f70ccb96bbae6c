import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.data._source_detection import source_of
from shoal.data.memory import ArraySource, RelationSource
from shoal.errors import UnreadableTable


def test_an_array_is_not_copied_when_it_is_opened():
    array = np.zeros((4, 2))
    source = ArraySource(array)
    array[0, 0] = 7.0
    assert next(source.batches(["x0"])).column(0)[0].as_py() == 7.0


def test_an_arrow_table_is_shared_not_copied():
    table = pa.table({"a": np.arange(1000.0)})
    batch = next(source_of(table).batches(["a"], size=100))
    ours, theirs = batch.column(0).buffers()[1], table["a"].chunk(0).buffers()[1]
    assert ours.address == theirs.address


def test_text_comes_through_from_any_frame():
    for frame in (pd.DataFrame({"s": ["F", None]}), pl.DataFrame({"s": ["F", None]})):
        assert next(source_of(frame).batches(["s"])).column(0).to_pylist() == ["F", None]


def test_names_of_any_kind_in_pandas_become_text():
    source = source_of(pd.DataFrame({0: [1.0], ("a", 1): [2.0]}))
    assert source.names == ("0", "('a', 1)")
    assert next(source.batches(["0"])).to_pydict() == {"0": [1.0]}


def test_a_query_that_fails_is_named_without_its_words():
    con = duckdb.connect()
    con.execute("create table t as select * from (values ('1'), ('secret')) v(a)")
    source = RelationSource(con.sql("select cast(a as int) as a from t"))
    with pytest.raises(UnreadableTable) as caught:
        list(source.batches(["a"]))
    assert "secret" not in str(caught.value)


def test_a_relation_with_odd_names_is_read():
    con = duckdb.connect()
    source = RelationSource(con.sql('select 1 as "a ""b""", 2 as "select"'))
    batch = next(source.batches(["select", 'a "b"']))
    assert batch.to_pydict() == {"select": [2], 'a "b"': [1]}
