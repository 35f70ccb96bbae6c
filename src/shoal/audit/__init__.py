"""The adversary: certified lower bounds on epsilon, broken twins, and attacks on releases.

What an audit needs beyond NumPy is imported where it is used. Mechanisms that are broken on
purpose lie in ``shoal.audit.twins``, which nothing here loads.

Glossary
--------
claim
    The epsilon that a mechanism is said to keep, as a guarantee or a number.
pair
    Two neighbouring inputs that a claim compares.
event
    A set of outputs; how often it occurs on either input bounds epsilon from below.
statistic
    A number computed from an output, of which events are made by thresholds.
certified
    True with probability 1 - alpha, by exact limits on counts.
ceiling
    The most that an attack or a number of draws can show.
twin
    A mechanism broken on purpose, which the audit must catch.
case
    A mechanism or twin with its pair and claim, fixed before anything is drawn.
finding
    The result of an audit, with its verdict.
member
    A row that a model was fitted on.
victim
    What a membership attack attacks: the way from rows to a fitted model.
replay
    A fit with the outputs of another fit forced on it, so that its loss is known exactly.
shadow model
    A model that the adversary fits on rows of its own, to learn what members look like.
answer
    What a model says about one record.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.audit._draws import Batched
from shoal.audit._finding import Finding, LowerBound, Measured, finding_of
from shoal.audit._shipped import shipped_verdicts
from shoal.audit.bound._lower_bound import lower_bound, lower_bound_of
from shoal.audit.bound._scores import exact_score
from shoal.audit.case import Case, Twin
from shoal.audit.cases._estimators import estimators
from shoal.audit.cases._mechanisms import mechanisms
from shoal.audit.membership._ceiling import Ceiling, ceiling_of
from shoal.audit.membership._inference import membership_inference
from shoal.audit.membership._lira import lira
from shoal.audit.membership._result import MembershipInference
from shoal.audit.membership._row_presence_attack import NeighbourAttack, neighbour_attack
from shoal.audit.membership._value_inference import ValueInference, value_inference

if TYPE_CHECKING:
    from shoal.audit.loss._neighbours import neighbour_pairs, search_worst_row
    from shoal.audit.loss._replay import Replayed, replay
    from shoal.audit.tables._attributes import AttributeInference, attribute_inference
    from shoal.audit.tables._linkage import Linkage, Links, linkage
    from shoal.audit.tables._reconstruction import Reconstruction, reconstruction

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
    "Replayed",
    "Twin",
    "ValueInference",
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
    "neighbour_pairs",
    "reconstruction",
    "replay",
    "search_worst_row",
    "shipped_verdicts",
    "value_inference",
]

_MODULE_OF = {  # attacks on tables and replays of fits need Arrow, which audits of noise do not
    "AttributeInference": "tables._attributes",
    "Linkage": "tables._linkage",
    "Links": "tables._linkage",
    "Reconstruction": "tables._reconstruction",
    "Replayed": "loss._replay",
    "attribute_inference": "tables._attributes",
    "linkage": "tables._linkage",
    "neighbour_pairs": "loss._neighbours",
    "reconstruction": "tables._reconstruction",
    "replay": "loss._replay",
    "search_worst_row": "loss._neighbours",
}


def __getattr__(name: str) -> Any:
    """Import the attacks on tables and the replays when they are first used."""
    if name in _MODULE_OF:
        return getattr(import_module(f"shoal.audit.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'shoal.audit' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
