import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.errors import DimensionMismatch, InvalidSetting, NotNumeric, PersonMissing
from shoal.perturb.tables import frame_like, names_of, numbers_of, tokens_of

COLUMNS = {"age": [31.0, 47.0], "who": ["a", "b"]}
FRAMES = [pd.DataFrame(COLUMNS, index=[7, 9]), pl.DataFrame(COLUMNS), pa.table(COLUMNS)]
frames = pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__module__)


@frames
def test_a_frame_tells_its_columns_and_gives_them_as_numbers(frame):
    assert names_of(frame) == ("age", "who")
    assert numbers_of(frame, ("age",)).tolist() == [[31.0], [47.0]]


@frames
def test_a_frame_comes_back_as_its_own_kind(frame):
    made = frame_like(frame, {"noisy": np.array([1.5, 2.5])})
    assert type(made) is type(frame)
    assert names_of(made) == ("noisy",)
    assert numbers_of(made, ("noisy",)).ravel().tolist() == [1.5, 2.5]
    if isinstance(frame, pd.DataFrame):
        assert made.index.equals(pd.RangeIndex(2))


@frames
def test_no_rows_are_no_rows(frame):
    empty = frame[:0]
    assert numbers_of(empty, ("age",)).shape == (0, 1)
    assert tokens_of(empty, "who") == []


def test_an_array_has_no_names():
    assert names_of(np.zeros((2, 2))) is None
    assert names_of([[1, 2]]) is None


@pytest.mark.parametrize("shape", [(), (3,), (2, 2, 2)])
def test_arrays_that_are_no_rows_are_refused(shape):
    with pytest.raises(DimensionMismatch, match="Reshape your data"):
        numbers_of(np.zeros(shape), None)


@pytest.mark.parametrize(
    "array",
    [
        np.array([["a"]]),
        np.array([[True]]),
        np.array([[1j]]),
        np.array([[1.0]], dtype=object),
        np.ma.masked_array([[1.0]], mask=[[True]]),
        [[1, 2], [3]],
    ],
    ids=["text", "truth", "complex", "object", "masked", "ragged"],
)
def test_what_is_no_number_is_refused(array):
    with pytest.raises(NotNumeric):
        numbers_of(array, None)


@pytest.mark.parametrize("tokens", [["7", "8"], [7, 8], [7.0, 8.0], pd.Categorical(["7", "8"])])
def test_a_token_is_one_person_however_it_is_written(tokens):
    assert tokens_of(pd.DataFrame({"who": tokens}), "who") == ["7", "8"]


@pytest.mark.parametrize("missing", [None, np.nan, ""])
def test_a_row_of_nobody_is_refused_by_count(missing):
    with pytest.raises(PersonMissing, match="1 of 2 rows have no value in 'who'"):
        tokens_of(pd.DataFrame({"who": ["ada", missing]}), "who")


def test_fractions_are_no_tokens():
    with pytest.raises(InvalidSetting, match="cannot tell people apart") as caught:
        tokens_of(pd.DataFrame({"who": [7.25, 8.5]}), "who")
    assert "7.25" not in str(caught.value)
