"""Local mechanisms: each person's record is randomised before it leaves."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.mechanisms.local._people_needed import people_needed
    from shoal.mechanisms.local._records import extremes, records_of
    from shoal.mechanisms.local._reports import Remap, as_raw_reports, as_reports
    from shoal.mechanisms.local._scaling import Scaling, refuse_degrees

_MODULE_OF = {
    "Remap": "_reports",
    "Scaling": "_scaling",
    "as_raw_reports": "_reports",
    "as_reports": "_reports",
    "extremes": "_records",
    "records_of": "_records",
    "refuse_degrees": "_scaling",
    "people_needed": "_people_needed",
}

__all__ = [
    "Remap",
    "Scaling",
    "as_raw_reports",
    "as_reports",
    "extremes",
    "people_needed",
    "records_of",
    "refuse_degrees",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
