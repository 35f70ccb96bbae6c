import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.lookup import Lookup


@given(st.data(), st.integers(1, 4), st.sampled_from([3, 1000, 2**30]))
def test_known_rows_are_found_and_others_are_not(data, columns, top):
    row = st.tuples(*[st.integers(0, top)] * columns)
    known = data.draw(st.lists(row, min_size=1, max_size=20, unique=True))
    asked = data.draw(st.lists(st.sampled_from(known) | row, min_size=1, max_size=20))
    found = Lookup(np.array(known)).find(list(np.array(asked).T))
    assert found.tolist() == [known.index(r) if r in known else -1 for r in asked]


def test_thirty_wide_columns_do_not_overflow():
    rng = np.random.default_rng(1)
    known = rng.integers(0, 1000, size=(500, 30))
    other = known.copy()
    other[:, 29] = (other[:, 29] + 1) % 1000
    lookup = Lookup(known)
    assert lookup.find(list(known.T)).tolist() == list(range(500))
    assert (lookup.find(list(other.T)) == -1).all()


def test_negative_numbers_are_unknown():
    lookup = Lookup(np.array([[0, 0], [1, 1]]))
    assert lookup.find([np.array([-1, 1, 1]), np.array([0, -2, 1])]).tolist() == [-1, -1, 1]
