"""LocalGrid: one cell a person. False-alarm rate of a statistical test: 1e-6."""

import math

import numpy as np
import pytest
from scipy import stats

from shoal.audit.bound._lower_bound import lower_bound_of
from shoal.domain import Box
from shoal.errors import (
    DimensionMismatch,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    NotAReport,
    NotNumeric,
    TooFewRows,
)
from shoal.mechanisms import LocalGrid, RandomizedResponse
from shoal.mechanisms.local._people_needed import people_needed
from shoal.mechanisms.local.categories._local_grid import auto_cells, cell_oracle
from shoal.mechanisms.local.categories._local_hash import LocalHash
from shoal.privacy import LocalDP
from shoal.randomness import Randomness

SQUARE = Box(x=(0, 10), y=(-1, 1))
ALARM = 1e-6


def noise(seed: int = 5):
    return Randomness(seed).noise


@pytest.mark.parametrize(("cells", "kind"), [(3, RandomizedResponse), (12, LocalHash)])
def test_counts_are_unbiased_and_vary_as_stated(cells, kind):
    grid = LocalGrid(SQUARE, epsilon=1, cells=cells)
    assert isinstance(grid.oracle, kind)
    rows = np.random.default_rng(0).uniform([0, -1], [6, 0.5], (50_000, 2))
    counts = grid.counts(grid.release(rows, noise()))
    true = np.bincount(grid.grid.keys(rows), minlength=grid.grid.size)
    off = (counts.value - true) / counts.standard_error
    assert np.abs(off).max() < stats.norm.isf(ALARM / 2 / off.size)
    assert math.isclose(counts.standard_error[-1], grid.deviation(50_000), rel_tol=0.1)
    assert abs(counts.value.sum() - 50_000) < 6 * math.sqrt(off.size) * grid.deviation(50_000)


def test_a_report_is_one_whole_number():
    reports = LocalGrid(SQUARE, epsilon=1, cells=12).release([[1, 0], [9, 1]], noise())
    assert reports.values.shape == (2,)
    assert reports.values.dtype == np.int64


def test_clients_always_clip():
    """Outside goes to the nearest cell, NaN to the box's centre: both always report."""
    grid = LocalGrid(SQUARE, epsilon=20, cells=5)
    rows = [[-99, 0], [np.inf, 0], [np.nan, np.nan]] * 50
    counts = grid.counts(grid.release(rows, noise())).value.reshape(5, 5).round()
    assert counts[0, 2] == counts[4, 2] == counts[2, 2] == 50


def test_cells_are_chosen_by_the_number_of_people():
    told = LocalGrid(SQUARE, epsilon=1, n_expected=20_000)
    assert told.cells == (13, 13)
    left_out = LocalGrid(SQUARE, epsilon=1)
    reports = left_out.release(np.zeros((20_000, 2)), noise())
    assert reports.mechanism.cells == (13, 13)
    assert len(reports.mechanism.counts(reports).value) == 169
    assert left_out.with_cells_for(20_000) == reports.mechanism
    assert told.with_cells_for(5) == told


def test_one_client_must_know_how_many_there_are():
    with pytest.raises(InvalidSetting, match="n_expected"):
        LocalGrid(SQUARE, epsilon=1).release([1.0, 0.0], noise())
    assert len(LocalGrid(SQUARE, epsilon=1, n_expected=9).release([1.0, 0.0], noise())) == 1
    with pytest.raises(InvalidSetting, match="n_expected"):
        _ = LocalGrid(SQUARE, epsilon=1).grid


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_more_people_more_epsilon_and_more_clusters_make_finer_cells(d):
    assert auto_cells(10, 0.1, d, 1) >= 2
    for fewer, more in [((1_000, 1, d, 5), (10**6, 1, d, 5)), ((1_000, 1, d, 5), (1_000, 4, d, 5)),
                        ((10, 1, d, 2), (10, 1, d, 200))]:  # fmt: skip
        assert auto_cells(*fewer) < auto_cells(*more)
    assert auto_cells(10**9, 20, d, 5) ** d <= 4_096


def test_it_says_how_many_people_it_takes_before_anybody_is_asked():
    grid = LocalGrid(Box.unit(3), epsilon=2, n_clusters=4)
    assert grid.needs(1.2) == people_needed(1.2, n_clusters=4, d=3, epsilon=2)
    assert grid.needs(1.2, cautious=False) < grid.needs(1.2)
    assert grid.needs(1.2) < LocalGrid(Box.unit(3), epsilon=2).needs(1.2)


