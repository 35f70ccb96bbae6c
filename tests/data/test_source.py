import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.source import check_names, find_columns, hide_row_text
from shoal.errors import DimensionMismatch, DuplicateColumn, UnknownColumn, UnreadableTable


def test_a_table_without_columns_is_refused():
    with pytest.raises(DimensionMismatch):
        check_names([])


def test_one_name_for_two_columns_is_refused_and_not_quoted_for_it_may_be_a_value():
    with pytest.raises(DuplicateColumn, match="1 of 3 column names") as caught:
        check_names(["age", "sex", "age"])
    assert "age" not in str(caught.value)


def test_a_column_asked_for_twice_is_named():
    with pytest.raises(DuplicateColumn, match="'age'"):
        find_columns(["age", "sex"], ["age", "age"])


def test_names_that_become_equal_as_text_are_duplicates():
    with pytest.raises(DuplicateColumn):
        check_names([1, "1"])


def test_an_unknown_column_gets_the_nearest_spelling():
    with pytest.raises(UnknownColumn, match="Did you mean 'visits'"):
        find_columns(["age", "visits"], ["age", "vists"])


def test_names_of_which_none_is_known_may_be_values_and_are_not_quoted():
    with pytest.raises(UnknownColumn, match=r"'visits' of the 1 column .* has 2") as caught:
        find_columns(["visitors", "CANARY"], ["visits"])
    assert "visitors" not in str(caught.value)
    assert "header" in caught.value.hint


def test_a_long_list_of_columns_is_cut_short():
    with pytest.raises(UnknownColumn, match="and 2995 more") as caught:
        find_columns(["age"], ["age", *(f"q{i}" for i in range(3_000))])
    assert len(str(caught.value)) < 240


def test_asking_for_no_column_is_refused():
    with pytest.raises(DimensionMismatch):
        find_columns(["age"], [])


@pytest.mark.heavy
@given(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True), st.randoms())
def test_columns_are_found_in_any_order(names, rnd):
    asked = rnd.sample(names, len(names))
    assert [names[i] for i in find_columns(names, asked)] == asked


@pytest.mark.parametrize("error", [pa.ArrowInvalid, OSError, EOFError])
def test_a_librarys_words_are_left_out_since_they_quote_rows(error):
    with pytest.raises(UnreadableTable) as caught, hide_row_text("people.csv"):
        raise error("invalid value 'secret'")
    assert "secret" not in str(caught.value)
    assert "people.csv" in str(caught.value)
    assert caught.value.__suppress_context__
