"""WaveCluster, plain and private, and the settings of its variants and selectors.

Glossary
--------
cell
    A box of the public grid, in which rows are counted.
coefficient
    What the wavelet makes of a block of cells; with Haar, the number of rows in the block.
gain
    What one row adds to all coefficients together.
key
    The number of a cell or coefficient in row-major order.
level
    How often the wavelet halves the grid; also the least count of a cell in a cluster.
listed cell
    One of the few cells of a sparse grid that were released; the others are never made.
variant
    Where the noise is put: on the coefficients, on the cells, or on a synopsis.
selector
    The rule that says which coefficients belong to clusters.
peak
    A cell that is higher than its neighbours after smoothing; each cluster has at least one.
pass
    The highest place where the slopes of two peaks touch.
significance
    By how many standard errors the lower of two peaks rises above the pass between them.
basin
    The cells from which steepest ascent leads to one peak.
"""

from shoal.cluster.wave._estimator import WaveCluster
from shoal.cluster.wave._grouping import Auto, Density, Mass, Percentile, Persistence
from shoal.cluster.wave.release_methods import Baseline, Block, PrivQT, PrivTHR, PrivTHREM

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
