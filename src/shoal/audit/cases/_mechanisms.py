"""The cases of every mechanism: the pair of inputs that shows most, and its claim.

The pairs of registered mechanisms come from ``shoal.mechanisms.registry``; here are the cases that
need more than a pair: remaps, mechanisms of other packages' own use, sparse counts and trees. Where
a law is known, its exact likelihood ratio is the score; the columns' own ranges are tried too, so
that an error in the law itself shows.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.audit._draws import Batched, repeat_record
from shoal.audit.bound._scores import exact_score, has_law
from shoal.audit.case import Case, Cases
from shoal.domain import Box, SparseCounts
from shoal.mechanisms import (
    Geometric,
    NDLaplace,
    Prior,
    TreeCounts,
    TreeSplits,
    bayes_remap,
    clamp,
    snap,
)
from shoal.mechanisms.local import Remap
from shoal.mechanisms.local.categories import LocalHash, PrototypeReport, ResidualSign
from shoal.mechanisms.registry import REGISTRY, Pair
from shoal.privacy import PureDP

Record = list[float]

_ONE = PureDP(Fraction(1))


def _cases() -> dict[str, Case]:
    registered = {name: _case(pair) for entry in REGISTRY for name, pair in entry.pairs().items()}
    return registered | dict(_remaps()) | dict(_unexported()) | dict(_structures())


mechanisms = Cases(_cases)
"""The cases of every mechanism by name, made when they are first looked at."""


def _case(pair: Pair) -> Case:
    """Return a case of a registered mechanism, with an exact score where its law is known."""
    mechanism, values, about, at_least, draws, claim = pair
    score = exact_score(mechanism, values) if has_law(mechanism) else None
    claimed = mechanism.guarantee if claim is None else claim
    return Case(mechanism, values, claimed, at_least, draws, score=score, about=about)


def _remaps() -> Iterator[tuple[str, Case]]:
    noise, box = NDLaplace(1.0), Box(x=(0.0, 10.0), y=(0.0, 10.0))
    for distance, clamped, snapped in ((1.0, 0.90, 0.91), (0.5, 0.42, 0.42)):
        pair, about = _diagonal(distance), f"a corner and {distance:g} along the diagonal"
        yield f"clamp at {distance:g}", _remap_case(noise, clamp(box), pair, about, clamped)
        yield f"snap at {distance:g}", _remap_case(noise, snap(box, 12), pair, about, snapped)
    pair = [0.2, 0.1], [1.2, 0.1]
    about = "two records 1 apart, the prior from others' reports"
    yield "bayes remap", _remap_case(noise, bayes_remap(_prior_of_others(noise)), pair, about, 0.64)


def _remap_case(
    noise: NDLaplace, remap: Remap, pair: tuple[Record, Record], about: str, at_least: float
) -> Case:
    def draw(x: Record, n: int, rng: np.random.Generator) -> Any:
        return remap(noise.release(repeat_record(x, n), rng)).values

    score = exact_score(noise, pair)  # of the plain report at the remapped place: near the best
    return Case(Batched(draw), pair, noise.guarantee, at_least, score=score, about=about)


def _prior_of_others(noise: NDLaplace) -> Prior:
    """Return a prior learnt from reports of 60 other people, around 0 and (4, 3)."""
    rng = np.random.default_rng(0)
    rows = np.repeat([[0.0, 0.0], [4.0, 3.0]], 30, axis=0) + rng.normal(0, 0.5, (60, 2))
    reports = noise.release(rows, rng).values
    return Prior(reports, np.ones(len(reports)))


def _diagonal(distance: float) -> tuple[Any, Any]:
    """Return the low corner, and a point at this distance from it along the diagonal."""
    return np.zeros(2), np.full(2, distance / np.sqrt(2))


def _unexported() -> Iterator[tuple[str, Case]]:
    """Yield cases of mechanisms that only other parts of shoal use."""
    hashing = LocalHash(1.0, 60)
    yield "local-hash", Case(hashing, (0, 1), hashing.guarantee, 0.96, about="values 0 and 1 of 60")
    square = Box(x=(0.0, 1.0), y=(0.0, 1.0))
    sides = ResidualSign(square, ((0.2, 0.2), (0.8, 0.8)), 0.4, epsilon=1.0)
    about = "opposite corners, far beyond either centre"
    corners = [0.0, 0.0], [1.0, 1.0]
    case = Case(Batched(_reports_of(sides)), corners, sides.guarantee, 0.96, about=about)
    yield "residual-sign", case
    mechanism = PrototypeReport(
        (0, 3), ((0,), (1,)), prototypes=((-0.5, 0.0), (0.5, 2.0)), reach=(0.5,), epsilon=1.0
    )
    ends = [-1.0, 0.0], [1.0, 2.0]
    about = "records of different prototypes, far beyond either"
    case = Case(Batched(_reports_of(mechanism)), ends, mechanism.guarantee, 0.93, about=about)
    yield "prototype-report", case


def _reports_of(
    mechanism: ResidualSign | PrototypeReport,
) -> Callable[[Record, int, np.random.Generator], Any]:
    return lambda x, n, rng: mechanism.release(repeat_record(x, n), rng).values


def _structures() -> Iterator[tuple[str, Case]]:
    """Yield cases of sparse counts, and of trees that grow where rows are."""
    sparse = Geometric(_ONE, at_least=3)
    about = "one cell, empty and with one row"
    yield "sparse grid", Case(Batched(_one_cell(sparse)), (0, 1), _ONE, 0.84, about=about)
    trees = Batched(_trees_of(TreeSplits(_ONE)))
    yield "tree splits", Case(trees, (1, 2), _ONE, draws=10_000, about="one row and two")


def _one_cell(mechanism: Geometric) -> Callable[[int, int, np.random.Generator], Any]:
    """Return draws of one cell: n cells of one grid are like n grids of one cell."""

    def draw(rows: int, n: int, rng: np.random.Generator) -> Any:
        keys = np.arange(n if rows else 0)
        released = mechanism.release(SparseCounts(keys, np.full(keys.size, rows), n), rng)
        counts = np.zeros(n, dtype=np.int64)
        counts[released.keys] = released.counts
        return counts

    return draw


def _trees_of(mechanism: TreeSplits) -> Callable[[int, int, np.random.Generator], Any]:
    """Return draws of the whole tree, as text, of rows that lie together at the left."""

    def tree(rows: int, rng: np.random.Generator) -> str:
        grown = mechanism.release(
            TreeCounts(lambda splits: np.where(np.arange(splits.width) == 0, rows, 0), 3), rng
        )
        return "/".join("".join("01"[int(flag)] for flag in flags) for flags in grown.flags)

    return lambda rows, n, rng: [tree(rows, rng) for _ in range(n)]
