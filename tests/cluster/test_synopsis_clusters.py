"""Clusterers of scikit-learn on released cells, with weights that count as rows."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, OPTICS, AffinityPropagation, KMeans

from shoal.cluster import cluster_synopsis
from shoal.domain import Box, Schema
from shoal.errors import InvalidSetting
from shoal.synopsis import AdaptiveGrid, MixedSynopsis, UniformGrid
from shoal.synopsis.cells import Cells

BOX = Box(x=(0, 10), y=(0, 10))


def cells_at(centers, weights, box=BOX):
    """A fitted synopsis whose cells are as a test wants them."""
    grid = UniformGrid(epsilon=1, domain=box, cells=2, random_state=0).fit(np.zeros((4, box.d)))
    at, heavy = np.asarray(centers, float), np.asarray(weights, float)
    keys = np.arange(len(at))
    grid.cells_ = Cells(keys, at - 0.1, at + 0.1, heavy.astype(np.int64), heavy)
    return grid


LINE = [[1, 1], [1.5, 1], [2, 1], [7, 7], [7.5, 7], [9, 2]]
HEAVY = [3, 1, 2, 4, 1, 2]


@pytest.mark.parametrize("min_samples", [2, 3, 4, 5, 6, 7])
def test_a_cell_of_weight_three_is_three_rows_to_dbscan(min_samples):
    rows, method = np.repeat(LINE, HEAVY, axis=0), DBSCAN(eps=0.6, min_samples=min_samples)
    groups = cluster_synopsis(cells_at(LINE, HEAVY), method)
    of_rows = method.fit_predict(rows)
    np.testing.assert_array_equal(np.repeat(groups.labels, HEAVY), of_rows)
    np.testing.assert_array_equal(groups.predict(rows), of_rows)


def net_similarity(rows, exemplars, preference):
    """What affinity propagation maximises: each row's similarity to its exemplar, and the cost."""
    apart = np.square(rows[:, None] - np.asarray(exemplars)).sum(axis=2).min(axis=1)
    return -apart.sum() + preference * len(exemplars)


@pytest.mark.heavy
@pytest.mark.parametrize(("preference", "expected"), [(-20.0, 4), (-60.0, 3), (-900.0, 2)])
def test_affinity_propagation_of_weights_is_best_for_as_many_rows(preference, expected):
    rng = np.random.default_rng(1)
    points = np.vstack([rng.normal(at, 0.6, (6, 2)) for at in ([2, 2], [8, 3], [4, 8])])
    heavy = rng.integers(1, 9, len(points))
    method = AffinityPropagation(preference=preference, damping=0.8, max_iter=500)
    groups = cluster_synopsis(cells_at(points, heavy), method)
    rows = np.repeat(points, heavy, axis=0)
    best = max(
        net_similarity(rows, points[list(some)], preference)
        for k in (1, 2, 3, 4)
        for some in itertools.combinations(range(len(points)), k)
    )
    assert groups.n_clusters == expected
    assert net_similarity(rows, groups.cluster_centers, preference) == pytest.approx(best)


def test_a_heavy_cell_becomes_the_exemplar():
    groups = cluster_synopsis(
        cells_at([[4, 4], [5, 5], [6, 6]], [1, 1, 50]), AffinityPropagation(preference=-500)
    )
    np.testing.assert_allclose(groups.cluster_centers, [[6, 6]])
    assert groups.cluster_weights.tolist() == [52]


def test_the_unit_of_weights_does_not_matter_without_a_preference():
    centers = np.vstack([np.random.default_rng(0).normal(at, 0.3, (6, 2)) for at in (2, 5, 8)])
    by_rows, relative = (
        cluster_synopsis(cells_at(centers, np.full(18, 9)), AffinityPropagation(), weights=unit)
        for unit in ("rows", "relative")
    )
    assert by_rows.n_clusters == 3
    np.testing.assert_array_equal(by_rows.labels, relative.labels)


def test_relative_weights_count_a_cell_as_one_on_average():
    synopsis, method = cells_at(LINE, np.multiply(HEAVY, 100)), DBSCAN(eps=0.6, min_samples=2)
    assert cluster_synopsis(synopsis, method, weights="relative").n_clusters == 2
    assert cluster_synopsis(synopsis, method).n_clusters == 3  # 200 rows alone are dense


def test_sizes_are_the_rows_of_the_groups_and_of_none():
    groups = cluster_synopsis(cells_at(LINE, HEAVY), DBSCAN(eps=0.6, min_samples=4))
    assert groups.cluster_weights.tolist() == [6, 5]
    assert groups.unassigned_weight == 2
    np.testing.assert_allclose(groups.cluster_centers[0], [8.5 / 6, 1])
    assert groups.predict([[9, 2], [7.2, 7]]).tolist() == [-1, 1]


def test_cells_above_the_limit_are_merged_where_they_weigh():
    rng = np.random.default_rng(2)
    centers, heavy = rng.uniform(0, 10, (900, 2)), rng.uniform(1, 9, 900)
    synopsis = cells_at(centers, heavy)
    groups = cluster_synopsis(synopsis, KMeans(3), max_cells=100)
    assert 50 < len(groups.points) <= 100
    assert groups.weights.sum() == pytest.approx(heavy.sum())
    np.testing.assert_allclose(
        groups.weights @ groups.points / heavy.sum(), heavy @ centers / heavy.sum()
    )
    assert groups.cell_labels.shape == (900,)
    one = cluster_synopsis(synopsis, KMeans(1), max_cells=1)
    np.testing.assert_allclose(one.points, [heavy @ centers / heavy.sum()])


