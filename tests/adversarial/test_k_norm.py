"""Our audit turned on vector noise, with broken twins it must catch. alpha = 1e-6, seeds fixed."""

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.mechanisms import KNorm
from shoal.privacy import PureDP
from shoal.randomness import Randomness

N = 60_000
STEP = 1000  # the sensitivity, in lattice steps


def sides(released, second):
    """How much nearer a release is to the second value than to zero, in eighths of the move."""
    apart = np.linalg.norm(released, axis=1) - np.linalg.norm(released - second, axis=1)
    return np.rint(8 * apart / STEP).astype(int)


def audited(release, second, claim=1.0):
    noise = Randomness(31).noise
    zero = np.zeros_like(second)
    A, B = (sides(release(np.tile(value, (N, 1)), noise), second) for value in (zero, second))
    return lower_bound_of(A, B, claim=claim, alpha=1e-6)


def along(m, axes):
    """A move of full length along the diagonal of the first axes."""
    move = np.zeros(m, dtype=np.int64)
    move[:axes] = int(STEP / np.sqrt(axes))
    return move


@pytest.mark.parametrize(("m", "axes"), [(1, 1), (2, 1), (3, 3), (9, 1), (9, 9)])
def test_vectors_apart_by_the_sensitivity_certify_no_more_than_epsilon(m, axes):
    found = audited(KNorm(PureDP(1), STEP).release, along(m, axes))
    assert found.verdict == "consistent"
    assert found.epsilon > (0.7 if m < 4 else 0.4)  # and the instrument sees much of it


def one_dimension_too_few(value, rng):
    noise = KNorm(PureDP(1), STEP).release(np.zeros((len(value), 9), int), rng)
    radius = np.linalg.norm(noise, axis=1, keepdims=True)
    shorter = rng.gamma(1, STEP, (len(value), 1))
    return value + np.rint(noise / radius * shorter).astype(int)


def each_coordinate_alone(value, rng):
    """Laplace noise of scale STEP / 3 on each of 9 coordinates: right for moves along one axis of
    a cube of that side, wrong for a length."""
    return value + np.rint(rng.laplace(0, STEP / 3, value.shape)).astype(int)


TWINS = {
    "half the noise": (KNorm(PureDP(2), STEP).release, along(3, 1)),
    "the radius of one dimension": (one_dimension_too_few, along(9, 1)),
    "noise for each coordinate alone": (each_coordinate_alone, along(9, 1)),
    "a sensitivity in squares": (KNorm(PureDP(1), STEP // 3).release, along(9, 9)),
}


@pytest.mark.parametrize(("twin", "second"), TWINS.values(), ids=TWINS)
def test_twins_are_caught(twin, second):
    assert audited(twin, second).verdict == "violated"
