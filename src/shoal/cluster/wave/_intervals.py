"""Intervals of the sizes of wave clusters: the released grid, noised and clustered again."""

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from shoal.arrays import Floats, Integers
from shoal.cluster._simulate import unfitted
from shoal.cluster.intervals._result import RATE, Intervals, total_interval
from shoal.cluster.wave._noise import NoisyGrid
from shoal.cluster.wave._release_methods import ThresholdMethod
from shoal.cluster.wave._segmentation import LabelledCells
from shoal.cluster.wave._settings import Settings
from shoal.cluster.wave._thresholds import label_above
from shoal.synopsis import weights_of

_REFITS = 6  # docs/decisions/intervals.md
_SHARED = 0.5  # of a group's cells that one group of a refit must have, to be the same group
_MOST_LOST = 0.2  # of the refits, before a group is called unstable
_NO_CELLS = "Only some cells of the grid were made, so how many rows the others hold is not known."
_DRAWN_ANEW = "The cells count points that were drawn from noisy cells: their noise is not known."
_NOT_BLOCKS = "Cells share their noise, as the wavelet is no sum of blocks."


class _Refit(NamedTuple):
    """Labels of a grid that was noised again, and how far its groups' sizes were off."""

    labels: Integers
    deviations: Floats  # in standard deviations of the noise in as many cells


def wave_intervals(model: Any) -> Intervals:
    """Return intervals of a fitted ``WaveCluster``'s sizes, from its released grid alone.

    The target is how many rows lie in the cells of a group. Cells were chosen by the noise that is
    in their sum, so sizes are biased: what refits show of that is taken off.

    Parameters
    ----------
    model
        A fitted or loaded ``WaveCluster``.
    """
    k, sizes = model.n_clusters_, np.asarray(model.cluster_sizes_, dtype=np.float64)
    total = total_interval(model.n_rows_, model.n_rows_within_)
    no_centers, noisy = np.empty((k, 0)), model._noisy
    if not model.is_private or not k:
        return Intervals(no_centers, no_centers, sizes, sizes, *total)
    missing = _why_missing(model)
    if missing is not None:
        unknown = np.full(k, np.nan)
        return Intervals(no_centers, no_centers, unknown, unknown, *total, missing=missing)
    refits = _refits(model)
    deviation = _deviation(model.cell_labels_, k, noisy.variance, model._transform.gain)
    each = np.concatenate([refit.deviations for refit in refits] or [np.zeros(0)])
    bias, spread = (float(each.mean()), float(each.std())) if each.size else (0.0, 1.0)
    half = norm.ppf((1 + RATE) / 2) * max(spread, 1.0) * deviation
    middle = np.where(_is_stable(model, refits), sizes - bias * deviation, np.nan)
    low, high = np.maximum(middle - half, 0), np.maximum(middle + half, 0)
    return Intervals(no_centers, no_centers, low, high, *total)


def _why_missing(model: Any) -> str | None:
    if model.cell_keys_ is not None:
        return _NO_CELLS
    if not model._noisy.variance:
        return _DRAWN_ANEW
    return None if model._transform.is_blocks else _NOT_BLOCKS


def _refits(model: Any) -> list[_Refit]:
    """Noise what the release tells of the grid, and cluster it again, several times."""
    released = np.asarray(model.noisy_counts_, dtype=np.float64)
    # Of a synopsis the weights that norm-cut left are clustered, and none of these is negative.
    was_cut = not (released < 0).any()
    rows = model.n_rows_ * model._transform.gain
    truth = weights_of(released.ravel(), rows, "norm-cut").reshape(released.shape)
    as_counted = unfitted(model, cells=model.grid_.shape)
    settings, rng = Settings.of(as_counted, model.grid_.box), np.random.default_rng(_seed_of(model))
    return [_refit(model, settings, truth, was_cut, rng) for _ in range(_REFITS)]


def _refit(
    model: Any, settings: Settings, truth: Floats, was_cut: bool, rng: np.random.Generator
) -> _Refit:
    noisy = model._noisy
    values = truth + _noise(noisy.variance, truth.shape, rng)
    if noisy.law is not None:
        values = np.rint(values).astype(np.int64)
    if was_cut:
        values = weights_of(values.ravel(), truth.sum(), "norm-cut").reshape(truth.shape)
    labels = _cluster(model, settings, NoisyGrid(values, noisy.variance, noisy.law)).labels
    k = int(labels.max(initial=-1)) + 1
    inside = labels >= 0
    off = np.bincount(labels[inside], (values - truth)[inside], k)
    return _Refit(labels, off / np.maximum(_deviation(labels, k, noisy.variance, 1.0), 1e-300))


def _noise(variance: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Laplace noise of this variance: the two-sided geometric one, but for its steps."""
    return np.asarray(rng.laplace(0.0, math.sqrt(variance / 2), shape))


def _cluster(model: Any, settings: Settings, noisy: NoisyGrid) -> LabelledCells:
    """Cluster a grid as the model does; a threshold that was released stays."""
    connectivity, min_cells = settings.connectivity, settings.min_cells
    if isinstance(settings.method, ThresholdMethod):
        return label_above(noisy, model.threshold_, connectivity, min_cells)
    return settings.selector.label(noisy, connectivity, min_cells)


def _deviation(labels: Integers, k: int, variance: float, gain: float) -> Floats:
    """The standard deviation of the noise in each group's cells together."""
    cells = np.bincount(labels[labels >= 0], minlength=k)
    return np.asarray(np.sqrt(cells * variance) / gain)


def _is_stable(model: Any, refits: list[_Refit]) -> NDArray[np.bool_]:
    """Whether most refits have a group with half of the cells of each group."""
    matched = np.array([_has_match(model.cell_labels_, refit.labels) for refit in refits])
    return np.asarray(matched.mean(axis=0) >= 1 - _MOST_LOST)


def _has_match(labels: Integers, others: Integers) -> NDArray[np.bool_]:
    inside = labels.ravel() >= 0
    own, other = labels.ravel()[inside], others.ravel()[inside]
    k, most = int(own.max(initial=-1)) + 1, int(others.max(initial=-1)) + 2
    shared = np.bincount(own * most + other + 1, minlength=k * most).reshape(k, most)
    largest = shared[:, 1:].max(axis=1, initial=0)
    return np.asarray(largest >= _SHARED * shared.sum(axis=1))


def _seed_of(model: Any) -> int:
    """A number that follows from the released grid, the same for a model that was loaded."""
    numbers = np.ascontiguousarray(model.noisy_counts_, dtype=np.float64)
    return int.from_bytes(hashlib.blake2b(numbers.tobytes(), digest_size=8).digest(), "little")
