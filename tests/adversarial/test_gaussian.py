"""Our audit turned on Gaussian noise, with broken twins it must catch. Seeds fixed, 1e-6."""

from fractions import Fraction

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.audit.twins import _gaussian_noise as gaussian_noise
from shoal.audit.twins._gaussian_noise import CLAIM  # a delta that can be seen in so many draws
from shoal.audit.twins._noise_lengths import STEP, _diagonal_move
from shoal.mechanisms import Gaussian
from shoal.privacy import ApproxDP, GaussianShare
from shoal.randomness import Randomness

N = 300_000


def audited(release, second, claim=CLAIM):
    """The noise along the move tells the values apart best: outputs are seen there."""
    noise = Randomness(51).noise
    direction = second / np.linalg.norm(second)
    A, B = (
        np.rint(20 * (release(np.tile(value, (N, 1)), noise) @ direction) / STEP).astype(int)
        for value in (second, np.zeros_like(second))
    )
    return lower_bound_of(A, B, claim=float(claim.epsilon), alpha=1e-6, delta=float(claim.delta))


@pytest.mark.parametrize(("m", "axes"), [(1, 1), (2, 2)])
def test_vectors_apart_by_the_sensitivity_certify_no_more_than_the_promise(m, axes):
    found = audited(Gaussian(CLAIM, STEP).release, _diagonal_move(m, axes))
    assert found.verdict == "consistent"
    assert found.epsilon > 0.8  # and the instrument sees much of it


def test_a_person_of_two_rows_certifies_no_more_than_the_promise():
    promise = ApproxDP(1, "0.01", rows=2)
    move = 2 * _diagonal_move(1, 1)
    found = audited(Gaussian(promise.per_row(), STEP).release, move, promise)
    assert found.verdict == "consistent"


@pytest.mark.parametrize(("noise_for", "verdict"), [(3, "consistent"), (1, "violated")])
def test_three_parts_together_certify_no_more_than_the_budget_they_share(noise_for, verdict):
    """The sum of three equal parts is what tells most; the twin has the noise of the whole."""
    part = Gaussian(GaussianShare.of(CLAIM, Fraction(1, noise_for)), STEP)

    def release(values, noise):
        return sum(part.release(values, noise) for _ in range(3)) / 3

    found = audited(release, _diagonal_move(1, 1))
    assert found.verdict == verdict
    assert found.epsilon > 0.8


@pytest.mark.parametrize("name", gaussian_noise.twins)
def test_twins_are_caught(name):
    assert gaussian_noise.twins[name].run().verdict == "violated"
