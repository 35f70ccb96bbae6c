"""Simulated sums have the law of so many clients."""

import numpy as np
import pytest

from shoal.collector._simulation import simulate_sums
from shoal.mechanisms import RandomizedResponse
from shoal.mechanisms.local.categories._local_hash import LocalHash


@pytest.mark.heavy
@pytest.mark.parametrize("oracle", [RandomizedResponse(1.0, 9), LocalHash(2.0, 60)])
def test_estimates_from_simulated_sums_have_the_stated_error(oracle):
    rng = np.random.default_rng(1)
    counts = rng.multinomial(10**8, rng.dirichlet(np.ones(oracle.size)))
    scores = []
    for _ in range(10):
        sums = simulate_sums(oracle, counts, rng)
        assert sums.sum() == 10**8
        estimate = oracle.frequencies_from_tally(sums)
        scores.append((estimate.value - counts / 10**8) / estimate.standard_error)
    scores = np.concatenate(scores)
    assert abs(scores.mean()) < 5 / np.sqrt(scores.size)
    assert 0.8 < scores.std() < 1.2


def test_nobody_sends_nothing():
    oracle = RandomizedResponse(1.0, 3)
    assert simulate_sums(oracle, np.zeros(3, dtype=np.int64), np.random.default_rng(0)).sum() == 0
