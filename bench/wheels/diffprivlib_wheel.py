"""k-means and two mechanisms of diffprivlib."""

import warnings
from collections.abc import Callable
from itertools import count

import numpy as np
from diffprivlib.mechanisms import Geometric, Laplace
from diffprivlib.models import KMeans
from draw import Mechanism

warnings.simplefilter("ignore")


def kmeans() -> Mechanism:
    """Two hundred rows at one place, with and without one far away."""
    rows, seeds = np.full((200, 1), -0.9), count()

    def release(table: np.ndarray) -> list[float]:
        model = KMeans(2, epsilon=1.0, bounds=(-1, 1), random_state=next(seeds)).fit(table)
        return sorted(model.cluster_centers_.ravel().tolist())

    return Mechanism(1.0, (rows, np.vstack([rows, [[0.9]]])), release)


def geometric() -> Mechanism:
    mechanism = Geometric(epsilon=1.0, sensitivity=1)
    return Mechanism(1.0, (0, 1), lambda value: [int(mechanism.randomise(value))])


def laplace() -> Mechanism:
    mechanism = Laplace(epsilon=1.0, sensitivity=1)
    return Mechanism(1.0, (0.0, 1.0), lambda value: [float(mechanism.randomise(value))])


MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "KMeans": kmeans,
    "Geometric": geometric,
    "Laplace": laplace,
}
