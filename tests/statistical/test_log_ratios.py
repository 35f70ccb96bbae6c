"""What a mechanism says of its law is what its sampler draws.

Outputs are drawn on two values; the logarithm of the ratio of their frequencies is held against
``log_ratio``. Seeds are fixed; with fresh ones a test would raise a false alarm with probability at
most 1e-5: at most 200 outputs are looked at, at 5.5 standard errors (4e-8) each.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.domain import SparseCounts
from shoal.mechanisms import Exponential, Gaussian, Geometric, KNorm, TreeSplits
from shoal.mechanisms.central._exponential import Choices, ScoredIntervals
from shoal.mechanisms.central._tree_splits import TreeCounts
from shoal.privacy import ApproxDP, PureDP

ERRORS = 5.5


def one_by_one(mechanism, key):
    return lambda value, n, rng: [key(mechanism.release(value, rng)) for _ in range(n)]


def many_vectors(mechanism):
    def draw(value, n, rng):
        return map(tuple, mechanism.release(np.tile(value, (n, 1)), rng).tolist())

    return draw


@pytest.mark.parametrize(("step", "move"), [("1", 1), ("1/3", 2), ("2", 1)])
def test_geometric_noise(often_drawn, step, move):
    noise = Geometric(PureDP(Fraction(step)))

    def draw(value, n, rng):
        return noise.release(np.full(n, value), rng).tolist()

    for output, (seen, error) in often_drawn(draw, 5, 5 + move, 200_000).items():
        assert abs(seen - noise.log_ratio(output, 5, 5 + move)) < ERRORS * error


def test_sparse_geometric_noise_and_the_cells_it_leaves_out(often_drawn):
    noise = Geometric(PureDP(1), at_least=2)
    value, other = SparseCounts([0, 2], [2, 1], 3), SparseCounts([0], [1], 3)

    def key(cells):
        return tuple(cells.keys.tolist()), tuple(cells.counts.tolist())

    seen = often_drawn(one_by_one(noise, key), value, other, 6_000)
    assert ((), ()) in seen
    for (keys, counts), (ratio, error) in seen.items():
        output = SparseCounts(keys, counts, 3)
        assert abs(ratio - noise.log_ratio(output, value, other)) < ERRORS * error


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (Choices([3, 5, 4], [1, 2, 3]), Choices([4, 5, 3], [1, 2, 3])),
        (ScoredIntervals([0, 2, 4, 8], [3, 5, 4]), ScoredIntervals([0, 3, 8], [4, 5])),
    ],
)
def test_the_exponential_mechanism(often_drawn, value, other):
    pick = Exponential(PureDP(1))
    for output, (seen, error) in often_drawn(one_by_one(pick, int), value, other, 6_000).items():
        assert abs(seen - pick.log_ratio(output, value, other)) < ERRORS * error


def test_split_tests_of_a_tree(often_drawn):
    """The whole tree is the output: rows at 0.1, and one more at 0.9 or not."""

    def counts(rows):
        def counts_of(splits):
            low, side = np.zeros(1), 1.0
            for flags in splits.flags:
                side /= 2
                low = np.add.outer(low[flags], [0, side]).ravel()
            return np.searchsorted(rows, low + side) - np.searchsorted(rows, low)

        return TreeCounts(counts_of, max_depth=2)

    grow, value, other = TreeSplits(PureDP(4)), counts([0.1, 0.1, 0.9]), counts([0.1, 0.1])
    trees = {}

    def key(splits):
        text = tuple(tuple(flags.tolist()) for flags in splits.flags)
        trees[text] = splits
        return text

    for text, (seen, error) in often_drawn(one_by_one(grow, key), value, other, 6_000).items():
        assert abs(seen - grow.log_ratio(trees[text], value, other)) < ERRORS * error


@pytest.mark.parametrize("m", [1, 2])
def test_k_norm_noise_on_so_coarse_a_lattice_that_rounding_shows(often_drawn, m):
    """The figure is never below the true one, and above it by at most the cube's diagonal."""
    noise, value, other = KNorm(PureDP(1), 3), np.zeros(m, int), np.full(m, 2)
    slack = 2 * math.sqrt(m) / 3
    for output, (seen, error) in often_drawn(many_vectors(noise), value, other, 100_000).items():
        stated = noise.log_ratio(np.array(output), value, other)
        assert stated - slack - ERRORS * error < seen < stated + ERRORS * error


def test_gaussian_noise(often_drawn):
    """Sigma is 13 here: what rounding changes is below a tenth of the error."""
    noise, value, other = Gaussian(ApproxDP(1, 1e-6), 3), np.array([0]), np.array([8])
    for output, (seen, error) in often_drawn(many_vectors(noise), value, other, 100_000).items():
        assert abs(seen - noise.log_ratio(np.array(output), value, other)) < ERRORS * error


def test_a_law_of_half_the_noise_is_caught(often_drawn):
    """The instrument sees a slip of a factor of two."""
    noise, twice = Geometric(PureDP("0.5")), Geometric(PureDP(1))

    def draw(value, n, rng):
        return noise.release(np.full(n, value), rng).tolist()

    seen = often_drawn(draw, 5, 6, 200_000)
    assert any(abs(ratio - twice.log_ratio(o, 5, 6)) > ERRORS * e for o, (ratio, e) in seen.items())
