"""Ladders of maps from leaves to nodes, and paths of ever coarser cuts up such ladders.

A *map* gives each leaf of one QID the node under which it is looked at; a ladder's maps are
nested, the first the leaves themselves, the last the most general labels allowed. A *cut* picks
a map of each QID, as a tuple of their numbers. Lines with equal nodes are a *cell* of the cut.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.tree import Places, Tree
from shoal.anonymize.units import Units

__all__ = ["LADDERS", "CutOfMaps", "Ladder", "mass_maps", "step_maps"]

CutOfMaps = tuple[int, ...]

_RUNGS = 8
_HAIR = 1 - 1e-12


def step_maps(units: Units, q: int) -> list[Places]:
    """Every leaf climbs towards its top at the same time, a step a map."""
    tree, top = units.problem.trees[q], units.tops[q]
    maps = [tree.leaf]
    while (maps[-1] != top).any():
        maps.append(np.where(maps[-1] == top, top, tree.parent[maps[-1]]))
    return maps


def mass_maps(units: Units, q: int) -> list[Places]:
    """Nodes swallow their leaves in the order of share of rows times cost: rare values first.

    Of all the maps on the way, eight are kept whose mean costs grow in about equal ratios.
    """
    tree, pay, share = units.problem.trees[q], units.penalties[q], units.shares[q]
    nodes = np.flatnonzero((tree.high - tree.low > 1) & np.isfinite(pay))
    weight = tree.sums(share)[nodes] * pay[nodes]
    order = nodes[np.lexsort((-nodes, weight.round(12)))]  # of equals the child comes first
    kept = _rungs(np.array([share @ pay[m] for m in _swallowing(tree, order)]))
    return [m.copy() for i, m in enumerate(_swallowing(tree, order)) if i in kept]


def _swallowing(tree: Tree, nodes: NDArray[np.int64]) -> Iterator[Places]:
    """The leaves, then the map after each node has swallowed those below it: one array, changed."""
    current = tree.leaf.copy()
    yield current
    for node in nodes:
        current[tree.low[node] : tree.high[node]] = node
        yield current


def _rungs(means: NDArray[np.float64]) -> set[int]:
    """The first map, the last, and some between whose means are in about equal ratios."""
    rising = means - means[0]
    ends = {0, len(means) - 1}
    if rising[-1] <= 0:
        return ends
    goals = np.geomspace(rising[rising > 0][0], rising[-1], _RUNGS)
    return ends | set(np.searchsorted(rising, goals[:-1] * _HAIR).tolist())


LADDERS: dict[str, Callable[[Units, int], list[Places]]] = {"steps": step_maps, "mass": mass_maps}


@dataclass(frozen=True, eq=False)
class Ladder:
    """The maps of all QIDs, what each costs a leaf, and what it costs a row in the mean."""

    maps: list[list[Places]]
    penalties: list[list[NDArray[np.float64]]]
    means: list[NDArray[np.float64]]

    @classmethod
    def of(cls, units: Units, kind: str) -> "Ladder":
        """The ladder of a kind, one of ``LADDERS``."""
        maps = [LADDERS[kind](units, q) for q in range(units.problem.d)]
        penalties = [[units.penalties[q][m] for m in below] for q, below in enumerate(maps)]
        shares = units.shares
        means = [np.array([shares[q] @ p for p in ps]) for q, ps in enumerate(penalties)]
        return cls(maps, penalties, means)

    def mean(self, cut: CutOfMaps) -> float:
        """What a row costs in the mean under a cut."""
        return float(sum(means[j] for means, j in zip(self.means, cut, strict=True)))

    def path(self, tilt: NDArray[np.float64]) -> list[CutOfMaps]:
        """Raise one map after another, in the order of its mean cost times its QID's tilt."""
        qids = np.repeat(np.arange(len(self.maps)), [len(maps) - 1 for maps in self.maps])
        order = np.argsort(
            np.concatenate([t * m[1:] for t, m in zip(tilt, self.means, strict=True)]),
            kind="stable",
        )
        heights = np.cumsum(qids[order][:, None] == np.arange(len(self.maps)), axis=0)
        return [tuple(cut) for cut in heights.tolist()]

    def paths(self, number: int, rng: np.random.Generator) -> list[list[CutOfMaps]]:
        """The plain path, then others whose tilts are exp of standard normal draws."""
        tilts = np.exp(rng.standard_normal((number, len(self.maps))))
        tilts[:1] = 1.0
        return [self.path(tilt) for tilt in tilts]
