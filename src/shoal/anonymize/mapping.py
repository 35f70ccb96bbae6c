"""The mapping: under which label each value of the declared hierarchies was published."""

import csv
from collections.abc import Iterator
from pathlib import Path

from shoal.anonymize.codec import Codec
from shoal.anonymize.hierarchies import NULL, Hierarchy
from shoal.anonymize.policy import Policy
from shoal.anonymize.problem import Cut
from shoal.anonymize.tree import Tree

__all__ = ["published_cut", "write_mapping"]


def write_mapping(
    policy: Policy, codec: Codec, cut: Cut, occurring: dict[str, set[int]], path: Path
) -> None:
    """Write ``column,value,label``, a line for **every** leaf of a declared hierarchy.

    Only listing what occurs would tell what occurs. For the same reason a hierarchy learnt from
    the rows is listed by its published labels alone: its leaves are the table's own values.

    Parameters
    ----------
    policy, codec, cut
        What was asked, and the cut all rows share.
    occurring
        For each column the places of the labels that are in the release.
    path
        Where to.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["column", "value", "label"])
        for (name, tree), nodes in zip(codec.hierarchies.items(), cut.nodes, strict=True):
            if tree.learnt:
                writer.writerows(
                    (name, at, at) for at in published_cut(tree, nodes, occurring[name])
                )
            else:
                writer.writerows((name, leaf, at) for leaf, at in _pairs(policy, tree, nodes))


def published_cut(hierarchy: Hierarchy, nodes: tuple[int, ...], occurring: set[int]) -> list[str]:
    """The labels of a cut that may be told: all of a declared hierarchy's or of its intervals.

    Of other learnt ones those in the release: the rest would name values that were suppressed.
    """
    tells_values = hierarchy.learnt and hierarchy.edges is None
    told = [place for place in nodes if not tells_values or place in occurring]
    labels = [hierarchy.taxonomy.nodes[place].label for place in told]
    return [label for label in labels if label != NULL]  # whether there are nulls is not told


def _pairs(
    policy: Policy, hierarchy: Hierarchy, nodes: tuple[int, ...]
) -> Iterator[tuple[str, str]]:
    """Each leaf and its label; nulls have a line whether there are any or not."""
    tree = hierarchy.taxonomy
    cover = Tree(tree).partition(nodes)
    root = tree.nodes[0].label
    for leaf, place in zip(tree.leaves, cover, strict=True):
        if leaf != NULL:
            yield leaf, tree.nodes[place].label
    if policy.privacy.nulls != "suppress":
        own = policy.privacy.nulls == "own_value" and nodes != (0,)
        yield NULL, NULL if own else root
