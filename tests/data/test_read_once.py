import gc
import stat
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import PrivateKMeans
from shoal.data import source_of
from shoal.data._read_once import PlanSource, is_file_scan
from shoal.data.memory import RelationSource
from shoal.domain import Box
from shoal.errors import UnreadableTable

TABLE = pa.table({"x": [0.1, 0.9] * 200, "y": [0.2, 0.8] * 200})


@pytest.fixture
def file(tmp_path):
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    return str(tmp_path / "rows.parquet")


def rows_of_pass(source):
    return pa.Table.from_batches(source.batches(source.names)).to_pylist()


PLANS = {
    "a sample": lambda con, file: con.sql(f"select * from '{file}' using sample 50% (bernoulli)"),
    "a draw": lambda con, file: con.sql(f"select random() as x, y from '{file}'"),
    "a live table": lambda con, file: con.table("live"),
    "an arrow reader": lambda con, file: con.from_arrow(TABLE.to_reader()),
    "a lazy draw": lambda con, file: pl.scan_parquet(file).select(
        pl.col("x").shuffle(), pl.col("y")
    ),
}


@pytest.mark.parametrize("plan", PLANS)
def test_every_pass_over_a_plan_reads_the_same_rows(plan, file):
    con = duckdb.connect()
    con.sql("create table live as select 1.5 as x, 2.5 as y")
    source = source_of(PLANS[plan](con, file))
    assert isinstance(source, PlanSource)
    first = rows_of_pass(source)
    con.sql("insert into live values (7, 7)")
    assert first
    assert rows_of_pass(source) == first


def test_a_plain_scan_of_files_streams(file, tmp_path):
    con = duckdb.connect()
    (tmp_path / "rows.csv").write_text("x,y\n1,2\n")
    for relation in (con.read_parquet(file), con.read_csv(str(tmp_path / "rows.csv"))):
        assert isinstance(source_of(relation), RelationSource)
    assert isinstance(source_of(con.read_parquet(file).filter("x > 0.5")), PlanSource)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM parquet_scan(getenv('FILE'))",
        "SELECT * FROM parquet_scan(['a']) AS \"t\" TABLESAMPLE 5%",
        "SELECT * FROM read_csv('a') , read_csv('b')",
        "SELECT x FROM read_csv('a')",
        'SELECT * FROM "t"',
    ],
)
def test_anything_beside_a_scan_is_no_scan(query):
    assert not is_file_scan(query)


@pytest.mark.heavy
def test_the_stored_rows_are_for_their_owner_and_go_with_the_source(file, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = source_of(pl.scan_parquet(file))
    assert not [*tmp_path.rglob("shoal-scratch*/*/rows.parquet")]
    next(source.batches(["x"]))
    (stored,) = tmp_path.rglob("shoal-scratch*/*/rows.parquet")
    assert stat.S_IMODE(stored.parent.stat().st_mode) == 0o700
    del source
    gc.collect()
    assert not Path(stored).exists()


def test_a_plan_that_fails_does_not_quote_rows(tmp_path):
    (tmp_path / "t.csv").write_text("x\n1\nCANARY\n")
    plan = pl.scan_csv(tmp_path / "t.csv", schema={"x": pl.Int64})
    with pytest.raises(UnreadableTable) as refused:
        rows_of_pass(source_of(plan))
    assert "CANARY" not in str(refused.value)
    assert "plan failed" in str(refused.value)


@pytest.mark.heavy
def test_a_lazy_frame_fits_like_the_frame(file):
    def centers(X):
        model = PrivateKMeans(2, epsilon=1, domain=Box(x=(0, 1), y=(0, 1)), random_state=3)
        return model.fit(X).cluster_centers_.tolist()

    assert centers(pl.scan_parquet(file)) == centers(TABLE)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of ibis, about DuckDB
def test_an_ibis_plan_that_draws_gives_the_same_rows_at_each_pass(file):
    ibis = pytest.importorskip("ibis")
    table = ibis.duckdb.connect().read_parquet(file)
    source = source_of(table.mutate(x=ibis.random()).select("x", "y"))
    first = rows_of_pass(source)
    assert len(first) == TABLE.num_rows
    assert rows_of_pass(source) == first


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of ibis, about DuckDB
def test_a_model_is_fitted_to_an_ibis_table(file):
    ibis = pytest.importorskip("ibis")
    table = ibis.duckdb.connect().read_parquet(file)
    model = PrivateKMeans(2, epsilon=1, domain=Box.of(["x", "y"], [0, 0], [1, 1]), random_state=0)
    assert model.fit(table.select("x", "y")).cluster_centers_.shape == (2, 2)
