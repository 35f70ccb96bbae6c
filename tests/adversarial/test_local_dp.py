"""Our audit turned on the local mechanisms, each with a broken twin it must catch.

Pairs lie as far apart as their domains allow. Events are fixed in advance, or atoms chosen on one
half of the draws and tested on the other. False-alarm rate of each test: 1e-6, seeds fixed.
"""

import math

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.audit.twins import _bounded_values as bounded_values
from shoal.audit.twins import twins
from shoal.audit.twins._bounded_values import flip_half_the_signs
from shoal.audit.twins._raw_floats import _has_low_bits, is_reachable_from_first_only
from shoal.domain import Categories
from shoal.mechanisms import (
    Duchi,
    Harmony,
    Hybrid,
    Mixed,
    Piecewise,
    PrivUnit,
    RandomizedResponse,
    SquareWave,
    Staircase,
    UnaryEncoding,
)
from shoal.randomness import Randomness

ALPHA = 1e-6
N = 100_000


def draws(mechanism, x, seed):
    """N reports of one row."""
    rows = np.tile(np.asarray(x, dtype=float), (N, 1))
    return mechanism.release(rows, Randomness(seed).noise).values


def bound(mechanism, x, other, event=None, claim=1.0):
    first, second = draws(mechanism, x, 1), draws(mechanism, other, 2)
    return lower_bound_of(first, second, claim=claim, event=event, alpha=ALPHA)


def corner(d):
    return -np.ones(d)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("other", [np.ones, flip_half_the_signs])
def test_duchi_stays_within_its_claim(d, other):
    found = bound(Duchi(1), corner(d), other(d))
    assert 0.85 < float(found) <= 1, found


@pytest.mark.parametrize("d", [2, 4])
def test_harmony_stays_within_its_claim(d):
    found = bound(Harmony(1), corner(d), np.ones(d))
    assert 0.9 < float(found) <= 1, found


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_piecewise_stays_within_its_claim(d):
    """The event: some reported column lies in the window of -1, which ends at -1 times d."""
    found = bound(Piecewise(1), corner(d), np.ones(d), lambda z: (z < -d).any(axis=1))
    assert 0.9 < float(found) <= 1, found


def test_hybrid_stays_within_its_claim():
    found = bound(Hybrid(1), [-1], [1], lambda z: z[:, 0] < -1)
    assert 0.85 < float(found) <= 1, found


def test_square_wave_stays_within_its_claim():
    wave = SquareWave(1)
    found = bound(wave, [0], [1], lambda z: z[:, 0] < wave.half_width)
    assert 0.9 < float(found) <= 1, found


def stairs(z):
    """Where -1 is e^epsilon likelier than 1: before the first stair right of -1."""
    return z[:, 0] < -1 + 2 / (1 + math.exp(0.5))


def test_staircase_stays_within_its_claim():
    found = bound(Staircase(1, width=2), [-1], [1], stairs)
    assert 0.9 < float(found) <= 1, found


@pytest.mark.parametrize("d", [2, 3, 4])
def test_priv_unit_stays_within_its_claim(d):
    """The event: the report leans past the threshold towards the first corner."""
    radius = math.sqrt(d)
    found = bound(PrivUnit(1), corner(d), np.ones(d), lambda z: z @ corner(d) >= radius**2)
    assert 0.85 < float(found) <= 1, found


@pytest.mark.parametrize("oracle", [RandomizedResponse, UnaryEncoding])
def test_categories_stay_within_their_claim(oracle):
    made = oracle(1, 8)
    A = made.release(np.zeros(N, dtype=int), Randomness(1).noise)
    B = made.release(np.ones(N, dtype=int), Randomness(2).noise)
    found = lower_bound_of(A, B, claim=made.guarantee, alpha=ALPHA)
    assert 0.85 < float(found) <= 1, found


def test_a_mixed_record_stays_within_the_sum_of_its_shares():
    mixed = Mixed(1, {"age": (-1, 1), "sex": Categories(["F", "M"])})

    def sent(age, sex, seed):
        reports = mixed.release({"age": [age] * N, "sex": [sex] * N}, Randomness(seed).noise)
        negative = reports["age"].values[:, 0] < 0
        return 2 * negative + reports["sex"].values

    found = lower_bound_of(sent(-1, "F", 1), sent(1, "M", 2), claim=mixed.guarantee, alpha=ALPHA)
    assert 0.85 < float(found) <= 1, found


REAL = [Piecewise(1), Hybrid(1), PrivUnit(1), SquareWave(1), Staircase(1)]


@pytest.mark.parametrize("mechanism", REAL, ids=lambda m: type(m).__name__)
def test_the_precision_event_finds_nothing(mechanism):
    """Low bits that only one input can leave behind: {0 < |z| < 1/4, no multiple of 2^-53}."""
    assert bound(mechanism, [0], [1], _has_low_bits).verdict == "consistent"


@pytest.mark.parametrize("x", [0.37, -0.42])
def test_every_report_is_a_public_place_and_nothing_more(x):
    """The float shown is a function of a whole number, and any input can reach any of them."""
    values = draws(Piecewise(1), [x], 3)[:, 0]
    width = round(2**20 / math.exp(0.5))
    unit = (math.e * width + 2**20) / (width * math.expm1(1)) * 2 / 2**20
    middle = (2**20 + width - 1) / 2
    places = np.rint(values / unit + middle)
    assert places.min() >= 0
    assert places.max() < 2**20 + width
    assert np.array_equal((places - middle) * unit, values)


def test_the_reachable_event_finds_nothing_on_whole_steps():
    A, B = draws(Piecewise(1), [0.37], 1), draws(Piecewise(1), [-0.42], 2)

    found = lower_bound_of(A, B, claim=1.0, event=is_reachable_from_first_only, alpha=ALPHA)
    assert found.verdict == "consistent"


@pytest.mark.parametrize("name", [*bounded_values.twins, "Piecewise on raw floats"])
def test_twins_are_caught(name):
    assert twins[name].run(draws=100_000).verdict == "violated"
