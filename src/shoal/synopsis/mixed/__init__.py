"""Private summaries of tables with numbers and categories, and the synthetic rows they give.

The words of this package:

- *columns*: numbers on a lattice, and codes of categories; levels in their order are numbers.
- *block*: the coordinates of a vector that one column adds to; a row moves it by a limited sum.
- *one-way counts*: how many rows each bin or category of a column has. *Table*: that of a pair.
- *tree*: pairs of columns without a cycle, so that rows can be drawn column after column.
- *synthetic rows*: drawn from the released counts; no row of the table is among them.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used
from shoal.synopsis.mixed._estimator import MixedSynopsis

if TYPE_CHECKING:
    from shoal.synopsis.mixed._block_release import Blocks
    from shoal.synopsis.mixed._columns import LATTICE, MixedColumns, mixed_columns
    from shoal.synopsis.mixed._estimator import MixedEstimator, read_counts
    from shoal.synopsis.mixed._pair_counts import ExactCounts
    from shoal.synopsis.mixed._tree_model import TreeModel, consistent_model, norm_sub

_MODULE_OF = {
    "Blocks": "_block_release",
    "ExactCounts": "_pair_counts",
    "LATTICE": "_columns",
    "MixedColumns": "_columns",
    "MixedEstimator": "_estimator",
    "TreeModel": "_tree_model",
    "consistent_model": "_tree_model",
    "mixed_columns": "_columns",
    "norm_sub": "_tree_model",
    "read_counts": "_estimator",
}

__all__ = [
    "LATTICE",
    "Blocks",
    "ExactCounts",
    "MixedColumns",
    "MixedEstimator",
    "MixedSynopsis",
    "TreeModel",
    "consistent_model",
    "mixed_columns",
    "norm_sub",
    "read_counts",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
