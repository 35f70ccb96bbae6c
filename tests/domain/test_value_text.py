from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.domain.value_text import (
    column_to_text,
    is_value,
    normalise_column,
    normalise_text,
    value_to_text,
)

SPELLINGS = {
    "7": "7", "7.": "7", "7.0": "7", "7.00": "7", " 7": "7", "7\t": "7", "-7.0": "-7", "0.0": "0",
    "2.50": "2.5", "10.10": "10.1", "100": "100", "007": "007", "00": "00", "0.": "0",
    "x7.0": "x7.0", "7.0.0": "7.0.0", "1e3": "1e3",
    "99999999999999999999.0": "99999999999999999999",
    "": "",
}  # fmt: skip


@pytest.mark.parametrize("written", SPELLINGS)
def test_spellings_of_a_whole_number_are_one_value(written):
    assert normalise_text(written) == SPELLINGS[written]


@pytest.mark.heavy
@given(st.lists(st.text() | st.from_regex(r"\s?-?[0-9]+\.?[0-9]*", fullmatch=True) | st.none()))
def test_a_column_is_read_value_by_value(values):
    alone = [None if v is None else normalise_text(value_to_text(v)) for v in values]
    assert normalise_column(column_to_text(values)).to_pylist() == alone


@pytest.mark.parametrize(
    "missing", [None, float("nan"), np.float32("nan"), pd.NaT, pd.NA, Decimal("NaN"), [1], b"x"]
)
def test_what_cannot_be_written_down_is_missing(missing):
    assert column_to_text([missing, "x"]).to_pylist() == [None, "x"]


def test_values_of_all_kinds_are_written_down():
    values = [1, 2.5, True, np.int8(3), np.float32(0.5), date(2020, 1, 31), Decimal("7.0"), 2**70]
    assert all(is_value(v.item() if isinstance(v, np.generic) else v) for v in values)
    assert column_to_text(values).to_pylist() == [
        "1", "2.5", "true", "3", "0.5", "2020-01-31", "7.0", str(2**70),
    ]  # fmt: skip


def test_text_that_is_no_unicode_does_not_crash():
    assert pa.types.is_string(column_to_text(["\ud800"]).type)
