import pickle

import numpy as np
import pytest

from shoal.domain import Box
from shoal.engine import Block, Rows, rows_of
from shoal.engine._rows import Terms, add_checked, integers_of, thread_count
from shoal.errors import InvalidSetting


def test_the_embedded_engine_is_rows():
    assert isinstance(rows_of(np.zeros((1, 1)), Box.unit(1)), Rows)


def test_a_block_is_as_long_as_its_rows_and_pickles():
    block = Block(np.zeros((3, 2)), np.zeros((3, 1), dtype=np.int32))
    assert len(pickle.loads(pickle.dumps(block))) == 3


@pytest.mark.parametrize(
    "terms",
    [
        {"outside": "wrap"},
        {"nonfinite": "clip"},
        {"max_rows_per_person": 2},
        {"person": "id", "max_rows_per_person": 0},
        {"person": "id", "max_rows_per_person": True},
        {"person": "id", "max_rows_per_person": 1.5},
    ],
)
def test_terms_that_make_no_sense_are_refused_with_a_next_step(terms):
    with pytest.raises(InvalidSetting) as caught:
        Terms(**terms)
    assert caught.value.hint


@pytest.mark.parametrize(
    "parts",
    [
        np.zeros(2, dtype=np.int64),
        [np.zeros(2, dtype=np.int64)],
        (np.zeros(2),),
        (np.zeros(2, dtype=np.uint64),),
        (1,),
        None,
    ],
)
def test_a_kernel_must_return_a_tuple_of_integer_arrays(parts):
    with pytest.raises(InvalidSetting, match="integers"):
        integers_of(parts)


def test_smaller_integers_are_widened():
    (part,) = integers_of((np.array([7], dtype=np.int8),))
    assert part.dtype == np.int64


def test_arrays_of_changing_shape_do_not_add():
    with pytest.raises(InvalidSetting, match="shapes"):
        add_checked((np.zeros(2, dtype=np.int64),), (np.zeros(3, dtype=np.int64),))
    with pytest.raises(InvalidSetting, match="shapes"):
        add_checked((np.zeros(2, dtype=np.int64),), ())


def test_the_environment_says_how_many_threads(monkeypatch):
    monkeypatch.setenv("SHOAL_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.delenv("SHOAL_THREADS")
    assert thread_count() >= 1


@pytest.mark.parametrize("asked", ["0", "two", "-1", "1.5"])
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch, asked):
    monkeypatch.setenv("SHOAL_THREADS", asked)
    with pytest.raises(InvalidSetting, match="SHOAL_THREADS"):
        thread_count()
