import numpy as np
import pytest

from shoal.cluster.wave._noise import (
    CountPrior,
    NoiseLaw,
    estimate_counts,
    probability_of_reaching,
)


def geometric_noise(step: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    p = 1 - np.exp(-step)
    return rng.geometric(p, shape) - rng.geometric(p, shape)


@pytest.mark.parametrize("step", [0.5, 1.0, 2.0])
def test_the_share_of_empty_cells_is_found(step):
    rng = np.random.default_rng(1)
    true = np.where(rng.random(4000) < 0.7, 0, rng.poisson(12, 4000))
    prior = estimate_counts(true + geometric_noise(step, true.shape, rng), NoiseLaw(step))
    assert prior.empty == pytest.approx(0.7, abs=0.06)
    assert prior.shares.sum() == pytest.approx(1)


def test_counts_in_the_thousands_do_not_underflow():
    rng = np.random.default_rng(2)
    true = rng.poisson(5000, 900)
    prior = estimate_counts(true + geometric_noise(1.0, true.shape, rng), NoiseLaw(1.0))
    assert np.isfinite(prior.shares).all()
    assert prior.counts @ prior.shares == pytest.approx(5000, rel=0.02)


def test_counts_in_the_millions_leave_no_gap_between_rungs():
    noisy = np.array([0, 1, 50, 777_777, 1_234_567, 9_999_999])
    prior = estimate_counts(noisy, NoiseLaw(2.0))
    assert np.isfinite(prior.shares).all()
    assert prior.shares.sum() == pytest.approx(1)


def test_a_grid_of_negative_counts_is_an_empty_grid():
    prior = estimate_counts(np.full(50, -3), NoiseLaw(1.0))
    assert prior.empty == pytest.approx(1, abs=1e-3)


def test_quantiles_are_over_cells_with_rows():
    prior = CountPrior(np.arange(4), np.array([0.7, 0.1, 0.1, 0.1]))
    assert [prior.quantile(p) for p in (0.2, 0.5, 0.9)] == [1, 2, 3]
    nobody = CountPrior(np.arange(2), np.array([1.0, 0.0]))
    assert nobody.quantile(0.5) == 2  # more than any cell holds


def test_chances_match_the_frequency_of_what_they_foretell():
    rng = np.random.default_rng(3)
    true = np.where(rng.random((200, 200)) < 0.5, 0, rng.poisson(6, (200, 200)))
    noisy = true + geometric_noise(0.7, true.shape, rng)
    prior, law = estimate_counts(noisy.ravel(), NoiseLaw(0.7)), NoiseLaw(0.7)
    chance = probability_of_reaching(noisy, 5, prior, law, context=False)
    for low in (0.1, 0.3, 0.5, 0.7, 0.9):
        about = np.abs(chance - low) < 0.08
        if about.sum() > 200:
            assert (true[about] >= 5).mean() == pytest.approx(chance[about].mean(), abs=0.08)


def test_neighbours_tell_a_full_cell_from_an_empty_one():
    rng = np.random.default_rng(4)
    true = np.zeros((60, 60), dtype=int)
    true[:, 30:] = 3
    noisy = true + geometric_noise(0.5, true.shape, rng)
    prior, law = estimate_counts(noisy.ravel(), NoiseLaw(0.5)), NoiseLaw(0.5)
    wrong = [
        np.mean((probability_of_reaching(noisy, 3, prior, law, context) > 0.5) != (true == 3))
        for context in (False, True)
    ]
    assert wrong[1] < 0.6 * wrong[0]
