"""Local mechanisms: each person's record is randomised before it leaves."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.mechanisms.local._records import extremes, records_of

_MODULE_OF = {
    "extremes": "_records",
    "records_of": "_records",
}

__all__ = [
    "extremes",
    "records_of",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
