"""Four views of the records at once."""

import numpy as np
import pytest

from shoal.cluster.local.blend import learn
from shoal.domain import Box
from shoal.mechanisms import NDLaplace
from shoal.randomness import Randomness


def test_every_view_has_a_quarter_of_the_weight_and_lies_in_the_box():
    box = Box(x=(0, 10))
    rows = np.repeat([[2.0], [8.0]], 100, axis=0)
    reports = NDLaplace(2.0, bounds=box).release(rows, Randomness(0).noise)
    found = learn(reports, 2, Randomness(0), np.ones(1))
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights[-200:].sum() == pytest.approx(1 / 4)
    assert box.contains(found.points).all()
