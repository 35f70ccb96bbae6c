"""Our audit turned on noise for blocks, with twins it must catch. alpha = 1e-6, seeds fixed."""

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.audit.twins import _block_noise as block_noise
from shoal.mechanisms import ProductNorm
from shoal.privacy import PureDP
from shoal.randomness import Randomness

N = 60_000
STEP = 1000


def audited(blocks, second):
    noise = ProductNorm(PureDP(1), blocks, [STEP] * len(blocks))
    starts, rng, sides = np.cumsum([0, *blocks[:-1]]), Randomness(31).noise, []
    for value in (np.zeros_like(second), second):
        released = noise.release(np.tile(value, (N, 1)), rng)
        near, far = (
            np.add.reduceat(np.abs(released - other), starts, axis=1).max(axis=1)
            for other in (0, second)
        )
        sides.append(np.rint(8 * (far - near) / STEP).astype(int))
    return lower_bound_of(*sides, claim=1.0, alpha=1e-6)


@pytest.mark.parametrize(
    ("blocks", "moved"),
    [((1,), [0]), ((1, 3), [1]), ((1, 3), [0, 2]), ((1, 1, 5), [0, 1, 3]), ((1, 15), [4])],
)
def test_vectors_apart_by_the_sensitivity_certify_no_more_than_epsilon(blocks, moved):
    second = np.zeros(sum(blocks), dtype=np.int64)
    second[moved] = STEP
    bound = audited(blocks, second)
    assert bound.verdict == "consistent"
    assert bound.epsilon > 0.3  # and the instrument sees much of it


@pytest.mark.parametrize("name", block_noise.twins)
def test_twins_are_caught(name):
    assert block_noise.twins[name].run().verdict == "violated"
