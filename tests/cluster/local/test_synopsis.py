"""Counts learnt from reports, used as a synopsis."""

import numpy as np
import pytest

from shoal import choose
from shoal.cluster import WaveCluster
from shoal.cluster.local._synopsis import synopsis_of
from shoal.domain import Box
from shoal.mechanisms import LocalGrid
from shoal.privacy import LocalDP
from shoal.randomness import Randomness
from shoal.synopsis import Synopsis


@pytest.fixture(scope="module")
def synopsis():
    rng = np.random.default_rng(0)
    means = np.array([[0.25, 0.25], [0.75, 0.3], [0.5, 0.8]])
    rows = means[rng.integers(0, 3, 60_000)] + 0.05 * rng.normal(size=(60_000, 2))
    grid = LocalGrid(Box.unit(2), epsilon=2.0, cells=14)
    return synopsis_of(grid.release(rows, Randomness(7).noise))


def test_it_promises_what_the_reports_do(synopsis):
    assert synopsis.guarantee_ == LocalDP(2, simulation=True)  # the reports are seeded
    assert synopsis.n_rows_ == 60_000


def test_weights_are_cut_to_the_number_of_reports(synopsis):
    _, weights = synopsis.points()
    assert weights.min() > 0
    above = weights[weights > weights.min()].sum()  # cells tied with the last are kept too
    assert above <= 60_000 <= weights.sum()


def test_the_number_of_clusters_is_chosen_on_it(synopsis):
    choice = choose.k(synopsis, by="silhouette", among=range(2, 7))
    assert choice.value == 3
    assert choice.guarantee == LocalDP(2, simulation=True)  # the reports are seeded


def test_wavecluster_reads_it(synopsis):
    model = WaveCluster.from_synopsis(synopsis)
    assert model.n_clusters_ == 3
    assert model.guarantee_ == LocalDP(2, simulation=True)  # the reports are seeded
    assert len(set(model.predict([[0.25, 0.25], [0.75, 0.3], [0.5, 0.8]]))) == 3


def test_it_is_kept_and_drawn(synopsis, tmp_path):
    again = Synopsis.load(synopsis.save(tmp_path / "cells"))
    assert again.guarantee_ == LocalDP(2, simulation=True)  # the reports are seeded
    np.testing.assert_array_equal(again.points()[1], synopsis.points()[1])
    assert "<svg" in synopsis.plot().svg()
