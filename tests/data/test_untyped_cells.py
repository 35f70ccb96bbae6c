from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data import source_of
from shoal.data.encode import encode_numbers, floats_of
from shoal.data.untyped_cells import (
    cells_of,
    field_of_cells,
    objects_column,
    texts_of,
    values_column,
)

CELLS = (
    st.integers(-(2**70), 2**70)
    | st.floats()
    | st.booleans()
    | st.dates()
    | st.datetimes()
    | st.decimals()
    | st.text(max_size=3)
    | st.none()
    | st.binary(max_size=2)
)


@given(st.lists(CELLS, max_size=5))
def test_a_cell_is_written_as_it_would_be_alone(values):
    alone = [texts_of(values_column([value])).to_pylist()[0] for value in values]
    assert texts_of(values_column(values)).to_pylist() == alone


@given(st.lists(st.floats(), min_size=1) | st.lists(st.integers(), min_size=1))
def test_numbers_are_the_same_doubles_as_their_text(values):
    (batch,) = source_of({"x": values}).batches(["x"])
    doubles = encode_numbers(batch, ["x"])[:, 0]
    texts = floats_of(texts_of(batch["x"]))
    assert np.where(np.isfinite(doubles), doubles, np.nan).tobytes() == texts.tobytes()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None], pa.int64()),
        ([1.5, None], pa.float64()),
        ([True], pa.bool_()),
        ([date(2020, 1, 1)], pa.date32()),
        ([None], pa.null()),
        ([2**70], pa.string()),
        ([1, True], pa.string()),
        ([datetime(2020, 1, 1)], pa.string()),
        ([Decimal("1.10")], pa.string()),
    ],
)
def test_columns_of_one_plain_kind_are_held_as_they_are(values, kind):
    assert values_column(values).type == kind


@pytest.mark.parametrize("absent", [None, float("nan"), pd.NA, pd.NaT])
def test_objects_are_text_if_every_one_is_text_or_absent(absent):
    column, cells = objects_column(["x", absent])
    assert (column.to_pylist(), cells) == (["x", None], "typed")
    for other in (1, True, b"x", ["x"], Decimal("NaN")):
        assert objects_column(["x", other])[1] == "mixed objects"


def test_a_field_says_what_its_cells_are():
    assert cells_of(pa.field("x", pa.string())) == "typed"
    for cells in ("typed", "untyped", "mixed objects"):
        assert cells_of(field_of_cells("x", pa.string(), cells)) == cells
