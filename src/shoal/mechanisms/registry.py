"""Every mechanism once: examples of it, the pairs of values that show most of it, its names.

Contracts, audits, the command line and the navigation of the documentation read this list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from shoal.domain import Box, Categories, SparseCounts
from shoal.mechanisms import (
    Choices,
    Duchi,
    Exponential,
    Gaussian,
    Geometric,
    Harmony,
    Hybrid,
    KNorm,
    LocalGrid,
    Mixed,
    NDLaplace,
    NoisyBest,
    Piecewise,
    PlanarLaplace,
    PrivUnit,
    ProductNorm,
    RandomizedResponse,
    Restrict,
    ScoredIntervals,
    SphericalLaplace,
    Splits,
    SquareWave,
    Staircase,
    TreeCounts,
    TreeSplits,
    UnaryEncoding,
)
from shoal.privacy import ApproxDP, Guarantee, PureDP


class Example(NamedTuple):
    """How to make a mechanism from an epsilon, and a value that it takes."""

    make: Callable[[Any], Any]
    value: Any


class Pair(NamedTuple):
    """Two values that the outputs of a mechanism tell apart best, for an audit.

    Parameters
    ----------
    values
        The two values: corners, ends, a row more, half the signs flipped.
    at_least
        The epsilon that an audit of so many draws shows; None for no such figure.
    claim
        What is promised, where it is not the mechanism's ``guarantee``.
    """

    mechanism: Any
    values: tuple[Any, Any]
    about: str
    at_least: float | None = None
    draws: int = 200_000
    claim: Guarantee | None = None


@dataclass(frozen=True)
class MechanismEntry:
    """A mechanism, and what others need to know of it.

    Parameters
    ----------
    pairs
        Returns its pairs by the names of their audits, which begin with the mechanism's.
    command
        Its name on the command line; None if it has none there.
    """

    kind: type[Any]
    make: Callable[[Any], Any]
    value: Any
    pairs: Callable[[], Mapping[str, Pair]]
    command: str | None = None
    variants: Mapping[str, Example] | None = None

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.kind.__name__

    @property
    def is_central(self) -> bool:
        """Whether it is for a trusted holder of all rows."""
        return ".central." in self.kind.__module__

    @property
    def takes_copies(self) -> bool:
        """Whether one release takes many copies of a value, each with noise of its own."""
        return not self.is_central or isinstance(self.value, np.ndarray)

    @property
    def page(self) -> str:
        """Its page, below ``docs``: named as its file is."""
        file = self.kind.__module__.rpartition(".")[2].lstrip("_")
        return f"methods/{file.replace('_', '-')}.md"

    @property
    def examples(self) -> dict[str, Example]:
        """Its examples, by name."""
        more = {f"{self.name}, {about}": each for about, each in (self.variants or {}).items()}
        return {self.name: Example(self.make, self.value)} | more


_ONE = PureDP(Fraction(1))
_PLANE = Box(x=(-1, 1), y=(-1, 1))
_LINE = Box(x=(-1, 1))
_ROWS = np.array([[0.5, -0.25], [1.0, 0.0], [-1.0, 1.0]])
_VECTORS = np.arange(6).reshape(2, 3)
_LETTERS = Categories(["a", "b", "c"])
_SEXES = Categories(["F", "M"])
_ENDS = [-1.0], [1.0]


def _nd_laplace() -> dict[str, Pair]:
    pairs = {}
    for d, at_least in {1: None, 2: 0.76, 3: 0.67, 7: 0.40, 10: 0.30}.items():
        values = np.zeros(d), np.eye(d)[0]
        noise = NDLaplace(1.0, scale=np.ones(d))
        pairs[f"nd-laplace d={d}"] = Pair(noise, values, "0 and e_1", at_least)
    for d, at_least in {2: 0.72, 3: 0.72, 4: 0.42}.items():
        cube = Box.of([f"x{i}" for i in range(d)], -np.ones(d), np.ones(d))
        noise = NDLaplace(1 / (2 * np.sqrt(d)), domain=cube)
        pairs[f"nd-laplace as local d={d}"] = Pair(
            noise, _opposite(d), "opposite corners", at_least, claim=noise.as_local()
        )
    return pairs


def _scaled_laplace(kind: type[NDLaplace], d: int) -> Pair:
    box = Box.of([f"x{i}" for i in range(d)], np.zeros(d), np.full(d, 8.0))
    values = np.zeros(d), np.full(d, 2 / np.sqrt(d))
    about = "a corner and one scaled unit along the diagonal"
    return Pair(kind(1.0, domain=box, scale=np.full(d, 2.0)), values, about)


def _restrict() -> Pair:
    values = np.zeros(2), np.full(2, 1 / np.sqrt(2))
    noise = Restrict(NDLaplace(1.0), Box(x=(0.0, 30.0), y=(0.0, 30.0)))
    return Pair(noise, values, "a corner and 1 along the diagonal", 0.55, 600_000)


def _corners(kind: Callable[[float], Any], name: str, least: dict[int, float]) -> dict[str, Pair]:
    return {
        f"{name} d={d}": Pair(kind(1.0), _opposite(d), "opposite corners", at_least)
        for d, at_least in least.items()
    }


def _opposite(d: int) -> tuple[Any, Any]:
    return -np.ones(d), np.ones(d)


def _half_flipped() -> dict[str, Pair]:
    return {
        f"duchi d={d}, half flipped": Pair(
            Duchi(1.0),
            (-np.ones(d), np.where(np.arange(d) < d // 2, 1.0, -1.0)),
            "half the signs flipped",
            at_least,
        )
        for d, at_least in {2: 0.96, 3: 0.98, 4: 0.97}.items()
    }


def _local_grid() -> dict[str, Pair]:
    return {
        f"local-grid of {cells} x {cells} cells": Pair(
            LocalGrid(Box(x=(0.0, 1.0), y=(0.0, 1.0)), epsilon=1.0, cells=cells),
            ([0.0, 0.0], [1.0, 1.0]),
            "opposite corners",
        )
        for cells in (2, 8)
    }


def _k_norm() -> dict[str, Pair]:
    return {
        f"k-norm d={d}": Pair(
            KNorm(_ONE, sensitivity=1000),
            (np.zeros(d, dtype=np.int64), 1000 * np.eye(d, dtype=np.int64)[0]),
            "apart by the sensitivity",
            draws=100_000,
        )
        for d in (2, 9)
    }


def _exponential() -> dict[str, Pair]:
    pick, thresholds = Exponential(_ONE), (_ranks([9, 5, 4]), _ranks([10, 5, 4]))
    about = "block sums 9, 5, 4 and 10, 5, 4, halved, on a range of 8"
    scores = Choices([3, 3, 3]), Choices([4, 2, 2])
    return {
        "exponential": Pair(pick, scores, "three scores move by one", draws=20_000),
        "threshold draw": Pair(pick, thresholds, about, 0.19, 40_000),
    }


def _ranks(sums: list[int], top: int = 16) -> ScoredIntervals:
    """Score points by how far their rank is from the middle, on a public range; in halves."""
    inside = sorted(min(each, top) for each in sums)
    ranks = range(len(inside), -1, -1)
    return ScoredIntervals([0, *inside, top], [-abs(rank - len(inside) // 2) for rank in ranks])


def _one_row_at_the_left(splits: Splits) -> Any:
    """Count a row in the first node of every depth."""
    return (np.arange(splits.width) == 0).astype(np.int64)


REGISTRY = (
    MechanismEntry(NDLaplace, NDLaplace, _ROWS, _nd_laplace, "nd-laplace"),
    MechanismEntry(
        PlanarLaplace,
        PlanarLaplace,
        _ROWS,
        lambda: {"planar-laplace, scaled": _scaled_laplace(PlanarLaplace, 2)},
        "planar-laplace",
    ),
    MechanismEntry(
        SphericalLaplace,
        SphericalLaplace,
        np.zeros((2, 3)),
        lambda: {"spherical-laplace, scaled": _scaled_laplace(SphericalLaplace, 3)},
        "spherical-laplace",
    ),
    MechanismEntry(
        Restrict,
        lambda epsilon: Restrict(NDLaplace(epsilon), _PLANE),
        _ROWS,
        lambda: {"restrict": _restrict()},
        "restricted-laplace",
    ),
    MechanismEntry(
        Piecewise,
        Piecewise,
        _ROWS,
        # At epsilon 5, two of three columns are reported, at 2.5 each.
        lambda: (
            _corners(Piecewise, "piecewise", {2: 0.89, 3: 0.91, 4: 0.94})
            | {
                "piecewise, two columns told": Pair(
                    Piecewise(5.0), _opposite(3), "opposite corners"
                )
            }
        ),
        "piecewise",
    ),
    MechanismEntry(
        Duchi,
        Duchi,
        _ROWS,
        lambda: _corners(Duchi, "duchi", {2: 0.97, 3: 0.97, 4: 0.97}) | _half_flipped(),
        "duchi",
    ),
    MechanismEntry(
        Hybrid,
        Hybrid,
        _ROWS,
        lambda: {"hybrid": Pair(Hybrid(1.0), _ENDS, "both ends", 0.92)},
        "hybrid",
    ),
    MechanismEntry(
        Harmony,
        Harmony,
        _ROWS,
        lambda: _corners(Harmony, "harmony", {2: 0.98, 4: 0.97}),
        "harmony",
    ),
    MechanismEntry(
        PrivUnit,
        PrivUnit,
        _ROWS,
        lambda: _corners(PrivUnit, "priv-unit", {2: 0.67, 3: 0.74, 4: 0.82}),
        "privunit",
    ),
    MechanismEntry(
        SquareWave,
        lambda epsilon: SquareWave(epsilon, domain=_LINE),
        _ROWS[:, :1],
        lambda: {"square-wave": Pair(SquareWave(1.0), ([0.0], [1.0]), "both ends", 0.93)},
        "square-wave",
    ),
    MechanismEntry(
        Staircase,
        lambda epsilon: Staircase(epsilon, domain=_LINE),
        _ROWS[:, :1],
        lambda: {"staircase": Pair(Staircase(1.0, width=2), _ENDS, "both ends", 0.93)},
        "staircase",
    ),
    MechanismEntry(
        RandomizedResponse,
        lambda epsilon: RandomizedResponse(epsilon, _LETTERS),
        ["a", "c"],
        lambda: {
            "randomized-response": Pair(
                RandomizedResponse(1.0, 8), (0, 1), "values 0 and 1 of 8", 0.97
            )
        },
        "randomized-response",
    ),
    MechanismEntry(
        UnaryEncoding,
        lambda epsilon: UnaryEncoding(epsilon, _LETTERS),
        ["a", "c"],
        lambda: {
            "unary-encoding": Pair(UnaryEncoding(1.0, 8), (0, 1), "values 0 and 1 of 8", 0.94)
        },
        "unary-encoding",
    ),
    MechanismEntry(
        Mixed,
        lambda epsilon: Mixed(epsilon, {"age": (0, 110), "sex": _SEXES}),
        {"age": [30, 40], "sex": ["F", "M"]},
        lambda: {
            "mixed": Pair(
                Mixed(1.0, {"age": (-1, 1), "sex": _SEXES}),
                ({"age": -1.0, "sex": "F"}, {"age": 1.0, "sex": "M"}),
                "both columns differ",
            )
        },
        "mixed",
    ),
    MechanismEntry(
        LocalGrid,
        lambda epsilon: LocalGrid(_PLANE, epsilon=epsilon, cells=4),
        _ROWS,
        _local_grid,
        "local-grid",
    ),
    MechanismEntry(
        Geometric,
        lambda epsilon: Geometric(PureDP(epsilon)),
        np.arange(5),
        lambda: {
            "geometric": Pair(Geometric(_ONE), (5, 6), "counts 5 and 6", 0.97),
            "geometric, a row replaced": Pair(
                Geometric(_ONE, sensitivity=2),
                (np.array([3, 0, 1]), np.array([2, 1, 1])),
                "a row moves to an empty cell",
            ),
        },
        variants={
            "sparse": Example(
                lambda epsilon: Geometric(PureDP(epsilon), at_least=2),
                SparseCounts(np.array([1, 7]), np.array([3, 1]), 9),
            )
        },
    ),
    MechanismEntry(
        Exponential,
        lambda epsilon: Exponential(PureDP(epsilon)),
        Choices([1, 2, 3]),
        _exponential,
        variants={
            "lattice": Example(
                lambda epsilon: Exponential(PureDP(epsilon)), ScoredIntervals([0, 4, 9], [2, 1])
            )
        },
    ),
    MechanismEntry(
        NoisyBest,
        lambda epsilon: NoisyBest(PureDP(epsilon), 1),
        _VECTORS,
        lambda: {
            "noisy-best": Pair(
                NoisyBest(_ONE, 1),
                (np.array([[3, 5, 3]]), np.array([[4, 4, 4]])),
                "a row moves three scores, the best of them down",
                draws=50_000,
            ),
            "noisy-best one way": Pair(
                NoisyBest(_ONE, 1, one_way=True),
                (np.array([[4, 4, 4]]), np.array([[4, 5, 4]])),
                "a row moves one of three equal scores up",
                draws=50_000,
            ),
        },
    ),
    MechanismEntry(KNorm, lambda epsilon: KNorm(PureDP(epsilon), 9), _VECTORS, _k_norm),
    MechanismEntry(
        ProductNorm,
        lambda epsilon: ProductNorm(PureDP(epsilon), (1, 2), (9, 1)),
        _VECTORS,
        lambda: {
            "product-norm": Pair(
                ProductNorm(_ONE, (1, 1, 3), (1, 100, 1)),
                (np.zeros(5, dtype=np.int64), np.array([1, 100, 1, 0, 0])),
                "a row moves a count, a sum and a category",
                draws=100_000,
            )
        },
    ),
    MechanismEntry(
        Gaussian,
        lambda epsilon: Gaussian(ApproxDP(epsilon, Fraction(1, 10**6)), 9),
        _VECTORS,
        lambda: {
            "gaussian": Pair(
                Gaussian(ApproxDP(Fraction(1), Fraction(1, 100)), sensitivity=1000),
                (np.zeros(2, dtype=np.int64), np.array([600, 800])),
                "apart by the sensitivity",
            )
        },
    ),
    # An audit of trees needs them as text, so its case is in shoal.audit.
    MechanismEntry(
        TreeSplits,
        lambda epsilon: TreeSplits(PureDP(epsilon)),
        TreeCounts(_one_row_at_the_left, max_depth=4),
        dict,
    ),
)
