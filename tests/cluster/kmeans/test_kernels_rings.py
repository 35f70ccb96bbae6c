import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from shoal.cluster.kmeans._kernels import (
    CANDIDATES,
    LATTICE,
    RINGS,
    BeyondSides,
    Cube,
    Nearest,
    RingSums,
    clip_radius,
    ring_edges,
    ring_numbers,
)
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.engine._rows import Block

rng = np.random.default_rng(4)


def kernel(d, k):
    box = Box.of([f"x{i}" for i in range(d)], -np.ones(d), np.ones(d))
    nearest = Nearest(rng.uniform(-1, 1, (k, d)))
    return RingSums(Cube(box), nearest.centers, nearest, 2 * math.sqrt(d))


def block(X):
    return Block(X, np.empty((len(X), 0), dtype=np.int32))


def test_rings_are_quarters_of_octaves():
    reach = 3.0
    distances = rng.uniform(1e-3, 3, 10_000)
    wanted = np.clip(np.floor(4 * np.log2(reach / distances)), 0, RINGS - 1)
    assert np.mean(ring_numbers(distances**2, reach) == wanted) > 0.999


def test_a_distance_beyond_the_reach_and_none_at_all_have_rings_too():
    assert ring_numbers(np.array([100.0, 0.0]), 2.0).tolist() == [0, RINGS - 1]


@pytest.mark.parametrize("pick", [0, 1, 5, CANDIDATES - 1])
def test_a_clip_is_an_edge_between_rings(pick):
    reach, distances = 2.0, np.geomspace(1e-5, 2, 5_000)
    edges = ring_edges(reach)[ring_numbers(distances**2, reach)]
    inside = edges <= clip_radius(pick, reach) * (1 + 1e-12)
    assert np.array_equal(inside, distances <= clip_radius(pick, reach) * (1 + 1e-12))


def test_no_row_lies_beyond_the_edge_of_its_ring():
    distances = rng.uniform(0, 3, 10_000)
    assert (distances <= ring_edges(3.0)[ring_numbers(distances**2, 3.0)] * (1 + 2**-40)).all()


def test_a_row_is_inside_a_cube_or_beyond_it_wherever_it_stands():
    box = Box.of(["a", "b", "c"], -np.ones(3), np.ones(3))
    X, cube = rng.uniform(-1, 1, (500, 3)), BeyondSides(box, np.array([0.5, -0.25, 0.0]), 0.6)
    keys, order = cube.keys(X), rng.permutation(500)
    assert np.array_equal(keys, np.abs(X - cube.center).max(axis=1) > 0.6)
    assert 0 < keys.mean() < 1
    assert np.array_equal(cube.keys(X[order]), keys[order])


def test_sums_are_those_of_the_rows():
    X = rng.uniform(-1, 1, (3_000, 3))
    sums = kernel(3, 5)
    counts, added = sums(block(X))
    labels = sums.nearest.labels(sums.cube.columns(X))
    offsets = X - sums.centers[labels]
    for cluster in range(5):
        own = offsets[labels == cluster]
        assert counts[cluster].sum() == len(own)
        assert np.allclose(added[cluster].sum(axis=0) / LATTICE, own.sum(axis=0), atol=0.1)


@pytest.mark.heavy
@pytest.mark.parametrize("d", [1, 2, 4, 40])
def test_no_row_adds_more_than_its_length_in_any_ring(d):
    """Cut towards zero: a row's offset never grows."""
    sums = kernel(d, 3)
    for row in rng.uniform(-1, 1, (300, d)):
        counts, added = sums(block(row[None]))
        assert counts.sum() == 1
        ring = int(np.argmax(counts.sum(axis=0)))
        assert np.linalg.norm(added.sum(axis=(0, 1))) <= ring_edges(sums.reach)[ring] * LATTICE


def test_a_row_changes_one_cluster_and_one_ring_whoever_stands_beside():
    X, sums = rng.uniform(-1, 1, (2_500, 4)), kernel(4, 6)
    row = rng.uniform(-1, 1, (1, 4))
    without, alone = sums(block(X)), sums(block(row))
    for place in (0, 1, 1_111, 2_500):
        with_it = sums(block(np.insert(X, place, row, axis=0)))
        for a, b, c in zip(without, alone, with_it, strict=True):
            assert np.array_equal(a + b, c)


def test_the_engine_adds_them_up_and_they_pickle():
    X, sums = rng.uniform(-1, 1, (150_000, 2)), kernel(2, 3)
    whole = rows_of(X, sums.cube.box).sum(pickle.loads(pickle.dumps(sums)))
    for a, b in zip(whole, sums(block(X)), strict=True):
        assert a.dtype == np.int64
        assert np.array_equal(a, b)


def test_parts_of_a_cluster_add_up_to_it_and_lie_on_one_side_of_an_axis():
    X, whole = rng.uniform(-1, 1, (2_000, 3)), kernel(3, 4)
    halved = replace(whole, halved_axes=2)
    counts, sums = whole(block(X))
    parts, part_sums = halved(block(X))
    assert parts.shape == (16, RINGS)
    assert np.array_equal(parts.reshape(4, 4, RINGS).sum(axis=1), counts)
    assert np.array_equal(part_sums.reshape(4, 4, RINGS, 3).sum(axis=1), sums)
    upper, _ = halved(block(np.abs(X)))
    assert upper.reshape(4, 4, RINGS)[:, :3].sum() == 0
