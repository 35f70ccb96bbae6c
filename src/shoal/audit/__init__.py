"""The adversary: certified lower bounds on epsilon, broken twins, attacks on what was released.

What an audit needs beyond NumPy is imported where it is used.
"""

from shoal.audit.case import Case, Twin
from shoal.audit.draws import Batched
from shoal.audit.finding import Finding, LowerBound, Measured, finding_of
from shoal.audit.lower_bound import lower_bound, lower_bound_of

__all__ = [
    "Batched",
    "Case",
    "Finding",
    "LowerBound",
    "Measured",
    "Twin",
    "finding_of",
    "lower_bound",
    "lower_bound_of",
]
