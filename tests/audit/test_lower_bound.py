import math

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.errors import DimensionMismatch, InvalidSetting, TooFewDraws
from shoal.privacy import LocalDP, MetricDP, PureDP, Unprotected

ONES = np.ones(1_000)


def coins(p: float, n: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(n) < p).astype(int)


def test_it_finds_most_of_the_true_epsilon_and_no_more():
    p = math.e / (1 + math.e)
    found = lower_bound_of(coins(p, 200_000, 1), coins(1 - p, 200_000, 2), claim=PureDP(1))
    assert 0.95 < found.epsilon < 1
    assert found.verdict == "consistent"
    assert float(found) == found.epsilon


def test_the_ceiling_is_what_so_many_draws_can_show():
    everything = lower_bound_of(np.zeros(200_000), np.ones(200_000))
    assert everything.ceiling == pytest.approx(9.72, abs=0.01)
    assert everything.epsilon == pytest.approx(everything.ceiling, abs=0.05)
    assert everything.notes[0] == "deterministic"
    assert lower_bound_of(np.zeros(10_000), np.ones(10_000)).ceiling == pytest.approx(
        6.73, abs=0.01
    )


def test_an_event_fixed_in_advance_is_tested_on_all_draws():
    found = lower_bound_of(
        np.random.default_rng(1).normal(0, 1, 20_000),
        np.random.default_rng(2).normal(3, 1, 20_000),
        event=lambda z: z[:, 0] > 1.5,
    )
    assert found.epsilon > 2
    assert found.ceiling == pytest.approx(math.log(20_000 / math.log(400)))
    assert "other way round" in found.event


def test_one_law_on_both_sides_seldom_shows_anything():
    """1,000 runs at alpha = 0.01: at most alpha + 3 s.e. of them may exceed 0."""
    rng = np.random.default_rng(3)
    exceed = sum(
        lower_bound_of(rng.geometric(0.3, 4_000), rng.geometric(0.3, 4_000)).epsilon > 0
        for _ in range(1_000)
    )
    assert exceed <= 1_000 * (0.01 + 3 * math.sqrt(0.01 * 0.99 / 1_000))


def test_a_leak_chosen_and_tested_on_the_same_draws_would_be_invented():
    """2,000 equally likely values: the split keeps the bound at 0 though each half fits noise."""
    rng = np.random.default_rng(4)
    assert lower_bound_of(rng.integers(0, 2_000, 8_000), rng.integers(0, 2_000, 8_000)).epsilon == 0


def test_rows_of_several_numbers_are_outputs_too():
    same = np.random.default_rng(5).integers(0, 2, (20_000, 1))
    other = np.random.default_rng(6).integers(0, 2, (20_000, 1))
    tied = np.hstack([same, same])
    free = np.hstack([same, other])
    assert lower_bound_of(free, tied).epsilon > 3


def test_failures_are_outputs_like_any_other():
    A = np.where(np.random.default_rng(7).random(5_000) < 0.5, np.nan, 1.0)
    assert lower_bound_of(A, np.ones(5_000)).epsilon > 3
    text = np.where(np.isnan(A), "NotFinite", "fine")
    assert lower_bound_of(text, np.full(5_000, "fine")).epsilon > 3


def test_equal_constants_show_nothing():
    found = lower_bound_of(np.ones(1_000), np.ones(1_000), claim=1)
    assert (found.epsilon, found.notes, found.verdict) == (0, ("constant",), "consistent")


@pytest.mark.parametrize(("claim", "verdict"), [
    (1.0, "violated"), (LocalDP(2), "violated"), (20, "consistent"),
    (None, "no claim"), (Unprotected("a twin"), "no claim"),
])  # fmt: skip
def test_the_verdict_is_held_against_the_claim(claim, verdict):
    assert lower_bound_of(np.zeros(5_000), np.ones(5_000), claim=claim).verdict == verdict


def test_delta_is_taken_off():
    A, B = coins(0.5, 100_000, 8), coins(0.4, 100_000, 9)
    assert lower_bound_of(A, B, delta=0.2).epsilon == 0
    assert lower_bound_of(A, B).epsilon > 0.1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lower_bound_of(np.ones(999), np.ones(999)), TooFewDraws),
        (lambda: lower_bound_of(np.ones((1_000, 2)), np.ones((1_000, 3))), DimensionMismatch),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_001)), DimensionMismatch),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_000), alpha=0.5), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_000), alpha=math.nan), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_000), delta=1), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.ones(1_000), claim=MetricDP(1)), InvalidSetting),
        (lambda: lower_bound_of(*np.random.default_rng(1).random((2, 40_000))), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.zeros(1_000), claim=math.nan), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.zeros(1_000), claim="1"), InvalidSetting),
        (lambda: lower_bound_of(np.ones(1_000), np.zeros(1_000), delta="0"), InvalidSetting),
        (lambda: lower_bound_of([object()] * 1_000, [object()] * 1_000), InvalidSetting),
        (lambda: lower_bound_of(5, 6), InvalidSetting),
        (lambda: lower_bound_of(ONES, np.zeros(1_000), event=lambda z: True), InvalidSetting),
        (lambda: lower_bound_of(ONES, np.zeros(1_000), event=lambda z: z), InvalidSetting),
    ],
)  # fmt: skip
def test_bad_input_gets_a_named_error(call, error):
    with pytest.raises(error):
        call()
