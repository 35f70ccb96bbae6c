"""The same calls on Spark: with one seed, counts, cells and centres are those of one machine."""

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.cluster import PrivateKMeans, PrivateKPrototypes, WaveCluster
from shoal.cluster.kmeans._settings import METHODS
from shoal.data import source_of
from shoal.data._generate import students, students_schema
from shoal.domain import Box, Grid, Schema
from shoal.engine import rows_of
from shoal.engine._rows import Terms
from shoal.engine.local import LocalRows
from shoal.engine.spark._rows import SparkRows
from shoal.privacy import Ledger, PureDP, Unprotected
from shoal.synopsis import AdaptiveGrid, MixedSynopsis, PrivTree, UniformGrid

PLAIN = Unprotected("Exact counts, to compare with.")

rng = np.random.default_rng(5)
PLANE = Box(x=(0, 1), y=(-2, 2))
CENTERS = np.array([[0.2, -1.0], [0.7, 1.2], [0.8, -1.5]])
POINTS = CENTERS[rng.integers(3, size=3_000)] + rng.normal(0, 0.07, (3_000, 2))
TABLE = pa.table({"x": POINTS[:, 0], "name": ["anybody"] * 3_000, "y": POINTS[:, 1]})


@pytest.fixture(scope="module")
def frame_of(spark):
    """A table as a Spark frame, its rows dealt out at random."""

    def make(table, parts, seed=1):
        order = np.random.default_rng(seed).permutation(table.num_rows)
        return spark.createDataFrame(table.take(order)).repartition(parts)

    return make


@pytest.fixture(scope="module")
def frame(frame_of):
    return frame_of(TABLE, 3).persist()


@pytest.mark.parametrize(("parts", "seed"), [(1, 2), (5, 3)])
def test_every_verb_gives_what_it_gives_on_one_machine(frame_of, parts, seed):
    def moments(block):
        steps = np.rint(block.numbers * 2**20).astype(np.int64)
        return steps.sum(axis=0), np.array([[len(block)]])

    here, there = rows_of(TABLE, PLANE), rows_of(frame_of(TABLE, parts, seed), PLANE)
    grid, fine = Grid(PLANE, 7), Grid(PLANE, 2**20)
    np.testing.assert_array_equal(there.count(grid), here.count(grid))
    sparse = [rows.count(fine, sparse=True) for rows in (here, there)]
    np.testing.assert_array_equal(sparse[0].keys, sparse[1].keys)
    np.testing.assert_array_equal(sparse[0].counts, sparse[1].counts)
    for mine, its in zip(here.sum(moments), there.sum(moments), strict=True):
        np.testing.assert_array_equal(mine, its)
    assert there.size() == 3_000


def test_groups_of_numbers_and_categories_are_the_same(frame_of):
    schema = Schema.of(
        {"version": 1, "columns": {"sex": {"values": ["M", "F"]}, "age": {"low": 0, "high": 90}}}
    )
    people = pa.table({"age": rng.integers(0, 100, 400), "sex": rng.choice(["F", "M"], 400)})
    expected = rows_of(people, schema).sizes(["sex", "age"])
    assert rows_of(frame_of(people, 5), schema).sizes(["sex", "age"]) == expected


def test_each_person_keeps_the_same_rows(frame_of):
    people = TABLE.append_column("id", pa.array(rng.integers(0, 450, 3_000)))
    terms, grid = Terms(person="id", max_rows_per_person=3), Grid(PLANE, 30)
    here = LocalRows(source_of(people), PLANE, terms, key="k")
    there = SparkRows(frame_of(people, 3), PLANE, terms, key="k")
    np.testing.assert_array_equal(there.count(grid), here.count(grid))
    assert there.size() == here.size() < 3 * 450 + 1


def fitted(make, X):
    ledger = Ledger()
    model = make(ledger=ledger, random_state=7).fit(X)
    # Of the check of the bounds, and of all else; what promises nothing has no check.
    assert len(ledger.entries()) == 1 + isinstance(model.guarantee_, PureDP)
    return model


@pytest.mark.parametrize("method", METHODS)
def test_private_k_means_finds_the_same_centres_by_every_method(frame, method):
    def make(**extra):
        return PrivateKMeans(3, epsilon=1, domain=PLANE, method=method, **extra)

    here, there = fitted(make, TABLE), fitted(make, frame)
    np.testing.assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    np.testing.assert_array_equal(there.cluster_sizes_, here.cluster_sizes_)
    assert there.guarantee_ == here.guarantee_


def test_many_columns_are_located_and_clustered_the_same(frame_of):
    box = Box.unit(7)
    X = np.clip(0.5 + 0.1 * rng.standard_normal((4_000, 7)), 0, 1)
    table = pa.table({name: X[:, i] for i, name in enumerate(box.names)})

    def make(**extra):
        return PrivateKMeans(3, epsilon=2, domain=box, **extra)

    here, there = fitted(make, table), fitted(make, frame_of(table, 3).persist())
    np.testing.assert_array_equal(there.cluster_centers_, here.cluster_centers_)


