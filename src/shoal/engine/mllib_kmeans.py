"""Spark's own k-means on released points, imported only when it is asked for."""

from shoal.arrays import Floats


def check_session() -> None:
    """Check that a Spark session runs here."""
    from shoal.engine.spark._availability import session_module

    session_module().active_session()


def mllib_centers(points: Floats, weights: Floats, k: int, seed: int) -> Floats:
    """Cluster weighted points with the Spark session that runs here.

    Returns
    -------
        The centres, one a line.
    """
    from shoal.engine.spark._availability import session_module

    centers: Floats = session_module().mllib_centers(points, weights, k, seed)
    return centers
