"""Our audit turned on vector noise, with broken twins it must catch. alpha = 1e-6, seeds fixed."""

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.audit.twins import _noise_lengths as noise_lengths
from shoal.audit.twins._noise_lengths import STEP, _diagonal_move
from shoal.mechanisms import KNorm
from shoal.privacy import PureDP
from shoal.randomness import Randomness

N = 60_000


def sides(released, second):
    """How much nearer a release is to the second value than to zero, in eighths of the move."""
    apart = np.linalg.norm(released, axis=1) - np.linalg.norm(released - second, axis=1)
    return np.rint(8 * apart / STEP).astype(int)


def audited(release, second, claim=1.0):
    noise = Randomness(31).noise
    zero = np.zeros_like(second)
    A, B = (sides(release(np.tile(value, (N, 1)), noise), second) for value in (zero, second))
    return lower_bound_of(A, B, claim=claim, alpha=1e-6)


@pytest.mark.parametrize(("m", "axes"), [(1, 1), (2, 1), (3, 3), (9, 1), (9, 9)])
def test_vectors_apart_by_the_sensitivity_certify_no_more_than_epsilon(m, axes):
    found = audited(KNorm(PureDP(1), STEP).release, _diagonal_move(m, axes))
    assert found.verdict == "consistent"
    assert found.epsilon > (0.7 if m < 4 else 0.4)  # and the instrument sees much of it


@pytest.mark.parametrize(
    "name", [name for name in noise_lengths.twins if name.startswith("vector")]
)
def test_twins_are_caught(name):
    assert noise_lengths.twins[name].run().verdict == "violated"
