"""Choose settings of clustering methods from weighted points.

``k`` chooses the number of clusters for k-means, ``radius`` and ``min_points`` the density for
DBSCAN, OPTICS and HDBSCAN, ``preference`` the exemplars of affinity propagation. Each returns a
``Choice``: the value, the curve it was chosen on, a figure, the settings under scikit-learn's
names, and the guarantee of what was read.

Words: the *curve* is what a rule looks at; an *elbow* or *knee* is where it bends most; the *gap*
is how far the inertia is below that of evenly spread points, or of simulated plain groups; the
*reach* of a point is the radius within which it has enough weight; the *bulk* is the typical range
of reaches.
"""

from shoal.cluster.choose._cost_curve import CostCurve
from shoal.cluster.choose._count import k
from shoal.cluster.choose._density import min_points, radius
from shoal.cluster.choose._result import Choice
from shoal.cluster.choose._similarity import preference

__all__ = ["Choice", "CostCurve", "k", "min_points", "preference", "radius"]
