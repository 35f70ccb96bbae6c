"""The adversary: certified lower bounds on epsilon, broken twins, attacks on what was released.

What an audit needs beyond NumPy is imported where it is used. Mechanisms that are broken on
purpose lie in ``shoal.audit.twins``, which nothing here loads.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.audit.bound.lower_bound import lower_bound, lower_bound_of
from shoal.audit.bound.scores import exact_score
from shoal.audit.case import Case, Twin
from shoal.audit.cases.estimators import estimators
from shoal.audit.cases.mechanisms import mechanisms
from shoal.audit.draws import Batched
from shoal.audit.finding import Finding, LowerBound, Measured, finding_of
from shoal.audit.membership.ceiling import Ceiling, ceiling_of
from shoal.audit.membership.inference import membership_inference
from shoal.audit.membership.lira import lira
from shoal.audit.membership.neighbours import NeighbourAttack, neighbour_attack
from shoal.audit.membership.result import MembershipInference

if TYPE_CHECKING:
    from shoal.audit.tables.attributes import AttributeInference, attribute_inference
    from shoal.audit.tables.linkage import Linkage, Links, linkage
    from shoal.audit.tables.reconstruction import Reconstruction, reconstruction

__all__ = [
    "AttributeInference",
    "Batched",
    "Case",
    "Ceiling",
    "Finding",
    "Linkage",
    "Links",
    "LowerBound",
    "Measured",
    "MembershipInference",
    "NeighbourAttack",
    "Reconstruction",
    "Twin",
    "attribute_inference",
    "ceiling_of",
    "estimators",
    "exact_score",
    "finding_of",
    "linkage",
    "lira",
    "lower_bound",
    "lower_bound_of",
    "mechanisms",
    "membership_inference",
    "neighbour_attack",
    "reconstruction",
]

_LATER = {  # attacks on tables: whoever audits noise needs no Arrow
    "AttributeInference": "tables.attributes",
    "Linkage": "tables.linkage",
    "Links": "tables.linkage",
    "Reconstruction": "tables.reconstruction",
    "attribute_inference": "tables.attributes",
    "linkage": "tables.linkage",
    "reconstruction": "tables.reconstruction",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"shoal.audit.{_LATER[name]}"), name)
    raise AttributeError(f"module 'shoal.audit' has no attribute '{name}'")
