"""Mechanisms: each randomises one value, states its guarantee, and has its proof beside the code.

The words of this package:

- *mechanism*: has a ``guarantee`` and ``release(value, rng)``, which draws.
- *central*: for a trusted holder of all rows. *Local*: for one person's record, before it leaves.
- *sensitivity*: the most that one row can move a value.
- *exact*: drawn from whole random bits, so that no float's rounding decides an outcome.
- *law*: the distribution of a draw. *Table*: thresholds by which a law is drawn exactly.
- *report*: a randomised record. *Reports* keep the mechanism that made them.
- *remap*: a public function of reports, so it costs nothing.
- *lattice*, *steps*: a value is a whole number of public steps before noise is added.
- *frequency oracle*: randomises a category so that frequencies can be estimated from many reports.
- *tally*: how often each code was reported.
- *prior*, *atoms*: points where records may lie, and how likely each is.
- *raw* units are those of the columns, *scaled* ones those in which distances are measured.
"""

from shoal.mechanisms.central._exponential import Choices, Exponential, ScoredIntervals
from shoal.mechanisms.central._gaussian import Gaussian
from shoal.mechanisms.central._geometric import Geometric
from shoal.mechanisms.central._k_norm import KNorm
from shoal.mechanisms.central._noisy_best import NoisyBest
from shoal.mechanisms.central._product_norm import ProductNorm
from shoal.mechanisms.central._tree_splits import Splits, TreeCounts, TreeSplits
from shoal.mechanisms.local._mixed import Mixed
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.bounded._duchi import Duchi
from shoal.mechanisms.local.bounded._harmony import Harmony
from shoal.mechanisms.local.bounded._hybrid import Hybrid
from shoal.mechanisms.local.bounded._piecewise import Piecewise
from shoal.mechanisms.local.bounded._priv_unit import PrivUnit
from shoal.mechanisms.local.bounded._square_wave import SquareWave
from shoal.mechanisms.local.bounded._staircase import Staircase
from shoal.mechanisms.local.categories._local_grid import LocalGrid
from shoal.mechanisms.local.categories._randomized_response import RandomizedResponse
from shoal.mechanisms.local.categories._unary_encoding import UnaryEncoding, frequency_oracle
from shoal.mechanisms.local.laplace._nd_laplace import NDLaplace, PlanarLaplace, SphericalLaplace
from shoal.mechanisms.local.laplace._prior import Prior
from shoal.mechanisms.local.laplace._remaps import bayes_remap, clamp, snap
from shoal.mechanisms.local.laplace._restrict import Restrict

__all__ = [
    "Choices",
    "Duchi",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Harmony",
    "Hybrid",
    "KNorm",
    "LocalGrid",
    "Mixed",
    "NDLaplace",
    "NoisyBest",
    "Piecewise",
    "PlanarLaplace",
    "Prior",
    "PrivUnit",
    "ProductNorm",
    "RandomizedResponse",
    "Reports",
    "Restrict",
    "ScoredIntervals",
    "SphericalLaplace",
    "Splits",
    "SquareWave",
    "Staircase",
    "TreeCounts",
    "TreeSplits",
    "UnaryEncoding",
    "bayes_remap",
    "clamp",
    "frequency_oracle",
    "snap",
]
