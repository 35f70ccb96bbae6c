"""Mechanisms: each randomises one value, says what that promises, and proves it beside the code."""

from shoal.mechanisms.exponential import Choices, Exponential, Intervals
from shoal.mechanisms.geometric import Geometric
from shoal.mechanisms.nd_laplace import NDLaplace, PlanarLaplace, SphericalLaplace
from shoal.mechanisms.prior import Prior
from shoal.mechanisms.remaps import bayes_remap, clamp, snap
from shoal.mechanisms.reports import Reports
from shoal.mechanisms.restrict import Restrict

__all__ = [
    "Choices",
    "Exponential",
    "Geometric",
    "Intervals",
    "NDLaplace",
    "PlanarLaplace",
    "Prior",
    "Reports",
    "Restrict",
    "SphericalLaplace",
    "bayes_remap",
    "clamp",
    "snap",
]
