"""How often the number of clusters is found, and how well DBSCAN does with the chosen radius.

*Number*: made-up blobs, 3, 5 or 8 of them in two and four columns, tight (deviation 4 % of the
side) and wide (8 %), two seeds each: 500 rows as they are, and the synopsis of 5,000 at epsilon 1.
*Radius*: adjusted Rand index of DBSCAN with the chosen settings, to the true groups: made-up rows,
the public shapes (if SHOAL_DATA holds them), and cells of synopses at epsilon 0.5 and 2.
"""

import os
from collections.abc import Iterator

import numpy as np
from measure import write
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs, make_circles, make_moons

import shoal
from shoal import choose
from shoal.evaluate import ari

CORNERS = [[0, 0], [8, 0], [0, 8], [8, 8]]
SHAPES = ("aggregation", "compound", "d31", "flame", "jain", "lsun", "pathbased", "r15", "s1",
          "spiral", "t4.8k")  # fmt: skip


RULES = ("simulation", "elbow", "silhouette", "gap")


def number() -> list[dict[str, object]]:
    """Of 12 sets of each kind, how many had their number found."""
    found: dict[tuple[str, str, str], int] = {}
    for spread, deviation in (("tight", 0.04), ("wide", 0.08)):
        for k in (3, 5, 8):
            for d in (2, 4):
                for seed in range(2):
                    X = blobs(k, d, deviation, seed)
                    for on, points in (("rows", X[::10]), ("synopsis", synopsis_of(X, 1))):
                        for by in RULES:
                            choice = choose.k(points, by=by, among=range(1, 13))
                            key = (spread, on, by)
                            found[key] = found.get(key, 0) + (choice.value == k)
    return [
        {"clusters": spread, "read off": on} | {by: found[spread, on, by] for by in RULES}
        for spread in ("tight", "wide")
        for on in ("rows", "synopsis")
    ]


def blobs(k: int, d: int, deviation: float, seed: int) -> np.ndarray:
    settings = {"center_box": (0, 1), "cluster_std": deviation, "random_state": 100 * seed + k}
    return make_blobs(5_000, d, centers=k, **settings)[0]


def synopsis_of(X: np.ndarray, epsilon: float) -> shoal.synopsis.Synopsis:
    low, high = np.floor(X.min(axis=0)), np.ceil(X.max(axis=0))
    box = shoal.Box.of([f"x{i}" for i in range(X.shape[1])], low, high)
    return shoal.AdaptiveGrid(epsilon=epsilon, domain=box, random_state=1).fit(X)


def radius() -> list[dict[str, object]]:
    """Mean agreement over each family, by rule."""
    families = {
        "made-up rows": [of_rows(X, y) for X, y in made_up()],
        "public shapes": [of_rows(X, y) for X, y in shapes()],
        "cells of synopses": [one for X, y in large() for one in of_cells(X, y)],
    }
    return [
        {"points": name, "sets": len(each)}
        | {by: round(float(np.mean([one[by] for one in each])), 2) for by in ("knee", "bulk")}
        for name, each in families.items()
        if each
    ]


def of_rows(X: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    more = choose.min_points(X).settings
    return {
        by: ari(truth, DBSCAN(**choose.radius(X, by=by).settings, **more).fit_predict(X))
        for by in ("knee", "bulk")
    }


def of_cells(X: np.ndarray, truth: np.ndarray) -> Iterator[dict[str, float]]:
    """A row has the label of the nearest cell."""
    for epsilon in (0.5, 2):
        for kind in (shoal.UniformGrid, shoal.AdaptiveGrid, shoal.PrivTree):
            synopsis = kind(epsilon=epsilon, domain=shoal.Box.unit(2), random_state=1).fit(X)
            points, weights = synopsis.points()
            nearest = ((X[:, None] - points) ** 2).sum(axis=2).argmin(axis=1)
            more = choose.min_points(synopsis).settings
            yield {
                by: ari(
                    truth,
                    DBSCAN(**choose.radius(synopsis, by=by).settings, **more)
                    .fit(points, sample_weight=weights / weights.mean())
                    .labels_[nearest],
                )
                for by in ("knee", "bulk")
            }


def made_up() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    for n in (300, 1_500):
        yield make_moons(n, noise=0.06, random_state=0)
        yield make_circles(n, noise=0.04, factor=0.5, random_state=0)
        for deviation in (0.5, 1):
            yield make_blobs(n, centers=CORNERS, cluster_std=deviation, random_state=1)
        for d, k in ((1, 3), (3, 6), (4, 5), (8, 6)):
            yield make_blobs(n, d, centers=k, cluster_std=0.7, random_state=d)
        for share in (0.1, 0.25, 0.5):
            X, y = make_blobs(n, centers=CORNERS[:3], cluster_std=0.5, random_state=1)
            noise = rng.uniform(-6, 14, (int(n * share), 2))
            yield np.vstack([X, noise]), np.append(y, np.full(len(noise), -1))


def shapes() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for name in SHAPES if os.environ.get("SHOAL_DATA") else ():
        table = shoal.data.load(name)
        X = np.column_stack([table[column].to_numpy() for column in table.column_names[:2]])
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        yield X, np.unique(table["label"].to_numpy(), return_inverse=True)[1]


def large() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for X, y in (
        make_moons(4_000, noise=0.06, random_state=0),
        make_blobs(4_000, centers=[*CORNERS, [4, 4]], cluster_std=0.4, random_state=1),
    ):
        low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
        yield (X - low) / (high - low), y


if __name__ == "__main__":
    write("choose", [*number(), *radius()])
