"""Clustering estimators, private and plain, and functions that choose their settings.

Glossary
--------
private, plain
    A private estimator adds noise and promises a guarantee; a plain one promises nothing.
centre
    The point that stands for a cluster; a row or record belongs to its nearest centre.
prototype
    What stands for a group of a table with categories: means of numbers, modes of categories.
cell
    A box of a public grid; counts of cells with noise are what most private methods read.
row
    A row of the holder's table. Whatever reads rows costs a budget.
record
    One person's values, which only their owner sees.
report
    A record after local noise; all that a server has of it.
inertia
    The sum of squared distances of rows to their nearest centres.
density
    Weighted points that estimate where rows or records lie.
synopsis
    A private summary that can be clustered without reading rows again.
groups told
    Clusters that hold more rows than noise alone would count: docs/decisions/certain-groups.md.
reach
    What noise alone passes with a given small probability.
control
    The same method on data without information; a score counts only as far as it is above.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.cluster import choose
    from shoal.cluster._simulate import Refit, StandInRows, refit, unfitted
    from shoal.cluster._synopsis_clusters import cluster_synopsis
    from shoal.cluster.control import without_data
    from shoal.cluster.figures import plot
    from shoal.cluster.kmeans._estimator import PrivateKMeans
    from shoal.cluster.local import LocalClusterer
    from shoal.cluster.local._prototypes import LocalPrototypes
    from shoal.cluster.local.distributed_frames import FrameReports
    from shoal.cluster.local.rounds import LocalRounds
    from shoal.cluster.local.rounds_model import RoundsModel
    from shoal.cluster.model_folder import listed_files, load_model
    from shoal.cluster.prototypes._estimator import PrivateKPrototypes
    from shoal.cluster.prototypes._plain_comparison import KPrototypes
    from shoal.cluster.wave import WaveCluster

_MODULE_OF = {
    "FrameReports": "local.distributed_frames",
    "KPrototypes": "prototypes._plain_comparison",
    "LocalClusterer": "local",
    "LocalPrototypes": "local._prototypes",
    "LocalRounds": "local.rounds",
    "PrivateKMeans": "kmeans._estimator",
    "PrivateKPrototypes": "prototypes._estimator",
    "Refit": "_simulate",
    "RoundsModel": "local.rounds_model",
    "StandInRows": "_simulate",
    "WaveCluster": "wave",
    "cluster_synopsis": "_synopsis_clusters",
    "listed_files": "model_folder",
    "load_model": "model_folder",
    "plot": "figures",
    "refit": "_simulate",
    "unfitted": "_simulate",
    "without_data": "control",
}

__all__ = [
    "FrameReports",
    "KPrototypes",
    "LocalClusterer",
    "LocalPrototypes",
    "LocalRounds",
    "PrivateKMeans",
    "PrivateKPrototypes",
    "Refit",
    "RoundsModel",
    "StandInRows",
    "WaveCluster",
    "choose",
    "cluster_synopsis",
    "listed_files",
    "load_model",
    "plot",
    "refit",
    "unfitted",
    "without_data",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, since workers of a cluster need only few of them."""
    if name == "choose":
        return import_module("shoal.cluster.choose")
    if name in _MODULE_OF:
        return getattr(import_module(f"shoal.cluster.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'shoal.cluster' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
