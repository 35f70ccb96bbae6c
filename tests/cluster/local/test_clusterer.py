"""Clusters of records nobody sees."""

import numpy as np
import pytest

from shoal import LocalClusterer
from shoal.domain import Box
from shoal.errors import NotAReport
from shoal.mechanisms import PlanarLaplace
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(0, 10))
NOISE = PlanarLaplace(2.0, bounds=BOX)
ROWS = np.repeat([[2.0, 2.0], [8.0, 8.0]], 300, axis=0)


@pytest.fixture(scope="module")
def reports():
    return NOISE.release(ROWS, Randomness(7).noise)


def test_rows_are_refused():
    with pytest.raises(NotAReport):
        LocalClusterer(2, mechanism=NOISE).fit(ROWS)


def test_the_guarantee_is_that_of_the_reports(reports):
    model = LocalClusterer(2, mechanism=NOISE, random_state=0).fit(reports)
    assert model.guarantee_ == NOISE.guarantee
