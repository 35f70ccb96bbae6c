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

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.cluster import choose
    from shoal.cluster._simulate import Refit, StandInRows, refit, unfitted
    from shoal.cluster._synopsis_clusters import cluster_synopsis
    from shoal.cluster._without_data import without_data
    from shoal.cluster.figures import plot
    from shoal.cluster.group_sizes import CHANCE, NoiseSum
    from shoal.cluster.kmeans._estimator import PrivateKMeans
    from shoal.cluster.local import LocalClusterer
    from shoal.cluster.local._distributed_frames import FrameReports
    from shoal.cluster.local._prototypes import LocalPrototypes
    from shoal.cluster.local._rounds import LocalRounds
    from shoal.cluster.local._rounds_model import RoundsModel
    from shoal.cluster.model_folder import listed_files, load_model, write_model
    from shoal.cluster.prototypes._estimator import PrivateKPrototypes
    from shoal.cluster.prototypes._plain_comparison import KPrototypes
    from shoal.cluster.wave import WaveCluster

_MODULE_OF = {
    "CHANCE": "group_sizes",
    "FrameReports": "local._distributed_frames",
    "KPrototypes": "prototypes._plain_comparison",
    "LocalClusterer": "local",
    "LocalPrototypes": "local._prototypes",
    "LocalRounds": "local._rounds",
    "NoiseSum": "group_sizes",
    "PrivateKMeans": "kmeans._estimator",
    "PrivateKPrototypes": "prototypes._estimator",
    "Refit": "_simulate",
    "RoundsModel": "local._rounds_model",
    "StandInRows": "_simulate",
    "WaveCluster": "wave",
    "cluster_synopsis": "_synopsis_clusters",
    "listed_files": "model_folder",
    "load_model": "model_folder",
    "plot": "figures",
    "refit": "_simulate",
    "unfitted": "_simulate",
    "without_data": "_without_data",
    "write_model": "model_folder",
}

__all__ = [
    "CHANCE",
    "FrameReports",
    "KPrototypes",
    "LocalClusterer",
    "LocalPrototypes",
    "LocalRounds",
    "NoiseSum",
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
    "write_model",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
