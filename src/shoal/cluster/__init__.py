"""Estimators, private and plain, and the choice of their settings."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.cluster import choose
    from shoal.cluster.control import without_data
    from shoal.cluster.kmeans.estimator import PrivateKMeans
    from shoal.cluster.local import LocalClusterer
    from shoal.cluster.local.distributed_frames import FrameReports
    from shoal.cluster.model_folder import load_model
    from shoal.cluster.wave import WaveCluster

_HOME_OF = {
    "FrameReports": "local.distributed_frames",
    "LocalClusterer": "local",
    "PrivateKMeans": "kmeans.estimator",
    "WaveCluster": "wave",
    "load_model": "model_folder",
    "without_data": "control",
}

__all__ = [
    "FrameReports",
    "LocalClusterer",
    "PrivateKMeans",
    "WaveCluster",
    "choose",
    "load_model",
    "without_data",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for: what runs on a cluster's workers needs few."""
    if name == "choose":
        return import_module("shoal.cluster.choose")
    if name in _HOME_OF:
        return getattr(import_module(f"shoal.cluster.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'shoal.cluster' has no attribute '{name}'")
