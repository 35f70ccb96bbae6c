from fractions import Fraction

import numpy as np
import pytest

from shoal.estimator import Spending
from shoal.mechanisms import Geometric
from shoal.privacy import ApproxDP, Ledger, PureDP
from shoal.randomness import Randomness
from shoal.synopsis.mixed._block_release import Blocks, square_root

ADULT = Blocks((1, 1, 1, 1, 1, 5, 6, 7, 9, 15), (1, 2**16, 2**16, 2**16, 1, 1, 1, 1, 1, 1))


def spending(epsilon=1, seed=1):
    page = Ledger().open(PureDP(epsilon), by="test")
    return Spending(None, page, page.budget, Randomness(seed))


def test_blocks_of_like_size_share_noise_and_shares_add_up():
    groups = ADULT._groups()
    assert [group for group, _ in groups] == [(0, 1, 2, 3, 4), (5, 6, 7, 8), (9,)]
    assert sum(share for _, share in groups) == Fraction(1)


def test_the_whole_budget_is_spent_and_no_more():
    given = spending()
    ADULT.release(given, np.zeros((3, ADULT.length), dtype=np.int64), of="groups")
    assert given.page.total().epsilon == 1


def test_the_deviation_is_less_than_that_of_noise_for_each_block():
    """Counts over their own split: epsilon is shared in proportion to each block's root."""
    even = np.sqrt(2) * len(ADULT.sizes)
    assert np.sqrt(np.mean(ADULT.deviations(1.0) ** 2)) < 0.8 * even


@pytest.mark.heavy
@pytest.mark.parametrize("blocks", [ADULT, Blocks((3,), (1,)), Blocks((1, 40), (1, 1))])
def test_noise_has_the_deviation_that_is_stated(blocks):
    value = np.zeros((4000, blocks.length), dtype=np.int64)
    noisy = blocks.release(spending(), value, of="groups")
    units = np.repeat(blocks.sensitivities, blocks.sizes)
    assert (noisy / units).std(axis=0) == pytest.approx(blocks.deviations(1.0), rel=0.12)
    drawn = blocks.draw(1.0, 20_000, np.random.default_rng(1))
    assert drawn.std(axis=0) == pytest.approx(blocks.deviations(1.0), rel=0.06)


def test_a_row_loses_the_budget_over_all_groups_and_no_more():
    """The worst ratio of each group's mechanism, for a row that moves every block fully."""
    total, budget = 0.0, PureDP(1)
    for group, share in ADULT._groups():
        sizes = [ADULT.sizes[b] for b in group]
        moved = np.zeros(sum(sizes), dtype=np.int64)
        starts = np.cumsum([0, *sizes[:-1]])
        moved[starts] = [ADULT.sensitivities[b] for b in group]
        noise = ADULT._noise(PureDP(budget.epsilon * share), group)
        total += noise.worst_ratio(np.zeros_like(moved), moved)
    assert total == pytest.approx(1)


def test_a_block_alone_has_geometric_noise():
    assert isinstance(Blocks((7,), (1,))._noise(PureDP(1), (0,)), Geometric)


def test_gaussian_blocks_have_one_deviation_in_their_sensitivities_and_take_the_whole_part():
    blocks = Blocks((1, 1, 1, 4), (1, 1000, 1000, 1))
    page = Ledger().open(ApproxDP(1, 1e-6), by="test")
    spending = Spending(None, page, page.budget, Randomness(1)).with_gaussian(Fraction(1))
    half = spending.share(Fraction(1, 2))
    noisy = blocks.release(half, np.zeros((4_000, 7), dtype=np.int64), of="sums")
    expected = blocks.deviations(half.epsilon, half.gaussian_share)
    seen = noisy.std(axis=0) / np.array([1, 1000, 1000, 1, 1, 1, 1])
    assert seen == pytest.approx(expected, rel=0.06)
    assert page.gaussian_left == Fraction(1, 2)
    assert blocks.draw(0.5, 4_000, np.random.default_rng(1), half.gaussian_share).std(
        axis=0
    ) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("number", [1, 2, 9, 60])
def test_roots_of_numbers_of_blocks_are_rounded_up(number):
    assert number <= square_root(number) ** 2 < number + Fraction(1, 2**24)
