"""How much k-means loses on a synopsis of the rows, and what a synopsis costs to make.

*Loss* is the inertia of the rows to the centres found on a synopsis at epsilon 1, over that to the
best centres found on the rows themselves: mean of ten seeds, and its standard error.
"""

import numpy as np
from clustering.data import Rows, blobs, cube, digits, wide
from measure import cpu_seconds, write
from sklearn.cluster import KMeans

import shoal

SEEDS = range(400, 410)
K = 10
TABLES = {
    "blobs, 2 columns": blobs(10_000, 2),
    "blobs, 4 columns": blobs(10_000, 4),
    "wide, 4 columns": wide(10_000, 4),
    "wide, 6 columns": wide(10_000, 6),
    "blobs, 8 columns": blobs(10_000, 8),
    "wide, 8 columns": wide(10_000, 8),
    "digits, 7 columns": lambda seed: digits(7),
}
KINDS = {
    "uniform": (shoal.UniformGrid, {}),
    "adaptive": (shoal.AdaptiveGrid, {}),
    "adaptive, as printed": (shoal.AdaptiveGrid, {"consistency": False, "negative": "zero"}),
    "tree": (shoal.PrivTree, {}),
}


def made(kind: str, X: Rows, seed: int) -> shoal.synopsis.Synopsis:
    cls, settings = KINDS[kind]
    domain = cube(X.shape[1])
    return cls(epsilon=1, domain=domain, random_state=seed, **settings).fit(X)


def loss(kind: str, X: Rows, best: float, seed: int) -> float:
    centers, weights = made(kind, X, seed).points()
    kmeans = KMeans(K, n_init=8, random_state=seed).fit(centers, sample_weight=weights)
    return -kmeans.score(X) / best


def losses(table: str) -> dict[str, object]:
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for seed in SEEDS:
        X = TABLES[table](seed)
        best = KMeans(K, n_init=8, random_state=seed).fit(X).inertia_
        for kind in KINDS:
            found[kind].append(loss(kind, X, best, seed))
    told = {
        kind: f"{np.mean(v):.2f} +- {np.std(v) / len(v) ** 0.5:.2f}" for kind, v in found.items()
    }
    return {"table": table, **told}


def cost() -> dict[str, object]:
    X = blobs(1_000_000, 4)(400)
    times = {kind: f"{cpu_seconds(lambda k=kind: made(k, X, 1), 3):.2f}" for kind in KINDS}
    return {"table": "CPU s, blobs, 1M rows, 4 columns", **times}


if __name__ == "__main__":
    write("synopsis", [*(losses(table) for table in TABLES), cost()])
