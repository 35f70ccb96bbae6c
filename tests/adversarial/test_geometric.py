"""Our audit turned on the noise, with broken twins it must catch. alpha = 1e-6, seeds fixed."""

import numpy as np
import pytest

from shoal.audit import lower_bound_of
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


@pytest.mark.parametrize(
    "twin",
    [
        lambda x, rng: Geometric(PureDP(2)).release(x, rng),
        lambda x, rng: np.maximum(Geometric(PureDP(1)).release(x, rng), x),
        lambda x, rng: x + rng.integers(-3, 4, x.size),
        lambda x, rng: np.where(x == 6, x, Geometric(PureDP(1)).release(x, rng)),
    ],
    ids=["half the noise", "noise one way only", "noise that ends", "one value unnoised"],
)
def test_twins_of_a_count_are_caught(twin):
    assert audited(twin, 5, 6).verdict == "violated"


def test_counts_sold_as_replace_one_are_caught():
    """Two cells change when a row moves: twice epsilon."""
    noise = Randomness(22).noise
    A, B = (Geometric(PureDP(1)).release(np.tile(pair, (N, 1)), noise) for pair in ([1, 0], [0, 1]))
    found = lower_bound_of(np.clip(A, -9, 9), np.clip(B, -9, 9), claim=1, alpha=ALPHA)
    assert 1.7 < found.epsilon <= 2


def cells(count: np.ndarray) -> SparseCounts:
    """Independent cells, all empty or all of one row: each is a draw of the one-cell release."""
    keys = np.flatnonzero(count)
    return SparseCounts(keys, count[keys], count.size)


def test_an_empty_cell_and_one_row_certify_no_more_than_epsilon():
    mechanism = Geometric(PureDP(1), at_least=3)
    found = audited(lambda x, rng: mechanism.release(cells(x), rng).dense(), 0, 1)
    assert 0.8 < found.epsilon <= 1


def test_a_sparse_grid_without_false_cells_is_caught():
    def occupied_only(count, rng):
        occupied = cells(count)
        noisy = Geometric(PureDP(1)).release(occupied.counts, rng)
        return SparseCounts(occupied.keys, np.where(noisy >= 3, noisy, 0), count.size).dense()

    found = audited(occupied_only, 0, 1)
    assert found.epsilon > 6
    assert "support: one side never reaches the event" in found.notes


def test_cells_published_in_the_order_drawn_are_caught():
    """Counted cells first, drawn ones after: the place of a cell in the list tells them apart."""

    def unsorted(counts, rng):
        out = Geometric(PureDP(1), at_least=1).release(counts, rng)
        first = np.isin(out.keys, counts.keys)
        order = np.argsort(~first, kind="stable")
        return int(out.keys[order][0]) if out.keys.size else -1

    def honest(counts, rng):
        out = Geometric(PureDP(1), at_least=1).release(counts, rng)
        return int(out.keys[0]) if out.keys.size else -1

    here = SparseCounts(np.array([15]), np.array([1]), 16)
    nobody = SparseCounts(np.zeros(0, int), np.zeros(0, int), 16)
    assert audited_one_by_one(unsorted, here, nobody).epsilon > 2
    assert audited_one_by_one(honest, here, nobody).verdict == "consistent"
