"""The threshold draw, corrected and broken. alpha = 1e-6, seeds fixed."""

import pytest

from shoal.audit import lower_bound_of
from shoal.audit.twins import twins
from shoal.mechanisms import Choices, Exponential, ScoredIntervals
from shoal.privacy import PureDP
from shoal.randomness import Randomness

DRAWS = 6_000
TOP = 64  # public end of the range


def rank_scores(values: list[int], top: int) -> tuple[list[int], list[int]]:
    """Intervals between the values, scored by how far their rank is from the middle one."""
    inside = sorted(min(v, top) for v in values)
    ranks = range(len(inside), -1, -1)
    return [0, *inside, top], [-abs(rank - len(inside) // 2) for rank in ranks]


def corrected(values, rng):
    return Exponential(PureDP(1)).release(ScoredIntervals(*rank_scores(values, TOP)), rng)


def audited(release, first, second):
    noise = Randomness(31).noise
    A, B = ([release(x, noise) for _ in range(DRAWS)] for x in (first, second))
    return lower_bound_of(A, B, claim=1.0, alpha=1e-6)


def test_the_corrected_threshold_certifies_no_more_than_epsilon():
    assert audited(corrected, [9, 5, 4], [10, 5, 4]).verdict == "consistent"
    assert audited(corrected, [9, 5, 4], [60, 5, 4]).verdict == "consistent"


def test_a_choice_among_scores_certifies_no_more_than_epsilon():
    def pick(scores, rng):
        return Exponential(PureDP(1)).release(Choices(scores), rng)

    found = audited(pick, [3, 3, 3], [4, 2, 2])
    assert found.verdict == "consistent"
    assert found.epsilon > 0.2


@pytest.mark.parametrize(
    "name",
    [
        "PrivTHREM up to the true maximum, epsilon 1",
        "PrivTHREM without interval lengths",
        "exponential mechanism, normaliser forgotten",
        "exponential mechanism, sensitivity too small",
    ],
)
def test_twins_are_caught(name):
    assert twins[name].run(draws=40_000).verdict == "violated"
