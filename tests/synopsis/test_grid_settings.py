from hypothesis import given
from hypothesis import strategies as st

from shoal.synopsis.grid_settings import most_an_axis


@given(st.integers(1, 2**62), st.integers(1, 300))
def test_one_more_cell_an_axis_would_be_too_many(most, d):
    parts = most_an_axis(most, d)
    assert parts >= 1
    assert parts**d <= most < (parts + 1) ** d
