from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.domain import Box
from shoal.errors import InvalidDomain, InvalidSetting, TooLarge
from shoal.synopsis import UniformGrid
from shoal.synopsis.uniform_grid import most_an_axis

rng = np.random.default_rng(2)
WITH_CHECK = Fraction(100, 99)  # an epsilon of which 1 is left once the bounds were checked


def blob(n, d, at=0.3):
    return np.clip(rng.normal(at, 0.05, (n, d)), 0, 1)


@pytest.mark.parametrize(("d", "expected"), [(1, 100), (2, 32), (4, 10), (8, 4)])
def test_the_rule_takes_n_epsilon_over_ten_to_the_two_over_two_plus_d(d, expected):
    assert expected == round((10_000 / 10) ** (2 / (2 + d)))
    grid = UniformGrid(epsilon=WITH_CHECK, domain=Box.unit(d), n_public=10_000, random_state=1)
    assert grid.fit(blob(500, d)).n_cells_ == expected**d


def test_there_are_two_cells_an_axis_at_least_and_never_more_than_the_limit():
    tiny = UniformGrid(epsilon=0.01, domain=Box.unit(3), random_state=1).fit(blob(9, 3))
    assert tiny.n_cells_ == 8
    wide = UniformGrid(epsilon=1, domain=Box.unit(30), random_state=1).fit(blob(9, 30))
    assert wide.n_cells_ == 1
    low = UniformGrid(epsilon=1, domain=Box.unit(2), n_public=10**9, max_cells=50, random_state=1)
    assert low.fit(blob(9, 2)).n_cells_ == 49


def test_cells_can_be_given_one_number_or_one_an_axis():
    for cells, size in ((5, 25), ([3, 7], 21), (np.array([4, 4]), 16)):
        grid = UniformGrid(epsilon=1, domain=Box.unit(2), cells=cells, random_state=1)
        assert grid.fit(blob(50, 2)).n_cells_ == size


def test_counts_are_true_counts_plus_noise_of_the_variance_told():
    X = np.repeat((np.arange(400) + 0.5)[:, None] / 400, 1000, axis=0)
    settings = {"cells": 400, "negative": "zero", "n_public": 1, "random_state": 5}
    grid = UniformGrid(epsilon=WITH_CHECK, domain=Box.unit(1), **settings).fit(X)
    errors = grid.cells_.noisy_count - 1000
    assert len(errors) == 400
    assert abs(errors.mean()) < 5 * np.sqrt(grid.noise_variance / 400)
    assert 0.5 < errors.var() / grid.noise_variance < 1.7
    assert grid.noise_variance == pytest.approx(2 * np.exp(-1) / (1 - np.exp(-1)) ** 2)


@pytest.mark.parametrize("negative", ["norm-cut", "norm-sub", "threshold", "zero"])
def test_weight_lies_where_rows_are(negative):
    grid = UniformGrid(epsilon=1, domain=Box.unit(2), negative=negative, random_state=1)
    centers, weights = grid.fit(blob(20_000, 2)).points()
    near = np.abs(centers - 0.3).max(axis=1) < 0.2
    assert weights[near].sum() > 0.95 * weights.sum()


@pytest.mark.heavy
def test_a_sparse_grid_sees_what_no_dense_one_could_hold():
    X = np.repeat(rng.random((20, 8)), 300, axis=0)
    grid = UniformGrid(epsilon=1, domain=Box.unit(8), cells=200, sparse=True, random_state=1)
    cells = grid.fit(X).cells_
    assert grid.n_cells_ == 200**8 > 2**61
    heavy = cells.weight > 150
    assert heavy.sum() == 20
    inside = (X[::300, None] >= cells.low[heavy] - 1e-12) & (
        X[::300, None] <= cells.high[heavy] + 1e-12
    )
    assert inside.all(axis=2).any(axis=1).all()


def test_a_sparse_and_a_dense_grid_agree_where_the_cut_is_above_the_level():
    X, shared = blob(50_000, 2), {"epsilon": 2, "domain": Box.unit(2), "cells": 30}
    dense, sparse = (
        UniformGrid(**shared, sparse=s, random_state=1).fit(X).cells_ for s in (False, True)
    )
    assert dense.weight.sum() == pytest.approx(sparse.weight.sum(), rel=0.01)


@pytest.mark.heavy
def test_a_computed_sparse_grid_is_lowered_to_what_keys_have_room_for():
    grid = UniformGrid(epsilon=1000, domain=Box.unit(1), n_public=10**60, sparse=True)
    assert grid.set_params(random_state=1).fit(blob(9, 1)).n_cells_ <= 2**62


def test_hand_given_cells_beyond_the_limits_raise_before_a_row_is_read():
    class NeverRead:
        def __array__(self, *args, **kwargs):
            raise AssertionError("rows were read")

    too_many = [
        ({"cells": 2000}, TooLarge),
        ({"cells": 2**32, "sparse": True}, TooLarge),
        ({"cells": 0}, InvalidDomain),
        ({"cells": [3]}, InvalidDomain),
        ({"cells": "many"}, InvalidDomain),
        ({"max_cells": 0}, InvalidSetting),
        ({"max_cells": 2**25}, InvalidSetting),
        ({"max_cells": 2.5}, InvalidSetting),
        ({"negative": "none"}, InvalidSetting),
        ({"n_public": 0}, InvalidSetting),
        ({"n_public": 2.5}, InvalidSetting),
    ]
    for settings, error in too_many:
        reads = []
        grid = UniformGrid(epsilon=1, domain=Box.unit(2), **settings)
        rows = grid._rows(blob(9, 2))
        rows.on_progress(reads.append)
        with pytest.raises(error):
            grid.fit(rows)
        assert reads == []


@pytest.mark.heavy
@given(st.integers(1, 2**62), st.integers(1, 300))
def test_one_more_cell_an_axis_would_be_too_many(most, d):
    parts = most_an_axis(most, d)
    assert parts >= 1
    assert parts**d <= most < (parts + 1) ** d
