import csv
import io
from datetime import date

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.csv_text import CSVText


def written(table):
    stream = pa.BufferOutputStream()
    text = CSVText(stream, table.schema)
    for batch in table.to_batches():
        text.write(batch)
    return stream.getvalue().to_pybytes().decode()


def test_numbers_are_not_quoted_even_where_they_came_as_text():
    table = pa.table({"age": ["31", "47"], "n": [1.5, 2.0], "day": [date(2020, 1, 2)] * 2})
    assert written(table) == "age,n,day\n31,1.5,2020-01-02\n47,2,2020-01-02\n"


def test_what_a_reader_would_split_or_trim_has_quotes():
    cells = ["a,b", 'say "x"', "two\nlines", " blank", "", None, "plain"]
    text = written(pa.table({'the "name"': cells, "n": [1] * 7}))
    assert text.startswith('"the ""name""",n\n"a,b",1\n')
    assert '\n"",1\n,1\nplain,1\n' in text


@pytest.mark.heavy
@given(
    st.lists(st.tuples(st.none() | st.text(), st.none() | st.integers(-9, 9)), max_size=20),
    st.booleans(),
)
def test_every_cell_comes_back_as_it_was(rows, numbered):
    texts = pa.array([row[0] for row in rows], pa.string())
    table = pa.table(
        {
            "text": texts.dictionary_encode() if numbered else texts,
            "n": pa.array([row[1] for row in rows], pa.int64()),
        }
    )
    back = list(csv.reader(io.StringIO(written(table), newline="")))[1:]
    expected = [[row[0] or "", "" if row[1] is None else str(row[1])] for row in rows]
    assert back == expected


def test_a_null_is_nothing_and_an_empty_text_is_two_quotes():
    text = written(pa.table({"a": [None, ""], "b": [1, 2]}))
    how = pa_csv.ConvertOptions(
        column_types={"a": pa.string()}, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    back = pa_csv.read_csv(pa.py_buffer(text.encode()), convert_options=how)
    assert back["a"].to_pylist() == [None, ""]


@pytest.mark.parametrize("start", [0, 3])
def test_a_slice_is_written_alone(start):
    table = pa.table({"a": ["x", "y", "z", "u", "v"]}).slice(start, 2)
    assert written(table).split() == ["a", *table["a"].to_pylist()]


def test_values_read_as_arrow_itself_would_write_them():
    table = pa.table({"f": [1e300, 1e-7, 0.1], "g": pa.array([0.1, 2, 3], pa.float32())})
    stream = pa.BufferOutputStream()
    pa_csv.write_csv(table, stream)
    theirs = stream.getvalue().to_pybytes().decode().split("\n")[1:]
    assert written(table).split("\n")[1:] == theirs
