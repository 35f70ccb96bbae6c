"""The adversary: certified lower bounds on epsilon, broken twins, attacks on what was released.

What an audit needs beyond NumPy is imported where it is used.
"""

from shoal.audit.case import Case, Twin
from shoal.audit.ceiling import Ceiling, ceiling_of
from shoal.audit.draws import Batched
from shoal.audit.finding import Finding, LowerBound, Measured, finding_of
from shoal.audit.inferred import MembershipInference
from shoal.audit.lira import lira
from shoal.audit.lower_bound import lower_bound, lower_bound_of
from shoal.audit.membership import membership_inference

__all__ = [
    "Batched",
    "Case",
    "Ceiling",
    "Finding",
    "LowerBound",
    "Measured",
    "MembershipInference",
    "Twin",
    "ceiling_of",
    "finding_of",
    "lira",
    "lower_bound",
    "lower_bound_of",
    "membership_inference",
]
