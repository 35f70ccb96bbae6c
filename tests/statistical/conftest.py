"""The instrument that holds ``log_ratio`` to a sampler, for the tests of each mechanism's law."""

import math
from collections import Counter

import pytest

from shoal.randomness import Randomness

OFTEN = 150  # an output seen less often on either value has too large an error


@pytest.fixture
def often_drawn():
    """Draw on two values; outputs seen often on both, with the log of their ratio and its error."""

    def outputs(draw, value, other, n):
        first, second = (
            Counter(draw(v, n, Randomness(seed).noise)) for seed, v in enumerate((value, other))
        )
        shared = [o for o in first if min(first[o], second[o]) >= OFTEN]
        assert 2 <= len(shared) <= 200
        return {
            o: (math.log(first[o] / second[o]), math.sqrt(1 / first[o] + 1 / second[o]))
            for o in shared
        }

    return outputs
