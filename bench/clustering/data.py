"""Tables to cluster, by name: made up, or public. All lie in a public box known without them.

Made-up ones live in [-1, 1]^d. *Blobs* are round groups of standard deviation 0.06 whose centres
lie at least 4 of them apart and whose shares are Dirichlet(5); *wide* ones overlap: 0.10 in two
columns, 0.15 in more. *Held out* are three families that no setting of shoal was chosen on: groups
stretched along random directions; the same with random covariances and 5 in 100 rows of uniform
noise; groups of unequal size and width.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.domain import Box

Rows = NDArray[np.float64]
Made = Callable[[int], Rows]
os.environ.setdefault("SHOAL_DATA", str(Path(__file__).parents[2].parent / "shared" / "data"))


@dataclass(frozen=True)
class Family:
    """A table for each seed, or one table for all; its public box, and the clusters to find."""

    name: str
    rows: Made
    box: Box
    k: int
    new_rows: bool = True  # whether another seed makes another table


def cube(d: int) -> Box:
    return Box.of([f"x{i}" for i in range(d)], [-1.0] * d, [1.0] * d)


def blobs(n: int, d: int, k: int = 10, sd: float = 0.06) -> Made:
    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k])
        labels = _labels(rng, n, k, 5.0)
        return _inside(_apart(rng, k, d, sd)[labels] + sd * rng.standard_normal((n, d)))

    return rows


def wide(n: int, d: int, k: int = 10) -> Made:
    return blobs(n, d, k, sd=0.10 if d == 2 else 0.15)


def stretched(n: int, d: int, k: int = 10, noise: float = 0.0) -> Made:
    """Groups whose axes have standard deviations from 0.03 to 0.15 along random directions."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, 7])
        labels, centers = _labels(rng, n, k, 5.0), _apart(rng, k, d, 0.1)
        X = rng.standard_normal((n, d))
        for j in range(k):
            axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
            spread = np.exp(rng.uniform(np.log(0.03), np.log(0.15), d))
            X[labels == j] = centers[j] + X[labels == j] * spread @ axes
        far = rng.random(n) < noise
        X[far] = rng.uniform(-1, 1, (int(far.sum()), d))
        return _inside(X)

    return rows


def unequal(n: int, d: int, k: int = 10) -> Made:
    """Round groups of very different sizes and widths."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, 11])
        labels, centers = _labels(rng, n, k, 1.0), _apart(rng, k, d, 0.1)
        sd = rng.uniform(0.03, 0.15, k)
        return _inside(centers[labels] + sd[labels, None] * rng.standard_normal((n, d)))

    return rows


def doubling(n: int, d: int, k: int = 5, sd: float = 0.06) -> Made:
    """Round groups of one width, each with twice the rows of the one before."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, 12])
        shares = 2.0 ** np.arange(k)
        labels = rng.choice(k, n, p=shares / shares.sum())
        return _inside(_apart(rng, k, d, sd)[labels] + sd * rng.standard_normal((n, d)))

    return rows


@cache
def digits(d: int) -> Rows:
    """scikit-learn's digits on their first axes. The projection reads the rows: a test set."""
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    X = PCA(d, svd_solver="full").fit_transform(load_digits().data)
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray(2 * (X - low) / (high - low) - 1)


@cache
def stored(name: str, *columns: str) -> Rows:
    """Columns of a data set in the folder SHOAL_DATA."""
    from shoal.data import load

    table = load(name)
    return np.column_stack([table[column].to_numpy() for column in columns]).astype(float)


def _labels(rng: np.random.Generator, n: int, k: int, evenness: float) -> NDArray[np.int64]:
    return rng.choice(k, n, p=rng.dirichlet(np.full(k, evenness)))


def _apart(rng: np.random.Generator, k: int, d: int, sd: float) -> Rows:
    """Centres at least 4 standard deviations apart and 2 from the walls."""
    centers: list[Rows] = []
    while len(centers) < k:
        new = rng.uniform(-1 + 2 * sd, 1 - 2 * sd, d)
        if all(np.linalg.norm(new - old) >= 4 * sd for old in centers):
            centers.append(new)
    return np.array(centers)


def _inside(X: Rows) -> Rows:
    return np.clip(X, -1, 1)
