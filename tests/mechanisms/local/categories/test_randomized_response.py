"""RandomizedResponse: reports are codes of the list."""

import math

import numpy as np

from shoal.mechanisms import RandomizedResponse
from shoal.randomness import Randomness


def test_reports_are_codes_of_every_category():
    response = RandomizedResponse(1, ["a", "b", "c"])
    values = response.release(["b"] * 500, Randomness(1).noise).values
    assert set(values.tolist()) == {0, 1, 2}
    assert values.dtype == np.int64


def test_the_own_code_is_as_much_likelier_as_promised():
    response = RandomizedResponse(2, 4)
    values = response.release(np.full(200_000, 3), Randomness(1).noise).values
    counts = np.bincount(values)
    assert math.isclose(counts[3] / counts[:3].mean(), math.exp(2), rel_tol=0.03)
    assert counts[:3].max() / counts[:3].min() < 1.05
