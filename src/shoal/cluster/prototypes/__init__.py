"""Groups of tables with numbers and categories.

The words of this package:

- *prototype*: the means and modes that stand for a group; a row belongs to the cheapest one.
- *cost*: squared differences of scaled numbers, and one half for another category, by weights.
- *measure*: release, for every group, its count, sums and histograms with one noise.
- *reach*: how far from a prototype a number is told in a measurement; cut beyond.
- *profile*: what is typical of a group compared with everyone.
- *level*: how many measurements the rows allow besides the model.
"""

from shoal.cluster.prototypes._estimator import PrivateKPrototypes
from shoal.cluster.prototypes._plain_comparison import KPrototypes

__all__ = ["KPrototypes", "PrivateKPrototypes"]
