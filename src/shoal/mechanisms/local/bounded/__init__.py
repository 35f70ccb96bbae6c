"""Local mechanisms on bounded numbers."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.mechanisms.local.bounded._base import Bounded, Estimate, local_budget
    from shoal.mechanisms.local.bounded._piecewise import piecewise_law

_MODULE_OF = {
    "Bounded": "_base",
    "Estimate": "_base",
    "local_budget": "_base",
    "piecewise_law": "_piecewise",
}

__all__ = [
    "Bounded",
    "Estimate",
    "local_budget",
    "piecewise_law",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
