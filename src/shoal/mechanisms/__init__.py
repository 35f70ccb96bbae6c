"""Mechanisms: each randomises one value, says what that promises, and proves it beside the code."""

from shoal.mechanisms.central.exponential import Choices, Exponential, Intervals
from shoal.mechanisms.central.gaussian import Gaussian
from shoal.mechanisms.central.geometric import Geometric
from shoal.mechanisms.central.k_norm import KNorm
from shoal.mechanisms.central.tree_splits import Splits, TreeCounts, TreeSplits
from shoal.mechanisms.local.bounded.duchi import Duchi
from shoal.mechanisms.local.bounded.harmony import Harmony
from shoal.mechanisms.local.bounded.hybrid import Hybrid
from shoal.mechanisms.local.bounded.piecewise import Piecewise
from shoal.mechanisms.local.bounded.priv_unit import PrivUnit
from shoal.mechanisms.local.bounded.square_wave import SquareWave
from shoal.mechanisms.local.bounded.staircase import Staircase
from shoal.mechanisms.local.categories.local_grid import LocalGrid
from shoal.mechanisms.local.categories.randomized_response import RandomizedResponse
from shoal.mechanisms.local.categories.unary_encoding import UnaryEncoding, frequency_oracle
from shoal.mechanisms.local.laplace.nd_laplace import NDLaplace, PlanarLaplace, SphericalLaplace
from shoal.mechanisms.local.laplace.prior import Prior
from shoal.mechanisms.local.laplace.remaps import bayes_remap, clamp, snap
from shoal.mechanisms.local.laplace.restrict import Restrict
from shoal.mechanisms.local.mixed import Mixed
from shoal.mechanisms.local.reports import Reports

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
