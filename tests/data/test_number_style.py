import io

import pyarrow as pa
import pytest

from shoal.data import source_of
from shoal.data.number_style import _to_plain_numbers, is_written_so, write_plain_table


@pytest.mark.parametrize(
    ("style", "cells", "plain"),
    [
        ("1.234,5", ["1.234.567,8", "-0,5", "+12", "1'000", "1 234,0"],
         ["1234567.8", "-0.5", "+12", "1000", "1234.0"]),
        ("1,234.5", ["1,234,567.8", "-0.5", "+12", "1 000"], ["1234567.8", "-0.5", "+12", "1000"]),
    ],
)  # fmt: skip
def test_numbers_of_a_style_become_plain(style, cells, plain):
    assert _to_plain_numbers(pa.array(cells), style).to_pylist() == plain


@pytest.mark.parametrize("cell", ["12,34.5", "1.23.4", "05/03/2001", "12 kg", "", None, "1,2,3"])
def test_other_cells_stay_as_they_are(cell):
    cells = pa.array([cell], pa.string())
    assert _to_plain_numbers(cells, "1.234,5").to_pylist() == [cell]


def test_a_number_of_one_style_is_none_of_the_other():
    cells = pa.array(["1.234,5", "1,234.5", "7"])
    assert is_written_so(cells, "1.234,5").to_pylist() == [True, False, True]
    assert is_written_so(cells, "1,234.5").to_pylist() == [False, True, True]


def test_a_table_is_written_with_plain_numbers():
    file = io.BytesIO()
    table = pa.table({"fee": ["1.234,50", "7"], "town": ["York, PA", None], "n": [1, 2]})
    write_plain_table(source_of(table), file, "1.234,5")
    assert file.getvalue().decode().splitlines() == ["fee,town,n", '1234.50,"York, PA",1', "7,,2"]
