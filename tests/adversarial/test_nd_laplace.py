"""Our audit turned on Laplace noise: certified epsilon stays below the claim, twins are caught."""

import numpy as np
import pytest

from shoal import Box, NDLaplace, Randomness
from shoal.audit import lower_bound_of
from shoal.audit.twins import twins
from shoal.audit.twins._raw_floats import _has_low_bits
from shoal.mechanisms import clamp

DRAWS = 100_000


def outputs(mechanism, record, seed, draws=DRAWS):
    rows = np.tile(np.asarray(record, dtype=float), (draws, 1))
    return mechanism.release(rows, Randomness(seed).noise)


def claim_of(mechanism, distance):
    return float(mechanism.guarantee.epsilon) * distance + float(mechanism.guarantee.slack)


def likelier_under(x, other, threshold):
    """The event that a report speaks for x by this much: exact, and fixed before drawing."""

    def event(z):
        gain = np.linalg.norm(z - other, axis=1) - np.linalg.norm(z - x, axis=1)
        return gain >= threshold

    return event


@pytest.mark.parametrize(
    ("d", "threshold", "seen"), [(1, 0.99, 0.9), (2, 0.9, 0.8), (3, 0.85, 0.7), (10, 0.6, 0.4)]
)
def test_exact_likelihood_ratios_certify_no_more_than_the_claim(d, threshold, seen):
    mechanism = NDLaplace(1.0, scale=np.ones(d))
    x, other = np.zeros(d), np.eye(d)[0]
    found = lower_bound_of(
        outputs(mechanism, x, 1),
        outputs(mechanism, other, 2),
        event=likelier_under(x, other, threshold),
        claim=claim_of(mechanism, 1),
        alpha=1e-6,
    )
    assert found.verdict == "consistent"
    assert seen < float(found)


def test_clamped_reports_certify_no_more_than_plain_ones():
    mechanism = NDLaplace(1.0, scale=[1.0])
    ends = [clamp(Box.unit(1))(outputs(mechanism, [x], seed)) for x, seed in ((0, 3), (1, 4))]
    at_zero = lower_bound_of(*ends, event=lambda z: z[:, 0] == 0, claim=claim_of(mechanism, 1))
    assert at_zero.verdict == "consistent"
    assert float(at_zero) > 0.9


@pytest.mark.parametrize("lattice", ["auto", 2.0**-30, 0.3])
def test_on_the_lattice_low_bits_tell_nothing(lattice):
    mechanism = NDLaplace(1.0, lattice=lattice)
    pair = outputs(mechanism, [0.0], 5), outputs(mechanism, [1.0], 6)
    assert float(lower_bound_of(*pair, event=_has_low_bits, claim=1.0)) == 0


@pytest.mark.parametrize(
    "name",
    [
        "Laplace noise on raw floats",
        "Gamma shape 1 at d = 2",
        "Gamma shape 2 at d = 3",
        "Gamma shape 6 at d = 7",
        "2-D angle in a quarter circle",
        "3-D polar angle uniform",
    ],
)
def test_twins_are_caught(name):
    assert twins[name].run().verdict == "violated"
