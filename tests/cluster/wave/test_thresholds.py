import math

import numpy as np
import pytest

from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile
from shoal.cluster.wave._noise import NoiseLaw, NoisyGrid
from shoal.cluster.wave._thresholds import (
    density_level,
    mass_level,
    noise_guard,
    percentile_level,
    positive_quantile,
    posterior_cells,
)
from shoal.domain import Box
from shoal.privacy import Unprotected


def noisy(true: np.ndarray, step: float, seed: int = 0) -> NoisyGrid:
    rng, p = np.random.default_rng(seed), 1 - math.exp(-step)
    noise = rng.geometric(p, true.shape) - rng.geometric(p, true.shape)
    return NoisyGrid.of_counts(true + noise, NoiseLaw(step))


TRUE = np.where(np.arange(3600).reshape(60, 60) % 4 == 0, 20, 0)


def test_without_noise_the_percentile_is_that_of_the_positive_cells():
    values = np.array([[0, 0, 3], [5, 7, 9]])
    assert percentile_level(NoisyGrid(values), 0.5) == np.quantile([3, 5, 7, 9], 0.5)


def test_empty_cells_that_noise_made_positive_do_not_lower_the_percentile():
    level = percentile_level(noisy(TRUE, 1.0), 0.5)
    assert level == pytest.approx(20, abs=1)
    naive = noisy(TRUE, 1.0).values
    assert np.quantile(naive[naive > 0], 0.3) < 10 < percentile_level(noisy(TRUE, 1.0), 0.3)


def test_with_another_noise_negatives_tell_how_many_positives_are_false():
    grid = noisy(TRUE, 1.0)
    plain = NoisyGrid(grid.values.astype(float), grid.variance)
    assert percentile_level(plain, 0.5) == pytest.approx(20, abs=1.5)


def test_no_positive_cell_has_no_percentile():
    assert percentile_level(NoisyGrid(np.zeros((4, 4))), 0.5) is None
    assert positive_quantile(np.array([5, -1]), 0.5, drop=99) == 5


@pytest.mark.parametrize(("strict", "cells"), [(False, 3), (True, 1)])
def test_cells_at_the_quantile_belong_to_clusters_unless_it_must_be_exceeded(strict, cells):
    grid = NoisyGrid(np.array([[1, 0, 2], [0, 2, 3]]))  # the median of 1, 2, 2, 3 is 2
    chosen = Percentile(0.5, strict=strict).label(grid, "full", 1)
    assert int((chosen.labels >= 0).sum()) == cells


@pytest.mark.parametrize("variant", [None, "privthr"])
def test_a_strict_quantile_is_exceeded_by_every_cell_of_a_cluster(variant):
    X = np.repeat(np.random.default_rng(1).uniform(0, 1, (60, 2)), 3, axis=0)
    promise = {"epsilon": 5.0, "variant": variant, "random_state": 1}
    if variant is None:
        promise = {"privacy": Unprotected("exact counts, to compare")}
    fits = [
        WaveCluster(
            domain=Box.unit(2), cells=8, selector=Percentile(strict=strict), min_cells=1, **promise
        ).fit(X)
        for strict in (False, True)
    ]
    assert fits[1].threshold_ == math.nextafter(fits[0].threshold_, math.inf)
    assert set(np.flatnonzero(fits[1].cell_labels_ >= 0)) <= set(
        np.flatnonzero(fits[0].cell_labels_ >= 0)
    )


def test_density_is_in_means():
    assert density_level(NoisyGrid(np.array([[1, 3], [0, 0]])), 2.0) == 2


def test_mass_is_found_on_estimated_counts():
    assert mass_level(noisy(TRUE, 1.0), 0.9) == pytest.approx(20, abs=3)
    assert mass_level(NoisyGrid(np.zeros((3, 3))), 0.9) == math.inf


def test_the_posterior_picks_the_cells_that_reach_the_quantile():
    chosen, level = posterior_cells(noisy(TRUE, 1.0), NoiseLaw(1.0), 0.3, context=False)
    assert level == pytest.approx(20, abs=3)
    assert np.mean(chosen != (TRUE > 0)) < 0.02


def test_one_empty_cell_at_most_is_expected_above_the_guard():
    law = NoiseLaw(1.0)
    guard = noise_guard(law, 10_000)
    assert 10_000 * law.mass(np.arange(math.ceil(guard), 200)).sum() <= 1
    assert 10_000 * law.mass(np.arange(math.ceil(guard) - 2, 200)).sum() > 1
