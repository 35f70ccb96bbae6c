"""Sets of points in two columns whose groups are known, of any shape.

Bounds that stand in for public ones are the points' own, 2 % wider on each side: these are test
sets, nobody's rows. *Held out* are sets that no setting of ``WaveCluster`` was chosen on: four that
are published, and six made up here.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from clustering.data import Rows, stored
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_moons

from shoal.domain import Box

Labels = NDArray[np.int64]
Points = tuple[Rows, Labels]


class Shape(NamedTuple):
    """Points, the group of each, and the box they lie in."""

    name: str
    rows: Rows
    labels: Labels
    box: Box


class Compared(NamedTuple):
    """A shape, and the grid and quantile at which methods are held against plain WaveCluster."""

    shape: Shape
    cells: int
    p: float


KNOWN = ("t4.8k", "moons", "circles", "s1", "birch1", "aggregation", "compound", "pathbased",
         "spiral")  # fmt: skip
HELD_OUT = ("compound", "flame", "lsun", "r15", "crescents", "ladder", "target", "lattice",
            "uneven", "stripes")  # fmt: skip


def compared() -> list[Compared]:
    """The sets, grids and quantiles of the published comparison, and four more sets."""
    each = (("aggregation", 36, 0.5), ("pathbased", 32, 0.3), ("s1", 48, 0.5), ("t4.8k", 64, 0.5),
            ("birch1", 128, 0.3), ("moons", 48, 0.3), ("circles", 48, 0.3))  # fmt: skip
    return [Compared(shape(name), cells, p) for name, cells, p in each]


@cache
def shape(name: str) -> Shape:
    """The set of this name."""
    rows, labels = MADE[name]() if name in MADE else _published(name)
    margin = 0.02 * np.ptp(rows, axis=0)
    box = Box.of(["x", "y"], rows.min(axis=0) - margin, rows.max(axis=0) + margin)
    return Shape(name, rows, labels, box)


def _published(name: str) -> Points:
    return stored(name, "x", "y"), stored(name, "label")[:, 0].astype(np.int64)


def _crescents() -> Points:
    """Three arcs around each other's ends, and a twentieth of the points anywhere."""
    rng = np.random.default_rng(21)
    turn = rng.uniform(0, np.pi, (3, 2_000))
    arcs = [
        np.stack([np.cos(t) + 1.1 * i, (-1) ** i * np.sin(t) + 0.25 * i], axis=1)
        for i, t in enumerate(turn)
    ]
    return _noisy(rng, [arc + rng.normal(0, 0.06, arc.shape) for arc in arcs], 300)


def _ladder() -> Points:
    """Two long rails with five rungs that touch neither."""
    rng = np.random.default_rng(22)
    rails = [_bar(rng, 1_500, (x, 0.0), (x + 0.25, 10.0)) for x in (0.0, 5.0)]
    rungs = [_bar(rng, 500, (1.4, y), (3.9, y + 0.25)) for y in (1.0, 3.0, 5.0, 7.0, 9.0)]
    return _joined([*rails, *rungs])


def _target() -> Points:
    """A round group, and two rings of other widths about it."""
    rng = np.random.default_rng(23)
    parts = []
    for n, radius, width in ((1_500, 0.0, 0.12), (2_500, 0.7, 0.05), (4_000, 1.3, 0.09)):
        turn, away = rng.uniform(0, 2 * np.pi, n), radius + rng.normal(0, width, n)
        parts.append(np.stack([away * np.cos(turn), away * np.sin(turn)], axis=1))
    return _joined(parts)


def _lattice() -> Points:
    """Forty-nine round groups in rows and columns."""
    rng = np.random.default_rng(24)
    middles = np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0)), axis=-1).reshape(-1, 2)
    return _joined([middle + rng.normal(0, 0.14, (400, 2)) for middle in middles])


def _uneven() -> Points:
    """Round groups from 150 to 6,000 points, the larger ones wider."""
    rng = np.random.default_rng(25)
    sizes = (150, 300, 600, 1_500, 3_000, 6_000)
    middles = ((0, 0), (4, 0.5), (8, 0), (1, 5), (6, 6), (12, 4))
    widths = (0.3, 0.35, 0.4, 0.7, 0.9, 1.2)
    each = zip(sizes, middles, widths, strict=True)
    return _noisy(rng, [m + rng.normal(0, w, (n, 2)) for n, m, w in each], 300)


def _stripes() -> Points:
    """Four slanting stripes, as close as they are wide."""
    rng = np.random.default_rng(26)
    parts = []
    for i in range(4):
        along, across = rng.uniform(0, 6, 1_000), rng.normal(0, 0.12, 1_000)
        parts.append(np.stack([along + across, 0.6 * along - across + 0.9 * i], axis=1))
    return _joined(parts)


def _bar(rng: Any, n: int, low: Sequence[float], high: Sequence[float]) -> Rows:
    return np.asarray(rng.uniform(low, high, (n, 2)))


def _joined(parts: Sequence[Rows]) -> Points:
    labels = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return np.concatenate(parts), labels


def _noisy(rng: Any, parts: Sequence[Rows], n: int) -> Points:
    """With points anywhere in the box of the others; they are a group of their own."""
    rows = np.concatenate(parts)
    return _joined([*parts, _bar(rng, n, rows.min(axis=0), rows.max(axis=0))])


MADE: dict[str, Callable[[], Points]] = {
    "moons": lambda: make_moons(10_000, noise=0.05, random_state=0),
    "circles": lambda: make_circles(10_000, noise=0.04, factor=0.5, random_state=0),
    "crescents": _crescents,
    "ladder": _ladder,
    "target": _target,
    "lattice": _lattice,
    "uneven": _uneven,
    "stripes": _stripes,
}
