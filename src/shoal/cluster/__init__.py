"""Estimators, private and plain, and the choice of their settings."""

from shoal.cluster import choose
from shoal.cluster.control import without_data
from shoal.cluster.folder import load_model
from shoal.cluster.local import LocalClusterer
from shoal.cluster.private_kmeans import PrivateKMeans
from shoal.cluster.wave import WaveCluster

__all__ = ["LocalClusterer", "PrivateKMeans", "WaveCluster", "choose", "load_model", "without_data"]
