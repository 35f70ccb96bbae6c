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

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used
from shoal.cluster.wave._estimator import WaveCluster
from shoal.cluster.wave._grouping import Auto, Density, Mass, Percentile, Persistence
from shoal.cluster.wave._release_methods import Baseline, Block, PrivQT, PrivTHR, PrivTHREM

if TYPE_CHECKING:
    from shoal.cluster.wave._figure import branches, densest_cells
    from shoal.cluster.wave._release_methods import threshold_scores
    from shoal.cluster.wave._saving import grouped_settings, options_from_json, options_to_json
    from shoal.cluster.wave._transform import Lookup, Transform

_MODULE_OF = {
    "Lookup": "_transform",
    "Transform": "_transform",
    "branches": "_figure",
    "densest_cells": "_figure",
    "grouped_settings": "_saving",
    "options_from_json": "_saving",
    "options_to_json": "_saving",
    "threshold_scores": "_release_methods",
}

__all__ = [
    "Auto",
    "Baseline",
    "Block",
    "Density",
    "Lookup",
    "Mass",
    "Percentile",
    "Persistence",
    "PrivQT",
    "PrivTHR",
    "PrivTHREM",
    "Transform",
    "WaveCluster",
    "branches",
    "densest_cells",
    "grouped_settings",
    "options_from_json",
    "options_to_json",
    "threshold_scores",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
