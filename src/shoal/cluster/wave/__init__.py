"""WaveCluster, plain and private, and the settings of its methods and selectors.

Words used here: a *cell* is a box of the public grid; a *coefficient* is what a wavelet makes of a
block of cells (with Haar, their number of rows); a *method* says where noise is put; a *selector*
says which coefficients belong to clusters; a *peak* and a *pass* are the top of a cluster and the
highest way to the next; a *listed* cell is one of the few that a sparse grid makes.
"""

from shoal.cluster.wave.estimator import WaveCluster
from shoal.cluster.wave.methods import Baseline, Block, PrivQT, PrivTHR, PrivTHREM
from shoal.cluster.wave.selectors import Auto, Density, Mass, Percentile, Persistence

__all__ = [
    "Auto",
    "Baseline",
    "Block",
    "Density",
    "Mass",
    "Percentile",
    "Persistence",
    "PrivQT",
    "PrivTHR",
    "PrivTHREM",
    "WaveCluster",
]
