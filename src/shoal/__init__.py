"""Find and publish the groups in data about people, and say what each person was promised.

What most work begins with is here; everything else lies in the package it belongs to:
``shoal.mechanisms``, ``shoal.domain``, ``shoal.data``, ``shoal.synopsis``, ``shoal.cluster``,
``shoal.anonymize``, ``shoal.evaluate``, ``shoal.audit``.

>>> import shoal
>>> shoal.PureDP(1).epsilon
Fraction(1, 1)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what _HOMES says, for type checkers and editors; a test holds the two together
    from shoal import audit as audit
    from shoal import errors as errors
    from shoal import evaluate as evaluate
    from shoal import mechanisms as mechanisms
    from shoal.anonymize import Policy as Policy
    from shoal.anonymize import TopDownSpecialization as TopDownSpecialization
    from shoal.cluster import KPrototypes as KPrototypes
    from shoal.cluster import LocalClusterer as LocalClusterer
    from shoal.cluster import PrivateKMeans as PrivateKMeans
    from shoal.cluster import PrivateKPrototypes as PrivateKPrototypes
    from shoal.cluster import WaveCluster as WaveCluster
    from shoal.cluster import choose as choose
    from shoal.cluster import load_model as load_model
    from shoal.cluster import plot as plot
    from shoal.data import students as students
    from shoal.domain import Box as Box
    from shoal.domain import Categories as Categories
    from shoal.domain import Schema as Schema
    from shoal.engine import features as features
    from shoal.engine import rows_of as rows_of
    from shoal.mechanisms import LocalGrid as LocalGrid
    from shoal.mechanisms import NDLaplace as NDLaplace
    from shoal.mechanisms import Reports as Reports
    from shoal.pages import report as report
    from shoal.perturb import Perturb as Perturb
    from shoal.planning import describe as describe
    from shoal.planning import plan as plan
    from shoal.privacy import ApproxDP as ApproxDP
    from shoal.privacy import KAnonymity as KAnonymity
    from shoal.privacy import Ledger as Ledger
    from shoal.privacy import LocalDP as LocalDP
    from shoal.privacy import MetricDP as MetricDP
    from shoal.privacy import PureDP as PureDP
    from shoal.privacy import Unprotected as Unprotected
    from shoal.randomness import Randomness as Randomness
    from shoal.synopsis import AdaptiveGrid as AdaptiveGrid
    from shoal.synopsis import MixedSynopsis as MixedSynopsis
    from shoal.synopsis import PrivateBounds as PrivateBounds
    from shoal.synopsis import PrivTree as PrivTree
    from shoal.synopsis import UniformGrid as UniformGrid

_MODULES = ("audit", "errors", "evaluate", "mechanisms")
_HOMES = {
    "anonymize": ("Policy", "TopDownSpecialization"),
    "cluster": (
        "KPrototypes",
        "LocalClusterer",
        "PrivateKMeans",
        "PrivateKPrototypes",
        "WaveCluster",
        "choose",
        "load_model",
        "plot",
    ),
    "data": ("students",),
    "domain": ("Box", "Categories", "Schema"),
    "engine": ("features", "rows_of"),
    "mechanisms": ("LocalGrid", "NDLaplace", "Reports"),
    "pages": ("report",),
    "perturb": ("Perturb",),
    "planning": ("describe", "plan"),
    "privacy": ("ApproxDP", "KAnonymity", "Ledger", "LocalDP", "MetricDP", "PureDP", "Unprotected"),
    "randomness": ("Randomness",),
    "synopsis": ("AdaptiveGrid", "MixedSynopsis", "PrivTree", "PrivateBounds", "UniformGrid"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = list(_HOME_OF) + list(_MODULES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import shoal`` is instant."""
    if name in _MODULES or name in _HOMES:
        return import_module(f"shoal.{name}")
    if name in _HOME_OF:
        return getattr(import_module(f"shoal.{_HOME_OF[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("shoal")
    raise AttributeError(f"module 'shoal' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
