"""Predict the error of a release before anything is spent, from public facts alone.

Glossary
--------
shape
    How far the groups of a made-up table stand apart: clear, near, touching or no gaps at all.
typical error
    What half of the coordinates of a fit's centres are off by less than, in shares of the range.
band
    The typical errors to expect, from the clearest tables to the least clear.
trust
    Central: a curator holds the rows. Local: everybody sends a report.
what-if
    The same from a release that was made: rows are drawn about its centres.
description
    Intervals, what-if and the curve over the number of groups of a release, computed once.
"""

from shoal.planning._error_curve import Band, Curve, Ends, Range
from shoal.planning._plan import Flattery, Plan, plan
from shoal.planning._what_if import what_if
from shoal.planning.description import Description, describe

__all__ = [
    "Band",
    "Curve",
    "Description",
    "Ends",
    "Flattery",
    "Plan",
    "Range",
    "describe",
    "plan",
    "what_if",
]
