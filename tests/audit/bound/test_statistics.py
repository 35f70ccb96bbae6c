import numpy as np
import pytest

from shoal.audit._draws import Failure
from shoal.audit.bound._outputs import samples_of
from shoal.audit.bound._statistics import candidate_statistics, has_few_values, has_low_bits
from shoal.errors import InvalidSetting

RNG = np.random.default_rng(1)


def tried(A, B, score=None):
    return {each.name: each for each in candidate_statistics(*samples_of(A, B), score, seed=0)}


def test_a_few_values_are_compared_by_themselves():
    found = tried(RNG.integers(0, 9, 2_000), RNG.integers(0, 9, 2_000))
    assert set(found) == {"values"}
    assert has_few_values(*samples_of([1, 2] * 9, [1, 2] * 9))


def test_hundreds_of_values_are_seen_in_ranges_too_and_thousands_by_trees():
    assert set(tried(*RNG.integers(0, 300, (2, 5_000)))) == {"values", "ranges"}
    many = tried(*RNG.integers(0, 3_000, (2, 12_000)))
    assert set(many) == {"values", "ranges", "trees"}


def test_outputs_that_never_come_back_are_numbers_not_values():
    """A lattice of 2**-20 has fewer than 65,536 points among so few draws, each seen once."""
    lattice = np.rint(RNG.normal(size=(2, 3_000)) * 2**20) / 2**20
    assert set(tried(*lattice)) == {"ranges", "trees"}
    assert not has_few_values(*samples_of(*lattice))


def test_more_than_65536_values_are_numbers():
    many = np.repeat(np.arange(70_000), 2)
    assert set(tried(many, many, score=lambda z: z[:, 0])) == {"exact score", "ranges"}


def test_a_given_score_takes_the_place_of_trees():
    A, B = RNG.normal(size=(2, 3_000, 2))
    assert set(tried(A, B, score=lambda z: z[:, 0])) == {"exact score", "ranges"}


def test_words_that_never_come_back_are_refused():
    with pytest.raises(InvalidSetting, match="different text"):
        tried([f"a{i}" for i in range(2_000)], [f"b{i}" for i in range(2_000)])


def test_a_score_of_another_length_is_refused():
    A, B = samples_of(*RNG.normal(size=(2, 3_000)))
    exact = candidate_statistics(A, B, lambda z: z, seed=0)[0]
    with pytest.raises(InvalidSetting, match="one number for each output"):
        exact.of(A)


def test_a_value_first_seen_later_belongs_to_no_event():
    learnt = samples_of([0, 1] * 500 + [7], [0, 1] * 500 + [8])
    half = [side.part(slice(0, 1_000)) for side in learnt]
    values = candidate_statistics(*half, None, seed=0)[0]
    assert np.isnan(values.of(learnt[0])[-1])
    assert np.isnan(values.of(learnt[1])[-1])


def test_ranges_find_a_value_that_recurs():
    """A clamped column: a third of the first side lies at 0 exactly, hardly any just beside it."""
    A, B = np.abs(RNG.normal(size=(2, 20_000)))
    A[::3] = 0.0
    ranges = tried(A, B)["ranges"]
    numbers = ranges.of(samples_of(A, B)[0])
    assert numbers[A == 0].min() > numbers[A > 0].max() + 2
    assert ranges.describe(numbers[0], True).startswith("column 0 in [0, ")


def test_ranges_are_said_in_words():
    A, B = RNG.normal(size=(2, 20_000))
    words = tried(A - 3, B + 3)["ranges"].describe(2.0, True)
    assert words.startswith("column 0 in [-inf, ")


def test_trees_tell_columns_together_that_alone_say_nothing():
    A, B = RNG.normal(size=(2, 6_000, 2))
    A[:, 1] = np.sign(A[:, 0]) * np.abs(A[:, 1])
    B[:, 1] = -np.sign(B[:, 0]) * np.abs(B[:, 1])
    numbers = tried(A, B)["trees"].of(samples_of(A, B)[0])
    assert np.mean(numbers > 0) > 0.99


def test_failures_compete_like_any_other_output():
    A = np.where(RNG.random(2_000) < 0.5, np.nan, RNG.normal(size=2_000))
    found = tried(A, RNG.normal(size=2_000))["failures"]
    assert found.describe(1.0, True) == "NaN"
    assert found.describe(-0.1, False) == "no failure"


def test_low_bits_betray_the_larger_input():
    noise = RNG.laplace(size=200_000)
    zero, one = samples_of(noise, noise + 1.0)
    for bits, number in zip(has_low_bits(0, 1.0), (1, -1), strict=True):
        assert 0.17 < np.mean(bits.of(zero) == number) < 0.2
        assert np.isnan(bits.of(one)).all()
        coarse = samples_of(np.rint(noise * 2**40) / 2**40, noise)[0]
        assert np.isnan(bits.of(coarse)).all()
        assert "column 0 has bits" in bits.describe(1.0, True)


def test_a_failure_of_the_second_half_has_no_say_in_what_is_tried():
    """Names are those of all outputs; what is learnt is learnt from the ones handed in."""
    rng = np.random.default_rng(1)
    values = ([*rng.normal(size=2_000).tolist(), Failure("ValueError")] for _ in range(2))
    first, second = samples_of(*values)
    half = slice(0, 2_000)
    names = [
        each.name for each in candidate_statistics(first.part(half), second.part(half), None, 1)
    ]
    assert first.names == ("", "raised ValueError")
    assert names == ["ranges", "trees"]
