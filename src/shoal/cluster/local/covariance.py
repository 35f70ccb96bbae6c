"""The covariance of the records behind reports: that of the reports less that of the noise."""

import numpy as np

from shoal.domain.box import Matrix
from shoal.mechanisms.nd_laplace import NDLaplace
from shoal.mechanisms.prior import laplace_of
from shoal.mechanisms.reports import as_raw_reports

__all__ = ["covariance", "debiased_covariance", "noise_variance"]


def debiased_covariance(reports: object) -> Matrix:
    r"""Covariance of the records, in raw units, from their reports: post-processing, so it is free.

    A coordinate of the noise has variance :math:`(d + 1) / \varepsilon^2` in scaled units; it is
    taken off, which leaves no bias; what would be negative is then cut to zero.

    Parameters
    ----------
    reports
        Of ``NDLaplace`` or its kin, as they were released.

    Examples
    --------
    >>> from shoal.mechanisms import PlanarLaplace
    >>> from shoal.randomness import Randomness
    >>> rows = np.repeat([[-3.0, 0.0], [3.0, 0.0]], 20_000, axis=0)
    >>> found = debiased_covariance(PlanarLaplace(1.0).release(rows, Randomness(7).noise))
    >>> bool(np.abs(found - [[9, 0], [0, 0]]).max() < 0.3)
    True
    """
    mechanism, values = laplace_of(reports), as_raw_reports(reports).values
    units = mechanism.space.units(values.shape[1])
    observed = covariance(values / units)
    lengths, axes = np.linalg.eigh(observed)
    lengths = np.maximum(lengths - noise_variance(mechanism, values.shape[1]), 0)
    return np.asarray((axes * lengths) @ axes.T * np.outer(units, units))


def covariance(points: Matrix) -> Matrix:
    """Of the columns; zeros where there is one line."""
    centred = points - points.mean(axis=0)
    return np.asarray(centred.T @ centred / max(1, len(points) - 1))


def noise_variance(mechanism: NDLaplace, d: int) -> float:
    """Of each coordinate of the noise, in scaled units."""
    return (d + 1) / mechanism.rate**2
