"""Private k-means."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.cluster.kmeans._estimator import PrivateKMeans

__all__ = ["PrivateKMeans"]


def __getattr__(name: str) -> Any:
    """Import the estimator when it is first asked for: workers need its kernels only."""
    if name != "PrivateKMeans":
        raise AttributeError(f"module 'shoal.cluster.kmeans' has no attribute '{name}'")
    from shoal.cluster.kmeans._estimator import PrivateKMeans

    return PrivateKMeans
