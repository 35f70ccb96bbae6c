import math

import numpy as np
import pytest

from shoal.cluster.wave._grouping import label_automatically, widest_gap
from shoal.cluster.wave._noise import NoiseLaw, NoisyGrid


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


def test_touching_squares_stay_apart_as_noise_vanishes():
    """The floor once sank with the noise, below the thin gap between them."""
    rng = np.random.default_rng(3)
    true = np.zeros((40, 40))
    true[4:36, 4:18], true[4:36, 21:35] = 2, 2
    rows = rng.poisson(true)
    for variance in (0.3, 0.03, 0.0):
        labels = label_automatically(NoisyGrid(rows, variance), 3).labels
        assert labels.max() == 1
        assert labels[20, 10] != labels[20, 28]
