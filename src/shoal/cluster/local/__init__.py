"""Cluster records that only their owners see, from the reports of a local mechanism.

Words: a *report* is a record after local noise; an *atom* is a point of an estimated density and
its weight the share of records there; *units* say how much of each column counts as one unit of
distance; a *law* is the known distribution of reports given a record; *scaled* values are in the
mechanism's own scale, *raw* values in those of the table; a *control* is the same learner on
reports without information; *evidence* says whether reports show groups at all. A *client* holds
one record, labels it itself, and may *answer* with a randomised label.
"""

from shoal.cluster.local._estimator import LocalClusterer

__all__ = ["LocalClusterer"]
