"""Cases for the private estimators: tables that differ by one row, placed where it shows most.

Tables are tiny and made up, so that thousands of fits can be afforded; where a method takes its
further steps only for many rows, their public number says that there are many.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.case import Case
from shoal.audit.draws import Batched
from shoal.audit.fits import FittedNumbers, GateNumbers
from shoal.cluster import PrivateKMeans, WaveCluster
from shoal.domain import Box
from shoal.privacy import PureDP
from shoal.synopsis import AdaptiveGrid, PrivTree, UniformGrid

__all__ = ["LINE", "PAIRS", "cases"]

Table = NDArray[np.float64]
LINE = Box(x=(-1, 1))
PLANE = Box(x=(-1, 1), y=(-1, 1))
FOUR = Box.of(["a", "b", "c", "d"], [-1] * 4, [1] * 4)


def _column(*values: float) -> Table:
    return np.array(values, dtype=np.float64).reshape(-1, 1)


PAIRS: dict[str, tuple[Table, Table]] = {  # a table, and the same with one more row
    "one row alone in a corner": (_column(*[-0.9] * 8), _column(*[-0.9] * 8, 1)),
    "one row alone in a cluster": (_column(*[-0.9] * 20), _column(*[-0.9] * 20, 0.99)),
    "one row more at the maximum": (_column(*[-0.9] * 4, 1), _column(*[-0.9] * 4, 1, 1)),
    "one row on a cell's border": (_column(*[-1] * 4), _column(*[-1] * 4, 0)),
    "one row twice": (_column(0.99), _column(0.99, 0.99)),
    "one row between two centres": (_column(-0.5, 0.5), _column(-0.5, 0.5, 0)),
    "nobody and one row": (np.empty((0, 1)), _column(-1)),
}


def _kmeans(method: Any, **settings: Any) -> PrivateKMeans:
    return PrivateKMeans(2, epsilon=1, domain=LINE, method=method, **settings)


def _wave(**settings: Any) -> WaveCluster:
    usual: dict[str, Any] = {"epsilon": 1, "domain": LINE, "cells": 4, "min_cells": 1}
    return WaveCluster(**usual | settings)


def _grid(kind: Any, **settings: Any) -> Any:
    return kind(epsilon=1, domain=LINE, **settings)


# What left the gate: a model, how many releases it makes at most, and the pair.
_GATES: dict[str, tuple[Any, int, str]] = {
    "PrivateKMeans, auto": (_kmeans("auto"), 3, "one row alone in a corner"),
    "PrivateKMeans, adaptive-grid": (_kmeans("adaptive-grid"), 3, "one row twice"),
    "PrivateKMeans, uniform-grid": (_kmeans("uniform-grid"), 2, "one row on a cell's border"),
    "PrivateKMeans, privtree": (_kmeans("privtree"), 4, "nobody and one row"),
    "PrivateKMeans, lloyd": (_kmeans("lloyd"), 5, "one row alone in a cluster"),
    "PrivateKMeans, hybrid": (_kmeans("hybrid"), 2, "one row more at the maximum"),
    "UniformGrid": (_grid(UniformGrid, cells=4), 2, "one row alone in a corner"),
    "UniformGrid, sparse": (_grid(UniformGrid, cells=16, sparse=True), 2, "nobody and one row"),
    "AdaptiveGrid": (_grid(AdaptiveGrid, cells=4), 3, "one row alone in a corner"),
    "AdaptiveGrid, sparse": (_grid(AdaptiveGrid, cells=4, sparse=True), 3, "one row twice"),
    "PrivTree": (_grid(PrivTree), 4, "one row alone in a corner"),
    "WaveCluster, block": (_wave(), 1, "one row alone in a corner"),
    "WaveCluster, sparse": (_wave(domain=FOUR, cells=2), 2, "nobody and one row"),
    "WaveCluster, privqt": (_wave(method="privqt"), 1, "one row on a cell's border"),
    "WaveCluster, privthr": (_wave(method="privthr"), 2, "nobody and one row"),
    "WaveCluster, privthrem": (_wave(method="privthrem"), 2, "one row more at the maximum"),
    "WaveCluster, baseline": (_wave(method="baseline", domain=PLANE), 3, "one row twice"),
}
_EVERY_PAIR = ("PrivateKMeans, auto", "UniformGrid", "PrivTree", "WaveCluster, privthrem")

# All that was fitted: such models, and those that differ in what they do with a release.
_GRIDS_OF_CELLS = ("PrivateKMeans, adaptive-grid", "PrivateKMeans, uniform-grid")  # as "auto" is
_STEPS = "one row between two centres"
_FITS: dict[str, tuple[Any, str]] = {
    "PrivateKMeans, auto, its steps": (_kmeans("auto", n_public=3000), _STEPS),
    "PrivateKMeans, hybrid, its step": (_kmeans("hybrid", n_public=30_000), _STEPS),
    "WaveCluster, persistence": (_wave(selector="persistence"), "one row alone in a corner"),
    "WaveCluster, percentile": (_wave(selector="percentile"), "one row more at the maximum"),
    "WaveCluster, density": (_wave(selector="density"), "one row alone in a corner"),
    "WaveCluster, mass": (_wave(selector="mass"), "one row on a cell's border"),
    "WaveCluster, posterior": (_wave(selector="percentile", rule="posterior"), "one row twice"),
    **{name: (_GATES[name][0], _GATES[name][2]) for name in _GATES if name not in _GRIDS_OF_CELLS},
}


def _tables(model: Any, pair: str) -> tuple[Table, Table]:
    """The pair's tables, with as many columns as the model's domain has."""
    without, more = (np.repeat(table, model.domain.d, axis=1) for table in PAIRS[pair])
    return without, more


def _at_the_gate(model: Any, parts: int, pair: str, draws: int = 10_000) -> Case:
    return Case(
        Batched(GateNumbers(model, parts)),
        _tables(model, pair),
        PureDP(model._promise().epsilon),
        draws=draws,
        about=f"{pair}; what left the gate",
    )


def _fitted(model: Any, pair: str) -> Case:
    return Case(
        Batched(FittedNumbers(model, 20)),
        _tables(model, pair),
        PureDP(model._promise().epsilon),
        draws=1_000,
        about=f"{pair}; all that ends in an underscore",
    )


def cases() -> dict[str, Case]:
    """At the gate on ten thousand fits; on every pair, and all that is fitted, on a thousand."""
    gates = {name: _at_the_gate(*of) for name, of in _GATES.items()}
    pairs = {
        f"{name}, {pair}": _at_the_gate(*_GATES[name][:2], pair, draws=1_000)
        for name in _EVERY_PAIR
        for pair in PAIRS
        if pair != _GATES[name][2]
    }
    return {**gates, **pairs, **{f"{name}, fitted": _fitted(*of) for name, of in _FITS.items()}}
