import math

import numpy as np
import pytest

from shoal.audit.bound._events import (
    best_events,
    ceiling_of,
    certified_epsilon,
    check_levels,
    outcome_of,
)
from shoal.audit.bound._outputs import samples_of
from shoal.audit.bound._statistics import has_low_bits
from shoal.errors import InvalidSetting


def events_of(A, B, score=None, delta=0.0):
    return best_events(*samples_of(A, B), alpha=0.01, delta=delta, score=score, more=[], seed=0)


def test_there_is_one_event_for_each_direction_tested_on_the_second_half():
    rng = np.random.default_rng(1)
    events, _ = events_of(rng.normal(0, 1, 8_000), rng.normal(1, 1, 8_000))
    assert [each.of for each in events] == [4_000, 4_000]
    assert "first over second" in events[0].description
    assert "second over first" in events[1].description
    assert all(each.often > each.seldom for each in events)


def test_an_event_that_chose_itself_is_worth_nothing_on_fresh_outputs():
    """The first half of A holds values that never come back: chosen there, they are empty later."""
    A, B = np.zeros(8_000, dtype=int), np.zeros(8_000, dtype=int)
    A[:4_000] = np.arange(4_000) % 50 + 1
    events, support = events_of(A, B)
    assert events[0].often == 0
    assert events[0].value == 0
    assert support == []


@pytest.mark.parametrize("score", [None, lambda z: np.sin(1e6 * z[:, 0])])
def test_one_law_on_both_sides_shows_nothing(score):
    """Trees and a useless score fit the first half of the noise; the second half knows better."""
    rng = np.random.default_rng(2)
    events, _ = events_of(rng.normal(size=6_000), rng.normal(size=6_000), score)
    assert max(each.value for each in events) == 0


def test_a_perfect_score_that_is_wrong_on_the_second_half_certifies_nothing():
    rng = np.random.default_rng(3)
    A, B = rng.normal(0, 1, 4_000), rng.normal(0, 1, 4_000)
    learnt = set(A[:2_000].tolist())

    def by_heart(z):
        return np.array([float(value in learnt) for value in z[:, 0].tolist()])

    events, support = events_of(A, B, by_heart)
    assert max(each.value for each in events) == 0
    assert support == []


def test_the_best_of_several_statistics_is_tested():
    """Nothing differs but the low bits of floats."""
    rng = np.random.default_rng(4)
    A, B = rng.laplace(size=(2, 20_000))
    B = np.rint(B * 2**30) / 2**30
    events, _ = best_events(
        *samples_of(A, B), alpha=0.01, delta=0.0, score=None, more=has_low_bits(0, 1.0), seed=0
    )
    assert events[0].by == "low bits"
    assert events[0].value > 4


def test_what_only_one_input_reaches_is_reported_apart():
    rng = np.random.default_rng(5)
    A, B = rng.uniform(0, 1.2, 20_000), rng.uniform(0, 1, 20_000)
    _, support = events_of(A, B, score=lambda z: z[:, 0])
    said = [words for words in support if "first over second" in words]
    assert said == [] or said[0].startswith("support: only one input reached")
    far = rng.normal(0, 1, 20_000), rng.normal(0.1, 1, 20_000)
    assert events_of(*far)[1] == []  # tails seen on one side only are chance


def test_delta_is_taken_off():
    assert outcome_of("", 500, 100, 1_000, 0.01, 0.0, "").value > 1
    assert outcome_of("", 500, 400, 1_000, 0.01, 0.3, "").value == 0


def test_limits_are_those_of_clopper_and_pearson():
    """P[Binomial(m, p_low) >= k] = alpha/4, P[Binomial(m, q_high) <= l] = alpha/4."""
    from scipy.optimize import brentq
    from scipy.stats import binom

    m, k, l, alpha = 500, 120, 30, 0.02  # noqa: E741
    p_low = brentq(lambda p: binom.sf(k - 1, m, p) - alpha / 4, 1e-9, 1)
    q_high = brentq(lambda q: binom.cdf(l, m, q) - alpha / 4, 1e-9, 1)
    found = certified_epsilon(np.array([k]), np.array([l]), m, alpha, 0.01)[0]
    assert found == pytest.approx(math.log((p_low - 0.01) / q_high))


def test_the_ends_need_no_formula():
    nothing = certified_epsilon(np.array([0, 5]), np.array([3, 10]), 10, 0.01, 0)
    assert nothing[0] == -math.inf
    assert nothing[1] < 0  # the other side is always in the event


def test_all_against_none_is_the_ceiling():
    seen = certified_epsilon(np.array([100_000]), np.array([0]), 100_000, 0.01, 0)[0]
    assert seen == pytest.approx(ceiling_of(100_000, 0.01), abs=1e-3)


@pytest.mark.parametrize(
    ("alpha", "delta"),
    [(0, 0), (0.5, 0), (math.nan, 0), ("0.1", 0), (0.1, 1), (0.1, -1), (0.1, math.nan)],
)
def test_levels_outside_their_range_are_refused(alpha, delta):
    with pytest.raises(InvalidSetting):
        check_levels(alpha, delta)