@pytest.mark.parametrize("d", [3, 7])
def test_rows_beyond_a_small_view_are_counted_the_same(frame_of, d):
    box = Box.of([f"x{i}" for i in range(d)], [-1.0] * d, [1.0] * d)
    X = 0.4 + 0.01 * rng.standard_normal((4_000, d))
    X[:200] = np.linspace(-0.9, 0.8, d)
    table = pa.table({name: X[:, i] for i, name in enumerate(box.names)})

    def make(**extra):
        return PrivateKMeans(3, epsilon=2, domain=box, **extra)

    here, there = fitted(make, table), fitted(make, frame_of(table, 3).persist())
    np.testing.assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    assert there.n_rows_beyond_view_ == here.n_rows_beyond_view_ > 0


@pytest.mark.parametrize(
    "synopsis", [UniformGrid, AdaptiveGrid, PrivTree], ids=lambda kind: kind.__name__
)
def test_synopses_have_the_same_cells(frame, synopsis):
    here, there = (
        fitted(lambda **extra: synopsis(epsilon=1, domain=PLANE, **extra), X)
        for X in (TABLE, frame)
    )
    assert there.parts()["cells.parquet"].equals(here.parts()["cells.parquet"])


@pytest.mark.parametrize(("rows", "level"), [(4_000, 2), (100, "weak")])
def test_private_k_prototypes_finds_the_same_groups_and_profiles(frame_of, rows, level):
    people = students(rows, seed=3)

    def make(**extra):
        return PrivateKPrototypes(2, epsilon=2, domain=students_schema(), n_init=2, **extra)

    frame = frame_of(people, 3).persist()
    here, there = fitted(make, people), fitted(make, frame)
    assert here.level_ == level
    assert there.prototypes_.equals(here.prototypes_)
    assert there.profiles_.to_arrow().equals(here.profiles_.to_arrow())
    assert there.guarantee_ == here.guarantee_
    assert here.score(frame) == here.score(people)
    labels = here.predict(frame).select("label").toArrow()["label"]
    assert np.bincount(labels).tolist() == np.bincount(here.predict(people)).tolist()


def test_a_mixed_synopsis_has_the_same_tables_for_people_with_several_rows(frame_of):
    people = students(2_000, seed=3)
    people = people.append_column("who", pa.array(np.arange(2_000) // 2))
    content = students_schema().to_dict()
    schema = Schema.of(content | {"person": "who", "max_rows_per_person": 2})
    here, there = (
        fitted(lambda **extra: MixedSynopsis(epsilon=2, domain=schema, **extra), X)
        for X in (people, frame_of(people, 3))
    )
    assert there.to_dict() == here.to_dict()


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")  # few rows, many cells
@pytest.mark.parametrize(
    "settings",
    [{"epsilon": 1}, {"epsilon": 1, "cells": 2**14, "selector": "density"}, {"privacy": PLAIN}],
    ids=["block", "sparse", "plain"],
)
def test_wave_cluster_labels_the_same_cells(frame, settings):
    def make(**extra):
        return WaveCluster(domain=PLANE, **settings, **extra)

    here, there = fitted(make, TABLE), fitted(make, frame)
    np.testing.assert_array_equal(there.cell_labels_, here.cell_labels_)
    np.testing.assert_array_equal(there.noisy_counts_, here.noisy_counts_)


def test_the_holder_gets_the_frame_back_with_labels(frame):
    model = fitted(lambda **extra: PrivateKMeans(3, epsilon=9, domain=PLANE, **extra), TABLE)
    lines = model.predict(frame).toArrow()
    assert lines.column_names == ["x", "name", "y", "label"]
    np.testing.assert_array_equal(lines["label"], model.predict(lines.select(["x", "y"])))
    assert model.score(frame) == pytest.approx(model.score(TABLE))


def test_reports_have_the_law_and_a_seed_repeats_them(frame):
    noise = shoal.NDLaplace(20.0, domain=PLANE, clip=True)

    def reports():
        perturb = shoal.Perturb(noise, random_state=3).fit(frame)
        table = perturb.transform(frame).toArrow()
        assert len(perturb.ledger_.entries()) == 1
        return table

    first, again = reports(), reports()
    assert first.column_names == ["x", "y"]
    assert first.sort_by("x").equals(again.sort_by("x"))
    lines = frame.toArrow()  # kept by Spark in one order, which reports keep too
    rows = PLANE.clip(np.column_stack([lines["x"], lines["y"]]))
    moved = np.hypot(*(np.column_stack([first["x"], first["y"]]) - rows).T)
    # 3,000 Gamma(2, 1/20) distances: 5 deviations are 5 * sqrt(2 / 3000) / 20
    assert moved.mean() == pytest.approx(2 / 20, abs=0.0065)
    assert len(np.unique(moved)) == 3_000
