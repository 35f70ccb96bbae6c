"""Laplace noise in any number of dimensions, and post-processing of its reports."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.mechanisms.local.laplace._prior import (
        Law,
        laplace_of,
        likeliest,
        likelihood_of,
        thinned,
    )

_MODULE_OF = {
    "Law": "_prior",
    "laplace_of": "_prior",
    "likeliest": "_prior",
    "likelihood_of": "_prior",
    "thinned": "_prior",
}

__all__ = [
    "Law",
    "laplace_of",
    "likeliest",
    "likelihood_of",
    "thinned",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
