"""Records in a Spark frame: labels and distances are those of one machine, odd records too."""

import math

import numpy as np
import pyarrow as pa
import pytest

from shoal.cluster.local import LocalClusterer
from shoal.cluster.local._distributed_frames import CenterDistances, NearestCenter
from shoal.domain import Box
from shoal.engine._rows import Block
from shoal.errors import (
    ConflictingSettings,
    DimensionMismatch,
    DuplicateColumn,
    NotFinite,
    NotNumeric,
    UnknownColumn,
)
from shoal.mechanisms import NDLaplace
from shoal.perturb import Perturb
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(0, 20))
CENTERS = np.array([[2.0, 4.0], [8.0, 6.0], [5.0, 16.0]])


def learnt(bounds):
    noise = NDLaplace(3.0, domain=bounds)
    reports = noise.release(np.repeat(CENTERS, 300, axis=0), Randomness(7).noise)
    return LocalClusterer(3, mechanism=noise, method="plain", random_state=7).fit(reports)


@pytest.fixture(scope="module")
def model():
    return learnt(BOX)


def records(n=500):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-5, 15, n), rng.uniform(-5, 30, n)
    x[:3], y[3:5] = [math.nan, math.inf, -math.inf], math.nan
    return pa.table({"y": y, "who": np.arange(n), "x": x, "tags": [["a"]] * n})


def test_kernels_label_and_measure_blocks(model):
    points = np.array([[1.0, 2.0], [9.0, 9.0]])
    block = Block(points, np.empty((2, 0), dtype=np.int32))
    (labels,) = NearestCenter(model.cluster_centers_, model.units_)(block)
    assert labels.tolist() == model.predict(points).tolist()
    away = np.column_stack(CenterDistances(model.cluster_centers_, model.units_)(block))
    assert away.argmin(axis=1).tolist() == labels.tolist()


@pytest.mark.heavy
def test_records_on_spark_are_labelled_and_measured_as_here(spark, model):
    table = records()
    frame = spark.createDataFrame(table).repartition(3)
    labelled, measured = (
        each.toArrow().sort_by("who") for each in (model.predict(frame), model.transform(frame))
    )
    assert labelled.column_names == ["y", "who", "x", "tags", "label"]
    assert labelled["label"].to_pylist() == model.predict(table).tolist()
    away = np.column_stack([measured[f"distance{i}"] for i in range(3)])
    np.testing.assert_allclose(away, model.transform(table), rtol=1e-12)


@pytest.mark.heavy
def test_what_is_missing_goes_to_the_middle_of_the_box_and_text_is_refused(spark, model):
    frame = spark.createDataFrame([(1.0, None), (None, 3.0)], "x double, y double")
    label = [row.label for row in model.predict(frame).collect()]
    assert label == model.predict([[1, math.nan], [math.nan, 3]]).tolist()
    frame = spark.createDataFrame([("1", "secret")], "x string, y string")
    with pytest.raises(NotNumeric) as error:
        model.predict(frame)
    assert "secret" not in str(error.value)


@pytest.mark.heavy
def test_without_a_box_all_columns_are_the_record(spark):
    model = learnt(None)
    frame = spark.createDataFrame(pa.table({"a": CENTERS[:, 0], "b": CENTERS[:, 1]}))
    found = {(row.a, row.b): row.label for row in model.predict(frame).collect()}
    assert [found[tuple(center)] for center in CENTERS] == model.predict(CENTERS).tolist()
    with pytest.raises(DimensionMismatch, match="has 1 column; the model has 2"):
        model.predict(frame.select("a"))
    with pytest.raises(NotFinite):
        model.predict(spark.createDataFrame([(1.0, math.nan)], "a double, b double"))


@pytest.mark.heavy
def test_frames_that_cannot_be_labelled_are_refused(spark, model):
    frame = spark.createDataFrame([(1.0, 2.0, 0)], "x double, y double, label int")
    with pytest.raises(DuplicateColumn, match="'label'"):
        model.predict(frame)
    with pytest.raises(UnknownColumn, match="'y'"):
        model.predict(frame.select("x", "label"))
    with pytest.raises(NotNumeric):
        model.predict(frame.selectExpr("x", "current_date() AS y"))


@pytest.mark.heavy
def test_labels_of_a_frame_are_answered_by_way_of_perturb(spark, model):
    frame = spark.createDataFrame(records())
    with pytest.raises(ConflictingSettings, match="Perturb"):
        model.answer(frame, 2.0)
    mechanism = model.label_mechanism(9.0)
    labels = model.predict(frame).select("label")
    answers = Perturb(mechanism, random_state=7).fit_transform(labels).toArrow()
    told = np.bincount(np.asarray(answers["label"], dtype=int), minlength=3)
    true = np.bincount(model.predict(records()), minlength=3)
    assert (abs(told - true) <= 5).all()  # at epsilon 9 one answer in 4,000 is another
