import numpy as np
import pytest

from shoal.cluster.wave._segmentation import (
    components,
    drop_small,
    half_offsets,
    listed_components,
)


@pytest.mark.parametrize("connectivity", ["full", "faces"])
@pytest.mark.parametrize("shape", [(17,), (9, 8), (5, 6, 4), (3, 4, 3, 5)])
def test_listed_cells_group_as_on_the_full_grid(shape, connectivity):
    rng = np.random.default_rng(len(shape))
    for share in (0.05, 0.3, 0.5):
        chosen = rng.random(shape) < share
        keys = np.flatnonzero(chosen)
        dense = components(chosen, connectivity).ravel()[keys]
        assert listed_components(keys, shape, connectivity).tolist() == dense.tolist()


def test_cells_at_the_end_of_a_line_do_not_touch_the_next_line():
    assert listed_components(np.array([2, 3]), (2, 3)).tolist() == [0, 1]


def test_no_cells_make_no_groups():
    assert listed_components(np.zeros(0, dtype=np.int64), (4, 4)).size == 0
    assert components(np.zeros((4, 4), dtype=bool)).max() == -1


def test_small_groups_go_and_the_rest_is_numbered_in_order():
    labels = np.array([0, 1, 1, -1, 2, 2, 3])
    assert drop_small(labels, 2).tolist() == [-1, 0, 0, -1, 1, 1, -1]


def test_half_of_the_neighbours_are_offsets():
    assert len(half_offsets(3, "full")) == (3**3 - 1) // 2
    assert len(half_offsets(3, "faces")) == 3


def test_huge_grids_need_memory_for_their_listed_cells_only():
    shape = (2**20, 2**20, 2**20)
    keys = np.array([0, 1, 2**40, 2**59])
    assert listed_components(keys, shape).tolist() == [0, 0, 0, 1]
