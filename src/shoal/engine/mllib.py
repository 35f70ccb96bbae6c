"""Spark's own k-means of released points, for whoever asks for it by name; loaded only then."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_session", "mllib_centers"]


def check_session() -> None:
    """Check that it can run: ``NotInstalled`` without pyspark, ``SessionStopped`` if none runs."""
    from shoal.engine.spark.availability import session_module

    session_module().active_session()


def mllib_centers(
    points: NDArray[np.float64], weights: NDArray[np.float64], k: int, seed: int
) -> NDArray[np.float64]:
    """Centres of weighted points, found by the session that runs here.

    Parameters
    ----------
    points
        Released points, one a line.
    weights
        What each weighs.
    k
        How many centres, two at least.
    seed
        Of the first of several runs.
    """
    from shoal.engine.spark.availability import session_module

    centers: NDArray[np.float64] = session_module().mllib_centers(points, weights, k, seed)
    return centers
