"""Estimators, private and plain, and the choice of their settings."""

from shoal.cluster import choose
from shoal.cluster.folder import load_model
from shoal.cluster.private_kmeans import PrivateKMeans

__all__ = ["PrivateKMeans", "choose", "load_model"]
