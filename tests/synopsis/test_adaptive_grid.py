import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.domain import Box
from shoal.errors import TooLarge
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP
from shoal.randomness import Randomness
from shoal.synopsis import AdaptiveGrid
from shoal.synopsis._adaptive_grid import consistent_counts, lower_parts, total_parts

rng = np.random.default_rng(2)
WITH_CHECK = Fraction(100, 99)  # an epsilon of which 1 is left once the bounds were checked


def blob(n, d, at=0.3):
    return np.clip(rng.normal(at, 0.05, (n, d)), 0, 1)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_coarse_cells_follow_the_printed_rule(d, monkeypatch):
    seen = recorded(monkeypatch)
    n = 10**6
    grid = AdaptiveGrid(epsilon=WITH_CHECK, domain=Box.unit(d), n_public=n, random_state=1)
    grid.fit(blob(100, d))
    cells = math.ceil(max(100 ** (1 / d), (n / 10) ** (2 / (2 + d)) / 4))
    assert seen[0][0].size == min(cells**d, 2_000_000)


@pytest.mark.parametrize(("d", "consistency"), [(2, True), (4, False), (7, True), (7, False)])
def test_parts_follow_the_printed_rule(d, consistency, monkeypatch):
    """Rounded up; from six columns on to the nearest, unless the printed method is asked for."""
    seen = recorded(monkeypatch)
    grid = AdaptiveGrid(epsilon=1, domain=Box.unit(d), consistency=consistency, random_state=1)
    grid.set_params(n_public=5000).fit(blob(5000, d))
    (_, v), (fine, _) = seen
    rule = (np.maximum(v, 0) * 0.5 / 5) ** (2 / (2 + d))
    up = d < 6 or not consistency
    np.testing.assert_array_equal(fine.parts, np.maximum(np.ceil(rule) if up else np.rint(rule), 1))
    assert fine.parts.max() > 1


def recorded(monkeypatch):
    """The partitions counted and their noisy counts, in order."""
    from shoal.estimator import Spending

    releases, count = [], Spending.count

    def recording(self, cells, *, of):
        releases.append((cells, count(self, cells, of=of)))
        return releases[-1][1]

    monkeypatch.setattr(Spending, "count", recording)
    return releases


def test_the_printed_method_keeps_every_positive_count_as_drawn():
    grid = AdaptiveGrid(epsilon=1, domain=Box.unit(2), consistency=False, negative="zero")
    cells = grid.set_params(random_state=1).fit(blob(3000, 2)).cells_
    np.testing.assert_array_equal(cells.weight, cells.noisy_count)
    assert cells.noisy_count.min() == 1


@pytest.mark.heavy
@given(st.lists(st.integers(1, 40), min_size=1, max_size=20), st.integers(1, 6),
       st.integers(20, 10_000))  # fmt: skip
def test_lowering_the_largest_again_and_again(parts, d, most):
    def slowly(parts):
        parts = np.array(parts)
        while total_parts(parts, d) > most:
            parts[parts == parts.max()] -= 1
        return parts

    np.testing.assert_array_equal(lower_parts(np.array(parts), d, most), slowly(parts))


def test_settled_counts_are_the_least_squares_solution():
    """One coarse count and its parts, all of equal variance: solved as a linear system."""
    coarse, fine, inside = np.array([40, 7]), rng.integers(-3, 20, 9), np.array([4, 5])
    found = consistent_counts(coarse, fine, inside)
    for start, n, v in ((0, 4, 40), (4, 5, 7)):
        design = np.vstack([np.eye(n), np.ones(n)])
        observed = np.r_[fine[start : start + n], v]
        expected = np.linalg.lstsq(design, observed, rcond=None)[0]
        np.testing.assert_allclose(found[start : start + n], expected, atol=1e-9)


def test_settling_lowers_the_variance_as_told(monkeypatch):
    inside = np.tile([1, 3, 8], 4000)
    noise, stream = Geometric(PureDP(1)), Randomness(3).noise
    coarse = noise.release(np.zeros(inside.size, int), stream)
    errors = consistent_counts(coarse, noise.release(np.zeros(inside.sum(), int), stream), inside)
    n = np.repeat(inside, inside)
    for parts in (1, 3, 8):  # 4,000 draws or more: 6 standard errors of a variance are 0.25
        told = noise.variance * parts / (parts + 1)
        assert errors[n == parts].var() == pytest.approx(told, rel=0.25)

    seen = recorded(monkeypatch)
    grid = AdaptiveGrid(epsilon=2 * WITH_CHECK, domain=Box.unit(2), n_public=5000, random_state=1)
    grid.fit(blob(5000, 2))
    n = np.repeat(seen[1][0].inside, seen[1][0].inside)
    assert grid.noise_variance == pytest.approx(noise.variance * np.mean(n / (n + 1)))


