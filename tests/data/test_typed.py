import pyarrow as pa
import pytest

from shoal.data.typed import typed

KINDS = {
    "whole numbers": (["1", "-2"], [1, -2]),
    "numbers": (["1", "2.5", "1e3"], [1.0, 2.5, 1000.0]),
    "blanks around numbers": ([" 1", "2 "], [1, 2]),
    "missing numbers": (["1", "NA", ""], [1, None, None]),
    "missing among fractions": (["1.5", "NA", ""], [1.5, None, None]),
    "beyond 64 bits": (["100000000000000000000", "1"], [1e20, 1.0]),
    "text": (["x", "1"], ["x", "1"]),
    "text that may look missing": (["NA", "", "x"], ["NA", "", "x"]),
    "postcodes": (["01219", "70173"], ["01219", "70173"]),
    "zeros": (["0", "0.5", "-0"], [0.0, 0.5, 0.0]),
    "dates stay text": (["2020-01-31"], ["2020-01-31"]),
    "truth values stay text": (["true", "false"], ["true", "false"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_is_whole_numbers_numbers_or_text(kind):
    cells, expected = KINDS[kind]
    assert typed(pa.table({"a": cells})).to_pydict() == {"a": expected}


def test_other_columns_stay_as_they_are():
    table = pa.table({"a": [1.5], "b": pa.array([True])})
    assert typed(table) == table