def test_the_oracle_with_the_smaller_error_is_chosen():
    for size in (2, 9, 10, 12, 50):
        chosen = cell_oracle(1, size).variance()
        assert chosen == min(RandomizedResponse(1, size).variance(), LocalHash(1, size).variance())


def test_cells_of_few_columns_grow_slowly_with_many_people():
    """Smaller cells would hide small groups: sixteen times the people, twice the cells."""
    grown = [auto_cells(16 * n, 1, 2, 5) / auto_cells(n, 1, 2, 5) for n in (20_000, 200_000)]
    np.testing.assert_allclose(grown, math.sqrt(2), rtol=0.08)


@pytest.mark.parametrize("cells", [3, 12])
def test_chances_are_those_of_the_reports(cells):
    grid = LocalGrid(SQUARE, epsilon=1, cells=cells)
    shares = np.random.default_rng(0).dirichlet(np.ones(cells**2))
    chances = grid.chances(shares)
    assert math.isclose(chances.sum(), 1)
    drawn = np.random.default_rng(1).choice(cells**2, 200_000, p=shares)
    rows = grid.grid.centers()[drawn]
    seen = np.bincount(grid.release(rows, noise()).values, minlength=chances.size)
    assert stats.chisquare(seen, 200_000 * chances).pvalue > ALARM


@pytest.mark.parametrize("cells", [2, 5])
def test_the_audit_finds_no_more_than_is_promised(cells):
    grid = LocalGrid(SQUARE, epsilon=1, cells=cells)
    first, second = (
        grid.release(np.tile(corner, (40_000, 1)), noise(seed)).values
        for seed, corner in enumerate(([0, -1], [10, 1]))
    )
    found = lower_bound_of(first, second, claim=grid.guarantee)
    assert found.verdict == "consistent"
    assert found.epsilon > 0.5


def test_the_audit_catches_epsilon_on_each_axis():
    """The twin reports both axes through an oracle of the whole epsilon each."""
    axis = RandomizedResponse(1, 3)
    first, second = (
        3 * axis.release(np.full(40_000, at), noise(10 + at)).values
        + axis.release(np.full(40_000, at), noise(20 + at)).values
        for at in (0, 2)
    )
    assert lower_bound_of(first, second, claim=LocalDP(1)).verdict == "violated"


def test_no_rows_give_no_reports():
    grid = LocalGrid(SQUARE, epsilon=1)
    reports = grid.release(np.empty((0, 2)), noise())
    assert len(reports) == 0
    with pytest.raises(TooFewRows):
        reports.mechanism.counts(reports)


def test_counts_want_their_own_reports():
    grid = LocalGrid(SQUARE, epsilon=1, cells=4)
    with pytest.raises(NotAReport):
        grid.counts(np.array([1, 2]))
    with pytest.raises(NotAReport):
        grid.counts(LocalGrid(SQUARE, epsilon=2, cells=4).release([[1, 0]], noise()))


@pytest.mark.parametrize(
    ("error", "settings"),
    [
        (InvalidBudget, {"epsilon": 0}),
        (InvalidBudget, {"epsilon": 21}),
        (InvalidDomain, {"domain": (0, 1)}),
        (InvalidDomain, {"cells": 0}),
        (InvalidDomain, {"cells": 1}),
        (InvalidDomain, {"cells": (3, 3, 3)}),
        (InvalidSetting, {"cells": "some"}),
        (InvalidSetting, {"n_expected": 0}),
        (InvalidSetting, {"n_expected": 1.5}),
        (InvalidSetting, {"n_clusters": True}),
    ],
)
def test_settings_that_are_none_are_refused(error, settings):
    with pytest.raises(error):
        LocalGrid(**({"domain": SQUARE, "epsilon": 1} | settings))


def test_what_is_no_table_of_numbers_is_refused():
    grid = LocalGrid(SQUARE, epsilon=1, cells=4)
    with pytest.raises(DimensionMismatch):
        grid.check([[1.0, 2.0, 3.0]])
    with pytest.raises(NotNumeric):
        grid.check([["a", "b"]])


@pytest.mark.heavy
def test_a_million_people_need_little_memory():
    grid = LocalGrid(SQUARE, epsilon=1, n_expected=10**6)
    reports = grid.release(np.zeros((10**6, 2)), noise())
    assert reports.values.nbytes == 8 * 10**6
    assert int(grid.counts(reports).value.argmax()) == grid.grid.keys([[0.0, 0.0]])[0]
