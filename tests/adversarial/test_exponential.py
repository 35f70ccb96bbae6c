"""The threshold draw, corrected and broken. alpha = 1e-6, seeds fixed."""

import numpy as np

from shoal.audit import lower_bound_of
from shoal.mechanisms import Choices, Exponential, Intervals
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
    return Exponential(PureDP(1)).release(Intervals(*rank_scores(values, TOP)), rng)


def range_ends_at_the_maximum(values, rng):
    return Exponential(PureDP(1)).release(Intervals(*rank_scores(values, max(values))), rng)


def without_lengths(values, rng):
    edges, scores = rank_scores(values, TOP)
    place = Exponential(PureDP(1)).release(Choices(scores), rng)
    return int(rng.integers(edges[place], max(edges[place + 1], edges[place] + 1)))


def audited(release, first, second):
    noise = Randomness(31).noise
    A, B = ([release(x, noise) for _ in range(DRAWS)] for x in (first, second))
    return lower_bound_of(A, B, claim=1.0, alpha=1e-6)


def test_the_corrected_threshold_certifies_no_more_than_epsilon():
    assert audited(corrected, [9, 5, 4], [10, 5, 4]).verdict == "consistent"
    assert audited(corrected, [9, 5, 4], [60, 5, 4]).verdict == "consistent"


def test_a_range_that_ends_at_the_maximum_is_caught():
    found = audited(range_ends_at_the_maximum, [60, 5, 4], [9, 5, 4])
    assert found.verdict == "violated"
    assert found.epsilon > 3


def test_an_interval_without_its_length_is_caught():
    found = audited(without_lengths, [30, 29, 29], [30, 29, 62])
    assert found.verdict == "violated"


def test_a_choice_among_scores_certifies_no_more_than_epsilon():
    def pick(scores, rng):
        return Exponential(PureDP(1)).release(Choices(scores), rng)

    found = audited(pick, [3, 3, 3], [4, 2, 2])
    assert found.verdict == "consistent"
    assert found.epsilon > 0.2


def test_a_forgotten_normaliser_is_caught():
    """Each candidate tried by itself with probability e^(epsilon u/2)/e^(epsilon u_max/2)."""

    def forgotten(scores, rng):
        accept = np.exp((np.array(scores) - 4) / 2 * 2)  # claimed 1, rate of 2
        for place in rng.permutation(len(scores)):
            if rng.random() < accept[place]:
                return int(place)
        return -1

    assert audited(forgotten, [3, 3, 3], [4, 2, 2]).verdict == "violated"
