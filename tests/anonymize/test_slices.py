import numpy as np
import pytest

from shoal.anonymize.slices import Slices, by_cell, cells, ranges

RNG = np.random.default_rng(2)


def test_ranges_are_the_slices_one_after_another():
    start, length = np.array([40, 3, 9]), np.array([2, 0, 3])
    assert ranges(start, length).tolist() == [40, 41, 9, 10, 11]


@pytest.mark.parametrize("size", [5, 70_000, 2**33])
def test_lines_of_a_cell_come_together_as_they_were(size):
    cell = RNG.integers(0, size, 4_000)
    assert np.array_equal(by_cell(cell, size), np.argsort(cell, kind="stable"))


@pytest.mark.parametrize("fanout", [3, 5_000])  # all children, or only those with lines
def test_a_cell_is_a_class_and_a_child(fanout):
    owner = np.sort(np.append(np.arange(40), RNG.integers(0, 40, 260)))
    rank = RNG.integers(0, fanout, 300).astype(np.int32)
    into = cells(owner, rank, np.full(40, fanout))
    assert np.array_equal(into.parent[into.of], owner)
    assert np.array_equal(into.rank[into.of], rank)
    assert np.all(np.diff(into.parent * fanout + into.rank) > 0)
    assert np.array_equal(into.parent[into.first], np.arange(40))
    assert into.size <= max(120, 300)


def test_slots_are_taken_and_put_back():
    room = Slices.room(3, 2)
    assert room.node.tolist() == [[-1, -1]] * 3
    new = Slices(np.array([5]), np.array([2]), np.array([9]), np.array([[1, 4]], dtype=np.int32))
    room.put(np.array([1]), new)
    taken = room.take(np.array([False, True, False]))
    assert [part.tolist() for part in taken] == [[5], [2], [9], [[1, 4]]]
