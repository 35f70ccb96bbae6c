"""Two aggregators: their sums are right, their noise is whole, and neither view tells."""

import math
import os

import numpy as np
import pytest
from scipy import stats

from shoal.collector import client
from shoal.collector._aggregators import Aggregator, combine_openings, count_deviation
from shoal.errors import InvalidSetting, TooFewRows
from shoal.privacy import Ledger


def pair(cells=5, epsilon=1.0, seed=None, **settings):
    seeds = (None, None) if seed is None else (seed, seed + 1)
    return [Aggregator(cells, epsilon=epsilon, random_state=s, **settings) for s in seeds]


def send(first, second, people):
    for number, cell in enumerate(people):
        name, seed = number.to_bytes(16, "big"), os.urandom(32)
        first.add_seed(name, seed)
        second.add_share(name, client.share_of(cell, first.cells, seed))


def opened(first, second):
    here, there = first.people, second.people
    return combine_openings(first.open(there), second.open(here))


def test_the_openings_add_up_to_the_counts_and_little_noise():
    first, second = pair(5, epsilon=8.0)
    people = [0] * 40 + [3] * 17 + [4] * 3
    send(first, second, people)
    counts = opened(first, second)
    assert np.all(abs(counts - np.bincount(people, minlength=5)) < 10)


def test_a_share_alone_is_uniform_and_a_seed_tells_nothing():
    shares = [client.share_of(2, 4, os.urandom(32)) for _ in range(400)]
    first_bytes = np.frombuffer(b"".join(shares), dtype=np.uint8)
    counts = np.bincount(first_bytes, minlength=256)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_repeated_people_count_once_and_an_opening_stays_the_same():
    first, second = pair(3, epsilon=1.0)
    seed = os.urandom(32)
    share = client.share_of(1, 3, seed)
    assert first.add_seed(b"a" * 16, seed)
    assert second.add_share(b"a" * 16, share)
    assert not first.add_seed(b"a" * 16, os.urandom(32))
    assert not second.add_share(b"a" * 16, share)
    people = second.people
    assert np.array_equal(first.open(people), first.open(people))
    with pytest.raises(InvalidSetting, match="opened already"):
        first.add_seed(b"b" * 16, seed)
    with pytest.raises(InvalidSetting, match="other people"):
        first.open({b"b" * 16})


def test_who_is_missing_at_one_aggregator_is_left_out_at_both():
    first, second = pair(5, epsilon=8.0)
    send(first, second, [1] * 30)
    first.add_seed(b"only here", os.urandom(32))
    second.add_share(b"only there", client.share_of(2, 5, os.urandom(32)))
    counts = opened(first, second)
    assert np.all(abs(counts - [0, 30, 0, 0, 0]) < 10)


def test_short_vectors_and_small_epochs_are_refused():
    first, second = pair(3, n_least=2)
    seed = os.urandom(32)
    first.add_seed(b"a" * 16, seed)
    with pytest.raises(InvalidSetting, match="8 bytes"):
        second.add_share(b"a" * 16, bytes(16))
    with pytest.raises(InvalidSetting, match="32 bytes"):
        first.add_seed(b"c" * 16, bytes(31))
    second.add_share(b"a" * 16, client.share_of(1, 3, seed))
    with pytest.raises(TooFewRows, match="2 are needed"):
        first.open(second.people)
    for cells in (4, 1_025):
        with pytest.raises(InvalidSetting, match="1024"):
            Aggregator(cells, epsilon=1)


def test_the_ledger_has_one_entry_for_each_opening():
    ledger = Ledger()
    first, second = Aggregator(3, epsilon=1, ledger=ledger), Aggregator(3, epsilon=1)
    send(first, second, [0, 1])
    people = second.people
    first.open(people)
    first.open(people)
    (entry,) = ledger.entries().to_pylist()
    assert "replace" in str(entry)


def _noise(epsilon, runs, cells=1_000):
    """What is opened less what is true, many times."""
    parts = []
    for i in range(runs):
        first, second = pair(cells, epsilon, seed=2 * i, n_least=0)
        parts.append(opened(first, second))
    return np.concatenate(parts)


def two_laplaces(epsilon, most):
    """The law of the sum of two discrete Laplaces at epsilon/2 each, from -most to most."""
    z = np.arange(-4 * most, 4 * most + 1)
    one = np.exp(-epsilon / 2 * abs(z))
    one /= one.sum()
    two = np.convolve(one, one)
    middle = len(two) // 2
    return two[middle - most : middle + most + 1]


def test_the_noise_is_that_of_two_whole_discrete_laplaces():
    # False alarm: 1e-4.
    noise, most = _noise(1.0, 10), 12
    law = two_laplaces(1.0, most)
    counts = np.array([np.count_nonzero(noise == z) for z in range(-most, most + 1)])
    counts = np.append(counts, noise.size - counts.sum())
    expected = np.append(law, 1 - law.sum()) * noise.size
    assert stats.chisquare(counts, expected).pvalue > 1e-4
    assert noise.std() == pytest.approx(count_deviation(1.0), rel=0.05)


def _audit(noise):
    """A certified lower bound on epsilon from the noisy counts (1, 0) and (0, 1) of one person."""
    n = len(noise) // 2
    first, second = noise[:n], noise[n : 2 * n]
    here = np.count_nonzero((first + 1 >= 1) & (second <= 0))
    there = np.count_nonzero((first >= 1) & (second + 1 <= 0))
    low = stats.beta.ppf(1e-3, here, n - here + 1)
    high = stats.beta.ppf(1 - 1e-3, there + 1, n - there)
    return math.log(low / high)


def test_the_view_of_one_aggregator_is_within_the_claim_and_split_noise_is_caught():
    """One aggregator knows every pad, so of the other's opening it sees counts and its noise."""
    epsilon, draws = 1.0, []
    for seed in range(60):
        alone = Aggregator(1_000, epsilon=epsilon, random_state=seed, n_least=0)
        draws.append(alone.open(alone.people).astype(np.int64))
    noise = np.concatenate(draws)
    assert 0.8 <= _audit(noise) <= epsilon
    split = np.rint(noise / 2).astype(np.int64)  # a twin that adds half the noise, "both share it"
    assert _audit(split) > epsilon
