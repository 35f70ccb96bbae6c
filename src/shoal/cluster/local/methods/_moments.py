"""k-means on reports shrunk to the records' covariance, for very many reports.

The covariance of the records is that of the reports less that of the noise.
"""

import numpy as np

from shoal.arrays import Floats
from shoal.cluster.local._inputs import box_of
from shoal.cluster.local.methods._plain_kmeans import centers_of
from shoal.cluster.local.methods._result import LearningResult, Progress
from shoal.mechanisms import NDLaplace, Reports
from shoal.mechanisms.local import as_raw_reports
from shoal.mechanisms.local.laplace import laplace_of, thinned
from shoal.randomness import Randomness

_FLOOR = 1e-3  # of the reports' mean variance: a direction is never lost altogether


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Floats, progress: Progress = None
) -> LearningResult:
    """Run k-means on reports that were moved to have the records' mean and covariance.

    Shrinking the centres instead would move them too far: it gives the mean of the records whose
    *reports* fall in a cell.
    """
    moved = shrink_reports(reports)
    centers = centers_of(moved, np.ones(len(moved)), n_clusters, rng, units)
    box, shown = box_of(reports.mechanism), thinned(moved)
    centers = centers if box is None else box.clip(centers)
    return LearningResult(centers, shown, np.full(len(shown), 1 / len(shown)))


def shrink_reports(reports: Reports) -> Floats:
    """Move reports so that they have the records' mean and covariance, in raw units."""
    mechanism = laplace_of(reports)
    scaled = mechanism.space.scaled(reports.values)
    shrunk, _ = shrink_to_covariance(scaled, noise_variance(mechanism, scaled.shape[1]))
    return mechanism.space.unscaled(shrunk)


def shrink_to_covariance(
    values: Floats, noise: float, moved: Floats | None = None
) -> tuple[Floats, Floats]:
    """Move reports to the records' covariance, and return both, in scaled units.

    The result has the mean of the reports and the records' covariance.

    m + Sx^(1/2) Sz^(-1/2) (z - m) has mean m and covariance Sx, which is that of the reports Sz
    less ``noise`` in every direction, and at least a thousandth of their mean variance.

    Parameters
    ----------
    moved
        The reports to move, if not all.

    Returns
    -------
    The moved reports, and the covariance of the records.

    Examples
    --------
    >>> values = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> shrink_to_covariance(values, 0.5)[1].round(2).tolist()
    [[2.17, 0.0], [0.0, 0.17]]
    """
    middle, observed = values.mean(axis=0), covariance(values)
    lengths, axes = np.linalg.eigh(observed)
    mean_length = max(float(lengths.mean()), np.finfo(float).tiny)
    of_records = np.maximum(lengths - noise, _FLOOR * mean_length)
    pull = np.sqrt(of_records / np.maximum(lengths, _FLOOR * mean_length))
    wanted = values if moved is None else moved
    shrunk = middle + (wanted - middle) @ ((axes * pull) @ axes.T)
    return shrunk, np.asarray((axes * of_records) @ axes.T)


def debiased_covariance(reports: object) -> Floats:
    r"""Estimate the covariance of the records, in raw units, from their reports.

    It is post-processing, so it costs nothing. A coordinate of the noise has variance :math:`(d +
    1) / \varepsilon^2` in scaled units; it is taken off, which leaves no bias; what would be
    negative is then cut to zero.

    Parameters
    ----------
    reports
        Of ``NDLaplace`` or a variant of it, as released.

    Examples
    --------
    >>> from shoal.mechanisms import PlanarLaplace
    >>> from shoal.randomness import Randomness
    >>> rows = np.repeat([[-3.0, 0.0], [3.0, 0.0]], 20_000, axis=0)
    >>> estimate = debiased_covariance(PlanarLaplace(1.0).release(rows, Randomness(7).noise))
    >>> bool(np.abs(estimate - [[9, 0], [0, 0]]).max() < 0.3)
    True
    """
    mechanism, values = laplace_of(reports), as_raw_reports(reports).values
    units = mechanism.space.units(values.shape[1])
    observed = covariance(values / units)
    lengths, axes = np.linalg.eigh(observed)
    lengths = np.maximum(lengths - noise_variance(mechanism, values.shape[1]), 0)
    return np.asarray((axes * lengths) @ axes.T * np.outer(units, units))


def covariance(points: Floats) -> Floats:
    """Return the covariance of the columns; zeros for a single row."""
    centred = points - points.mean(axis=0)
    return np.asarray(centred.T @ centred / max(1, len(points) - 1))


def noise_variance(mechanism: NDLaplace, d: int) -> float:
    """Return the variance of each coordinate of the noise, in scaled units."""
    return (d + 1) / mechanism.rate**2
