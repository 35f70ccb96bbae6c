"""Coins, bits and subsets, drawn without floats. False-alarm rate a test: 1e-6, seeds fixed."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms.exact._coins import Coin, fair_bits, random_subsets
from shoal.randomness import Randomness

ALARM = 1e-6


@pytest.mark.parametrize("epsilon", ["0.001", "1", "20"])
def test_a_coin_has_the_chance_of_its_formula(epsilon):
    coin = Coin(Fraction(epsilon), lambda E: 1 / (E + 1))
    heads = int(np.count_nonzero(coin.flip(300_000, Randomness(1).noise)))
    chance = 1 / (math.exp(float(epsilon)) + 1)
    assert stats.binomtest(heads, 300_000, chance).pvalue > ALARM


def test_bits_are_fair_in_every_place():
    bits = fair_bits((7, 20_000), Randomness(2).noise)
    assert bits.shape == (7, 20_000)
    counts = np.bincount(2 ** np.arange(7) @ bits, minlength=128)
    assert stats.chisquare(counts).pvalue > ALARM


@pytest.mark.parametrize(("d", "k"), [(5, 1), (5, 2), (6, 3), (4, 3)])
def test_all_subsets_are_equally_likely(d, k):
    picks = np.sort(random_subsets(60_000, d, k, Randomness(3).noise), axis=0)
    seen = [int(np.all(each == picks.T, axis=1).sum()) for each in combinations(range(d), k)]
    assert sum(seen) == 60_000
    assert stats.chisquare(seen).pvalue > ALARM
