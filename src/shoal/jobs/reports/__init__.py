"""Reports of a table: drawn by a mechanism, written to files, and read again."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.jobs.reports._frame_reports import load_frame_reports
    from shoal.jobs.reports._load_reports import MOST_NUMBERS, LoadedReports, load_reports
    from shoal.jobs.reports._mechanism import Name
    from shoal.jobs.reports._round_reports import is_in_rounds, load_rounds

_MODULE_OF = {
    "LoadedReports": "_load_reports",
    "MOST_NUMBERS": "_load_reports",
    "Name": "_mechanism",
    "is_in_rounds": "_round_reports",
    "load_frame_reports": "_frame_reports",
    "load_reports": "_load_reports",
    "load_rounds": "_round_reports",
}

__all__ = [
    "MOST_NUMBERS",
    "LoadedReports",
    "Name",
    "is_in_rounds",
    "load_frame_reports",
    "load_reports",
    "load_rounds",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
