"""Our audit turned on the noise, with broken twins it must catch. alpha = 1e-6, seeds fixed."""

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.audit.twins import _noisy_counts as noisy_counts
from shoal.domain import SparseCounts
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP
from shoal.randomness import Randomness

N = 200_000
ALPHA = 1e-6


def audited(release, first, second, claim=1.0):
    """Bound from ``N`` draws made in one release for each of the two values."""
    noise = Randomness(21).noise
    A, B = (release(np.full(N, value), noise) for value in (first, second))
    return lower_bound_of(A, B, claim=claim, alpha=ALPHA)


def audited_one_by_one(release, first, second, draws=6_000):
    """Bound from one release a draw."""
    noise = Randomness(21).noise
    A, B = ([release(value, noise) for _ in range(draws)] for value in (first, second))
    return lower_bound_of(A, B, claim=1.0, alpha=ALPHA)


def test_a_count_and_its_neighbour_certify_no_more_than_epsilon():
    found = audited(Geometric(PureDP(1)).release, 5, 6)
    assert found.verdict == "consistent"
    assert found.epsilon > 0.9  # and the instrument sees nearly all of it


def test_a_value_that_moves_by_its_sensitivity_certifies_no_more_than_epsilon():
    mechanism = Geometric(PureDP(1), sensitivity=50)
    found = audited(lambda x, rng: mechanism.release(x, rng) // 25, 0, 50)
    assert 0.8 < found.epsilon <= 1


@pytest.mark.parametrize("name", noisy_counts.twins)
def test_twins_of_a_count_are_caught(name):
    assert noisy_counts.twins[name].run(draws=40_000).verdict == "violated"


def cells(count: np.ndarray) -> SparseCounts:
    """Independent cells, all empty or all of one row: each is a draw of the one-cell release."""
    keys = np.flatnonzero(count)
    return SparseCounts(keys, count[keys], count.size)


def test_an_empty_cell_and_one_row_certify_no_more_than_epsilon():
    mechanism = Geometric(PureDP(1), at_least=3)
    found = audited(lambda x, rng: mechanism.release(cells(x), rng).dense(), 0, 1)
    assert 0.8 < found.epsilon <= 1


def test_cells_published_by_key_certify_no_more_than_epsilon():
    """Counted cells first, drawn ones after, would tell them apart: a twin does so."""

    def first_key(cells, rng):
        out = Geometric(PureDP(1), at_least=1).release(cells, rng)
        return int(out.keys[0]) if out.keys.size else -1

    here = SparseCounts(np.array([15]), np.array([1]), 16)
    nobody = SparseCounts(np.zeros(0, int), np.zeros(0, int), 16)
    assert audited_one_by_one(first_key, here, nobody).verdict == "consistent"
