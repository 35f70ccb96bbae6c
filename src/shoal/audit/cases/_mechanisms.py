"""The cases of every mechanism: the pair of inputs that shows most, and its claim.

Pairs are corners, ends, a row alone in an empty cell, half the signs flipped. Where a law is known,
its exact likelihood ratio is the score; the columns' own ranges are tried too, so that an error in
the law itself shows.

The last functions build the cases of a trusted curator: counts, vectors, choices and trees.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.audit._draws import Batched, repeat_record
from shoal.audit.bound._scores import exact_score
from shoal.audit.case import Case, Cases
from shoal.domain import Box, Categories, SparseCounts
from shoal.mechanisms import (
    Choices,
    Duchi,
    Exponential,
    Gaussian,
    Geometric,
    Harmony,
    Hybrid,
    Intervals,
    KNorm,
    LocalGrid,
    Mixed,
    NDLaplace,
    Piecewise,
    PlanarLaplace,
    Prior,
    PrivUnit,
    ProductNorm,
    RandomizedResponse,
    Restrict,
    SphericalLaplace,
    SquareWave,
    Staircase,
    TreeCounts,
    TreeSplits,
    UnaryEncoding,
    bayes_remap,
    clamp,
    snap,
)
from shoal.mechanisms.local.categories.local_hash import LocalHash
from shoal.mechanisms.local.categories.prototype_report import PrototypeReport
from shoal.mechanisms.local.categories.residual_sign import ResidualSign
from shoal.mechanisms.local.reports import Remap
from shoal.privacy import ApproxDP, PureDP

Record = list[float]

_ONE = PureDP(Fraction(1))


def _cases() -> dict[str, Case]:
    groups = (_laplace, _remaps, _corners, _numbers, _categories, count_cases, choice_cases)
    return {name: case for group in groups for name, case in group()}


mechanisms = Cases(_cases)


def _laplace() -> Iterator[tuple[str, Case]]:
    least = {1: None, 2: 0.76, 3: 0.67, 7: 0.40, 10: 0.30}
    for d, at_least in least.items():
        pair = np.zeros(d), np.eye(d)[0]
        made = NDLaplace(1.0, scale=np.ones(d))
        yield f"nd-laplace d={d}", case_with_exact_score(made, pair, "0 and e_1", at_least=at_least)
    for planar, d in ((PlanarLaplace, 2), (SphericalLaplace, 3)):
        box = Box.of([f"x{i}" for i in range(d)], np.zeros(d), np.full(d, 8.0))
        pair = np.zeros(d), np.full(d, 2 / np.sqrt(d))
        made = planar(1.0, domain=box, scale=np.full(d, 2.0))
        name = f"{'planar' if d == 2 else 'spherical'}-laplace, scaled"
        yield (
            name,
            case_with_exact_score(made, pair, "a corner and one scaled unit along the diagonal"),
        )
    for d, at_least in {2: 0.72, 3: 0.72, 4: 0.42}.items():
        made = NDLaplace(1 / (2 * np.sqrt(d)), domain=_cube(d))
        more = {"claim": made.as_local(), "at_least": at_least}
        yield (
            f"nd-laplace as local d={d}",
            case_with_exact_score(made, _opposite(d), "opposite corners", **more),
        )
    made_inside = Restrict(NDLaplace(1.0), _square(30.0))
    pair = _diagonal(1.0)
    about = "a corner and 1 along the diagonal"
    yield "restrict", case_with_exact_score(made_inside, pair, about, at_least=0.55, draws=600_000)


def _remaps() -> Iterator[tuple[str, Case]]:
    noise, box = NDLaplace(1.0), _square(10.0)
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


def _corners() -> Iterator[tuple[str, Case]]:
    figures: dict[type[Any], dict[int, float]] = {
        Piecewise: {2: 0.89, 3: 0.91, 4: 0.94},
        Duchi: {2: 0.97, 3: 0.97, 4: 0.97},
        Harmony: {2: 0.98, 4: 0.97},
        PrivUnit: {2: 0.67, 3: 0.74, 4: 0.82},
    }
    for kind, least in figures.items():
        for d, at_least in least.items():
            name = f"{_kebab(kind)} d={d}"
            yield (
                name,
                case_with_exact_score(
                    kind(1.0), _opposite(d), "opposite corners", at_least=at_least
                ),
            )
    for d, at_least in {2: 0.96, 3: 0.98, 4: 0.97}.items():
        flipped = np.where(np.arange(d) < d // 2, 1.0, -1.0)
        pair, about = (-np.ones(d), flipped), "half the signs flipped"
        yield (
            f"duchi d={d}, half flipped",
            case_with_exact_score(Duchi(1.0), pair, about, at_least=at_least),
        )


def _numbers() -> Iterator[tuple[str, Case]]:
    ends: tuple[Record, Record] = ([-1.0], [1.0])
    yield "hybrid", case_with_exact_score(Hybrid(1.0), ends, "both ends", at_least=0.92)
    yield (
        "square-wave",
        case_with_exact_score(SquareWave(1.0), ([0.0], [1.0]), "both ends", at_least=0.93),
    )
    yield (
        "staircase",
        case_with_exact_score(Staircase(1.0, width=2), ends, "both ends", at_least=0.93),
    )
    several = Piecewise(5.0)  # two of three columns, at 2.5 each
    yield (
        "piecewise, two columns told",
        case_with_exact_score(several, _opposite(3), "opposite corners"),
    )
    mixed = Mixed(1.0, {"age": (-1, 1), "sex": Categories(["F", "M"])})
    pair = {"age": -1.0, "sex": "F"}, {"age": 1.0, "sex": "M"}
    yield "mixed", case_with_exact_score(mixed, pair, "both columns differ")


def _categories() -> Iterator[tuple[str, Case]]:
    for oracle, at_least in ((RandomizedResponse, 0.97), (UnaryEncoding, 0.94)):
        made = oracle(1.0, 8)
        yield (
            _kebab(oracle),
            case_with_exact_score(made, (0, 1), "values 0 and 1 of 8", at_least=at_least),
        )
    for cells in (2, 8):
        made_of_cells = LocalGrid(_square(1.0), epsilon=1.0, cells=cells)
        name = f"local-grid of {cells} x {cells} cells"
        yield (
            name,
            case_with_exact_score(made_of_cells, ([0.0, 0.0], [1.0, 1.0]), "opposite corners"),
        )
    hashing = LocalHash(1.0, 60)
    yield "local-hash", Case(hashing, (0, 1), hashing.guarantee, 0.96, about="values 0 and 1 of 60")
    sides = ResidualSign(_square(1.0), ((0.2, 0.2), (0.8, 0.8)), 0.4, epsilon=1.0)
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


def _kebab(kind: type[Any]) -> str:
    letters = [f"-{c.lower()}" if c.isupper() else c for c in kind.__name__]
    return "".join(letters).lstrip("-")


def _cube(d: int) -> Box:
    return Box.of([f"x{i}" for i in range(d)], -np.ones(d), np.ones(d))


def _square(side: float) -> Box:
    return Box(x=(0.0, side), y=(0.0, side))


def _opposite(d: int) -> tuple[Any, Any]:
    return -np.ones(d), np.ones(d)


def _diagonal(distance: float) -> tuple[Any, Any]:
    """Return the low corner, and a point at this distance from it along the diagonal."""
    return np.zeros(2), np.full(2, distance / np.sqrt(2))


def case_with_exact_score(mechanism: Any, pair: tuple[Any, Any], about: str, **more: Any) -> Case:
    """Return a case with an exact score, compared with the mechanism's own guarantee."""
    claim = more.pop("claim", mechanism.guarantee)
    score = exact_score(mechanism, pair)
    return Case(mechanism, pair, claim, score=score, about=about, **more)


