import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.domain import Box
from shoal.engine import rows_of
from shoal.errors import AlreadyExists, CannotWrite, ConflictingSettings, DuplicateColumn
from shoal.mechanisms import NDLaplace
from shoal.perturb import Streamed
from shoal.randomness import Randomness

BOX = Box(x=(0, 1_000))


@pytest.fixture(scope="module")
def frame(spark):
    """Numbers in order, in four partitions, each row with a name."""
    numbers = spark.range(0, 1_000, 1, 4)
    return numbers.selectExpr("CAST(id AS DOUBLE) AS x", "CAST(id AS STRING) AS `a name.`")


def doubled(frame, names=("twice",), **terms):
    def twice(block):
        return block.numbers * 2

    return rows_of(frame, BOX, **terms).map(twice, names)


def test_batches_come_in_the_order_of_partitions(frame):
    table = pa.Table.from_batches(doubled(frame).batches())
    np.testing.assert_array_equal(table["twice"], 2.0 * np.arange(1_000))


def test_spark_writes_it_where_it_is_told_and_replaces_nothing_unasked(frame, tmp_path):
    path = tmp_path / "twice.parquet"
    assert doubled(frame).write(path) == path
    assert sorted(pq.read_table(path)["twice"].to_pylist()) == [2.0 * i for i in range(1_000)]
    with pytest.raises(AlreadyExists):
        doubled(frame).write(path)
    doubled(frame).write(path, overwrite=True)
    csv = doubled(frame).write(tmp_path / "twice.csv.gz")
    assert list(csv.glob("*.csv.gz"))
    with pytest.raises(CannotWrite, match="does not end like a format"):
        doubled(frame).write(tmp_path / "twice.xls")


def test_columns_are_appended_to_lines_whatever_else_they_hold(frame):
    lines = doubled(frame).like_input().toArrow()
    assert lines.column_names == ["x", "a name.", "twice"]
    np.testing.assert_array_equal(lines["twice"].to_numpy(), 2 * lines["x"].to_numpy())
    with pytest.raises(DuplicateColumn, match="'x'"):
        doubled(frame, ["x"]).like_input()
    limited = doubled(frame, person="a name.", max_rows_per_person=1)
    with pytest.raises(ConflictingSettings):
        limited.like_input()


def test_reports_are_drawn_once_and_kept_before_anybody_sees_them(frame):
    rows = rows_of(frame, BOX)
    reports = Streamed(NDLaplace(1.0, domain=BOX), keep_order=True)
    drawn = reports.release(rows, Randomness().noise).frame()  # real noise: it differs each time
    first, again = drawn.toArrow(), drawn.toArrow()
    assert first.equals(again)
    assert "mapInArrow" not in drawn._jdf.queryExecution().toString()  # nothing to draw again
    other = reports.release(rows, Randomness().noise).frame().toArrow()
    assert np.mean(other["x"].to_numpy() == first["x"].to_numpy()) < 0.01


def test_shuffled_reports_do_not_show_where_rows_stood(frame):
    sharp = NDLaplace(1_000.0, domain=BOX)
    drawn = Streamed(sharp).release(rows_of(frame, BOX), Randomness(7).noise).frame()
    reports = drawn.toArrow()["x"].to_numpy()
    assert drawn.columns == ["x"]
    assert np.allclose(np.sort(reports), np.arange(1_000), atol=0.1)
    assert abs(np.corrcoef(reports, np.arange(1_000))[0, 1]) < 0.16  # 5 / sqrt(1000)
