import math

import numpy as np
import pytest

from shoal.cluster.wave.grouping import label_automatically, suggested_sigma, widest_gap
from shoal.cluster.wave.noise import NoiseLaw, NoisyGrid


def noisy(true: np.ndarray, step: float = 1.0, seed: int = 0) -> NoisyGrid:
    rng, p = np.random.default_rng(seed), 1 - math.exp(-step)
    noise = rng.geometric(p, true.shape) - rng.geometric(p, true.shape)
    return NoisyGrid.of_counts(rng.poisson(true) + noise, NoiseLaw(step))


def hills(side: int, *middles: tuple[float, float], width: float = 4, top: float = 8):
    x, y = np.mgrid[:side, :side]
    each = (np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * width**2)) for a, b in middles)
    return top * sum(each)


def test_pure_noise_makes_few_clusters():
    grids = [noisy(np.zeros((60, 60)), seed=s) for s in range(5)]
    assert np.mean([label_automatically(grid, 3).labels.max() + 1 for grid in grids]) <= 1


def test_separate_hills_are_separate_clusters():
    clustering = label_automatically(noisy(hills(60, (15, 15), (45, 45), (15, 45))), 3)
    labels = clustering.labels
    assert labels[15, 15] >= 0
    assert len({labels[15, 15], labels[45, 45], labels[15, 45]}) == 3
    assert clustering.tree.basins.shape == labels.shape


def test_the_fringe_of_a_cluster_belongs_to_it():
    clustering = label_automatically(noisy(hills(60, (30, 30), width=7, top=6)), 3)
    assert (clustering.labels >= 0).sum() > (clustering.tree.basins >= 0).sum()


def test_rich_grids_are_read_at_a_coarser_scale():
    """Many rows a hill, little room above the noise in one cell."""
    middles = [(a, b) for a in range(10, 120, 20) for b in range(10, 120, 20)]
    grid = noisy(hills(120, *middles, width=4.5, top=6), step=0.5)
    assert 33 <= label_automatically(grid, 3).labels.max() + 1 <= 39


def test_sparser_grids_are_smoothed_more():
    full, thin = np.full((20, 20), 9.0), np.full((20, 20), 0.05)
    assert suggested_sigma(NoisyGrid(full, 2.0)) == 0.7
    assert suggested_sigma(NoisyGrid(thin, 2.0)) > 2
    assert suggested_sigma(NoisyGrid(-thin, 2.0)) <= 5.6
    assert suggested_sigma(NoisyGrid(full)) == 0.7


def test_in_four_columns_the_filter_holds_a_row_whatever_the_budget():
    thin = np.full((10, 10, 10, 10), 1 / 16)
    assert suggested_sigma(NoisyGrid(thin, 0.01)) == suggested_sigma(NoisyGrid(thin)) == 2.0


def test_the_cut_avoids_every_pass():
    rng = np.random.default_rng(1)
    significance = np.concatenate([rng.exponential(0.5, 80), [3.1, 6.0, 12.0]])
    cut = widest_gap(significance)
    chance = math.sqrt(2 * math.log(85))
    assert 0.85 * chance <= cut <= 1.4 * chance
    assert np.abs(np.log(significance / cut)).min() > 0.1


def test_a_tree_without_passes_can_be_cut():
    assert widest_gap(np.zeros(0)) == pytest.approx(
        math.sqrt(0.85 * 1.4) * math.sqrt(2 * math.log(2))
    )
