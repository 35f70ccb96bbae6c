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
"""

from shoal.planning._curve import Band, Curve, Ends, Range
from shoal.planning._public_facts import Plan, plan
from shoal.planning.what_if import Flattery, what_if

__all__ = ["Band", "Curve", "Ends", "Flattery", "Plan", "Range", "plan", "what_if"]
