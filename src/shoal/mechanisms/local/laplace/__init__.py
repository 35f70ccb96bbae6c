"""Laplace noise in any number of dimensions, and post-processing of its reports."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.mechanisms.local.laplace._convolution_lattice import (
        NoiseLattice,
        in_noise_units,
        lattice_for,
        scaled_blocks,
    )
    from shoal.mechanisms.local.laplace._prior import (
        Law,
        laplace_of,
        likeliest,
        likelihood_of,
        thinned,
    )
    from shoal.mechanisms.local.laplace._remaps import needs_all_reports, with_learnt_prior

_MODULE_OF = {
    "Law": "_prior",
    "NoiseLattice": "_convolution_lattice",
    "in_noise_units": "_convolution_lattice",
    "laplace_of": "_prior",
    "lattice_for": "_convolution_lattice",
    "likeliest": "_prior",
    "likelihood_of": "_prior",
    "needs_all_reports": "_remaps",
    "scaled_blocks": "_convolution_lattice",
    "thinned": "_prior",
    "with_learnt_prior": "_remaps",
}

__all__ = [
    "Law",
    "NoiseLattice",
    "in_noise_units",
    "laplace_of",
    "lattice_for",
    "likeliest",
    "likelihood_of",
    "needs_all_reports",
    "scaled_blocks",
    "thinned",
    "with_learnt_prior",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
