import numpy as np
import pandas as pd
import pytest

from shoal.audit._draws import Batched, Failure, draw_outputs, has_own_randomness, takes_stream
from shoal.domain import Categories, SparseCounts
from shoal.errors import InvalidSetting
from shoal.mechanisms import (
    Choices,
    Exponential,
    Geometric,
    KNorm,
    Mixed,
    NDLaplace,
    ProductNorm,
    RandomizedResponse,
)
from shoal.privacy import PureDP
from shoal.randomness import Randomness


def outputs(mechanism, x, n=5, seed=1):
    return draw_outputs(mechanism, x, n, Randomness(seed).noise)


def test_a_mechanism_for_records_gets_copies_of_the_record_in_one_release():
    assert np.asarray(outputs(NDLaplace(1.0), [0.0, 0.0])).shape == (5, 2)
    assert np.asarray(outputs(RandomizedResponse(1.0, ["a", "b"]), "b")).shape == (5,)
    mixed = Mixed(1, {"age": (0, 110), "sex": Categories(["F", "M"])})
    assert {k: len(v) for k, v in outputs(mixed, {"age": 3, "sex": "F"}).items()} == {
        "age": 5, "sex": 5,
    }  # fmt: skip


def test_whole_numbers_and_vectors_get_copies_too():
    assert outputs(Geometric(PureDP(1)), 7).shape == (5,)
    assert outputs(Geometric(PureDP(1)), np.array([7, 8])).shape == (5, 2)
    assert outputs(KNorm(PureDP(1), 10), np.zeros(3, dtype=int)).shape == (5, 3)
    assert outputs(ProductNorm(PureDP(1), (1, 2)), np.zeros(3, dtype=int)).shape == (5, 3)


def test_other_mechanisms_release_once_for_each_output():
    chosen = outputs(Exponential(PureDP(1)), Choices([0, 1]))
    assert len(chosen) == 5
    assert set(chosen) <= {0, 1}
    sparse = SparseCounts(np.array([3]), np.array([9]), 10)
    assert all(
        isinstance(each, SparseCounts) for each in outputs(Geometric(PureDP(1), at_least=3), sparse)
    )


def test_a_function_is_called_once_for_each_output():
    calls = []

    def memo(x):
        calls.append(x)
        return len(calls)

    assert outputs(memo, 3) == [1, 2, 3, 4, 5]
    assert calls == [3] * 5


def test_a_function_of_two_gets_the_stream():
    assert takes_stream(lambda x, rng: x)
    assert takes_stream(lambda x, rng=None: x)
    assert takes_stream(lambda x, generator: x)
    assert not takes_stream(lambda x: x)
    assert not takes_stream(lambda x, scale=1.0: x)
    assert not takes_stream(min)
    assert outputs(lambda x, rng: rng.random(), 0) == outputs(lambda x, rng: rng.random(), 0)


def test_an_exception_is_an_output():
    def sometimes(x, rng):
        if rng.random() < 0.5:
            raise KeyError(x)
        return x

    found = outputs(sometimes, 1, n=40)
    assert Failure("KeyError") in found
    assert 1 in found


def test_an_interrupt_is_none():
    def stopped(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outputs(stopped, 1)


def test_a_batch_draws_all_at_once_or_fails_at_once():
    assert outputs(Batched(lambda x, n, rng: np.full(n, x)), 3).tolist() == [3] * 5
    assert outputs(Batched(lambda x, n, rng: 1 / 0), 3) == [Failure("ZeroDivisionError")] * 5


@pytest.mark.parametrize("short", [lambda x, n, rng: np.zeros(3), lambda x, n, rng: 7])
def test_a_batch_of_another_length_is_refused(short):
    with pytest.raises(InvalidSetting, match="A batch of 5"):
        outputs(Batched(short), 3)


def test_progress_is_told_while_outputs_are_drawn_one_by_one():
    told = []
    draw_outputs(lambda x: x, 1, 100, Randomness(1).noise, lambda what, share: told.append(share))
    assert told == sorted(told)
    assert len(told) == 20


def test_who_works_in_place_gets_an_input_of_its_own():
    def adds_up(x, rng):
        x += 1
        return x

    kept = np.zeros(2)
    assert [each.tolist() for each in outputs(adds_up, kept)] == [[1, 1]] * 5
    outputs(Batched(lambda x, n, rng: np.repeat(adds_up(x, rng)[:1], n)), kept)
    assert kept.tolist() == [0, 0]
    assert outputs(lambda x: x.append(1) or len(x), [1, 2]) == [3] * 5
    frame = pd.DataFrame({"a": [0.0]})
    assert len(outputs(lambda x: adds_up(x, None), frame)) == 5
    assert frame["a"].tolist() == [0]


def test_outputs_in_one_buffer_are_kept_apart():
    buffer = np.zeros(1)

    def next_number(x):
        buffer[:] += 1
        return {"n": buffer} if x else buffer

    assert [each[0] for each in outputs(next_number, 0)] == [1, 2, 3, 4, 5]
    assert [each["n"][0] for each in outputs(next_number, 1)] == [6, 7, 8, 9, 10]


def test_a_release_without_a_stream_is_called_without():
    class Own:
        def release(self, value):
            return value + 1

    assert outputs(Own(), 1) == [2] * 5
    assert has_own_randomness(Own())
    assert not has_own_randomness(Geometric(PureDP(1)))
    assert not has_own_randomness(Batched(len))


def test_what_draws_nothing_is_refused():
    with pytest.raises(InvalidSetting, match="cannot be drawn from"):
        outputs(3, 1)
