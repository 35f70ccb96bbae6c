"""LocalHash: short reports about long lists. False-alarm rate of a statistical test: 1e-6."""

import math

import numpy as np
import pytest
from scipy import stats

from shoal.audit.bound._lower_bound import lower_bound_of
from shoal.errors import InvalidBudget, TooLarge, UnknownCategory
from shoal.mechanisms import UnaryEncoding
from shoal.mechanisms.local.categories._local_hash import LocalHash, _multiples
from shoal.privacy import LocalDP
from shoal.randomness import Randomness

ALARM = 1e-6


def one(size: int, at: int) -> np.ndarray:
    return np.eye(size)[at]


@pytest.mark.parametrize(("epsilon", "size"), [(0.5, 9), (1, 40), (2, 50), (3, 64)])
def test_the_chances_of_two_values_are_within_the_promise(epsilon, size):
    hashing = LocalHash(epsilon, size)
    some = {0, 1, size // 2, size - 1}
    chances = np.array([hashing.chances(one(size, at)) for at in some])
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    ratio = chances.max(axis=0) / chances.min(axis=0)
    assert math.isclose(ratio.max(), math.exp(epsilon))


def test_reports_have_the_chances_that_are_stated():
    hashing, shares = LocalHash(1, 7), np.array([0.5, 0, 0.2, 0, 0, 0.3, 0])
    values = np.repeat(np.arange(7), (shares * 400_000).astype(int))
    drawn = hashing.release(values, Randomness(3).noise).values
    expected = hashing.chances(shares)
    observed = np.bincount(drawn, minlength=expected.size)
    assert stats.chisquare(observed, observed.sum() * expected).pvalue > ALARM


@pytest.mark.parametrize(("epsilon", "size"), [(0.5, 30), (1, 144), (3, 200)])
def test_shares_are_unbiased_and_vary_as_stated(epsilon, size):
    hashing = LocalHash(epsilon, size)
    values = np.random.default_rng(0).integers(0, size // 2, 60_000)
    found = hashing.frequencies(hashing.release(values, Randomness(2).noise))
    off = (found.value - np.bincount(values, minlength=size) / values.size) / found.standard_error
    assert np.abs(off).max() < stats.norm.isf(ALARM / 2 / size)
    assert 0.6 < off.std() < 1.5
    stated = math.sqrt(hashing.variance() / values.size)
    assert math.isclose(found.standard_error[-1], stated, rel_tol=0.05)


def test_the_server_counts_the_matches_of_every_category():
    """By Fourier transforms, against the definition."""
    hashing = LocalHash(1, 20)
    g, t = hashing.buckets, hashing.digits
    codes = np.random.default_rng(1).integers(0, g ** (t + 1), 500)
    lines = np.stack(np.unravel_index(np.arange(g**t), (g,) * t), axis=1)
    matches = [np.sum(lines[codes // g] @ lines[v] % g == codes % g) for v in range(20)]
    np.testing.assert_array_equal(hashing._shares(codes)[0] * 500, matches)


def test_multiples_are_those_of_the_digits():
    assert _multiples(3, 2)[2].tolist() == [0, 2, 1, 6, 8, 7, 3, 5, 4]


@pytest.mark.heavy
def test_ten_million_reports_are_counted_to_the_last():
    hashing = LocalHash(3, 400)
    counts = hashing._shares(np.full(10**7, 77))[0] * 10**7
    assert set(counts.tolist()) == {0.0, 1e7}


@pytest.mark.parametrize("epsilon", np.arange(1, 17) / 4)
def test_the_error_is_that_of_unary_encoding(epsilon):
    assert LocalHash(epsilon, 1_000).variance() < 1.03 * UnaryEncoding(epsilon, 1_000).variance()


def test_the_audit_finds_no_more_than_is_promised():
    hashing = LocalHash(1, 30)
    first, second = (
        hashing.release(np.full(40_000, at), Randomness(at).noise).values for at in (0, 17)
    )
    assert lower_bound_of(first, second, claim=LocalDP(1)).verdict == "consistent"


def test_the_audit_catches_a_function_drawn_by_the_value():
    """The twin draws among the functions that send its value to 0 or 1 only."""
    hashing, g = LocalHash(1, 30), 3
    codes = []
    for at in (1, 17):
        rng = np.random.default_rng(at)
        functions = rng.integers(0, g**hashing.digits, 60_000)
        value = np.full(functions.size, at)
        functions = functions[hashing._hashed(functions, value) < 2][:30_000]
        own = np.where(rng.random(functions.size) < math.e / (math.e + 2), 0, 1)
        codes.append(
            functions * g + (hashing._hashed(functions, value[: functions.size]) + own) % g
        )
    assert lower_bound_of(*codes, claim=LocalDP(1)).verdict == "violated"


def test_long_tables_are_hashed_in_parts():
    hashing = LocalHash(2, 50)
    codes = np.arange(600_000) % 50
    functions = np.arange(600_000) % hashing.buckets**hashing.digits
    whole = hashing._hashed(functions, codes)
    np.testing.assert_array_equal(whole[-9:], hashing._hashed(functions[-9:], codes[-9:]))


def test_what_cannot_be_kept_is_refused():
    with pytest.raises(InvalidBudget):
        LocalHash(21, 50)
    with pytest.raises(TooLarge, check=lambda error: error.reason == "cells"):
        LocalHash(1, 2**25)
    with pytest.raises(UnknownCategory):
        LocalHash(1, 50).check([50])
