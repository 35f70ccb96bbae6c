"""Mechanisms: each randomises one value, says what that promises, and proves it beside the code."""

from shoal.mechanisms.duchi import Duchi
from shoal.mechanisms.exponential import Choices, Exponential, Intervals
from shoal.mechanisms.gaussian import Gaussian
from shoal.mechanisms.geometric import Geometric
from shoal.mechanisms.harmony import Harmony
from shoal.mechanisms.hybrid import Hybrid
from shoal.mechanisms.k_norm import KNorm
from shoal.mechanisms.local_grid import LocalGrid
from shoal.mechanisms.mixed import Mixed
from shoal.mechanisms.nd_laplace import NDLaplace, PlanarLaplace, SphericalLaplace
from shoal.mechanisms.piecewise import Piecewise
from shoal.mechanisms.prior import Prior
from shoal.mechanisms.priv_unit import PrivUnit
from shoal.mechanisms.randomized_response import RandomizedResponse
from shoal.mechanisms.remaps import bayes_remap, clamp, snap
from shoal.mechanisms.reports import Reports
from shoal.mechanisms.restrict import Restrict
from shoal.mechanisms.square_wave import SquareWave
from shoal.mechanisms.staircase import Staircase
from shoal.mechanisms.tree_splits import Splits, TreeCounts, TreeSplits
from shoal.mechanisms.unary_encoding import UnaryEncoding, frequency_oracle

__all__ = [
    "Choices",
    "Duchi",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Harmony",
    "Hybrid",
    "Intervals",
    "KNorm",
    "LocalGrid",
    "Mixed",
    "NDLaplace",
    "Piecewise",
    "PlanarLaplace",
    "Prior",
    "PrivUnit",
    "RandomizedResponse",
    "Reports",
    "Restrict",
    "SphericalLaplace",
    "Splits",
    "SquareWave",
    "Staircase",
    "TreeCounts",
    "TreeSplits",
    "UnaryEncoding",
    "bayes_remap",
    "clamp",
    "frequency_oracle",
    "snap",
]
