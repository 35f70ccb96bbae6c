import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.source import picked, quiet, unique
from shoal.errors import DimensionMismatch, DuplicateColumn, UnknownColumn, UnreadableTable


def test_a_table_without_columns_is_refused():
    with pytest.raises(DimensionMismatch):
        unique([])


def test_one_name_for_two_columns_is_refused_by_name():
    with pytest.raises(DuplicateColumn, match="'age'"):
        unique(["age", "sex", "age"])


def test_names_that_become_equal_as_text_are_duplicates():
    with pytest.raises(DuplicateColumn):
        unique([1, "1"])


def test_an_unknown_column_gets_the_nearest_spelling():
    with pytest.raises(UnknownColumn, match="Did you mean 'visits'"):
        picked(["age", "visits"], ["vists"])


def test_an_unknown_column_like_none_other_gets_the_list():
    with pytest.raises(UnknownColumn, match="It has 'age', 'visits'"):
        picked(["age", "visits"], ["qqqq"])


def test_asking_for_no_column_is_refused():
    with pytest.raises(DimensionMismatch):
        picked(["age"], [])


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True), st.randoms())
def test_columns_are_found_in_any_order(names, rnd):
    asked = rnd.sample(names, len(names))
    assert [names[i] for i in picked(names, asked)] == asked


@pytest.mark.parametrize("error", [pa.ArrowInvalid, OSError, EOFError])
def test_a_librarys_words_are_left_out_since_they_quote_rows(error):
    with pytest.raises(UnreadableTable) as caught, quiet("people.csv"):
        raise error("invalid value 'secret'")
    assert "secret" not in str(caught.value)
    assert "people.csv" in str(caught.value)
    assert caught.value.__suppress_context__
