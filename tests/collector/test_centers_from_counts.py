"""Centres from counts, and the cut that keeps liars of one cell from moving them."""

import numpy as np
import pytest

from shoal.collector._centers_from_counts import cap_counts, centers_of_counts
from shoal.domain import Box, Grid
from shoal.randomness import Randomness

BOX = Box.unit(2)
GRID = Grid(BOX, 16)
MIDDLES = np.array([[0.25, 0.3], [0.7, 0.75]])


def counts_of(n=20_000, deviation=20.0):
    rng = np.random.default_rng(0)
    people = MIDDLES[rng.integers(0, 2, n)] + 0.06 * rng.standard_normal((n, 2))
    counts = np.bincount(GRID.keys(BOX.clip(people)), minlength=GRID.size)
    return counts + deviation * rng.standard_normal(GRID.size)


def centers(counts):
    return centers_of_counts(counts, BOX, GRID.shape, 20.0, 20_000, 2, Randomness(1))


def distance(found):
    return max(np.linalg.norm(found - middle, axis=1).min() for middle in MIDDLES)


@pytest.mark.heavy
def test_centres_come_from_noisy_counts():
    assert distance(centers(counts_of())) < 0.02


@pytest.mark.heavy
def test_liars_in_a_corner_are_cut_and_honest_counts_are_not():
    honest = counts_of()
    capped = cap_counts(honest, GRID.shape, 20.0)
    assert np.count_nonzero(capped.cut) <= 2
    spoilt = honest.copy()
    spoilt[0] += 6_000
    capped = cap_counts(spoilt, GRID.shape, 20.0)
    assert capped.cut[0] > 5_800
    assert distance(centers(capped.counts)) < 0.03
    assert distance(centers(spoilt)) > 0.1
