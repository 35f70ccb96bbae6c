"""The mapping: under which label each value of the declared hierarchies was published."""

import csv
from collections.abc import Iterator
from pathlib import Path

from shoal.anonymize.codec import Codec
from shoal.anonymize.hierarchies import NULL, Hierarchy
from shoal.anonymize.hierarchies.numbers import covering
from shoal.anonymize.policy import Policy
from shoal.anonymize.tree import Tree

__all__ = ["public_cut", "write_mapping"]


def write_mapping(policy: Policy, codec: Codec, occurring: dict[str, set[int]], path: Path) -> None:
    """Write ``column,value,label``, a line for **every** leaf of a declared hierarchy.

    Only listing what occurs would tell what occurs. For the same reason a hierarchy learnt from
    the rows is listed by its published labels alone: its leaves are the table's own values.

    Parameters
    ----------
    policy, codec
        What was asked, with global recoding.
    occurring
        For each column the places of the labels that are in the release.
    path
        Where to.
    """
    cut = public_cut(codec, occurring)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["column", "value", "label"])
        for name, tree in codec.hierarchies.items():
            if tree.learnt:
                writer.writerows((name, label, label) for label in cut[name])
            else:
                writer.writerows((name, leaf, at) for leaf, at in _pairs(policy, tree, cut[name]))


def public_cut(codec: Codec, occurring: dict[str, set[int]]) -> dict[str, list[str]]:
    """For each column the labels of a cut that every leaf of its hierarchy lies under.

    The labels in the release, and where nothing was published the most general ones that fit
    beside them: how far the search opened a place where it then suppressed all rows would tell of
    those rows. Of intervals learnt from the rows, the gaps between published ones; of other learnt
    hierarchies nothing more, since the rest would name values that were suppressed.

    Parameters
    ----------
    codec
        The hierarchies.
    occurring
        For each column the places of the labels that are in the release.
    """
    policy = codec.policy
    return {
        name: _told(tree, occurring[name], policy.attributes[name].max_level)
        for name, tree in codec.hierarchies.items()
    }


def _told(hierarchy: Hierarchy, occurring: set[int], max_level: int | None) -> list[str]:
    """The labels of a column's cut; whether the table has nulls is not told."""
    label = [node.label for node in hierarchy.taxonomy.nodes]
    found = occurring - {0} or {0}  # beside classes there may be rows of nothing but *
    if not hierarchy.learnt:
        return list(_covered(hierarchy, {label[place] for place in found}, max_level))
    known = [place for place in sorted(found) if label[place] != NULL]
    if hierarchy.edges is None:
        return [label[place] for place in known]
    low, high = hierarchy.bounds()
    return covering([*low[[0, *known]], *high[[0, *known]]], hierarchy.edges.whole)


def _covered(hierarchy: Hierarchy, found: set[str], max_level: int | None) -> Iterator[str]:
    """Labels that cover every leaf but nulls, none of them above ``max_level``."""
    hierarchy = _with_null(hierarchy)
    tree = hierarchy.taxonomy
    top = None if max_level is None else set(hierarchy.level_nodes(max_level))
    above = [False] * len(tree.nodes)  # a label in the release, or a limit, lies below
    for place in reversed(range(1, len(tree.nodes))):
        bound = tree.nodes[place].label in found or (top is not None and place in top)
        above[tree.nodes[place].parent] |= bound or above[place]
    done = 0
    for place, node in enumerate(tree.nodes):
        if node.low < done or node.label == NULL:
            continue
        if node.label in found or not above[place]:
            yield node.label
            done = node.high


def _with_null(hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy as if the table had nulls, whether it has any or not."""
    return hierarchy if hierarchy.null is not None else hierarchy.with_null()


def _pairs(policy: Policy, hierarchy: Hierarchy, cut: list[str]) -> Iterator[tuple[str, str]]:
    """Each leaf and its label; nulls have a line whether there are any or not."""
    tree = _with_null(hierarchy).taxonomy
    places = [at for at, node in enumerate(tree.nodes) if node.label in cut]
    root = tree.nodes[0].label
    nodes = places if cut == [root] else [*places, len(tree.nodes) - 1]
    for leaf, place in zip(tree.leaves, Tree(tree).partition(tuple(nodes)), strict=True):
        if leaf != NULL:
            yield leaf, tree.nodes[place].label
    if policy.privacy.nulls != "suppress":
        own = policy.privacy.nulls == "own_value" and cut != [root]
        yield NULL, NULL if own else root
