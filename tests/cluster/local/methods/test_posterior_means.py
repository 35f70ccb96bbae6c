"""k-means on the best guess of each record."""

import numpy as np
import pytest

from shoal.cluster.local.methods._posterior_means import learn
from shoal.domain import Box
from shoal.mechanisms import NDLaplace
from shoal.randomness import Randomness


def test_guesses_are_clustered_and_labelled():
    noise = NDLaplace(2.0, domain=Box(x=(0, 10)))
    rows = np.repeat([[2.0], [8.0]], 100, axis=0)
    found = learn(noise.release(rows, Randomness(0).noise), 2, Randomness(0), np.ones(1))
    assert np.sort(found.centers[:, 0]) == pytest.approx([2, 8], abs=0.4)
    assert np.ptp(found.labels[:100]) + np.ptp(found.labels[100:]) <= 2
    assert found.points.shape == (200, 1)
