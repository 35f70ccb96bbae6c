"""Cluster records that only their owners see, from the reports of a local mechanism.

Words: a *report* is a record after local noise; an *atom* is a point of an estimated density and
its weight the share of records there; *units* say how much of each column counts as one unit of
distance; a *law* is the known distribution of reports given a record; *scaled* values are in the
mechanism's own scale, *raw* values in those of the table; a *control* is the same learner on
reports without information; *evidence* says whether reports show groups at all. A *client* holds
one record, labels it itself, and may *answer* with a randomised label.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used
from shoal.cluster.local._estimator import LocalClusterer

if TYPE_CHECKING:
    from shoal.cluster.local._distributed_frames import GatheredReports
    from shoal.cluster.local._group_test import Evidence
    from shoal.cluster.local._number_of_clusters import choose_number
    from shoal.cluster.local._rounds import ROUNDS_FROM
    from shoal.cluster.local._saving import mechanism_of

_MODULE_OF = {
    "Evidence": "_group_test",
    "GatheredReports": "_distributed_frames",
    "ROUNDS_FROM": "_rounds",
    "choose_number": "_number_of_clusters",
    "mechanism_of": "_saving",
}

__all__ = [
    "ROUNDS_FROM",
    "Evidence",
    "GatheredReports",
    "LocalClusterer",
    "choose_number",
    "mechanism_of",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
