"""Redrawing costs as much as the noise again: sold for less, it is caught at a corner."""

import numpy as np
import pytest

from shoal import Box, NDLaplace, Randomness
from shoal.audit import lower_bound_of
from shoal.audit.twins import twins
from shoal.mechanisms import Restrict

DRAWS = 150_000


def corner_pair(d, calibrate):
    """Reports of a corner and of a point one unit along the diagonal, at epsilon 1."""
    box = Box.of([f"x{i}" for i in range(d)], np.zeros(d), np.full(d, 30.0))
    mechanism = Restrict(NDLaplace(1.0), box, calibrate=calibrate)
    inner = np.full(d, 1 / np.sqrt(d))
    pair = [
        mechanism.release(np.tile(x, (DRAWS, 1)), Randomness(seed).noise)
        for x, seed in ((np.zeros(d), 1), (inner, 2))
    ]

    def near_the_corner(z):
        return np.linalg.norm(z - inner, axis=1) - np.linalg.norm(z, axis=1) > 0.5

    return mechanism, lower_bound_of(
        *pair, event=near_the_corner, claim=float(mechanism.guarantee.epsilon), alpha=1e-4
    )


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("calibrate", [True, False])
def test_at_a_corner_no_more_than_the_claim_is_certified(d, calibrate):
    mechanism, found = corner_pair(d, calibrate)
    assert mechanism.guarantee.epsilon == (1 if calibrate else 2)
    assert found.verdict == "consistent"
    assert float(found) > 0.3


def test_the_twin_that_sells_the_noise_s_own_epsilon_is_caught():
    assert twins["resample until inside, distance 1"].run().verdict == "violated"
