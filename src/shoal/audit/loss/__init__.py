"""The exact privacy loss of a whole fit: its releases are recorded and forced on a neighbour."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.audit.loss._replay_families import families, replay_family
    from shoal.audit.loss._twins import twins

_MODULE_OF = {
    "families": "_replay_families",
    "replay_family": "_replay_families",
    "twins": "_twins",
}

__all__ = [
    "families",
    "replay_family",
    "twins",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
