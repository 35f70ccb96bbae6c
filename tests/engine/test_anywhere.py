import numpy as np

from shoal.engine import rows_of
from shoal.engine.anywhere import anywhere


def test_no_number_that_occurs_is_moved_or_refused():
    far = np.array([[-1e299], [0.0], [1e-300], [1e299]])
    rows = rows_of({"x": far[:, 0]}, anywhere(["x"]), outside="refuse")
    np.testing.assert_array_equal(np.sort(rows.take(4, np.random.default_rng(1)), axis=0), far)