def test_consistency_and_the_cut_keep_empty_cells_from_drowning_the_rows():
    X = blob(10_000, 4)
    shared = {"epsilon": 1, "domain": Box.unit(4), "random_state": 1}
    printed = AdaptiveGrid(**shared, consistency=False, negative="zero").fit(X)
    ours = AdaptiveGrid(**shared).fit(X)
    off = []
    for centers, weights in (printed.points(), ours.points()):
        off.append(np.linalg.norm(np.average(centers, axis=0, weights=weights) - 0.3))
    assert off[1] < off[0] / 3


def test_cells_are_finer_where_rows_are():
    grid = AdaptiveGrid(epsilon=1, domain=Box.unit(2), negative="zero", random_state=1)
    cells = grid.fit(blob(100_000, 2)).cells_
    near = np.abs(cells.centers - 0.3).max(axis=1) < 0.05
    far = np.abs(cells.centers - 0.3).max(axis=1) > 0.4
    sides = (cells.high - cells.low)[:, 0]
    assert sides[near].max() < sides[far].min() / 2


@pytest.mark.heavy
@pytest.mark.parametrize("consistency", [True, False])
def test_sparse_parts_go_beyond_memory_while_coarse_cells_stay_few(consistency):
    X = np.repeat(rng.random((3, 6)), 100_000, axis=0)
    grid = AdaptiveGrid(epsilon=100, domain=Box.unit(6), sparse=True, consistency=consistency)
    grid.set_params(random_state=1).fit(X)
    assert 2_000_000 < grid.n_cells_ < 2**62
    assert np.count_nonzero(grid.cells_.weight > 90_000) == 3


def test_coarse_cells_beyond_the_limit_are_refused_sparse_or_not():
    for sparse in (False, True):
        grid = AdaptiveGrid(epsilon=1, domain=Box.unit(2), cells=1500, sparse=sparse)
        with pytest.raises(TooLarge, check=lambda error: error.reason == "cells"):
            grid.fit(blob(9, 2))


@pytest.mark.parametrize("share", [0.25, 0.7])
def test_both_levels_together_cost_the_promise(share):
    from shoal.privacy import Ledger

    ledger = Ledger()
    settings = {"coarse_share": share, "consistency": False, "n_public": 1000}
    AdaptiveGrid(epsilon=1, domain=Box.unit(2), ledger=ledger, random_state=1, **settings).fit(
        blob(1000, 2)
    )
    assert ledger.totals() == [PureDP(1, simulation=True)]


def test_parts_are_drawn_at_what_the_coarse_level_leaves(monkeypatch):
    seen = recorded(monkeypatch)
    settings = {"coarse_share": 0.8, "consistency": False, "part_rows": 2, "coarse_rows": 40}
    settings |= {"epsilon": WITH_CHECK, "n_public": 9000}
    grid = AdaptiveGrid(domain=Box.unit(2), random_state=1, **settings)
    grid.fit(blob(9000, 2))
    (coarse, v), (fine, _) = seen
    assert coarse.size == max(10, math.ceil((9000 / 40) ** 0.5 / 4)) ** 2
    parts = np.maximum(np.ceil((np.maximum(v, 0) * 0.2 / 2) ** 0.5), 1)
    assert fine.parts.tolist() == parts.astype(int).tolist()
    assert grid.noise_variance_ == pytest.approx(Geometric(PureDP("0.2")).variance)


def test_unequal_levels_are_not_settled_as_equal_ones():
    from shoal.errors import ConflictingSettings

    with pytest.raises(ConflictingSettings, match="equal noise"):
        AdaptiveGrid(epsilon=1, domain=Box.unit(2), coarse_share=0.3).fit(blob(100, 2))


@pytest.mark.parametrize("wrong", [{"coarse_share": 1.0}, {"coarse_rows": 0}, {"part_rows": "5"}])
def test_settings_of_the_levels_are_checked(wrong):
    from shoal.errors import InvalidSetting

    with pytest.raises(InvalidSetting, match=next(iter(wrong))):
        AdaptiveGrid(epsilon=1, domain=Box.unit(2), **wrong).fit(blob(100, 2))
