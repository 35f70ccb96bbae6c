"""What the frontier keeps up to date is what counting all classes anew would give."""

import numpy as np
import pytest

from shoal.anonymize.search._greedy_splits import SharedCounts
from shoal.anonymize.search._top_down import (
    ClassSlices,
    Frontier,
    TopDownRun,
    divide_classes,
    slice_positions,
    sort_by_cell,
)
from shoal.anonymize.search_problem import problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": {"b": ["0", "1"], "c": ["2", "3"]}, "d": ["4", "5"]})

RNG = np.random.default_rng(2)


def shared(suppression=0.0):
    rng = np.random.default_rng(6)
    codes = np.minimum(rng.integers(0, 6, (400, 3)), rng.integers(0, 6, (400, 3)))
    return SharedCounts(problem_of(dict.fromkeys("xyz", TREE), codes, k=4, suppression=suppression))


@pytest.mark.parametrize("suppression", [0, 0.1])
def test_sums_after_some_splits_are_those_of_a_fresh_count(suppression):
    run = TopDownRun(shared(suppression), "leteo")
    run.start()
    for _ in range(4):
        run.split_best(run.valid())
    frontier = run._frontier
    still = frontier.open & (frontier.held > 0)
    assert still.any()

    def totals():
        parts = (frontier.lost, frontier.stay, frontier.bits, frontier.held)
        now, after = frontier.smallest(np.flatnonzero(still))
        return [now, after.tolist(), *(part[still].tolist() for part in parts)]

    kept = totals()
    frontier._recompute_smallest()
    frontier.recount([])
    assert totals() == kept


def test_one_class_at_the_root_tells_what_each_split_would_do():
    common = shared()
    frontier, problem = Frontier(common, bits=True, sizes=True), common.problem
    everything = ClassSlices(
        np.array([0]), np.array([len(problem.n)]), np.array([400]), np.zeros((1, 3), dtype=np.int32)
    )
    for q in range(3):
        frontier.descend(q, everything)
    frontier.add(everything, [], np.empty(0, dtype=np.int64))
    roots = common.nodes.first[:-1]
    now, after = frontier.smallest(roots)
    assert now == 400
    for q, root in enumerate(roots):
        above = int(problem.n[problem.codes[:, q] < 4].sum())
        assert after[q] == min(above, 400 - above)
        assert frontier.stay[root] == 2
        parts = np.array([above, 400 - above])
        bits = 400 * np.log2(400) - (parts * np.log2(parts)).sum()
        assert frontier.bits[root] / common.per_bit == pytest.approx(bits)


def test_ranges_are_the_slices_one_after_another():
    start, length = np.array([40, 3, 9]), np.array([2, 0, 3])
    assert slice_positions(start, length).tolist() == [40, 41, 9, 10, 11]


@pytest.mark.parametrize("size", [5, 70_000, 2**33])
def test_lines_of_a_cell_come_together_as_they_were(size):
    cell = RNG.integers(0, size, 4_000)
    assert np.array_equal(sort_by_cell(cell, size), np.argsort(cell, kind="stable"))


@pytest.mark.parametrize("fanout", [3, 5_000])  # all children, or only those with lines
def test_a_cell_is_a_class_and_a_child(fanout):
    owner = np.sort(np.append(np.arange(40), RNG.integers(0, 40, 260)))
    rank = RNG.integers(0, fanout, 300).astype(np.int32)
    into = divide_classes(owner, rank, np.full(40, fanout))
    assert np.array_equal(into.parent[into.of], owner)
    assert np.array_equal(into.rank[into.of], rank)
    assert np.all(np.diff(into.parent * fanout + into.rank) > 0)
    assert np.array_equal(into.parent[into.first], np.arange(40))
    assert into.size <= max(120, 300)


def test_slots_are_taken_and_put_back():
    room = ClassSlices.room(3, 2)
    assert room.node.tolist() == [[-1, -1]] * 3
    new = ClassSlices(
        np.array([5]), np.array([2]), np.array([9]), np.array([[1, 4]], dtype=np.int32)
    )
    room.put(np.array([1]), new)
    taken = room.take(np.array([False, True, False]))
    assert [part.tolist() for part in taken] == [[5], [2], [9], [[1, 4]]]
