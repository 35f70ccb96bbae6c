"""Figures of a released table: each hierarchy with its labels, and the risk before and after."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymize.hierarchies import NULL, Hierarchy
from shoal.figures import before_after, icicle

if TYPE_CHECKING:
    from shoal.anonymize import RunResult
    from shoal.figures import Figure


_MOST_ICICLES = 12


def hierarchy_figures(finished: "RunResult") -> list["Figure"]:
    """Draw each declared hierarchy, shaded by the rows that its labels are published for.

    Only published rows count, and the leaf for missing values is drawn only if it is published:
    nothing tells of rows that are left out. Labels of learnt hierarchies are values of the table,
    so those are not drawn. Boxes below or beside published labels stay without a name.
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
    if not of_label.get(NULL):  # the last node, whether the table has nulls or not
        nodes = nodes[:-1]
    leaves = null + (nodes[-1].label == NULL)
    named = [of_label.get(node.label, 0.0) > 0 for node in nodes]
    for place in range(len(nodes) - 1, 0, -1):  # and what lies above a published label
        named[nodes[place].parent] |= named[place]
    return icicle(
        [node.label if shown else "" for node, shown in zip(nodes, named, strict=True)],
        [node.parent for node in nodes],
        [(node.low, min(node.high, leaves)) for node in nodes],
        [float(of_label.get(node.label, 0.0)) for node in nodes],
        title=f"{name}: its labels, the most general above; darker for more rows",
    )


def risk_histogram(finished: "RunResult", before: Any) -> "Figure":
    """Draw the share of people by their chance of being picked, before and after.

    Parameters
    ----------
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