def count_cases() -> Iterator[tuple[str, Case]]:
    """Yield cases of whole numbers and vectors of them, each moved as far as one row can."""
    count = Geometric(_ONE)
    yield "geometric", case_with_exact_score(count, (5, 6), "counts 5 and 6", at_least=0.97)
    cells = Geometric(_ONE, sensitivity=2)
    pair = np.array([3, 0, 1]), np.array([2, 1, 1])
    yield (
        "geometric, a row replaced",
        case_with_exact_score(cells, pair, "a row moves to an empty cell"),
    )
    sparse = Geometric(_ONE, at_least=3)
    about = "one cell, empty and with one row"
    yield "sparse grid", Case(Batched(_one_cell(sparse)), (0, 1), _ONE, 0.84, about=about)
    for d in (2, 9):
        vectors = KNorm(_ONE, sensitivity=1000)
        pair = np.zeros(d, dtype=np.int64), 1000 * np.eye(d, dtype=np.int64)[0]
        yield (
            f"k-norm d={d}",
            case_with_exact_score(vectors, pair, "apart by the sensitivity", draws=100_000),
        )
    blocks = ProductNorm(_ONE, (1, 1, 3), (1, 100, 1))
    pair = np.zeros(5, dtype=np.int64), np.array([1, 100, 1, 0, 0])
    about = "a row moves a count, a sum and a category"
    yield "product-norm", case_with_exact_score(blocks, pair, about, draws=100_000)
    normal = Gaussian(ApproxDP(Fraction(1), Fraction(1, 100)), sensitivity=1000)
    pair = np.zeros(2, dtype=np.int64), np.array([600, 800])
    yield "gaussian", case_with_exact_score(normal, pair, "apart by the sensitivity")