@pytest.mark.heavy
def test_affinity_propagation_sees_at_most_a_thousand_cells():
    rng = np.random.default_rng(3)
    synopsis = cells_at(rng.uniform(0, 10, (3000, 2)), np.ones(3000))
    groups = cluster_synopsis(
        synopsis, AffinityPropagation(damping=0.9, preference=-2000.0, random_state=0)
    )
    assert len(groups.points) <= 1000
    assert 1 <= groups.n_clusters < 100


def test_scaled_distances_are_in_half_sides():
    wide = Box(x=(0, 10), y=(0, 1000))
    synopsis = cells_at([[1, 100], [1, 160], [9, 100]], [5, 5, 5], wide)
    groups = cluster_synopsis(synopsis, DBSCAN(eps=0.2, min_samples=6), scaled=True)
    assert groups.labels.tolist() == [0, 0, -1]
    assert groups.predict([[1.5, 120], [9, 100]]).tolist() == [0, -1]
    assert cluster_synopsis(synopsis, DBSCAN(eps=0.2, min_samples=6)).n_clusters == 0


def test_a_private_grid_gives_the_groups_of_its_rows():
    rng = np.random.default_rng(4)
    rows = np.vstack([rng.normal(at, 0.5, (1500, 2)) for at in ([2, 2], [8, 2], [5, 8])])
    synopsis = AdaptiveGrid(epsilon=1, domain=BOX, random_state=1).fit(rows)
    groups = cluster_synopsis(synopsis, DBSCAN(eps=0.8, min_samples=60))
    assert groups.n_clusters == 3
    assert groups.guarantee == synopsis.guarantee_
    assert (groups.predict(rows) >= 0).mean() > 0.9


def test_a_mixed_synopsis_is_clustered_by_synthetic_rows():
    schema = Schema.of(
        {"version": 1, "columns": {"age": {"low": 0, "high": 100}, "level": {"values": [*"abc"]}}}
    )
    people = {"age": [20.0] * 600 + [80.0] * 600, "level": ["a"] * 600 + ["b"] * 600}
    synopsis = MixedSynopsis(epsilon=5, domain=schema, random_state=1).fit(people)
    groups = cluster_synopsis(synopsis, DBSCAN(eps=0.5, min_samples=100), max_cells=400)
    assert groups.n_clusters == 2
    assert groups.weights.sum() == pytest.approx(synopsis.n_rows_)
    labels = groups.predict(pa.table({"age": [25.0, 75.0, 50.0], "level": ["a", "b", "c"]}))
    assert sorted(labels[:2].tolist()) == [0, 1]
    assert labels[2] == -1


def test_every_row_of_a_person_has_its_group():
    columns = {"age": {"low": 0, "high": 100}, "level": {"values": [*"abc"]}}
    people = {"person": "id", "max_rows_per_person": 1}
    schema = Schema.of({"version": 1, "columns": columns, **people})
    table = {"id": [*range(100)] * 2, "age": [20.0, 80.0] * 100, "level": ["a", "b"] * 100}
    synopsis = MixedSynopsis(epsilon=5, domain=schema, random_state=1).fit(table)
    groups = cluster_synopsis(synopsis, DBSCAN(eps=0.5, min_samples=10), max_cells=100)
    assert len(groups.predict(table)) == 200


def test_a_synopsis_without_cells_has_no_groups():
    groups = cluster_synopsis(cells_at(np.empty((0, 2)), []), DBSCAN())
    assert groups.n_clusters == 0
    assert groups.predict([[1, 1]]).tolist() == [-1]


@pytest.mark.parametrize("method", [AffinityPropagation(), DBSCAN(eps=1, min_samples=1)])
def test_a_single_cell_is_one_group(method):
    groups = cluster_synopsis(cells_at([[5, 5]], [8]), method)
    np.testing.assert_allclose(groups.cluster_centers, [[5, 5]])


def test_messages_that_do_not_converge_are_refused():
    rng = np.random.default_rng(0)
    synopsis = cells_at(rng.uniform(0, 10, (60, 2)), np.ones(60))
    with pytest.raises(InvalidSetting, match="did not converge on 60 cells"):
        cluster_synopsis(synopsis, AffinityPropagation(max_iter=3, random_state=0))


@pytest.mark.parametrize(
    ("estimator", "settings"),
    [
        (HDBSCAN(), {}),
        (OPTICS(), {}),
        ("DBSCAN", {}),
        (DBSCAN(metric="precomputed"), {}),
        (AffinityPropagation(affinity="precomputed"), {}),
        (DBSCAN(), {"max_cells": 0}),
        (DBSCAN(), {"weights": "counts"}),
    ],
)
def test_what_cannot_respect_weights_is_refused(estimator, settings):
    with pytest.raises(InvalidSetting):
        cluster_synopsis(cells_at(LINE, HEAVY), estimator, **settings)


def test_cells_of_a_view_are_refused():
    synopsis = cells_at(LINE, HEAVY)
    synopsis.view_ = object()
    with pytest.raises(InvalidSetting, match="view"):
        cluster_synopsis(synopsis, DBSCAN())
