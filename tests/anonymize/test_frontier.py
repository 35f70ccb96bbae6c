"""What the frontier keeps up to date is what counting all classes anew would give."""

import numpy as np
import pytest

from shoal.anonymize.frontier import Frontier
from shoal.anonymize.lines import problem_of
from shoal.anonymize.shared import Shared
from shoal.anonymize.slices import Slices
from shoal.anonymize.top_down import Run
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": {"b": ["0", "1"], "c": ["2", "3"]}, "d": ["4", "5"]})


def shared(suppression=0.0):
    rng = np.random.default_rng(6)
    codes = np.minimum(rng.integers(0, 6, (400, 3)), rng.integers(0, 6, (400, 3)))
    return Shared(problem_of(dict.fromkeys("xyz", TREE), codes, k=4, suppression=suppression))


@pytest.mark.parametrize("suppression", [0, 0.1])
def test_sums_after_some_splits_are_those_of_a_fresh_count(suppression):
    run = Run(shared(suppression), "leteo")
    run.start()
    for _ in range(4):
        run.split_best(run.valid())
    frontier = run._frontier
    still = frontier.open & (frontier.held > 0)
    assert still.any()

    def totals():
        parts = (frontier.lost, frontier.kept, frontier.bits, frontier.held)
        now, after = frontier.smallest(np.flatnonzero(still))
        return [now, after.tolist(), *(part[still].tolist() for part in parts)]

    kept = totals()
    frontier._take_smallest_anew()
    frontier.recount([])
    assert totals() == kept


def test_one_class_at_the_root_tells_what_each_split_would_do():
    common = shared()
    frontier, problem = Frontier(common, bits=True, sizes=True), common.problem
    everything = Slices(
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
        assert frontier.kept[root] == 2
        parts = np.array([above, 400 - above])
        bits = 400 * np.log2(400) - (parts * np.log2(parts)).sum()
        assert frontier.bits[root] / common.per_bit == pytest.approx(bits)
