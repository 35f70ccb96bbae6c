"""Cases of the mechanisms a trusted curator uses: counts, vectors, choices, trees."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.audit.case import Case
from shoal.audit.draws import Batched
from shoal.audit.scores import exact_score
from shoal.domain import SparseCounts
from shoal.mechanisms import (
    Choices,
    Exponential,
    Gaussian,
    Geometric,
    Intervals,
    KNorm,
    TreeCounts,
    TreeSplits,
)
from shoal.privacy import ApproxDP, PureDP

__all__ = ["choices", "counts", "scored"]

_ONE = PureDP(Fraction(1))


def scored(mechanism: Any, pair: tuple[Any, Any], about: str, **more: Any) -> Case:
    """A case by its exact score, held against the mechanism's own guarantee."""
    claim = more.pop("claim", mechanism.guarantee)
    score = exact_score(mechanism, pair)
    return Case(mechanism, pair, claim, score=score, about=about, **more)


def counts() -> Iterator[tuple[str, Case]]:
    """Whole numbers and vectors of them, each moved by the most one row can move them."""
    count = Geometric(_ONE)
    yield "geometric", scored(count, (5, 6), "counts 5 and 6", at_least=0.97)
    cells = Geometric(_ONE, sensitivity=2)
    pair = np.array([3, 0, 1]), np.array([2, 1, 1])
    yield "geometric, a row replaced", scored(cells, pair, "a row moves to an empty cell")
    sparse = Geometric(_ONE, at_least=3)
    about = "one cell, empty and with one row"
    yield "sparse grid", Case(Batched(_one_cell(sparse)), (0, 1), _ONE, 0.84, about=about)
    for d in (2, 9):
        vectors = KNorm(_ONE, sensitivity=1000)
        pair = np.zeros(d, dtype=np.int64), 1000 * np.eye(d, dtype=np.int64)[0]
        yield f"k-norm d={d}", scored(vectors, pair, "apart by the sensitivity", draws=100_000)
    normal = Gaussian(ApproxDP(Fraction(1), Fraction(1, 100)), sensitivity=1000)
    pair = np.zeros(2, dtype=np.int64), np.array([600, 800])
    yield "gaussian", scored(normal, pair, "apart by the sensitivity")


def _one_cell(mechanism: Geometric) -> Callable[[int, int, np.random.Generator], Any]:
    """n cells of one grid are n grids of one cell: noise is drawn for each by itself."""

    def draw(rows: int, n: int, rng: np.random.Generator) -> Any:
        keys = np.arange(n if rows else 0)
        kept = mechanism.release(SparseCounts(keys, np.full(keys.size, rows), n), rng)
        counts = np.zeros(n, dtype=np.int64)
        counts[kept.keys] = kept.counts
        return counts

    return draw


def choices() -> Iterator[tuple[str, Case]]:
    """Draws by score, and trees that grow where rows are."""
    pick = Exponential(_ONE)
    pair = Choices([3, 3, 3]), Choices([4, 2, 2])
    yield "exponential", Case(pick, pair, _ONE, draws=20_000, about="three scores move by one")
    thresholds = _threshold_scores([9, 5, 4]), _threshold_scores([10, 5, 4])
    about = "block sums 9, 5, 4 and 10, 5, 4, halved, on a range of 8"
    yield "threshold draw", Case(pick, thresholds, _ONE, 0.19, 40_000, about=about)
    trees = Batched(_trees_of(TreeSplits(_ONE)))
    yield "tree splits", Case(trees, (1, 2), _ONE, draws=10_000, about="one row and two")


def _threshold_scores(sums: list[int], top: int = 16) -> Intervals:
    """How far each point's rank is from the middle one, on a public range; in halves."""
    inside = sorted(min(each, top) for each in sums)
    ranks = range(len(inside), -1, -1)
    return Intervals([0, *inside, top], [-abs(rank - len(inside) // 2) for rank in ranks])


def _trees_of(mechanism: TreeSplits) -> Callable[[int, int, np.random.Generator], Any]:
    """The whole tree of rows that lie together at the left, as text."""

    def tree(rows: int, rng: np.random.Generator) -> str:
        grown = mechanism.release(
            TreeCounts(lambda splits: np.where(np.arange(splits.width) == 0, rows, 0), 3), rng
        )
        return "/".join("".join("01"[int(flag)] for flag in flags) for flags in grown.flags)

    return lambda rows, n, rng: [tree(rows, rng) for _ in range(n)]
