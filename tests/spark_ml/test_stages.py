import json

import numpy as np
import pyarrow as pa
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import SQLTransformer, VectorAssembler

import shoal
from shoal import spark_ml
from shoal.data._generate import students, students_schema
from shoal.domain import Box
from shoal.errors import (
    AlreadyExists,
    DuplicateColumn,
    InvalidBudget,
    InvalidSetting,
    NewPeopleNotStated,
    UnknownBounds,
    UnreadableModel,
)
from shoal.privacy import Ledger

BOX = Box(x=(0, 1), y=(0, 1))
GROUP = np.arange(900) % 3
POINTS = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.9]])[GROUP]
POINTS = POINTS + np.random.default_rng(3).normal(0, 0.03, POINTS.shape)
AGES = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "interval", "width": 10}}


@pytest.fixture(scope="module")
def frame(spark):
    rows = {"x": POINTS[:, 0], "y": POINTS[:, 1], "label": GROUP}
    return spark.createDataFrame(pa.table(rows)).repartition(3).persist()


def groups(**settings):
    known = {"n_clusters": 3, "epsilon": "2", "domain": BOX, "random_state": 7}
    return spark_ml.PrivateKMeans(**known | settings)


def test_a_fit_is_the_embedded_one_and_is_paid_once(frame, tmp_path):
    model = groups(ledger=str(tmp_path / "rows.ledger")).fit(frame)
    plain = shoal.PrivateKMeans(3, epsilon=2, domain=BOX, random_state=7).fit(POINTS)
    centers = [np.sort(m.cluster_centers_, axis=0) for m in (model.fitted, plain)]
    np.testing.assert_array_equal(*centers)
    model.transform(frame).count()
    assert Ledger(tmp_path / "rows.ledger").entries().num_rows == 2


def test_labels_come_in_a_column_marked_as_the_holders(frame):
    stage = groups(predictionCol="group")
    labelled = stage.fit(frame).transform(frame)
    assert labelled.columns == ["x", "y", "label", "group"]
    assert labelled.schema["group"].metadata["shoal"]["publishable"] is False
    assert labelled.select("label", "group").distinct().count() == 3
    with pytest.raises(DuplicateColumn, match="'label'"):
        groups(predictionCol="label").fit(frame).transform(frame)


def test_params_are_the_embedded_settings(frame):
    stage = groups()
    names = {param.name for param in stage.params}
    assert names == {*shoal.PrivateKMeans(2, epsilon=1, domain=BOX).get_params(), "predictionCol"}
    assert "shoal.PrivateKMeans" in stage.explainParam("epsilon")
    assert stage.getOrDefault("method") == "auto"
    two = stage.fit(frame, {stage.n_clusters: 2})
    assert two.fitted.n_clusters_ == 2
    with pytest.raises(InvalidSetting, match="'k'"):
        spark_ml.PrivateKMeans(k=3)
    with pytest.raises(InvalidBudget):
        spark_ml.PrivateKMeans(domain=BOX).fit(frame)
    with pytest.raises(UnknownBounds):
        spark_ml.PrivateKMeans(epsilon=1).fit(frame)


def test_a_pipeline_is_fitted_saved_and_loaded(frame, tmp_path):
    keep = SQLTransformer(statement="SELECT * FROM __THIS__ WHERE label < 2")
    both = VectorAssembler(inputCols=["x", "y"], outputCol="features")
    stages = [keep, both, groups(n_clusters=2), spark_ml.WaveCluster(
        epsilon=2, domain=BOX, cells=16, random_state=7, predictionCol="shape")]  # fmt: skip
    pipeline, place = Pipeline(stages=stages), tmp_path.as_uri()
    pipeline.save(f"{place}/unfitted")
    model = Pipeline.load(f"{place}/unfitted").fit(frame)
    model.save(f"{place}/fitted")
    again = PipelineModel.load(f"{place}/fitted")
    before, after = (
        m.transform(frame).sort("x").drop("features").toArrow() for m in (model, again)
    )
    assert before.equals(after)
    assert before.num_rows == 600
    assert again.stages[2].uid == model.stages[2].uid
    assert again.stages[3].fitted.guarantee_ == model.stages[3].fitted.guarantee_


