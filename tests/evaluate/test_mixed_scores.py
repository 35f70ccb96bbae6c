"""Scores of mixed rows, against sums written out by hand."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from shoal.errors import DimensionMismatch, NotNumeric
from shoal.evaluate import gower_distances, gower_silhouette, mixed_cost

rng = np.random.default_rng(0)
NUMBERS, CODES = rng.uniform(-1, 1, (40, 2)), rng.integers(0, 3, (40, 3))


def by_hand(i, j, u, v):
    numbers = sum(w * abs(a - b) / 2 for w, a, b in zip(u, NUMBERS[i], NUMBERS[j], strict=True))
    codes = sum(w * (a != b) for w, a, b in zip(v, CODES[i], CODES[j], strict=True))
    return (numbers + codes) / (sum(u) + sum(v))


def test_gower_distances_are_weighted_means_over_columns():
    u, v = [1.0, 2.0], [1.0, 0.5, 3.0]
    apart = gower_distances(NUMBERS, CODES, number_weights=u, category_weights=v)
    expected = [[by_hand(i, j, u, v) for j in range(40)] for i in range(40)]
    np.testing.assert_allclose(apart, expected)


def test_rows_of_one_kind_alone_have_distances():
    assert gower_distances(np.empty((2, 0)), [[0], [1]]).tolist() == [[0, 1], [1, 0]]
    assert gower_distances([[-1.0], [1.0]], np.empty((2, 0), dtype=int)).tolist() == [
        [0, 1],
        [1, 0],
    ]


def test_the_silhouette_is_that_of_the_distances_without_rows_in_no_group():
    labels = np.append(np.arange(36) % 3, [-1] * 4)
    apart = gower_distances(NUMBERS[:36], CODES[:36])
    expected = silhouette_score(apart, labels[:36], metric="precomputed")
    assert gower_silhouette(NUMBERS, CODES, labels) == pytest.approx(expected)


def test_the_silhouette_of_a_sample_is_near_that_of_all():
    codes = np.repeat([[0, 0], [1, 1]], 500, axis=0)
    numbers = rng.normal(0, 0.2, (1000, 1))
    labels = codes[:, 0]
    whole = gower_silhouette(numbers, codes, labels)
    assert gower_silhouette(numbers, codes, labels, most=200) == pytest.approx(whole, abs=0.03)


def test_one_group_has_no_silhouette():
    assert np.isnan(gower_silhouette(NUMBERS, CODES, np.zeros(40, dtype=int)))


def test_the_cost_is_that_of_the_nearest_prototype():
    prototypes, modes = NUMBERS[:2], CODES[:2]
    weights = {"number_weights": [1.0, 2.0], "category_weights": [1.0, 0.5, 3.0]}
    expected = sum(
        min(
            np.square(x - p) @ [1, 2] + 0.5 * ((c != m) @ np.array([1, 0.5, 3]))
            for p, m in zip(prototypes, modes, strict=True)
        )
        for x, c in zip(NUMBERS, CODES, strict=True)
    )
    assert mixed_cost(NUMBERS, CODES, prototypes, modes, **weights) == pytest.approx(expected)


def test_bad_shapes_and_codes_are_refused():
    with pytest.raises(DimensionMismatch):
        gower_distances(NUMBERS, CODES[:5])
    with pytest.raises(DimensionMismatch):
        gower_distances(NUMBERS, CODES, number_weights=[1.0])
    with pytest.raises(DimensionMismatch):
        mixed_cost(NUMBERS, CODES[:, 0], NUMBERS[:1], CODES[:1])
    with pytest.raises(NotNumeric):
        gower_distances(NUMBERS, CODES + 0.5)
