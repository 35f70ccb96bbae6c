"""Find and publish the groups in data about people, and say what each person was promised.

>>> import shoal
>>> shoal.PureDP(1).epsilon
Fraction(1, 1)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import audit, errors, evaluate
    from shoal.anonymize import Policy, TopDownSpecialization
    from shoal.cluster import LocalClusterer, PrivateKMeans, WaveCluster, choose, load_model
    from shoal.data import blobs, load, students
    from shoal.domain import Box, Categories, Grid, Schema, SparseCounts, Taxonomy
    from shoal.engine import rows_of
    from shoal.mechanisms import (
        Choices,
        Duchi,
        Exponential,
        Gaussian,
        Geometric,
        Harmony,
        Hybrid,
        Intervals,
        KNorm,
        LocalGrid,
        Mixed,
        NDLaplace,
        Piecewise,
        PlanarLaplace,
        PrivUnit,
        RandomizedResponse,
        Reports,
        Restrict,
        SphericalLaplace,
        SquareWave,
        Staircase,
        UnaryEncoding,
        bayes_remap,
        clamp,
        frequency_oracle,
        snap,
    )
    from shoal.perturb import Memo, Perturb
    from shoal.privacy import ApproxDP, KAnonymity, Ledger, LocalDP, MetricDP, PureDP, Unprotected
    from shoal.randomness import Randomness
    from shoal.synopsis import AdaptiveGrid, PrivTree, Synopsis, UniformGrid

_MODULES = (
    "anonymize",
    "audit",
    "data",
    "domain",
    "engine",
    "errors",
    "evaluate",
    "mechanisms",
    "privacy",
    "randomness",
    "synopsis",
)
_HOMES = {
    "anonymize": ("Policy", "TopDownSpecialization"),
    "cluster": ("LocalClusterer", "PrivateKMeans", "WaveCluster", "choose", "load_model"),
    "data": ("blobs", "load", "students"),
    "domain": ("Box", "Categories", "Grid", "Schema", "SparseCounts", "Taxonomy"),
    "engine": ("rows_of",),
    "mechanisms": (
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
        "PrivUnit",
        "RandomizedResponse",
        "Reports",
        "Restrict",
        "SphericalLaplace",
        "SquareWave",
        "Staircase",
        "UnaryEncoding",
        "bayes_remap",
        "clamp",
        "frequency_oracle",
        "snap",
    ),
    "perturb": ("Memo", "Perturb"),
    "privacy": ("ApproxDP", "KAnonymity", "Ledger", "LocalDP", "MetricDP", "PureDP", "Unprotected"),
    "randomness": ("Randomness",),
    "synopsis": ("AdaptiveGrid", "PrivTree", "Synopsis", "UniformGrid"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AdaptiveGrid",
    "ApproxDP",
    "Box",
    "Categories",
    "Choices",
    "Duchi",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Grid",
    "Harmony",
    "Hybrid",
    "Intervals",
    "KAnonymity",
    "KNorm",
    "Ledger",
    "LocalClusterer",
    "LocalDP",
    "LocalGrid",
    "Memo",
    "MetricDP",
    "Mixed",
    "NDLaplace",
    "Perturb",
    "Piecewise",
    "PlanarLaplace",
    "Policy",
    "PrivTree",
    "PrivUnit",
    "PrivateKMeans",
    "PureDP",
    "RandomizedResponse",
    "Randomness",
    "Reports",
    "Restrict",
    "Schema",
    "SparseCounts",
    "SphericalLaplace",
    "SquareWave",
    "Staircase",
    "Synopsis",
    "Taxonomy",
    "TopDownSpecialization",
    "UnaryEncoding",
    "UniformGrid",
    "Unprotected",
    "WaveCluster",
    "audit",
    "bayes_remap",
    "blobs",
    "choose",
    "clamp",
    "errors",
    "evaluate",
    "frequency_oracle",
    "load",
    "load_model",
    "rows_of",
    "snap",
    "students",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that ``import shoal`` is instant."""
    if name in _MODULES:
        return import_module(f"shoal.{name}")
    if name in _HOME_OF:
        return getattr(import_module(f"shoal.{_HOME_OF[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("shoal")
    raise AttributeError(f"module 'shoal' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
