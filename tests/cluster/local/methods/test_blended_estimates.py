"""Four views of the records at once."""

import numpy as np
import pytest

from shoal.cluster.local.methods._blended_estimates import learn
from shoal.domain import Box
from shoal.mechanisms import NDLaplace
from shoal.randomness import Randomness


@pytest.mark.heavy
@pytest.mark.parametrize(("n", "last"), [(100, 1 / 4), (400, 0.25 / 3.25)])
def test_of_many_reports_corrected_ones_weigh_less_and_all_views_lie_in_the_box(n, last):
    box = Box(x=(0, 10))
    rows = np.repeat([[2.0], [8.0]], n, axis=0)
    reports = NDLaplace(2.0, domain=box).release(rows, Randomness(0).noise)
    found = learn(reports, 2, Randomness(0), np.ones(1))
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights[-2 * n :].sum() == pytest.approx(last)
    assert box.contains(found.points).all()