def test_groups_of_a_mixed_table_are_a_stage_too(spark, tmp_path):
    people = students(1_500, seed=3)
    rows = spark.createDataFrame(people).repartition(3).persist()
    known = {"epsilon": "2", "domain": students_schema(), "random_state": 7, "n_init": 2}
    stage = spark_ml.PrivateKPrototypes(n_clusters=2, predictionCol="group", **known)
    stage.save(f"{tmp_path.as_uri()}/stage")
    model = spark_ml.PrivateKPrototypes.load(f"{tmp_path.as_uri()}/stage").fit(rows)
    plain = shoal.cluster.PrivateKPrototypes(2, **known).fit(people)
    assert model.fitted.prototypes_.equals(plain.prototypes_)
    model.save(f"{tmp_path.as_uri()}/model")
    again = spark_ml.PrivateKPrototypesModel.load(f"{tmp_path.as_uri()}/model")
    labelled = again.transform(rows)
    assert labelled.schema["group"].metadata["shoal"]["publishable"] is False
    counts = {line["group"]: line["count"] for line in labelled.groupBy("group").count().collect()}
    assert counts == dict(enumerate(np.bincount(plain.predict(people)).tolist()))


def test_what_is_kept_is_text_and_parquet(frame, tmp_path):
    model = groups().fit(frame)
    model.save(str(tmp_path / "model"))
    kept = {file.name for file in (tmp_path / "model" / "shoal").iterdir() if file.suffix != ".crc"}
    assert kept == {"model.json", "centers.csv", "cells.parquet", "synopsis.json"}
    loaded = shoal.load_model(tmp_path / "model" / "shoal")
    np.testing.assert_array_equal(loaded.cluster_centers_, model.fitted.cluster_centers_)
    with pytest.raises(AlreadyExists):
        model.save(str(tmp_path / "model"))
    model.write().overwrite().save(str(tmp_path / "model"))
    with pytest.raises(UnreadableModel, match="holds no"):
        spark_ml.WaveClusterModel.load(str(tmp_path / "model"))
    with pytest.raises(UnreadableModel, match="holds no stage"):
        spark_ml.PrivateKMeansModel.load(str(tmp_path / "nowhere"))
    assert {file.name for file in tmp_path.iterdir()} == {"model"}


def test_a_table_is_specialised_and_later_rows_keep_the_cut(spark, tmp_path):
    rows = spark.createDataFrame(pa.table({"age": [21, 22, 23, 64, 65, 66] * 20}))
    stage = spark_ml.TopDownSpecialization(k=3, hierarchies={"age": AGES})
    stage.save(f"{tmp_path.as_uri()}/stage")
    model = spark_ml.TopDownSpecialization.load(f"{tmp_path.as_uri()}/stage").fit(rows)
    model.save(f"{tmp_path.as_uri()}/model")
    again = spark_ml.TopDownSpecializationModel.load(f"{tmp_path.as_uri()}/model")
    assert again.fitted.cut_ == model.fitted.cut_
    assert again.fitted.metrics_ == model.fitted.metrics_
    later = spark.createDataFrame(pa.table({"age": [20] * 5 + [69] * 4}))
    with pytest.raises(NewPeopleNotStated):
        again.transform(later)
    again.new_people = True
    released = again.transform(later).groupBy("age").count().toArrow().to_pydict()
    assert dict(zip(*released.values(), strict=True)) == {"[20, 30)": 5, "[60, 70)": 4}


def test_reports_say_what_was_promised_and_every_transform_is_paid(frame, tmp_path):
    noise, ledger = shoal.NDLaplace("20", domain=BOX, clip=True), tmp_path / "rows.ledger"
    stage = spark_ml.Perturb(
        mechanism=noise, remap=shoal.mechanisms.clamp(BOX), ledger=str(ledger), random_state=7
    )
    stage.save(f"{tmp_path.as_uri()}/stage")
    again = spark_ml.Perturb.load(f"{tmp_path.as_uri()}/stage")
    reports = again.transform(frame)
    assert reports.columns == ["x", "y"]
    said = reports.schema["x"].metadata["shoal"]["guarantee"]
    assert (said["kind"], said["epsilon"]) == ("MetricDP", "20")
    assert json.dumps(said)
    assert reports.count() == 900
    again.transform(frame)
    assert Ledger(ledger).entries().num_rows == 2


@pytest.mark.parametrize(
    ("setting", "value"),
    [("ledger", Ledger()), ("random_state", np.random.default_rng(1))],
    ids=["ledger", "random_state"],
)
def test_what_could_not_come_back_is_not_kept(spark, tmp_path, setting, value):
    with pytest.raises(InvalidSetting):
        groups(**{setting: value}).save(f"{tmp_path.as_uri()}/stage")
    assert not list(tmp_path.iterdir())
