"""WaveCluster, plain and private."""

from shoal.cluster.wave.estimator import WaveCluster

__all__ = ["WaveCluster"]
