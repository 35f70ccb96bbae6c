"""Clusters of records nobody sees: learnt from the reports of a local mechanism."""

from shoal.cluster.local.estimator import LocalClusterer

__all__ = ["LocalClusterer"]
