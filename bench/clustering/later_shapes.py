"""Shapes in two columns that were named when WaveCluster's present rule was already fixed.

None of them was run, with any rule, before this list was committed; nothing was chosen by them.
Sizes run from some hundred points to ten thousand, shapes from round to thin, with even
density and with unequal one, with points anywhere and without.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Points = tuple[Rows, NDArray[np.int64]]

LATER = ("smile", "frames", "clover", "strokes", "plus", "ripples", "wedges", "handles",
         "bridgeless", "crowd", "commas", "fences", "eyes", "steps")  # fmt: skip


def _path(rng: Any, n: int, x: Callable[[Any], Any], y: Callable[[Any], Any], width: float) -> Rows:
    """Points along a curve, off it by a normal error."""
    t = rng.uniform(0, 1, n)
    return np.stack([x(t), y(t)], axis=1) + rng.normal(0, width, (n, 2))


def _ring(rng: Any, n: int, middle: Sequence[float], radius: float, width: float) -> Rows:
    turn = rng.uniform(0, 2 * np.pi, n)
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.asarray(middle + around * (radius + rng.normal(0, width, (n, 1))))


def _disc(rng: Any, n: int, middle: Sequence[float], radius: float) -> Rows:
    away = radius * np.sqrt(rng.uniform(0, 1, (n, 1)))
    turn = rng.uniform(0, 2 * np.pi, n)
    return np.asarray(middle + away * np.stack([np.cos(turn), np.sin(turn)], axis=1))


def _bar(rng: Any, n: int, low: Sequence[float], high: Sequence[float]) -> Rows:
    return np.asarray(rng.uniform(low, high, (n, 2)))


def _cloud(rng: Any, n: int, middle: Sequence[float], sds: Sequence[float], turn: float) -> Rows:
    cos, sin = np.cos(turn), np.sin(turn)
    return np.asarray(middle + rng.normal(0, sds, (n, 2)) @ np.array([[cos, sin], [-sin, cos]]))


def _joined(parts: Sequence[Rows], anywhere: int = 0, rng: Any = None) -> Points:
    """The parts with their numbers; points anywhere in their box are a group of their own."""
    if anywhere:
        rows = np.concatenate(parts)
        parts = [*parts, _bar(rng, anywhere, rows.min(axis=0), rows.max(axis=0))]
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def _smile() -> Points:
    rng = np.random.default_rng(101)
    mouth = _path(rng, 900, lambda t: 4 * t - 2, lambda t: (2 * t - 1) ** 2 - 1.6, 0.12)
    eyes = [_disc(rng, 500, (side, 1.0), 0.45) for side in (-1.2, 1.2)]
    return _joined([_ring(rng, 2_400, (0, 0), 3.4, 0.12), mouth, *eyes])


def _frames() -> Points:
    rng = np.random.default_rng(102)
    parts = []
    for half, n in ((1.0, 700), (2.2, 1_500), (3.6, 2_400)):
        side, along = rng.integers(0, 4, n), rng.uniform(-half, half, n)
        x = np.choose(side, [along, along, np.full(n, -half), np.full(n, half)])
        y = np.choose(side, [np.full(n, -half), np.full(n, half), along, along])
        parts.append(np.stack([x, y], axis=1) + rng.normal(0, 0.12, (n, 2)))
    return _joined(parts)


def _clover() -> Points:
    rng = np.random.default_rng(103)
    turns = np.array([0.5, 2.6, 4.7])
    leaves = [_cloud(rng, 1_300, (2.4 * np.cos(t), 2.4 * np.sin(t)), (0.8, 0.4), t) for t in turns]
    return _joined([*leaves, _disc(rng, 350, (0, 0), 0.35)])


def _strokes() -> Points:
    rng = np.random.default_rng(104)
    parts = [
        _path(rng, 400, lambda t, c=c, r=r: 2.2 * c + 0.9 * t + 0.3 * r,
              lambda t, r=r: 2.4 * r + 1.4 * t, 0.09)
        for r in range(3) for c in range(4)
    ]  # fmt: skip
    return _joined(parts, 250, rng)


def _plus() -> Points:
    rng = np.random.default_rng(105)
    cross = np.concatenate([_bar(rng, 1_200, (-3, -0.35), (3, 0.35)),
                            _bar(rng, 1_200, (-0.35, -3), (0.35, 3))])  # fmt: skip
    corners = [_disc(rng, 500, (2.1 * a, 2.1 * b), 0.7) for a in (-1, 1) for b in (-1, 1)]
    return _joined([cross, *corners])


def _ripples() -> Points:
    rng = np.random.default_rng(106)
    parts = [
        _path(rng, 1_400, lambda t: 9 * t,
              lambda t, i=i: 1.5 * i + (0.3 + 0.15 * i) * np.sin(9 * t), 0.13)
        for i in range(4)
    ]  # fmt: skip
    return _joined(parts)


def _wedges() -> Points:
    rng = np.random.default_rng(107)
    parts = []
    for turn, n in ((0.4, 500), (1.9, 900), (3.5, 1_500), (5.1, 2_500)):
        away, off = 0.8 + 2.6 * np.sqrt(rng.uniform(0, 1, n)), turn + rng.uniform(-0.45, 0.45, n)
        parts.append(np.stack([away * np.cos(off), away * np.sin(off)], axis=1))
    return _joined(parts, 300, rng)


def _handles() -> Points:
    rng = np.random.default_rng(108)
    parts = []
    for x, way in ((0.0, 1), (2.0, -1), (4.0, 1)):
        arc = _path(
            rng,
            650,
            lambda t, x=x: x + np.cos(np.pi * t),
            lambda t, w=way: w * np.sin(np.pi * t),
            0.07,
        )
        parts.append(arc + np.array([0, 0.35 * way]))
    return _joined(parts)  # fmt: skip


def _bridgeless() -> Points:
    rng = np.random.default_rng(109)
    pairs = [((0, 0), (1.0, 0.5), 0.3), ((3.4, 0.6), (0.5, 1.1), 0.0),
             ((0.8, 3.4), (1.1, 0.4), -0.6), ((4.2, 4.2), (0.6, 0.6), 0.0)]  # fmt: skip
    return _joined([_cloud(rng, 900, m, s, t) for m, s, t in pairs], 400, rng)


def _crowd() -> Points:
    rng = np.random.default_rng(110)
    places = [(2.6 * i + rng.uniform(-0.4, 0.4), 2.6 * j + rng.uniform(-0.4, 0.4))
              for i in range(5) for j in range(4)]  # fmt: skip
    sizes = rng.integers(150, 700, 20)
    return _joined([_cloud(rng, n, m, (0.5, 0.25), rng.uniform(0, np.pi))
                    for n, m in zip(sizes, places, strict=True)])  # fmt: skip


def _commas() -> Points:
    rng = np.random.default_rng(111)
    parts = []
    for x, y in ((0.0, 0.0), (2.4, 1.2), (4.9, -0.2), (1.4, 3.4)):
        tail = _path(
            rng, 220, lambda t, x=x: x + 0.9 * np.sin(2 * t), lambda t, y=y: y - 1.3 * t, 0.06
        )
        parts.append(np.concatenate([_disc(rng, 480, (x, y), 0.4), tail]))
    return _joined(parts)  # fmt: skip


def _fences() -> Points:
    rng = np.random.default_rng(112)
    posts = [_bar(rng, 260, (1.1 * i, 0), (1.1 * i + 0.35, 4)) for i in range(6)]
    rails = [_bar(rng, 900, (-0.4, y), (6.4, y + 0.3)) for y in (-1.2, 4.9)]
    return _joined([*posts, *rails])


def _eyes() -> Points:
    rng = np.random.default_rng(113)
    parts = []
    for x, n in ((0.0, 900), (4.2, 400)):
        parts += [_ring(rng, n, (x, 0), 1.5, 0.1), _cloud(rng, n // 2, (x, 0), (0.28, 0.28), 0)]
    return _joined(parts)


def _steps() -> Points:
    rng = np.random.default_rng(114)
    parts = [
        _bar(rng, 300 * (i + 1), (1.7 * i, 0.9 * i), (1.7 * i + 1.2, 0.9 * i + 1.1))
        for i in range(5)
    ]
    return _joined(parts, 150, rng)  # fmt: skip


MADE: dict[str, Callable[[], Points]] = {name: globals()[f"_{name}"] for name in LATER}
