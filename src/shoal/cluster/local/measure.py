"""How distances between records and centres are measured: public units, or the records' spread."""

from typing import Any

import numpy as np

from shoal.cluster.local.covariance import debiased_covariance, noise_variance
from shoal.cluster.local.learnt import Row
from shoal.cluster.local.promise import box_of
from shoal.mechanisms.prior import laplace_of
from shoal.mechanisms.reports import Reports
from shoal.mechanisms.scaling import Scaling

__all__ = ["measured"]


def measured(scale: Any, reports: Reports) -> Row:
    """How much of each column, in raw units, counts as one unit of distance.

    Parameters
    ----------
    scale
        ``None``, ``"box"``, ``"spread"`` or a positive number a column, as of ``LocalClusterer``.
    reports
        Whose mechanism and width say what ``None`` means. Only ``"spread"`` reads their values.
    """
    box = box_of(reports.mechanism)
    d = reports.values.shape[1] if box is None else box.d
    if isinstance(scale, str) and scale == "spread":
        return _spread(reports)
    space = getattr(reports.mechanism, "space", None)
    if scale is None and isinstance(space, Scaling):
        return space.units(d)
    return Scaling.of("box" if scale is None and box is not None else scale, box).units(d)


def _spread(reports: Reports) -> Row:
    """Of the records in each column; at least what the noise alone would show now and then.

    The variance of n coordinates of noise has a standard error of sqrt(2 (d + 4) / ((d + 1) n)) of
    itself. Less than that cannot be told from none, and would make a column count for too much.
    """
    mechanism, (n, d) = laplace_of(reports), reports.values.shape
    least = noise_variance(mechanism, d) * np.sqrt(2 * (d + 4) / ((d + 1) * n))
    found = np.diag(debiased_covariance(reports)) / mechanism.space.units(d) ** 2
    return np.asarray(np.sqrt(np.maximum(found, least)) * mechanism.space.units(d))
