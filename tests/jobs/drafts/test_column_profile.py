import duckdb
import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize.table import QueriedTable, table_of
from shoal.jobs.drafts._column_profile import COMMON, LISTED, _Notes, profile_columns


def look(values):
    (found,) = profile_columns(QueriedTable({"x": values}))
    return found


@pytest.mark.heavy
def test_cells_are_counted_by_what_they_look_like():
    seen = look(["1", " 2.5", "nan", "", None, "2024-01-02", "a b c d e f", "2024"])
    assert (seen.rows, seen.known, seen.different) == (8, 6, 6)
    assert (seen.numbers, seen.whole, seen.days, seen.sentence_rows) == (
        4,
        3,
        1,
        1,
    )  # NaN is its own floor


@pytest.mark.heavy
def test_dates_are_told_by_which_part_can_be_the_month():
    seen = look(["05/03/2001", "31.12.1999", "12/31/1999 10:00", "2001-03-05", "45/45/2001"])
    assert (seen.days, seen.days_first, seen.months_first) == (1, 2, 2)


@pytest.mark.heavy
def test_only_values_that_many_share_are_told_and_not_all_of_those():
    assert look(["rare"] * (COMMON - 1) + ["often"] * COMMON).common == ("often",)
    assert len(look([f"{i:02}" for i in range(60)] * COMMON).common) == LISTED + 1


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0.0], 0, 0),
        ([3.0, 40.0, 999.0], 5, 1_000),
        ([1.0, 2.0, 5.0, 10.0], 1, 10),
        ([-0.3, 0.2], -0.5, 0.2),
        ([-7_000.0, -1.0], -10_000, -1),
        ([float("inf"), 1.0, float("nan")], 1, 1),
        ([1e300, 1e-300], 1e-300, 1e300),
    ],
)
def test_ranges_are_rounded_away_from_zero(values, low, high):
    seen = look(values)
    assert (seen.low, seen.high) == pytest.approx((low, high))


@pytest.mark.heavy
def test_rounded_quantiles_are_quantiles_rounded():
    rng = np.random.default_rng(1)
    values = rng.normal(0, 50, 2_000)
    seen = look(values)
    low, high = np.quantile(values, [0.02, 0.98])
    assert (seen.low, seen.high) == (-200, 200)
    assert -200 < low < -100 < 100 < high < 200


@pytest.mark.heavy
def test_of_an_empty_table_nothing_is_seen():
    seen = look(pa.array([], pa.string()))
    assert (seen.rows, seen.known, seen.length, seen.low, seen.common) == (0, 0, 0, 0.0, ())


@pytest.mark.heavy
def test_low_and_high_are_further_from_0_than_the_numbers():
    assert (look([3.0]).low, look([3.0]).high) == (5, 5)
    assert (look([-3.0]).low, look([-3.0]).high) == (-5, -5)


def test_a_look_on_a_worker_leaves_nothing_on_its_disk(monkeypatch):
    seen = []
    connect = duckdb.connect

    def watched(*args, **settings):
        con = connect(*args, **settings)
        seen.append(con.sql("SELECT current_setting('temp_directory')").fetchall()[0][0])
        return con

    monkeypatch.setattr("duckdb.connect", watched)
    batch = pa.record_batch({"x": ["a", "b", "a"]})
    (noted,) = _Notes(("x",))([batch])
    assert noted.num_rows == 2
    assert seen == [""]


@pytest.mark.heavy
def test_a_look_on_spark_is_the_look_here(spark):
    rng = np.random.default_rng(2)
    kinds = {
        "a.b": rng.integers(-30, 9, 900),
        "x": [None if i % 7 == 0 else i / 3 for i in range(900)],
        "word": [f"w{i % 61} and so on it goes" for i in range(900)],
        "truth": [i % 3 == 0 for i in range(900)],
        "listed": [[i % 2, 1] for i in range(900)],
        "none": pa.nulls(900, pa.string()),
    }
    table = pa.table(kinds)
    assert profile_columns(
        table_of(spark.createDataFrame(table).repartition(3))
    ) == profile_columns(QueriedTable(table))
    assert profile_columns(table_of(spark.createDataFrame(table).limit(0)))[0].rows == 0
