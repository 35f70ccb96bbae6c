import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.domain import Box, Grid, SparseCounts
from shoal.engine import Block
from shoal.engine import _counting as counting
from shoal.engine._counting import CellKeys, SparseTotal

blocks_of_keys = st.lists(st.lists(st.integers(0, 40), max_size=12), max_size=8)


@pytest.mark.heavy
@given(blocks_of_keys, st.integers(0, 20))
def test_sparse_counts_are_those_of_all_keys_together(blocks, waiting):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_MOST_WAITING_KEYS", waiting)
        total = SparseTotal()
        for block in blocks:
            total.add(np.array(block, dtype=np.int64))
        ours = total.result(41)
    keys = np.array([key for block in blocks for key in block], dtype=np.int64)
    expected = SparseCounts.of(keys, 41)
    np.testing.assert_array_equal(ours.keys, expected.keys)
    np.testing.assert_array_equal(ours.counts, expected.counts)


def test_keys_up_to_the_largest_grid_are_counted():
    total = SparseTotal()
    total.add(np.array([2**62 - 1, 0]))
    assert total.result(2**62).keys.tolist() == [0, 2**62 - 1]


def test_the_counting_kernel_travels_to_other_machines():
    kernel = pickle.loads(pickle.dumps(CellKeys(Grid(Box.unit(1), 4))))
    block = Block(np.array([[0.1], [0.9]]), np.empty((2, 0), dtype=np.int32))
    assert kernel(block).tolist() == [0, 3]
