import math

import numpy as np
import pytest

from shoal.errors import InvalidBudget, InvalidSetting, NotNumeric
from shoal.mechanisms import ProductNorm
from shoal.privacy import LocalDP, PureDP
from shoal.randomness import Randomness

BLOCKS, SENSITIVITIES = (1, 1, 3, 6), (1, 2**16, 1, 1)


def made(epsilon=1, blocks=BLOCKS, sensitivities=SENSITIVITIES):
    return ProductNorm(PureDP(epsilon), blocks, sensitivities)


@pytest.mark.parametrize("shape", [(11,), (3, 11), (2, 3, 11), (0, 11)])
def test_it_keeps_the_shape_and_whole_numbers(shape):
    noisy = made().release(np.zeros(shape, int), Randomness(1).noise)
    assert noisy.shape == shape
    assert noisy.dtype == np.int64


def test_the_noise_does_not_depend_on_the_value():
    value = np.arange(22).reshape(2, 11) * 1000
    noisy, alone = (
        made().release(each, Randomness(2).noise) for each in (value, np.zeros_like(value))
    )
    assert np.array_equal(noisy - value, alone)


def test_the_deviations_are_those_stated():
    drawn = made("0.5").release(np.zeros((20_000, 11), int), Randomness(3).noise)
    stated = np.repeat(made("0.5").deviations(), BLOCKS)
    assert drawn.std(axis=0) == pytest.approx(stated, rel=0.05)


def test_one_block_alone_has_the_deviation_of_laplace_noise():
    assert made(1, (7,), (1,)).deviations() == (math.sqrt(2),)


def test_noise_of_a_fine_lattice_is_decided_in_decimals():
    mechanism = made(1, (1, 2), (2**40, 2**40))
    drawn = mechanism.release(np.zeros((30, 3), int), Randomness(4).noise)
    assert 0.5 < np.abs(drawn / 2**40).mean() < 3
    assert len(set((drawn % 1024).ravel().tolist())) > 70  # the low bits are noise too


@pytest.mark.parametrize("value", [5, np.zeros((3, 0), int), np.zeros(11), np.zeros(10, int), "x"])
def test_what_is_no_array_of_whole_vectors_of_its_length_is_refused(value):
    with pytest.raises(NotNumeric):
        made().release(value, Randomness(1).noise)


@pytest.mark.parametrize("blocks", [(), (0,), (1, -2), (1.5,), (True,)])
def test_blocks_that_are_no_whole_numbers_from_one_are_refused(blocks):
    with pytest.raises(InvalidSetting, match="blocks"):
        ProductNorm(PureDP(1), blocks)


@pytest.mark.parametrize("sensitivities", [(1, 0), (1, math.nan), (1, None)])
def test_a_sensitivity_that_is_no_positive_number_is_refused(sensitivities):
    with pytest.raises(InvalidSetting, match="sensitivity"):
        ProductNorm(PureDP(1), (1, 2), sensitivities)


def test_a_sensitivity_for_each_block_is_needed():
    with pytest.raises(InvalidSetting, match="2 blocks and 1 sensitivities"):
        ProductNorm(PureDP(1), (1, 2), (1,))


def test_another_kind_of_promise_is_refused():
    with pytest.raises(InvalidSetting, match="PureDP"):
        ProductNorm(LocalDP(1), (1,))


def test_noise_too_wide_for_integers_is_refused():
    with pytest.raises(InvalidBudget, match="2\\*\\*-40 and 1000"):
        made(1, (1, 1), (1, 2**41))


def test_the_worst_ratio_is_that_of_the_block_that_moved_most():
    zero, moved = np.zeros(11, int), np.zeros(11, int)
    moved[[0, 1, 2, 5]] = 1, 2**15, -1, 1
    assert made(2).worst_ratio(zero, moved) == 2  # epsilon, whatever the number of blocks
    moved[3] = 1  # two categories of one column: a row replaced
    assert made(2).worst_ratio(zero, moved) == 4


def test_the_log_ratio_never_exceeds_the_worst():
    value = np.zeros(11, int)
    other = np.array([1, 2**16, 0, 1, 0, 0, 0, 0, 0, 0, 1])
    for output in made().release(np.zeros((50, 11), int), Randomness(5).noise):
        for one, two in ((value, other), (other, value)):
            assert made().log_ratio(output, one, two) <= made().worst_ratio(one, two)


def test_only_vectors_that_moved_count_and_their_losses_add_up():
    zero, moved = np.zeros((3, 11), int), np.zeros((3, 11), int)
    moved[1, 0], moved[2, 3] = 1, 1
    assert made().worst_ratio(zero, moved) == 2
    assert made().log_ratio(zero + 5, zero, zero) == 0
