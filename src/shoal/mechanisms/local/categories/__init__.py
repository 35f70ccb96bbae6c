"""Local mechanisms on categories, and frequencies estimated from their reports."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.mechanisms.local.categories._base import Categorical
    from shoal.mechanisms.local.categories._local_grid import cell_oracle
    from shoal.mechanisms.local.categories._local_hash import LocalHash
    from shoal.mechanisms.local.categories._prototype_report import PrototypeReport
    from shoal.mechanisms.local.categories._residual_sign import ResidualSign

_MODULE_OF = {
    "Categorical": "_base",
    "LocalHash": "_local_hash",
    "PrototypeReport": "_prototype_report",
    "ResidualSign": "_residual_sign",
    "cell_oracle": "_local_grid",
}

__all__ = [
    "Categorical",
    "LocalHash",
    "PrototypeReport",
    "ResidualSign",
    "cell_oracle",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
