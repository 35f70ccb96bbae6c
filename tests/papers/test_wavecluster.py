"""Chen, Yu, Chirkova, WaveCluster with differential privacy (CIKM 2015), rerun small.

The published order of methods is not asserted: it held in none of 28 settings of
``bench/wavecluster.py``. What holds is: noise on blocks beats PrivTHR, and PrivTHREM beats PrivTHR
at epsilon 2.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons

import shoal
from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile
from shoal.domain import Box
from shoal.evaluate import cluster_dissimilarity
from shoal.privacy import Unprotected

PLAIN = Unprotected("Exact counts, to compare with.")

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data"))
pytestmark = [
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the data sets are not here; set SHOAL_DATA to their folder"
    ),
    # 300 rows under the noise of a published method are too few to tell of groups.
    pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsTold"),
]
MADE = {
    "moons": lambda: make_moons(10_000, noise=0.05, random_state=0)[0],
    "circles": lambda: make_circles(10_000, noise=0.04, factor=0.5, random_state=0)[0],
}
SETS = (("aggregation", 36, 0.5), ("pathbased", 32, 0.3), ("s1", 48, 0.5), ("t4.8k", 64, 0.5),
        ("moons", 48, 0.3), ("circles", 48, 0.3))  # fmt: skip
DRAWS = 6


@pytest.fixture(autouse=True)
def _data(monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(DATA))


def points(name):
    if name in MADE:
        return MADE[name]()
    table = shoal.data.load(name)
    return np.column_stack([table["x"], table["y"]])


def mean_dissimilarity(epsilon, **settings):
    """Over the sets and some draws, to plain WaveCluster on the same grid."""
    scores = []
    for name, cells, p in SETS:
        X = points(name)
        margin = 0.02 * np.ptp(X, axis=0)
        box = Box.of(["x", "y"], X.min(axis=0) - margin, X.max(axis=0) + margin)
        common = {"domain": box, "cells": cells, "level": 1, "min_cells": 1}
        common["selector"] = Percentile(p)
        true = WaveCluster(**common, privacy=PLAIN).fit(X).cell_labels_
        for seed in range(DRAWS):
            model = WaveCluster(**common, epsilon=epsilon, random_state=seed, **settings).fit(X)
            scores.append(cluster_dissimilarity(true, model.cell_labels_))
    return float(np.mean(scores))


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsTold")
@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_noise_on_blocks_beats_a_paid_number_of_empty_cells(epsilon):
    published = mean_dissimilarity(epsilon, method="privthr")
    assert mean_dissimilarity(epsilon) < published - 0.1


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsTold")
def test_a_drawn_level_beats_a_paid_number_of_empty_cells_at_epsilon_2():
    drawn = mean_dissimilarity(2, method="privthrem")
    assert drawn < mean_dissimilarity(2, method="privthr")
