"""Spark's own k-means on released points, imported only when it is asked for."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_session", "mllib_centers"]


def check_session() -> None:
    """Check that a Spark session runs here.

    Raises
    ------
    NotInstalled
        If pyspark is missing.
    SessionStopped
        If no session runs.
    """
    from shoal.engine.spark.availability import session_module

    session_module().active_session()


def mllib_centers(
    points: NDArray[np.float64], weights: NDArray[np.float64], k: int, seed: int
) -> NDArray[np.float64]:
    """Cluster weighted points with the Spark session that runs here.

    Parameters
    ----------
    k
        How many centres, two at least.
    Returns
    -------
        The centres, one a line.
    """
    from shoal.engine.spark.availability import session_module

    centers: NDArray[np.float64] = session_module().mllib_centers(points, weights, k, seed)
    return centers
