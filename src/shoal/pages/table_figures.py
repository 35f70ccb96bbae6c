"""Figures of a released table: each hierarchy with its labels, and the risk before and after."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymize.hierarchies import NULL, Hierarchy
from shoal.figures import before_after, icicle

if TYPE_CHECKING:
    from shoal.anonymize.release.result import RunResult
    from shoal.figures import Figure

__all__ = ["hierarchy_figures", "risk_histogram"]

_MOST_ICICLES = 12


def hierarchy_figures(finished: "RunResult") -> list["Figure"]:
    """Draw the published labels of each declared hierarchy and those above them, shaded by rows.

    All of it can be read from the published rows and the declared hierarchies. Labels of learnt
    hierarchies are values of the table, so those are not drawn.

    Parameters
    ----------
    finished
        The run.
    """
    release, problem = finished.produced.release, finished.frequency.problem
    live, drawn = ~release.suppressed & ~release.starred, list["Figure"]()
    for q, (name, hierarchy) in enumerate(finished.frequency.codec.hierarchies.items()):
        if not hierarchy.learnt and len(drawn) < _MOST_ICICLES:
            size = len(hierarchy.taxonomy.nodes)
            rows = np.bincount(release.labels[live, q], problem.n[live], minlength=size)
            drawn.append(_icicle(name, hierarchy, rows))
    return drawn


def _icicle(name: str, hierarchy: Hierarchy, rows: Any) -> "Figure":
    labels = [node.label for node in hierarchy.taxonomy.nodes]
    of_label = dict(zip(labels, rows / max(float(rows.sum()), 1.0), strict=True))
    full = hierarchy if hierarchy.null is not None else hierarchy.with_null()
    nodes, null = full.taxonomy.nodes, full.null
    assert null is not None
    # The last leaf, whether the table has nulls or not; it takes room only if it is published.
    leaves = null + bool(of_label.get(NULL))
    shares = np.array([of_label.get(node.label, 0.0) for node in nodes])
    shown = _published_and_above([node.parent for node in nodes], shares)
    place = {node: at for at, node in enumerate(shown)}
    return icicle(
        [nodes[each].label for each in shown],
        [place.get(nodes[each].parent, -1) for each in shown],
        [(nodes[each].low, min(nodes[each].high, leaves)) for each in shown],
        [float(shares[each]) for each in shown],
        title=f"{name}: its labels, the most general above; darker for more rows",
    )


def _published_and_above(parents: Sequence[int], shares: Any) -> list[int]:
    """Return the nodes that are published or lie above one; the first is the root."""
    shown = {0}
    for published in np.flatnonzero(shares).tolist():
        node = published
        while node not in shown:
            shown.add(node)
            node = parents[node]
    return sorted(shown)


def risk_histogram(finished: "RunResult", before: Any) -> "Figure":
    """Draw the share of people by their chance of being picked, before and after.

    Parameters
    ----------
    finished
        The run.
    before
        (sizes, 2): people of a class before the release, and how many classes have them.
    """
    k, achieved = finished.policy.privacy.k, finished.produced.achieved
    edges = sorted({1, 2, k, 5, 10, 20, 50, 100})
    names = [
        f"1 in {low}" if high == low + 1 else f"1 in {low}-{high - 1}"
        for low, high in pairwise(edges)
    ]
    shares = [_shares(sizes, edges) for sizes in (before, achieved.sizes)]
    of = "people" if achieved.by_person else "rows"
    title = f"Chance of being picked, and the share of {of} with it"
    return before_after([*names, f"1 in {edges[-1]} up"], *shares, title=title)


def _shares(sizes: Any, edges: Sequence[int]) -> list[float]:
    people, classes = np.asarray(sizes, dtype=np.int64).reshape(-1, 2).T
    bins = np.searchsorted(edges, people, side="right") - 1
    counts = np.bincount(bins, people * classes, minlength=len(edges))
    return [float(share) for share in counts / max(int(counts.sum()), 1)]
