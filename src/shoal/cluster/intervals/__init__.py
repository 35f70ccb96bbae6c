"""Intervals for released centres and sizes, from simulated fits of what was released.

Glossary
--------
refit
    The same method run on made-up rows with simulated noise, in memory.
deviation
    What a refit released less what plain k-means finds in the same made-up rows.
flip
    A refit in which a centre went nearer to another place than to its own.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.cluster.intervals._result import Intervals

_MODULE_OF = {
    "Intervals": "_result",
}

__all__ = [
    "Intervals",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
