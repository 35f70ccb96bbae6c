"""Groups of tables with numbers and categories.

The words of this package:

- *prototype*: the means and modes that stand for a group; a row belongs to the cheapest one.
- *cost*: squared differences of scaled numbers, and one half for another category, by weights.
- *measure*: release, for every group, its count, sums and histograms with one noise.
- *reach*: how far from a prototype a number is told in a measurement; cut beyond.
- *profile*: what is typical of a group compared with everyone.
- *level*: how many measurements the rows allow besides the model.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used
from shoal.cluster.prototypes._estimator import PrivateKPrototypes
from shoal.cluster.prototypes._plain_comparison import KPrototypes

if TYPE_CHECKING:
    from shoal.cluster.prototypes._group_measurements import (
        Assignment,
        GroupCounter,
        GroupSums,
        group_blocks,
    )
    from shoal.cluster.prototypes._mixed_rows import MixedRows, Prototypes, every_row, hold_rows
    from shoal.cluster.prototypes._profiles import Difference, Profiles

_MODULE_OF = {
    "Assignment": "_group_measurements",
    "Difference": "_profiles",
    "GroupCounter": "_group_measurements",
    "GroupSums": "_group_measurements",
    "MixedRows": "_mixed_rows",
    "Profiles": "_profiles",
    "Prototypes": "_mixed_rows",
    "every_row": "_mixed_rows",
    "group_blocks": "_group_measurements",
    "hold_rows": "_mixed_rows",
}

__all__ = [
    "Assignment",
    "Difference",
    "GroupCounter",
    "GroupSums",
    "KPrototypes",
    "MixedRows",
    "PrivateKPrototypes",
    "Profiles",
    "Prototypes",
    "every_row",
    "group_blocks",
    "hold_rows",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