def _one_cell(mechanism: Geometric) -> Callable[[int, int, np.random.Generator], Any]:
    """Return draws of one cell: n cells of one grid are like n grids of one cell."""

    def draw(rows: int, n: int, rng: np.random.Generator) -> Any:
        keys = np.arange(n if rows else 0)
        released = mechanism.release(SparseCounts(keys, np.full(keys.size, rows), n), rng)
        counts = np.zeros(n, dtype=np.int64)
        counts[released.keys] = released.counts
        return counts

    return draw


def choice_cases() -> Iterator[tuple[str, Case]]:
    """Yield cases of draws by score, and of trees that grow where rows are."""
    pick = Exponential(_ONE)
    pair = Choices([3, 3, 3]), Choices([4, 2, 2])
    yield "exponential", Case(pick, pair, _ONE, draws=20_000, about="three scores move by one")
    thresholds = _threshold_scores([9, 5, 4]), _threshold_scores([10, 5, 4])
    about = "block sums 9, 5, 4 and 10, 5, 4, halved, on a range of 8"
    yield "threshold draw", Case(pick, thresholds, _ONE, 0.19, 40_000, about=about)
    trees = Batched(_trees_of(TreeSplits(_ONE)))
    yield "tree splits", Case(trees, (1, 2), _ONE, draws=10_000, about="one row and two")


def _threshold_scores(sums: list[int], top: int = 16) -> Intervals:
    """Score points by how far their rank is from the middle, on a public range; in halves."""
    inside = sorted(min(each, top) for each in sums)
    ranks = range(len(inside), -1, -1)
    return Intervals([0, *inside, top], [-abs(rank - len(inside) // 2) for rank in ranks])


def _trees_of(mechanism: TreeSplits) -> Callable[[int, int, np.random.Generator], Any]:
    """Return draws of the whole tree, as text, of rows that lie together at the left."""

    def tree(rows: int, rng: np.random.Generator) -> str:
        grown = mechanism.release(
            TreeCounts(lambda splits: np.where(np.arange(splits.width) == 0, rows, 0), 3), rng
        )
        return "/".join("".join("01"[int(flag)] for flag in flags) for flags in grown.flags)

    return lambda rows, n, rng: [tree(rows, rng) for _ in range(n)]
