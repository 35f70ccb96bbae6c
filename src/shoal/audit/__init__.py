"""The adversary: lower bounds on epsilon from what a mechanism puts out."""

from shoal.audit.lower_bound import LowerBound, lower_bound_of

__all__ = ["LowerBound", "lower_bound_of"]
