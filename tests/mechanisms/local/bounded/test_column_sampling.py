"""Which columns a report carries."""

import numpy as np
import pytest

from shoal.mechanisms import Hybrid, Piecewise
from shoal.randomness import Randomness


@pytest.mark.parametrize(
    ("epsilon", "d", "k"), [(0.1, 5, 1), (2.49, 5, 1), (5, 5, 2), (7.5, 5, 3), (20, 5, 5)]
)
@pytest.mark.parametrize("mechanism", [Piecewise, Hybrid])
def test_one_column_is_reported_for_every_two_and_a_half_of_epsilon(mechanism, epsilon, d, k):
    made = mechanism(epsilon)
    assert made.columns_reported(d) == k
    values = made.release(np.full((500, d), 0.3), Randomness(1).noise).values
    assert np.all(np.count_nonzero(values, axis=1) == k)


def test_columns_not_reported_are_given_as_the_centre():
    from shoal import Box

    box = Box(a=(0, 10), b=(100, 300))
    values = Piecewise(1, domain=box).release(np.full((200, 2), [1, 150]), Randomness(1).noise)
    assert set(np.flatnonzero((values.values == [5, 200]).any(axis=1))) == set(range(200))
