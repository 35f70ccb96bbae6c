import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize.cells import distinct, nulls_in
from shoal.errors import InvalidPolicy

COLUMNS = {
    "text": pa.array(["a", "b", None, "a"]),
    "large text": pa.array(["a", "b", None, "a"], pa.large_string()),
    "numbers": pa.array([1, 2, None, 1]),
    "floats": pa.array([1.0, 2.0, float("nan"), 1.0]),
    "categories": pa.array(["a", "b", None, "a"]).dictionary_encode(),
    "chunks": pa.chunked_array([["a", "b"], [None, "a"]]),
    "chunked categories": pa.chunked_array(
        [pa.array(["a", "b"]).dictionary_encode(), pa.array([None, "a"]).dictionary_encode()]
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_any_column_is_taken_apart(name):
    found = distinct(COLUMNS[name], [""])
    assert found.at[0] == found.at[3] >= 0
    assert found.at[1] not in (found.at[0], -1)
    assert found.at[2] == -1
    numbers = found.lookup(np.arange(len(found.values), dtype=np.int32) + 10, -7)
    assert numbers[2] == -7
    assert numbers[0] == numbers[3] >= 10


def test_spellings_of_nothing_are_nulls_with_blanks_around_them_too():
    assert nulls_in(pa.array(["", " NA ", "x"]), ["", "NA"]).tolist() == [True, True, False]
    assert nulls_in(pa.array(["", "NA"]), []).tolist() == [False, False]


def test_an_empty_column_has_no_values():
    found = distinct(pa.chunked_array([], pa.string()), [""])
    assert len(found.values) == len(found.at) == 0


def test_a_column_of_nothing_is_all_nulls():
    empty = pa.chunked_array([pa.nulls(2), pa.nulls(1)])
    assert distinct(empty, []).at.tolist() == [-1, -1, -1]


def test_lists_are_refused_in_words():
    with pytest.raises(InvalidPolicy, match="lists or structures"):
        distinct(pa.array([[1], [2]]), [])
