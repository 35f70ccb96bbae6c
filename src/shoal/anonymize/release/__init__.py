"""Write a release: rows under their labels, with manifest, mapping and register of people."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.anonymize.release._result import paths_of

_MODULE_OF = {
    "paths_of": "_result",
}

__all__ = [
    "paths_of",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
