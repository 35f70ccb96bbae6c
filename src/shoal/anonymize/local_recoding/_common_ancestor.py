"""Penalties of the lowest common ancestor of a leaf and a node."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.taxonomy_arrays import Tree
from shoal.arrays import Floats

Penalties = NDArray[np.float32]

_WHOLE = 2**22  # pairs up to which all penalties are precomputed


class AncestorPenalties:
    """The penalties of the lowest common ancestors of leaves and nodes of one taxonomy.

    Examples
    --------
    >>> from shoal.domain import Taxonomy
    >>> tree = Tree(Taxonomy.nested("*", {"school": ["primary", "secondary"], "x": ["evening"]}))
    >>> AncestorPenalties(tree, np.array([1, 0.5, 0, 0, 0])).of(np.array([0, 2])).tolist()
    [[1.0, 0.5, 0.0, 0.5, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0]]
    """

    def __init__(self, tree: Tree, penalties: Floats) -> None:
        self._tree = tree
        self._penalties = penalties.astype(np.float32)
        self._small = tree.size * tree.taxonomy.size <= _WHOLE

    def of(self, codes: NDArray[np.integer]) -> Penalties:
        """Return the penalty of the lowest common ancestor of each leaf with each node.

        Returns
        -------
        float32 (codes, nodes).
        """
        return self._whole[codes] if self._small else self._rows(codes)

    @cached_property
    def _whole(self) -> Penalties:
        return self._rows(np.arange(self._tree.taxonomy.size))

    def _rows(self, codes: NDArray[np.integer]) -> Penalties:
        """Compute penalties from the root down: each node above a leaf covers the nodes below it.

        Places are in preorder, so the nodes below one are those from it to where leaves go on.
        """
        tree = self._tree
        ends = np.searchsorted(tree.low, tree.high)
        table = np.empty((len(codes), tree.size), dtype=np.float32)
        for row, code in zip(table, codes, strict=True):
            for place in tree.ancestors[:, code]:
                row[place : ends[place]] = self._penalties[place]
        return table
