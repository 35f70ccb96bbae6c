import numpy as np
import pytest

from shoal.audit._draws import Failure
from shoal.audit.bound._outputs import samples_of
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.mechanisms import Reports, SquareWave


def kinds(sample):
    return [sample.names[kind] for kind in sample.kinds]


def test_arrays_reports_and_mappings_become_lines_of_numbers():
    first, second = samples_of(np.zeros((3, 2, 2)), np.ones((4, 2, 2)))
    assert first.values.shape == (3, 4)
    assert len(second) == 4
    reports = Reports(np.zeros((3, 1)), SquareWave(1))
    first, _ = samples_of({"a": reports, "b": reports}, {"a": reports, "b": reports})
    assert first.values.shape == (3, 2)


def test_lists_of_tuples_and_mappings_are_laid_flat():
    first, _ = samples_of([(1, [2.0, 3.0]), (4, [5.0, 6.0])], [{"a": 1.0, "b": [2, 3]}] * 2)
    assert first.values.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_failures_are_named_and_numbered_alike_on_both_sides():
    first, second = samples_of(
        [1.0, Failure("ValueError"), float("nan"), np.inf], [2.0, 3.0, 4.0, [5.0, 6.0]]
    )
    assert kinds(first) == ["", "raised ValueError", "NaN", "infinite"]
    assert kinds(second) == ["", "", "", "shape (2,) instead of ()"]
    assert first.names == second.names


def test_another_type_keeps_its_value_and_is_told():
    first, _ = samples_of([0.5, 0, 0.25], [0.5, 0.5, 0.5])
    assert kinds(first) == ["", "type int instead of float", ""]
    assert first.values[1, 0] == 0
    mixed, _ = samples_of([0.5, "none"], [0.5, 0.25])
    assert kinds(mixed) == ["", "type text instead of float"]
    assert np.isnan(mixed.values[1, 0])


def test_outputs_that_all_fail_have_no_values():
    first, _ = samples_of([Failure("KeyError")] * 3, [Failure("KeyError")] * 3)
    assert first.values.shape == (3, 0)
    assert first.is_constant


def test_equal_outputs_have_equal_codes_on_both_sides():
    first, second = samples_of([[1, 2], [1, 3]], [[1, 3], [1, 2]])
    assert first.codes.tolist() == second.codes[::-1].tolist()
    words, others = samples_of(["a", "bb"], ["bb", "ccc"])
    assert words.is_text
    assert words.codes[1] == others.codes[0]
    zeros, minus = samples_of([0.0], [-0.0])
    assert zeros.codes[0] == minus.codes[0]


def test_outputs_that_all_differ_have_codes_of_their_own():
    first, second = samples_of(np.arange(1, 40_001.0), -np.arange(1, 40_001.0))
    assert len({*first.codes.tolist(), *second.codes.tolist()}) == 80_000
    assert not first.is_constant


def test_the_usual_shape_is_that_of_the_first_halves():
    """The second halves are for testing; they have no say in what is looked at."""
    first, _ = samples_of([1.0, 2.0, *[[1.0, 2.0]] * 2], [1.0, 2.0, *[[1.0, 2.0]] * 2])
    assert kinds(first) == ["", "", *["shape (2,) instead of ()"] * 2]


def test_constants_are_known():
    first, second = samples_of(np.zeros(3), np.ones(3))
    assert first.is_constant
    assert second.is_constant
    assert not first.starts_like(second)
    assert not samples_of([1, 2], [1, 1])[0].is_constant


@pytest.mark.parametrize(
    ("first", "error"),
    [(5, InvalidSetting), ("text", InvalidSetting), (np.array([None]), InvalidSetting),
     (np.zeros((1, 3)), DimensionMismatch)],
)  # fmt: skip
def test_what_is_no_output_is_refused(first, error):
    with pytest.raises(error):
        samples_of(first, np.zeros((1, 2)))


@pytest.mark.parametrize("each", [object(), None, {1, 2}, [1, None], 2**80, b"a", 1j])
def test_outputs_nobody_can_read_are_refused_if_there_are_no_others(each):
    with pytest.raises(InvalidSetting, match="An output has an unsupported type"):
        samples_of([each] * 4, [each] * 4)


@pytest.mark.parametrize("each", [object(), None, {1, 2}, [1, None], 2**80])
def test_one_nobody_can_read_among_others_is_an_output(each):
    first, second = samples_of([1, 2, each, 3], [1, 2, 3, 4])
    assert kinds(first)[2].startswith("An output has an unsupported type: ")
    assert kinds(first)[:2] == kinds(second)[:2] == ["", ""]


def test_a_batch_that_fails_on_one_input_is_compared_with_one_that_does_not():
    for batch in (np.zeros(2), {"a": np.zeros(2), "b": np.zeros(2)}):
        first, second = samples_of(batch, [Failure("ValueError")] * 2)
        assert kinds(first) == ["", ""]
        assert kinds(second) == ["raised ValueError"] * 2


def test_outputs_of_no_numbers_are_all_alike():
    first, second = samples_of(np.empty((3, 0)), np.empty((3, 0)))
    assert first.is_constant
    assert first.starts_like(second)


def test_outputs_that_tell_of_the_next_are_known():
    fresh = np.random.default_rng(1).normal(size=(2, 5_000))
    walk, reused = fresh.cumsum(axis=1), np.repeat(fresh[:, ::2], 2, axis=1)
    alternating = np.sort(fresh, axis=1).reshape(2, 2, -1).transpose(0, 2, 1).reshape(2, -1)
    words = np.where(walk > np.median(walk, axis=1, keepdims=True), "up", "down")
    for serial in (walk, reused, alternating, words):
        assert samples_of(*serial)[0].is_serial
    coins = (fresh > 0.5).astype(int)
    for free in (fresh, coins, np.round(fresh), 1 - coins, np.zeros((2, 5_000)), coins.astype(str)):
        assert not samples_of(*free)[0].is_serial


def test_independent_outputs_are_hardly_ever_called_serial():
    """Splits of all sizes, so few outputs that chance has its best chance."""
    rng = np.random.default_rng(2)
    shares = np.linspace(0.01, 0.99, 50)
    draws = (rng.random((40, 1_000, 50)) < shares).astype(int)
    assert not any(samples_of(draw, draw)[0].is_serial for draw in draws)
