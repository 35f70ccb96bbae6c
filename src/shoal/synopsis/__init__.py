"""Private summaries of a table, released once and used as often as wanted.

The words of this package:

- *synopsis*: noisy counts of cells over a public box. Whatever is computed from it is free.
- *cell*: a part of the box; its *key* is its number in the partition.
- *noisy count*: what was released for a cell. *Estimate*: that after consistency.
- *weight*: how many rows a cell stands for, from 0 up, after noise below zero is removed.
- *norm-cut*: the default rule for weights: keep the largest counts until all rows are spent.
- *coarse* and *fine* cells: those of the adaptive grid before and after they are split.
- *consistency*: make a coarse count and the sum of its parts agree, by inverse variance.
- *tree*, *splits*, *leaves*: PrivTree's cells; a node that is not split is a leaf.
- *sparse*: empty cells are never made, only those that noise lifts over a threshold.
- *bucket*: what lies between two public powers of two, where bounds are estimated.
- *row count*: the noisy number of rows, on which rules for cells rest.
"""

from shoal.estimator import PrivateEstimator
from shoal.synopsis._adaptive_grid import AdaptiveGrid
from shoal.synopsis._base import Synopsis
from shoal.synopsis._count_weights import weights_of
from shoal.synopsis._priv_tree import PrivTree
from shoal.synopsis._private_bounds import PrivateBounds, widest_box
from shoal.synopsis.cells import Cells
from shoal.synopsis.folder import read_box, read_part, synopsis_kinds, write_part
from shoal.synopsis.mixed import MixedSynopsis
from shoal.synopsis.uniform_grid import UniformGrid

__all__ = [
    "AdaptiveGrid",
    "Cells",
    "MixedSynopsis",
    "PrivTree",
    "PrivateBounds",
    "PrivateEstimator",
    "Synopsis",
    "UniformGrid",
    "read_box",
    "read_part",
    "synopsis_kinds",
    "weights_of",
    "widest_box",
    "write_part",
]
