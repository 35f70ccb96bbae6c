"""Estimates of population uniqueness, on populations drawn from the models themselves."""

import numpy as np
import pytest

from shoal.anonymize.risk._uniqueness import (
    estimate_uniques,
    pitman_share,
    snb_share,
    unique_share,
    zayatz_share,
)
from shoal.errors import InvalidSetting


def sample_of(population, fraction, seed=3):
    drawn = np.random.default_rng(seed).binomial(population, fraction)
    return np.stack(np.unique(drawn[drawn > 0], return_counts=True), axis=1)


@pytest.fixture(scope="module")
def slide_negative_binomial():
    return 1 + np.random.default_rng(1).negative_binomial(0.3, 0.05, 20_000)


@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_the_slide_negative_binomial_is_recovered(slide_negative_binomial, fraction):
    truth = (slide_negative_binomial == 1).sum() / slide_negative_binomial.sum()
    sizes = sample_of(slide_negative_binomial, fraction)
    assert snb_share(sizes, fraction) == pytest.approx(truth, rel=0.1)


@pytest.mark.heavy
def test_pitman_recovers_the_uniques_of_its_own_process():
    rng, alpha, theta = np.random.default_rng(5), 0.5, 50.0
    sizes: list[int] = []
    for n in range(6_000):  # the two-parameter Chinese restaurant
        if rng.random() < (theta + alpha * len(sizes)) / (theta + n):
            sizes.append(1)
        else:
            weights = np.array(sizes) - alpha
            sizes[rng.choice(len(sizes), p=weights / weights.sum())] += 1
    population = np.array(sizes)
    truth = (population == 1).sum() / population.sum()
    assert pitman_share(sample_of(population, 0.1), 0.1) == pytest.approx(truth, rel=0.35)


def test_zayatz_is_right_where_the_sample_is_nearly_everybody(slide_negative_binomial):
    truth = (slide_negative_binomial == 1).sum() / slide_negative_binomial.sum()
    sizes = sample_of(slide_negative_binomial, 0.7)
    assert zayatz_share(sizes, 0.7) == pytest.approx(truth, rel=0.1)


@pytest.mark.heavy
def test_the_rule_believes_pitman_in_small_samples_and_the_lower_of_two_in_large_ones():
    population = np.random.default_rng(2).geometric(0.2, 5_000)
    small = estimate_uniques(sample_of(population, 0.05), int(population.sum()))
    large = estimate_uniques(sample_of(population, 0.5), int(population.sum()))
    assert small.chosen == "pitman"
    assert small.share == small.pitman
    assert large.share == min(large.zayatz, large.snb)


def test_nobody_is_unique_where_nobody_is_alone():
    assert estimate_uniques([[2, 10], [5, 3]], 1_000).share == 0.0


@pytest.mark.heavy
def test_without_pairs_pitman_cannot_be_fitted_and_zayatz_takes_its_place():
    found = estimate_uniques([[1, 5], [9, 4]], 10_000)
    assert found.pitman is None
    assert found.chosen == "zayatz"


def test_a_table_that_is_its_population_is_as_unique_as_it_looks():
    sizes = [[1, 30], [2, 20], [3, 10]]
    assert zayatz_share(sizes, 1.0) == pytest.approx(unique_share(sizes))


def test_a_population_smaller_than_the_table_is_refused():
    with pytest.raises(InvalidSetting):
        estimate_uniques([[1, 30]], 29)
