import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.data.cells import floats_of, is_missing, oddities

CELLS = st.text(max_size=8) | st.floats().map(repr) | st.integers().map(str)


@given(st.lists(CELLS, min_size=1), st.randoms())
@example(["9007199254740993", "1e400", "1e-400", "-0", "+5", ".5", "5.", "1e99999999999"], None)
def test_a_cell_is_read_as_it_would_be_alone(cells, random):
    together = floats_of(pa.array(cells))
    alone = [floats_of(pa.array([cell]))[0] for cell in cells]
    np.testing.assert_array_equal(together, alone)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_become_the_nearest_double(number):
    assert floats_of(pa.array([f" {number!r}"]))[0] == float(number)


ODD = {
    "05": "zeros in front",
    "-01.5": "zeros in front",
    "1,5": "decimal commas or thousands separators",
    "1.234,5": "decimal commas or thousands separators",
    "1 234": "decimal commas or thousands separators",
    "31.12.2020": "dates",
    "01.02.2020": "dates",
    "2020-12-31": "dates",
    "2020-12-31 10:00": "dates",
    "secret": "other text",
    "1.5 kg": "other text",
}


@pytest.mark.parametrize("cell", ODD)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_no_number_is_named_wherever_it_stands(cell, place):
    cells = ["1.5", "inf", "NA"]
    cells.insert(place, cell)
    column = pa.array(cells)
    assert oddities(column) == [ODD[cell]]
    assert np.isnan(floats_of(column)[place])


@pytest.mark.parametrize("cell", ["", " ", "NA", "nan", "NULL", "#N/A", None])
def test_marks_for_missing_values_are_no_text(cell):
    column = pa.array([cell], pa.string())
    assert is_missing(column).to_pylist() == [True]
    assert oddities(column) == []
    assert np.isnan(floats_of(column)[0])
