import sys

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.bounds_check import MovedSides
from shoal.cluster import PrivateKMeans
from shoal.domain import Box, Grid, Schema
from shoal.engine import Rows, rows_of
from shoal.engine._engine_choice import is_spark_frame
from shoal.engine._people import LimitedRows
from shoal.engine.spark._rows import SparkRows
from shoal.engine.spark._session import read_table
from shoal.errors import (
    ClusterFailed,
    ConflictingSettings,
    DuplicateColumn,
    InvalidSetting,
    NotFinite,
    NotInstalled,
    NotNumeric,
    OutsideDomain,
    PersonMissing,
    SettingPart,
    UnknownCategory,
    UnknownColumn,
)
from shoal.privacy import Ledger

BOX = Box(age=(0, 110), visits=(0, 9))
TABLE = {
    "age": [31.0, 47.0, None, 200.0],
    "visits": [1, 2, 3, 4],
    "id": ["a", "b", "NA", "a"],
}


@pytest.fixture(scope="module")
def frame(spark):
    return spark.createDataFrame(pa.table(TABLE)).repartition(3).persist()


def test_it_is_rows_and_knows_a_frame_without_importing_spark(frame):
    assert is_spark_frame(frame)
    assert isinstance(rows_of(frame, BOX), Rows)


def test_odd_rows_are_left_out_or_moved_as_on_one_machine(frame):
    watched = []
    rows = rows_of(frame, BOX, nonfinite="drop")
    rows.on_progress(watched.append)
    assert rows.count(Grid(BOX, [2, 1])).tolist() == [2, 1]
    assert rows.size() == 3
    assert watched == [4]  # the size was known by then


def test_what_the_first_pass_met_is_counted_as_on_one_machine(spark):
    ages = {"age": [31.0, None, 200.0, -5.0, 40.0], "who": ["a", "a", "b", "b", "b"]}
    terms = {"nonfinite": "drop", "person": "who", "max_rows_per_person": 1}
    frame = spark.createDataFrame(list(zip(*ages.values(), strict=True)), "age double, who string")
    here, there = (rows_of(X, Box(age=(0, 110)), **terms) for X in (ages, frame))
    assert here.size() == there.size() == 2
    assert here.tally == there.tally


def test_moved_rows_are_told_of_as_on_one_machine(spark):
    rng = np.random.default_rng(4)
    ages = {"age": rng.uniform(-50, 150, 200).tolist(), "who": [str(i % 30) for i in range(200)]}
    frame = spark.createDataFrame(list(zip(*ages.values(), strict=True)), "age double, who string")
    domain = Box(age=(0, 110))
    here, there = (rows_of(X, domain) for X in (ages, frame))
    assert here.moved() == there.moved()
    (sides,), (others,) = (rows.sum(MovedSides(1)) for rows in (here, there))
    assert sides.tolist() == others.tolist()
    # Which rows of a person stay is drawn by each engine in its own way.
    people = {"person": "who", "max_rows_per_person": 2}
    for rows in (here, there, *(rows_of(X, domain, **people) for X in (ages, frame))):
        (sides,) = rows.sum(MovedSides(1))
        assert 0 < sides.sum() == rows.moved() < rows.size()


def test_refused_rows_are_counted_before_any_budget_is_spent(frame):
    ledger = Ledger()
    people = Schema.of_box(BOX, person="id", max_rows_per_person=1)
    model = PrivateKMeans(2, epsilon=1, domain=BOX, ledger=ledger, random_state=7)
    with pytest.raises(NotFinite, match=r"1 of 4 rows .*'age'"):
        model.fit(frame)
    with pytest.raises(OutsideDomain, match=r"1 of 4 rows .*'age'"):
        model.fit(rows_of(frame, BOX, nonfinite="drop", outside="refuse"))
    with pytest.raises(PersonMissing, match="1 of 4 rows"):
        model.set_params(nonfinite="drop", domain=people).fit(frame)
    assert ledger.totals() == []


def test_words_of_a_task_come_out_as_shoals_own_error(spark, tmp_path):
    (tmp_path / "t.csv").write_text("age,visits\n31,1\noften,2\n")
    text = read_table(spark, f"file://{tmp_path}/t.csv")
    with pytest.raises(NotNumeric, match=r"'age' .* not numbers") as caught:
        rows_of(text, BOX).size()
    assert "often" not in str(caught.value)
    schema = Schema.of({"version": 1, "columns": {"sex": {"values": ["F", "M"]}}})
    with pytest.raises(UnknownCategory, match="'sex'") as caught:
        rows_of(spark.createDataFrame(pa.table({"sex": ["F", "x"]})), schema).size()
    assert caught.value.texts[1].settings == [SettingPart("other", "bucket")]


