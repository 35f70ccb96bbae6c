import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from shoal.errors import InvalidDomain, NotNumeric
from shoal.figures._array_checks import box_corners, check_counts


@pytest.mark.heavy
@given(arrays.arrays(float, (2, 2), elements=st.floats(width=64)))
def test_counts_come_out_as_they_came_or_not_at_all(values):
    try:
        counts = check_counts(values)
    except NotNumeric:
        whole = np.isfinite(values) & (values == np.rint(values)) & (np.abs(values) < 2**62)
        assert not whole.all()
    else:
        assert np.array_equal(counts, values)


@pytest.mark.heavy
@given(st.lists(st.floats(), min_size=4, max_size=4))
@example([-np.inf, np.inf, -np.inf, np.inf])
def test_a_box_has_finite_ends_in_order_or_is_refused(ends):
    low, high = ends[:2], ends[2:]
    try:
        corners = box_corners(low, high)
    except InvalidDomain:
        with np.errstate(all="ignore"):
            sides = np.subtract(high, low)
        assert not (np.isfinite(sides).all() and (sides > 0).all())
    else:
        assert (corners[0] < corners[1]).all()


def test_truth_values_are_no_counts():
    with pytest.raises(NotNumeric):
        check_counts([[True, False]])
