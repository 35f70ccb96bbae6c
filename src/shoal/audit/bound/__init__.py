"""Certified lower bounds on epsilon, from outputs on two neighbouring inputs."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.audit.bound._events import check_levels

_MODULE_OF = {
    "check_levels": "_events",
}

__all__ = [
    "check_levels",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
