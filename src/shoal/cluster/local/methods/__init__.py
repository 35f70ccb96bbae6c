"""The methods that learn clusters from reports, and the parts they share."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.cluster.local.methods._gaussian_groups import CellCounts
    from shoal.cluster.local.methods._grid import density_of
    from shoal.cluster.local.methods._group_posterior import likely_groups

_MODULE_OF = {
    "CellCounts": "_gaussian_groups",
    "density_of": "_grid",
    "likely_groups": "_group_posterior",
}

__all__ = [
    "CellCounts",
    "density_of",
    "likely_groups",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