def test_what_names_and_kinds_tell_wrong_needs_no_job(spark):
    text = spark.sql("SELECT '31' AS age, 1 AS visits")
    with pytest.raises(NotNumeric, match="by its path"):
        rows_of(text, BOX)
    dates = spark.sql("SELECT current_date() AS age, 1 AS visits, 0.5 AS id")
    with pytest.raises(NotNumeric, match="date"):
        rows_of(dates, BOX)
    with pytest.raises(UnknownColumn, match="'visits'"):
        rows_of(spark.sql("SELECT 1 AS age, 2 AS visit"), BOX)
    with pytest.raises(DuplicateColumn):
        rows_of(spark.sql("SELECT 1 AS age, 2 AS visits, 3 AS age"), BOX)
    owners = {"person": "id", "max_rows_per_person": 1}
    with pytest.raises(InvalidSetting, match="tell people apart"):
        rows_of(spark.sql("SELECT 1 AS age, 2 AS visits, 0.5D AS id"), BOX, **owners)


def test_a_column_of_nothing_but_nulls_is_refused_by_name(spark):
    nulls = spark.sql("SELECT NULL AS age, 1 AS visits")
    with pytest.raises(NotFinite, match=r"1 of 1 rows .*'age'"):
        rows_of(nulls, BOX).size()


FAULTY = {
    "a column short": ("SELECT 1 AS age, 2 AS visit", UnknownColumn),
    "a date": ("SELECT current_date() AS age, 1 AS visits", NotNumeric),
    "text": ("SELECT 'often' AS age, 1 AS visits", NotNumeric),
    "a null": ("SELECT CAST(NULL AS DOUBLE) AS age, 1 AS visits", NotFinite),
    "one name twice": ("SELECT 1 AS age, 2 AS visits, 3 AS age", DuplicateColumn),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_frame_is_refused_before_any_budget_is_spent(spark, fault):
    ledger, (sql, error) = Ledger(), FAULTY[fault]
    model = PrivateKMeans(2, epsilon=1, domain=BOX, ledger=ledger, random_state=7)
    with pytest.raises(error):
        model.fit(spark.sql(sql))
    assert ledger.totals() == []


def test_a_worker_without_pyarrow_is_named_before_any_budget_is_spent(spark, tmp_path, monkeypatch):
    (tmp_path / "pyarrow.py").write_text("raise ModuleNotFoundError(\"No module named 'pyarrow'\")")
    program = tmp_path / "python"
    path = f"{tmp_path}:$PYTHONPATH"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec {sys.executable} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(program))
    ledger = Ledger()
    model = PrivateKMeans(2, epsilon=1, domain=BOX, ledger=ledger, random_state=7)
    with pytest.raises(
        NotInstalled,
        match="no Python package 'pyarrow'",
        check=lambda error: error.reason == "worker",
    ):
        model.fit(spark.sql("SELECT 31 AS age, 1 AS visits"))
    assert ledger.totals() == []


def test_a_pass_that_fails_leaves_no_size_of_rows_that_do_not_stay(spark, monkeypatch):
    whole = SparkRows._pass

    def failing(self, frame, screen_batch, work):
        if isinstance(screen_batch, LimitedRows):
            raise ClusterFailed("The cluster is gone.", "Try again.")
        return whole(self, frame, screen_batch, work)

    frame = spark.sql("SELECT id AS age, 1 AS visits, 'ada' AS id FROM range(5)")
    rows = rows_of(frame, BOX, person="id", max_rows_per_person=2)
    with monkeypatch.context() as broken:
        broken.setattr(SparkRows, "_pass", failing)
        with pytest.raises(ClusterFailed):
            rows.size()
    assert rows.size() == 2


def test_a_kernel_that_breaks_is_told_without_its_words(frame):
    def choke(block):
        if len(block):
            raise ValueError("Ada is 31")
        return (np.zeros(1, dtype=np.int64),)

    with pytest.raises(ClusterFailed) as caught:
        rows_of(frame, BOX, nonfinite="drop").sum(choke)
    assert "Ada" not in str(caught.value)


def test_a_sample_is_of_rows_each_once_and_a_seed_repeats_it(spark):
    numbers = spark.range(500).selectExpr("CAST(id AS DOUBLE) AS x").repartition(4).persist()
    rows = rows_of(numbers, Box(x=(0, 500)))
    first, again = (rows.take(50, np.random.default_rng(3))[:, 0] for _ in range(2))
    assert len(set(first.tolist())) == 50
    assert set(first) <= set(range(500))
    np.testing.assert_array_equal(first, again)
    assert rows.take(0, np.random.default_rng(3)).shape == (0, 1)
    with pytest.raises(InvalidSetting):
        rows.take(-1, np.random.default_rng(3))


def test_what_perturb_cannot_do_on_spark_is_refused_by_name(frame):
    noise = shoal.NDLaplace(1.0, domain=BOX)
    with pytest.raises(ConflictingSettings, match="one machine remembers"):
        shoal.Perturb(noise, person="id", random_state=7).fit(frame)
    perturb = shoal.Perturb(noise, random_state=7).fit(frame)
    with pytest.raises(NotFinite, match="1 of 4"):
        perturb.transform(frame)
    assert perturb.ledger_.totals() == []
