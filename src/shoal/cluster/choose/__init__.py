"""Choose settings of clustering methods, read off weighted points.

``k`` says how many clusters there are, for k-means; ``radius`` and ``min_points`` what is dense,
for DBSCAN, OPTICS and HDBSCAN; ``preference`` what makes an exemplar, for affinity propagation.
Each returns a ``Choice``: the value, the curve it was read off, a picture, the settings under
scikit-learn's names, and whether what was read was protected.
"""

from shoal.cluster.choose.count import k
from shoal.cluster.choose.density import min_points, radius
from shoal.cluster.choose.result import Choice
from shoal.cluster.choose.similarity import preference

__all__ = ["Choice", "k", "min_points", "preference", "radius"]
