"""Private summaries worth publishing alone."""

from shoal.estimator import PrivateEstimator
from shoal.synopsis.adaptive_grid import AdaptiveGrid
from shoal.synopsis.base import Synopsis
from shoal.synopsis.cells import Cells
from shoal.synopsis.priv_tree import PrivTree
from shoal.synopsis.uniform_grid import UniformGrid
from shoal.synopsis.weights import weights_of

__all__ = [
    "AdaptiveGrid",
    "Cells",
    "PrivTree",
    "PrivateEstimator",
    "Synopsis",
    "UniformGrid",
    "weights_of",
]
