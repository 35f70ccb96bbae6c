"""Private k-means."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.cluster.kmeans._budget_plan import strength
    from shoal.cluster.kmeans._estimator import PrivateKMeans
    from shoal.cluster.kmeans._intervals import released_rows
    from shoal.cluster.kmeans._weighted_kmeans import weighted_centers

_MODULE_OF = {
    "PrivateKMeans": "_estimator",
    "released_rows": "_intervals",
    "strength": "_budget_plan",
    "weighted_centers": "_weighted_kmeans",
}

__all__ = [
    "PrivateKMeans",
    "released_rows",
    "strength",
    "weighted_centers",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
