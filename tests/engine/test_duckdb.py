from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.domain import Box, Schema
from shoal.engine import rows_of
from shoal.engine.duckdb import plain_names, query_to_file, with_plain_names
from shoal.errors import CannotWrite, NotFinite, UnknownCategory

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "sex": {"values": ["M", "F"]},
            "level": {"values": [1, 2], "other": "bucket"},
            "age": {"low": 0, "high": 110},
        },
    }
)
TABLE = {
    "sex": ["F", "M", "F", "F"],
    "level": [2, 1, 2, 9],
    "age": [30.0, 200.0, 30.0, 150.0],
}

BATCH = pa.record_batch({"c0": [3, 1, 2]})


def test_groups_carry_labels_in_the_order_of_the_public_list():
    sizes = rows_of(TABLE, SCHEMA).sizes(["sex", "level"])
    assert sizes.to_pydict() == {
        "sex": ["M", "F", "F"],
        "level": ["1", "2", "<other>"],
        "n": [1, 2, 1],
    }


def test_numbers_are_grouped_after_they_were_moved_to_the_box():
    sizes = rows_of(TABLE, SCHEMA).sizes(["age"])
    assert sizes.to_pydict() == {"age": [30.0, 110.0], "n": [2, 2]}


def test_zero_with_either_sign_is_one_group():
    sizes = rows_of(np.array([[0.0], [-0.0]]), Box.unit(1)).sizes(["x0"])
    assert sizes.to_pydict() == {"x0": [0.0], "n": [2]}


def test_no_rows_have_no_groups():
    sizes = rows_of(np.empty((0, 2)), Box.unit(2)).sizes(["x1"])
    assert sizes.column_names == ["x1", "n"]
    assert sizes.num_rows == 0


def test_a_dropped_row_is_in_no_group():
    rows = rows_of({"age": [1.0, None, 1.0]}, Box(age=(0, 110)), nonfinite="drop")
    assert rows.sizes(["age"])["n"].to_pylist() == [2]


@pytest.mark.heavy
def test_refused_rows_come_out_of_the_query_as_named_errors():
    with pytest.raises(NotFinite, match="1 of 3"):
        rows_of({"age": [1.0, None, 1.0]}, Box(age=(0, 110))).sizes(["age"])
    with pytest.raises(UnknownCategory):
        rows_of(TABLE | {"sex": ["F", "x", "F", "F"]}, SCHEMA).sizes(["age"])


def test_columns_may_have_any_name():
    box = Box(**{'an "odd" name; --': (0, 1), "n'": (0, 1)})
    sizes = rows_of(np.array([[0.5, 0.5]]), box).sizes(list(box.names))
    assert sizes.column_names == [*box.names, "n"]


def test_columns_get_plain_names_and_categories_are_written_out():
    batch = pa.record_batch(
        {"age": [1, 2], "sex": pa.array(["F", "M"]).dictionary_encode(), "id": ["7.0", "NA"]}
    )
    named = with_plain_names(batch, ["sex", "age"], "id")
    assert named.to_pydict() == {"c0": ["F", "M"], "c1": [1, 2], "owner": ["7", None]}
    assert named.schema.field("c0").type == pa.string()


def test_there_is_an_owner_only_where_one_is_asked_for():
    assert plain_names(["a"], None) == ["c0"]


def test_a_stream_of_batches_is_queried_into_a_file(tmp_path):
    path = tmp_path / "it's sorted.parquet"
    query_to_file("FROM rows ORDER BY c0", BATCH.schema, iter([BATCH, BATCH]), path)
    assert pq.read_table(path)["c0"].to_pylist() == [1, 1, 2, 2, 3, 3]


def test_no_batch_at_all_gives_an_empty_file(tmp_path):
    query_to_file("FROM rows", BATCH.schema, [], tmp_path / "none.parquet")
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0


def test_an_error_of_the_stream_comes_out_as_itself(tmp_path):
    def stream():
        yield BATCH
        raise NotFinite("1 of 3 rows.", "Remove it.")

    with pytest.raises(NotFinite, match="1 of 3 rows"):
        query_to_file("FROM rows", BATCH.schema, stream(), tmp_path / "out.parquet")


def test_an_error_of_the_query_names_no_value(tmp_path):
    text = pa.record_batch({"c0": ["secret"]})
    with pytest.raises(CannotWrite) as caught:
        query_to_file("SELECT c0::INT FROM rows", text.schema, [text], tmp_path / "out.parquet")
    assert "secret" not in str(caught.value)


def test_spilled_pages_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    target = tmp_path / "kept"
    target.mkdir()
    query_to_file("FROM rows", BATCH.schema, [BATCH], target / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_stop_in_the_stream_comes_out_as_it_is(tmp_path, stop):
    batch = pa.record_batch({"c0": [1]})

    def stopped():
        yield batch
        raise stop

    with pytest.raises(stop):
        query_to_file("FROM rows ORDER BY c0", batch.schema, stopped(), tmp_path / "x.parquet")


def test_a_stop_while_duckdb_works_is_a_stop(tmp_path, monkeypatch):
    class Interrupted:
        def register(self, *args):
            pass

        def execute(self, *args):
            raise RuntimeError("Query interrupted")

    monkeypatch.setattr(
        "shoal.engine.duckdb._spilling_connection", lambda _: nullcontext(Interrupted())
    )
    batch = pa.record_batch({"c0": [1]})
    with pytest.raises(KeyboardInterrupt):
        query_to_file("FROM rows", batch.schema, [batch], tmp_path / "x.parquet")
