from contextlib import nullcontext

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engine.spill import query_to_file
from shoal.errors import CannotWrite, NotFinite

BATCH = pa.record_batch({"c0": [3, 1, 2]})


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

    monkeypatch.setattr("shoal.engine.spill._spilling", lambda: nullcontext(Interrupted()))
    batch = pa.record_batch({"c0": [1]})
    with pytest.raises(KeyboardInterrupt):
        query_to_file("FROM rows", batch.schema, [batch], tmp_path / "x.parquet")
