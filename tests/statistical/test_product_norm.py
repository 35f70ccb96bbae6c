"""The noise has the law that the proof names: a radius, and a uniform point of each block's ball.

Seeds are fixed. With fresh seeds every test here would raise a false alarm with probability at
most 1e-6: p-values are held against 1e-6 over the number of looks, correlations against 6 standard
errors (2e-9 each).
"""

import math

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms import ProductNorm
from shoal.privacy import PureDP
from shoal.randomness import Randomness

ALARM = 1e-6
MANY = 20_000
SCALE = 2.0**17
LAYOUTS = [(1,), (4,), (1, 1, 1), (1, 3), (1, 2, 15)]


def lengths(blocks, seed=1):
    """The sum of absolute noise in each block, in units of the noise."""
    mechanism = ProductNorm(PureDP("0.5"), blocks, [2**16] * len(blocks))
    zeros = np.zeros((MANY, sum(blocks)), dtype=np.int64)
    noise = np.abs(mechanism.release(zeros, Randomness(seed).noise)) / SCALE
    return np.add.reduceat(noise, np.cumsum([0, *blocks[:-1]]), axis=1), noise


@pytest.mark.parametrize("blocks", LAYOUTS)
def test_the_norm_is_gamma_of_shape_m(blocks):
    """Density e^-|z| in M dimensions: the norm itself is Gamma of shape M."""
    norm = lengths(blocks)[0].max(axis=1)
    assert stats.kstest(norm, stats.gamma(sum(blocks)).cdf).pvalue > ALARM


def test_a_norm_of_another_shape_is_caught():
    norm = lengths((1, 2, 5))[0].max(axis=1)
    for shape in (7.7, 8.3):
        assert stats.kstest(norm, stats.gamma(shape).cdf).pvalue < ALARM


@pytest.mark.parametrize("blocks", [(1, 3), (1, 2, 15)])
def test_the_longest_block_is_drawn_by_its_share_of_the_coordinates(blocks):
    """On the sphere of a product of balls a block leads with probability m_b / M."""
    leading = np.bincount(lengths(blocks)[0].argmax(axis=1), minlength=len(blocks))
    expected = MANY * np.array(blocks) / sum(blocks)
    assert stats.chisquare(leading, expected).pvalue > ALARM


def test_a_block_that_does_not_lead_is_uniform_in_its_ball():
    blocks = (1, 3)
    length, _ = lengths(blocks)
    others = length[:, 1] < length[:, 0]
    share = length[others, 1] / length[others, 0]
    assert stats.kstest(share, stats.beta(3, 1).cdf).pvalue > ALARM


def test_within_a_block_every_coordinate_has_the_same_share():
    _, noise = lengths((1, 3))
    within = noise[:, 1:] / noise[:, 1:].sum(axis=1, keepdims=True)
    for column in within.T:
        assert stats.kstest(column, stats.beta(1, 2).cdf).pvalue > ALARM / 3


def test_vectors_have_nothing_to_do_with_each_other():
    norm = lengths((1, 2, 5))[0].max(axis=1)
    assert abs(np.corrcoef(norm[1:], norm[:-1])[0, 1]) < 6 / math.sqrt(MANY)


def test_the_law_it_states_is_what_it_draws(often_drawn):
    """At most 200 outputs are looked at, at 5.5 standard errors (4e-8) each."""
    noise, value, other = (
        ProductNorm(PureDP(1), (1, 2), (3, 2)),
        np.zeros(3, int),
        np.array([3, 1, 1]),
    )

    def draw(vector, n, rng):
        return map(tuple, noise.release(np.tile(vector, (n, 1)), rng).tolist())

    for output, (seen, error) in often_drawn(draw, value, other, 100_000).items():
        stated = noise.log_ratio(np.array(output), value, other)
        assert stated - 2 - 5.5 * error < seen < stated + 5.5 * error
