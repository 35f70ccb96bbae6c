"""Our audit turned on the local mechanisms, each with a broken twin it must catch.

Pairs are those of audit.md section 4. Events are fixed in advance, or atoms chosen on one half of
the draws and tested on the other. False-alarm rate of each test: 1e-6, seeds fixed.
"""

import math

import numpy as np
import pytest

from shoal.audit import lower_bound_of
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
from shoal.mechanisms.piecewise import piecewise_law
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


def half_flipped(d):
    return np.where(np.arange(d) < d // 2, 1.0, -1.0)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("other", [np.ones, half_flipped])
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


def test_epsilon_on_every_column_is_caught():
    """The twin of the thesis: Piecewise at the whole epsilon on each of three columns."""
    law = piecewise_law(Piecewise(1).exact_epsilon)
    A = law.draw(np.zeros((N, 3), dtype=np.int32), Randomness(1).noise)
    B = law.draw(np.full((N, 3), 2**20, dtype=np.int32), Randomness(2).noise)
    found = lower_bound_of(A, B, claim=1.0, event=lambda z: (z < -1).all(axis=1), alpha=ALPHA)
    assert float(found) > 2.6
    assert found.verdict == "violated"


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


def test_staircase_sold_as_metric_privacy_is_caught():
    """A shift of 0.1 costs epsilon on the cells between two stairs, not 0.05."""
    edge = 2 / (1 + math.exp(0.5))
    found = bound(
        Staircase(1, width=2),
        [-0.05],
        [0.05],
        lambda z: (z[:, 0] > -0.05 - edge) & (z[:, 0] < 0.05 - edge),
        claim=0.05,
    )
    assert 0.7 < float(found) <= 1
    assert found.verdict == "violated"


@pytest.mark.parametrize("d", [2, 3, 4])
def test_priv_unit_stays_within_its_claim(d):
    """The event: the report leans past the threshold towards the first corner."""
    radius = math.sqrt(d)
    found = bound(PrivUnit(1), corner(d), np.ones(d), lambda z: z @ corner(d) >= radius**2)
    assert 0.85 < float(found) <= 1, found


def test_priv_unit_with_a_wrong_ratio_would_be_caught():
    """A twin at twice the budget, held against the claim: the instrument can see it."""
    found = bound(PrivUnit(2), corner(2), np.ones(2), lambda z: z @ corner(2) >= 2)
    assert found.verdict == "violated"


@pytest.mark.parametrize("oracle", [RandomizedResponse, UnaryEncoding])
def test_categories_stay_within_their_claim(oracle):
    made = oracle(1, 8)
    A = made.release(np.zeros(N, dtype=int), Randomness(1).noise)
    B = made.release(np.ones(N, dtype=int), Randomness(2).noise)
    found = lower_bound_of(A, B, claim=made.guarantee, alpha=ALPHA)
    assert 0.85 < float(found) <= 1, found


def test_a_response_kept_as_for_two_categories_is_caught():
    def twin(code, rng):
        kept = rng.random(N) < 1 / (1 + math.exp(-1))
        other = rng.integers(0, 7, N)
        return np.where(kept, code, other + (other >= code))

    A, B = twin(0, np.random.default_rng(1)), twin(1, np.random.default_rng(2))
    found = lower_bound_of(A, B, claim=1.0, alpha=ALPHA)
    assert float(found) > 2.75
    assert found.verdict == "violated"


def test_unary_encoding_that_keeps_the_own_bit_too_often_is_caught():
    def twin(code, rng):
        chance = np.full(8, 1 / (math.e + 1))
        chance[code] = math.e / (math.e + 1)
        return (rng.random((N, 8)) < chance).astype(int)

    A, B = twin(0, np.random.default_rng(1)), twin(1, np.random.default_rng(2))
    found = lower_bound_of(A, B, claim=1.0, alpha=ALPHA)
    assert float(found) > 1.75
    assert found.verdict == "violated"


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

    def event(z):
        scaled = z[:, 0] * 2.0**53
        return (z[:, 0] != 0) & (np.abs(z[:, 0]) < 0.25) & (scaled != np.rint(scaled))

    assert bound(mechanism, [0], [1], event).verdict == "consistent"


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


def branches(x):
    """Start and length of the window, and of what lies below and above it, at epsilon 1."""
    z = math.exp(0.5)
    C = (z + 1) / (z - 1)
    left, right = (C + 1) * x / 2 - (C - 1) / 2, (C + 1) * x / 2 + (C - 1) / 2
    return (left, right - left), (-C, left + C), (right, C - right)


def raw_piecewise(x, rng, n):
    """The textbook sampler on raw floats: a twin without whole steps."""
    inside, below, above = (low + length * rng.random(n) for low, length in branches(x))
    _, (_, room_below), (_, room_above) = branches(x)
    outside = np.where(rng.random(n) < room_below / (room_below + room_above), below, above)
    return np.where(rng.random(n) < 1 / (1 + math.exp(-0.5)), inside, outside)


def reachable(x, values):
    """Whether some uniform of 53 bits takes x to the value, in any of the three branches."""
    found = np.zeros(values.shape, dtype=bool)
    for low, length in branches(x):
        nearest = np.rint((values - low) / length * 2.0**53)
        for shift in range(-4, 5):
            uniform = (nearest + shift) * 2.0**-53
            possible = (uniform >= 0) & (uniform < 1)
            found |= possible & (low + length * uniform == values)
    return found


def test_the_reachable_event_catches_raw_floats():
    A = raw_piecewise(0.37, np.random.default_rng(1), 50_000)
    B = raw_piecewise(-0.42, np.random.default_rng(2), 50_000)

    def event(z):
        return reachable(0.37, z[:, 0]) & ~reachable(-0.42, z[:, 0])

    found = lower_bound_of(A, B, claim=1.0, event=event, alpha=ALPHA)
    assert float(found) > 5
    assert found.verdict == "violated"


def test_the_reachable_event_finds_nothing_on_whole_steps():
    A, B = draws(Piecewise(1), [0.37], 1), draws(Piecewise(1), [-0.42], 2)

    def event(z):
        return reachable(0.37, z[:, 0]) & ~reachable(-0.42, z[:, 0])

    assert lower_bound_of(A, B, claim=1.0, event=event, alpha=ALPHA).verdict == "consistent"
