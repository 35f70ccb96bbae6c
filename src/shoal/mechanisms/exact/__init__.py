"""Exact random draws from integers and decimal digits; no outcome depends on float rounding."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.mechanisms.exact._discrete_laplace import geometric_law
    from shoal.mechanisms.exact._whole_numbers import check_vectors

_MODULE_OF = {
    "check_vectors": "_whole_numbers",
    "geometric_law": "_discrete_laplace",
}

__all__ = [
    "check_vectors",
    "geometric_law",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
