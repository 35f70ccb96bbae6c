"""Look for prototypes of rows held in memory: several starts of k-prototypes, the best is kept."""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.arrays import Floats
from shoal.cluster.prototypes.mixed_cost import MixedRows, Prototypes

_CANDIDATES = 3  # of greedy k-means++
_MOST_STEPS = 20


def find_prototypes(
    rows: MixedRows, k: int, rng: np.random.Generator, n_init: int = 10
) -> Prototypes:
    """Return the cheapest prototypes of several starts.

    Half of the starts are drawn by k-means++ in the mixed cost, half come from k-means on one-hot
    rows: either kind alone often ends in a poor optimum (docs/decisions/mixed-tables.md).
    """
    best, least = None, np.inf
    for start in range(max(1, n_init)):
        first = _greedy_start(rows, k, rng) if start % 2 else _kmeans_start(rows, k, rng)
        prototypes, cost = _lloyd(rows, first)
        if best is None or cost < least:
            best, least = prototypes, cost
    assert best is not None
    return best


def improve_prototypes(rows: MixedRows, prototypes: Prototypes) -> Prototypes:
    """Return prototypes moved to the means and modes of their rows until nothing gets cheaper."""
    return _lloyd(rows, prototypes)[0]


def _lloyd(rows: MixedRows, prototypes: Prototypes) -> tuple[Prototypes, float]:
    """Move prototypes to the means and modes of their rows until nothing gets cheaper."""
    least = np.inf
    for _ in range(_MOST_STEPS):
        costs = rows.costs(prototypes)
        labels = costs.argmin(axis=1)
        cost = float(costs[np.arange(len(rows)), labels].sum())
        if cost >= least * (1 - 1e-9):
            break
        least, best = cost, prototypes
        prototypes = rows.prototypes_of(labels, prototypes)
    return best, least


def _greedy_start(rows: MixedRows, k: int, rng: np.random.Generator) -> Prototypes:
    """Draw rows one after the other, each the best of a few drawn by their cost."""
    places = [int(rng.integers(len(rows)))]
    nearest = _costs_to(rows, places)[:, 0]
    while len(places) < k:
        total = nearest.sum()
        shares = nearest / total if total > 0 else None
        drawn = rng.choice(len(rows), size=_CANDIDATES, p=shares)
        tried = np.minimum(nearest[:, None], _costs_to(rows, drawn.tolist()))
        best = int(tried.sum(axis=0).argmin())
        places.append(int(drawn[best]))
        nearest = tried[:, best]
    return Prototypes(rows.numbers[places], rows.codes[places])


def _costs_to(rows: MixedRows, places: list[int]) -> Floats:
    return rows.costs(Prototypes(rows.numbers[places], rows.codes[places]))


def _kmeans_start(rows: MixedRows, k: int, rng: np.random.Generator) -> Prototypes:
    """Return the modes and means of k-means on one-hot rows."""
    kmeans = KMeans(
        min(k, len(rows)), n_init=1, max_iter=_MOST_STEPS, random_state=int(rng.integers(2**31))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows may be fewer than clusters
        labels = kmeans.fit_predict(rows.points)
    old = _greedy_start(rows, k, rng)
    return rows.prototypes_of(labels.astype(np.int64), old)
